//! Finds out which change wrote each entry last.

use std::collections::BTreeMap;

use crate::journal::{Phase, Told};
use crate::writes::Step;
use fabdeck_mad::access::{Part, Slot};

/// The entries of a part, one bit each: the 64 LIDs of a block, or the first bit for a part that is compared as a
/// whole.
pub(super) type Entries = u64;

/// The entries in which two contents of a part differ.
pub(super) fn differing(part: Part, one: &[u8], other: &[u8]) -> Entries {
    match part {
        Part::Block(_) => {
            let differs = one.iter().zip(other).map(|(one, other)| u64::from(one != other));
            differs.enumerate().fold(0, |entries, (at, differs)| entries | differs << at)
        }
        _ => u64::from(one != other),
    }
}

/// The entries of a part that one change wrote last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Claim {
    /// The index of the change in the history.
    pub change: usize,
    pub entries: Entries,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// Which change wrote which entries last.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// No two claims share an entry.
    pub slots: BTreeMap<Slot, Vec<Claim>>,
    /// For each change of the history: the number of its entries that newer changes wrote, by their index.
    pub superseded: Vec<BTreeMap<usize, u64>>,
    /// The writes to these slots of changes that were rolled back, newest first.
    pub taken_back: BTreeMap<Slot, Vec<(usize, Step)>>,
}

impl Claims {
    /// The claims of a history. Pending changes have claims too, so that confirmed changes do not answer for their
    /// entries.
    pub fn of(history: &[Told]) -> Self {
        let mut claims = Self { superseded: vec![BTreeMap::new(); history.len()], ..Self::default() };
        for (change, told) in history.iter().enumerate().rev() {
            if told.phase == Phase::Confirmed || told.phase.is_pending() {
                steps(told).for_each(|step| claims.add(change, step));
            }
        }
        for (change, told) in history.iter().enumerate().rev() {
            if matches!(told.phase, Phase::RolledBack | Phase::Incomplete) {
                let steps = steps(told).filter(|step| claims.slots.contains_key(&step.slot));
                let steps: Vec<Step> = steps.collect();
                for step in steps {
                    claims.taken_back.entry(step.slot).or_default().push((change, step));
                }
            }
        }
        claims
    }

    fn add(&mut self, change: usize, step: Step) {
        let mut entries = differing(step.slot.part, &step.old, &step.new);
        let newer = self.slots.entry(step.slot).or_default();
        for claim in newer.iter() {
            let both = claim.entries & entries;
            if both != 0 {
                *self.superseded[change].entry(claim.change).or_default() += u64::from(both.count_ones());
                entries &= !both;
            }
        }
        if entries != 0 {
            newer.push(Claim { change, entries, old: step.old, new: step.new });
        }
    }
}

fn steps(told: &Told) -> impl Iterator<Item = Step> {
    told.begun.writes.iter().filter_map(|write| write.step().ok())
}
