//! Reads what confirmed changes wrote, and reports what differs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::entries::{Claim, Claims, Entries, differing};
use super::verdict::{Attestation, DeviceReport, DeviceState, OtherChange, Verdict};
use crate::journal::{Phase, Told};
use crate::manager::manager_in_charge;
use crate::read_queue::ReadQueue;
use crate::writes::Step;
use fabdeck_fabric::NO_PATH;
use fabdeck_fabric::observe::Observation;
use fabdeck_mad::access::{Device, Part, Slot, SourceError, Surveyor, Watch};

/// The fabric that changes are compared with.
#[allow(missing_debug_implementations, reason = "nothing of a surveyor can be shown")]
pub struct Compared<'a> {
    pub surveyor: &'a mut dyn Surveyor,
    /// The surveyor's last reading of the fabric.
    pub look: &'a Observation,
    /// Whether some node did not answer that reading, so that a missing device may still exist.
    pub is_partial: bool,
    /// Names a device.
    pub name: &'a dyn Fn(Device) -> String,
}

/// Compares all confirmed changes of the history with the fabric. Returns the index of each change and its attestation.
pub fn attest(
    compared: Compared<'_>,
    history: &[Told],
    watch: &dyn Watch,
) -> Result<Vec<(usize, Attestation)>, SourceError> {
    let claims = Claims::of(history);
    let is_confirmed = |claim: &Claim| history[claim.change].phase == Phase::Confirmed;
    let slots: Vec<Slot> = claims
        .slots
        .iter()
        .filter(|(_, claims)| claims.iter().any(is_confirmed))
        .map(|(slot, _)| *slot)
        .collect();
    let present: BTreeSet<Device> =
        slots.iter().map(|slot| slot.at).filter(|at| at.node(&compared.look.fabric).is_some()).collect();
    let asked: Vec<Slot> = slots.into_iter().filter(|slot| present.contains(&slot.at)).collect();
    let held = read(compared.surveyor, &asked, watch)?;
    let mut tally = Tally { history, held, taken_back: &claims.taken_back, by_change: BTreeMap::new() };
    for (slot, claims) in &claims.slots {
        let is_there = present.contains(&slot.at);
        let claims = claims.iter().filter(|claim| is_confirmed(claim));
        match (tally.held.get(slot).cloned(), is_there || compared.is_partial) {
            (Some(held), _) => claims.for_each(|claim| tally.compare(slot, claim, &held)),
            (None, true) => claims.for_each(|claim| tally.report(slot, claim).unread += count(claim.entries)),
            (None, false) => claims.for_each(|claim| tally.report(slot, claim).gone += count(claim.entries)),
        }
    }
    let restarted = tally.restarted(compared.surveyor);
    let manager = manager_in_charge(compared.look);
    let confirmed = history.iter().enumerate().filter(|(_, told)| told.phase == Phase::Confirmed);
    let attested = confirmed.map(|(change, _)| {
        let mut attestation = tally.attestation(change, &restarted, compared.name);
        let newer = &claims.superseded[change];
        attestation.superseded = newer.values().sum();
        attestation.superseded_by =
            newer.keys().rev().map(|newer| history[*newer].begun.id.clone()).collect();
        attestation.entries =
            claims.slots.values().flatten().filter(|claim| claim.change == change).map(Claim::count).sum();
        attestation.verdict = verdict(&attestation);
        attestation.manager.clone_from(&manager);
        (change, attestation)
    });
    Ok(attested.collect())
}

fn count(entries: Entries) -> u64 {
    entries.count_ones().into()
}

impl Claim {
    fn count(&self) -> u64 {
        count(self.entries)
    }
}

fn verdict(attestation: &Attestation) -> Verdict {
    match attestation {
        Attestation { differ: 1.., .. } => Verdict::NoLongerStands,
        Attestation { unread: 1.., .. } => Verdict::NotKnown,
        Attestation { entries: 0, superseded: 1.., .. } => Verdict::Superseded,
        _ => Verdict::Stands,
    }
}

/// Reads these parts, as far as their devices answer.
fn read(
    surveyor: &mut dyn Surveyor,
    slots: &[Slot],
    watch: &dyn Watch,
) -> Result<BTreeMap<Slot, Vec<u8>>, SourceError> {
    let mut queue = ReadQueue::new(slots.iter().map(|slot| slot.at), &BTreeSet::new());
    let mut held = BTreeMap::new();
    loop {
        let slice: Vec<Slot> = queue.slice().into_iter().map(|at| slots[at]).collect();
        if slice.is_empty() {
            return Ok(held);
        }
        if watch.cancelled() {
            return Err(SourceError::Cancelled);
        }
        for (slot, answer) in slice.iter().zip(surveyor.read(&slice)) {
            queue.take(slot.at, &answer);
            held.extend(answer.ok().map(|answer| (*slot, answer)));
        }
        if queue.has_lost_port() {
            return Err(SourceError::Unreachable {
                code: "FD-5607",
                what: "the way to the fabric was lost while confirmed changes were compared with it".into(),
                hint: "see that its adapter works, or its simulator".into(),
            });
        }
    }
}

/// The findings for one change on one device.
#[derive(Default)]
struct Found {
    differ: u64,
    unread: u64,
    gone: u64,
    as_before: u64,
    by: BTreeMap<usize, u64>,
}

struct Tally<'h> {
    history: &'h [Told],
    held: BTreeMap<Slot, Vec<u8>>,
    taken_back: &'h BTreeMap<Slot, Vec<(usize, Step)>>,
    /// By the index of the change, and the device.
    by_change: BTreeMap<(usize, Device), Found>,
}

impl Tally<'_> {
    fn report(&mut self, slot: &Slot, claim: &Claim) -> &mut Found {
        self.by_change.entry((claim.change, slot.at)).or_default()
    }

    fn compare(&mut self, slot: &Slot, claim: &Claim, held: &[u8]) {
        let differ = differing(slot.part, held, &claim.new) & claim.entries;
        if differ == 0 {
            return;
        }
        let (mut unexplained, mut by) = (differ, Vec::new());
        for taken_back in self.taken_back.get(slot).into_iter().flatten() {
            let accounts = unexplained & left_behind(self.history, taken_back, claim.change, held);
            by.extend((accounts != 0).then_some((taken_back.0, count(accounts))));
            unexplained &= !accounts;
        }
        let found = self.report(slot, claim);
        found.differ += count(differ);
        found.as_before += count(differ & !differing(slot.part, held, &claim.old));
        by.into_iter().for_each(|(other, entries)| *found.by.entry(other).or_default() += entries);
    }

    /// Switches with entries that differ, an empty LFT and LinearFDBTop 0, as after a restart.
    fn restarted(&self, surveyor: &mut dyn Surveyor) -> BTreeSet<Device> {
        let differ = self.by_change.iter().filter(|(_, found)| found.differ > 0);
        let devices: BTreeSet<Device> = differ.map(|((_, device), _)| *device).collect();
        let empty: Vec<Device> = devices.into_iter().filter(|device| self.is_empty(*device)).collect();
        let tops: Vec<Slot> = empty.iter().map(|at| Slot { at: *at, part: Part::LinearTop(()) }).collect();
        let tops = surveyor.read(&tops);
        let unused = empty.into_iter().zip(tops).filter(|(_, top)| top.as_deref() == Ok(&[0, 0]));
        unused.map(|(device, _)| device).collect()
    }

    /// Whether every block that was read from a switch is empty.
    fn is_empty(&self, device: Device) -> bool {
        let first = Slot { at: device, part: Part::Block(0) };
        let blocks = self.held.range(first..).take_while(|(slot, _)| slot.at == device);
        let mut blocks = blocks.filter(|(slot, _)| matches!(slot.part, Part::Block(_))).peekable();
        // After a restart some switches hold NO_PATH, others zeros.
        let is_empty = |bytes: &[u8]| [NO_PATH, 0].iter().any(|none| bytes.iter().all(|byte| byte == none));
        blocks.peek().is_some() && blocks.all(|(_, bytes)| is_empty(bytes))
    }

    fn attestation(
        &self,
        change: usize,
        restarted: &BTreeSet<Device>,
        name: &dyn Fn(Device) -> String,
    ) -> Attestation {
        let found = self.by_change.iter().filter(|((of, _), _)| *of == change);
        let devices: Vec<DeviceReport> = found
            .map(|((_, device), found)| DeviceReport {
                name: name(*device),
                guid: device.guid().to_string(),
                state: match found {
                    Found { gone: 1.., .. } => DeviceState::Gone,
                    Found { differ: 1.., .. } if restarted.contains(device) => DeviceState::Restarted,
                    Found { differ: 1.., .. } => DeviceState::Overwritten,
                    _ => DeviceState::Silent,
                },
                differ: found.differ + found.gone,
                unread: found.unread,
                as_before: found.as_before,
                by: found.by.iter().rev().map(|(other, entries)| self.other(*other, *entries)).collect(),
            })
            .collect();
        Attestation {
            verdict: Verdict::Stands,
            entries: 0,
            differ: devices.iter().map(|device| device.differ).sum(),
            unread: devices.iter().map(|device| device.unread).sum(),
            superseded: 0,
            superseded_by: Vec::new(),
            devices,
            manager: None,
            manager_before: None,
        }
    }

    fn other(&self, other: usize, entries: u64) -> OtherChange {
        let told = &self.history[other];
        OtherChange { id: told.begun.id.clone(), state: told.phase, entries }
    }
}

/// The entries with bytes that another change left: its new bytes, if its rollback is incomplete, or the old bytes that
/// its rollback restored.
fn left_behind(history: &[Told], (other, step): &(usize, Step), change: usize, held: &[u8]) -> Entries {
    let (told, part) = (&history[*other], step.slot.part);
    let written = differing(part, &step.old, &step.new);
    let there = match told.phase {
        Phase::Incomplete => written & !differing(part, held, &step.new),
        _ => 0,
    };
    // A newer change found these bytes and restored them, so they are older than it.
    let put_back = match *other < change && ended_after_begin(told, &history[change]) {
        true => written & !differing(part, held, &step.old),
        false => 0,
    };
    there | put_back
}

/// Whether a rollback ended after another change had begun.
fn ended_after_begin(taken_back: &Told, change: &Told) -> bool {
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let ended = taken_back.ended.as_ref().and_then(|ended| time(&ended.time));
    matches!((ended, time(&change.begun.time)), (Some(ended), Some(begun)) if ended > begun)
}
