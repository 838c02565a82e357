//! Finds out which change wrote each entry last.

use std::collections::BTreeMap;

use crate::journal::{ChangePhase, ChangeState};
use crate::writes::WriteStep;
use fabdeck_mad::access::{AttributePart, DeviceAttribute};

/// The entries of a part, one bit each: the 64 LIDs of a block, or the first bit for a part that is compared as a
/// whole.
pub(super) type EntryMask = u64;

/// The entries in which two contents of a part differ.
pub(super) fn differing_entries(part: AttributePart, one: &[u8], other: &[u8]) -> EntryMask {
    match part {
        AttributePart::Block(_) => {
            let differs = one.iter().zip(other).map(|(one, other)| u64::from(one != other));
            differs.enumerate().fold(0, |entries, (at, differs)| entries | differs << at)
        }
        _ => u64::from(one != other),
    }
}

/// The entries of a part that one change wrote last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct EntryClaim {
    /// The index of the change in the history.
    pub change: usize,
    pub entries: EntryMask,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// Which change wrote which entries last.
#[derive(Debug, Default)]
pub(super) struct EntryClaims {
    /// No two claims share an entry.
    pub slots: BTreeMap<DeviceAttribute, Vec<EntryClaim>>,
    /// For each change of the history: the number of its entries that newer changes wrote, by their index.
    pub superseded: Vec<BTreeMap<usize, u64>>,
    /// The writes to these slots of changes that were rolled back, newest first.
    pub taken_back: BTreeMap<DeviceAttribute, Vec<(usize, WriteStep)>>,
}

impl EntryClaims {
    /// The claims of a history. Pending changes have claims too, so that confirmed changes do not answer for their
    /// entries.
    pub fn of(history: &[ChangeState]) -> Self {
        let mut claims = Self { superseded: vec![BTreeMap::new(); history.len()], ..Self::default() };
        for (change, told) in history.iter().enumerate().rev() {
            if told.phase == ChangePhase::Confirmed || told.phase.is_pending() {
                steps(told).for_each(|step| claims.add_step(change, step));
            }
        }
        for (change, told) in history.iter().enumerate().rev() {
            if matches!(told.phase, ChangePhase::RolledBack | ChangePhase::Incomplete) {
                let steps = steps(told).filter(|step| claims.slots.contains_key(&step.slot));
                let steps: Vec<WriteStep> = steps.collect();
                for step in steps {
                    claims.taken_back.entry(step.slot).or_default().push((change, step));
                }
            }
        }
        claims
    }

    fn add_step(&mut self, change: usize, step: WriteStep) {
        let mut entries = differing_entries(step.slot.part, &step.old, &step.new);
        let newer = self.slots.entry(step.slot).or_default();
        for claim in newer.iter() {
            let both = claim.entries & entries;
            if both != 0 {
                *self.superseded[change].entry(claim.change).or_default() += u64::from(both.count_ones());
                entries &= !both;
            }
        }
        if entries != 0 {
            newer.push(EntryClaim { change, entries, old: step.old, new: step.new });
        }
    }
}

fn steps(told: &ChangeState) -> impl Iterator<Item = WriteStep> {
    told.begun.writes.iter().filter_map(|write| write.to_step().ok())
}
