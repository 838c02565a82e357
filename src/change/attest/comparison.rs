//! Reads what confirmed changes wrote, and reports what differs.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::entry_claims::{EntryClaim, EntryClaims, EntryMask, differing_entries};
use super::verdict::{Attestation, AttestationVerdict, DeviceReport, DeviceState, OtherChange};
use crate::journal::{ChangePhase, ChangeState};
use crate::manager_text::manager_in_charge;
use crate::read_queue::ReadQueue;
use crate::writes::WriteStep;
use fabdeck_fabric::NO_PATH;
use fabdeck_fabric::observe::Observation;
use fabdeck_mad::access::{AttributePart, DeviceAttribute, DeviceId, ReadObserver, SourceError, Surveyor};

/// The fabric that changes are compared with.
#[allow(missing_debug_implementations, reason = "nothing of a surveyor can be shown")]
pub struct ComparedFabric<'a> {
    pub surveyor: &'a mut dyn Surveyor,
    /// The surveyor's last reading of the fabric.
    pub look: &'a Observation,
    /// Whether some node did not answer that reading, so that a missing device may still exist.
    pub is_partial: bool,
    /// Names a device.
    pub name: &'a dyn Fn(DeviceId) -> String,
}

/// Compares all confirmed changes of the history with the fabric. Returns the index of each change and its attestation.
pub fn compare_changes(
    compared: ComparedFabric<'_>,
    history: &[ChangeState],
    watch: &dyn ReadObserver,
) -> Result<Vec<(usize, Attestation)>, SourceError> {
    let claims = EntryClaims::of(history);
    let is_confirmed = |claim: &EntryClaim| history[claim.change].phase == ChangePhase::Confirmed;
    let slots: Vec<DeviceAttribute> = claims
        .slots
        .iter()
        .filter(|(_, claims)| claims.iter().any(is_confirmed))
        .map(|(slot, _)| *slot)
        .collect();
    let present: BTreeSet<DeviceId> =
        slots.iter().map(|slot| slot.at).filter(|at| at.node(&compared.look.fabric).is_some()).collect();
    let asked: Vec<DeviceAttribute> = slots.into_iter().filter(|slot| present.contains(&slot.at)).collect();
    let held = read_slots(compared.surveyor, &asked, watch)?;
    let mut tally = Tally { history, held, taken_back: &claims.taken_back, by_change: BTreeMap::new() };
    for (slot, claims) in &claims.slots {
        let is_there = present.contains(&slot.at);
        let claims = claims.iter().filter(|claim| is_confirmed(claim));
        match (tally.held.get(slot).cloned(), is_there || compared.is_partial) {
            (Some(held), _) => claims.for_each(|claim| tally.compare(slot, claim, &held)),
            (None, true) => {
                claims.for_each(|claim| tally.report(slot, claim).unread += count_entries(claim.entries))
            }
            (None, false) => {
                claims.for_each(|claim| tally.report(slot, claim).gone += count_entries(claim.entries))
            }
        }
    }
    let restarted = tally.restarted_switches(compared.surveyor);
    let manager = manager_in_charge(compared.look);
    let confirmed = history.iter().enumerate().filter(|(_, told)| told.phase == ChangePhase::Confirmed);
    let attested = confirmed.map(|(change, _)| {
        let mut attestation = tally.attestation(change, &restarted, compared.name);
        let newer = &claims.superseded[change];
        attestation.superseded = newer.values().sum();
        attestation.superseded_by =
            newer.keys().rev().map(|newer| history[*newer].begun.id.clone()).collect();
        attestation.entries = claims
            .slots
            .values()
            .flatten()
            .filter(|claim| claim.change == change)
            .map(EntryClaim::count)
            .sum();
        attestation.verdict = to_verdict(&attestation);
        attestation.manager.clone_from(&manager);
        (change, attestation)
    });
    Ok(attested.collect())
}

fn count_entries(entries: EntryMask) -> u64 {
    entries.count_ones().into()
}

impl EntryClaim {
    fn count(&self) -> u64 {
        count_entries(self.entries)
    }
}

fn to_verdict(attestation: &Attestation) -> AttestationVerdict {
    match attestation {
        Attestation { differ: 1.., .. } => AttestationVerdict::NoLongerStands,
        Attestation { unread: 1.., .. } => AttestationVerdict::NotKnown,
        Attestation { entries: 0, superseded: 1.., .. } => AttestationVerdict::Superseded,
        _ => AttestationVerdict::Stands,
    }
}

/// Reads these parts, as far as their devices answer.
fn read_slots(
    surveyor: &mut dyn Surveyor,
    slots: &[DeviceAttribute],
    watch: &dyn ReadObserver,
) -> Result<BTreeMap<DeviceAttribute, Vec<u8>>, SourceError> {
    let mut queue = ReadQueue::new(slots.iter().map(|slot| slot.at), &BTreeSet::new());
    let mut held = BTreeMap::new();
    loop {
        let slice: Vec<DeviceAttribute> = queue.next_slice().into_iter().map(|at| slots[at]).collect();
        if slice.is_empty() {
            return Ok(held);
        }
        if watch.is_cancelled() {
            return Err(SourceError::Cancelled);
        }
        for (slot, answer) in slice.iter().zip(surveyor.read(&slice)) {
            queue.record_answer(slot.at, &answer);
            held.extend(answer.ok().map(|answer| (*slot, answer)));
        }
        if queue.has_lost_local_port() {
            return Err(SourceError::Unreachable {
                code: "FD-5607",
                what: "the connection to the fabric was lost while confirmed changes were compared with it"
                    .into(),
                hint: "check that the adapter or the simulator works".into(),
            });
        }
    }
}

/// The findings for one change on one device.
#[derive(Default)]
struct DeviceFindings {
    differ: u64,
    unread: u64,
    gone: u64,
    as_before: u64,
    by: BTreeMap<usize, u64>,
}

struct Tally<'h> {
    history: &'h [ChangeState],
    held: BTreeMap<DeviceAttribute, Vec<u8>>,
    taken_back: &'h BTreeMap<DeviceAttribute, Vec<(usize, WriteStep)>>,
    /// By the index of the change, and the device.
    by_change: BTreeMap<(usize, DeviceId), DeviceFindings>,
}

impl Tally<'_> {
    fn report(&mut self, slot: &DeviceAttribute, claim: &EntryClaim) -> &mut DeviceFindings {
        self.by_change.entry((claim.change, slot.at)).or_default()
    }

    fn compare(&mut self, slot: &DeviceAttribute, claim: &EntryClaim, held: &[u8]) {
        let differ = differing_entries(slot.part, held, &claim.new) & claim.entries;
        if differ == 0 {
            return;
        }
        let (mut unexplained, mut by) = (differ, Vec::new());
        for taken_back in self.taken_back.get(slot).into_iter().flatten() {
            let accounts = unexplained & entries_left_behind(self.history, taken_back, claim.change, held);
            by.extend((accounts != 0).then_some((taken_back.0, count_entries(accounts))));
            unexplained &= !accounts;
        }
        let found = self.report(slot, claim);
        found.differ += count_entries(differ);
        found.as_before += count_entries(differ & !differing_entries(slot.part, held, &claim.old));
        by.into_iter().for_each(|(other, entries)| *found.by.entry(other).or_default() += entries);
    }

    /// Switches with entries that differ, an empty LFT and LinearFDBTop 0, as after a restart.
    fn restarted_switches(&self, surveyor: &mut dyn Surveyor) -> BTreeSet<DeviceId> {
        let differ = self.by_change.iter().filter(|(_, found)| found.differ > 0);
        let devices: BTreeSet<DeviceId> = differ.map(|((_, device), _)| *device).collect();
        let empty: Vec<DeviceId> = devices.into_iter().filter(|device| self.is_empty(*device)).collect();
        let tops: Vec<DeviceAttribute> =
            empty.iter().map(|at| DeviceAttribute { at: *at, part: AttributePart::LinearTop(()) }).collect();
        let tops = surveyor.read(&tops);
        let unused = empty.into_iter().zip(tops).filter(|(_, top)| top.as_deref() == Ok(&[0, 0]));
        unused.map(|(device, _)| device).collect()
    }

    /// Whether every block that was read from a switch is empty.
    fn is_empty(&self, device: DeviceId) -> bool {
        let first = DeviceAttribute { at: device, part: AttributePart::Block(0) };
        let blocks = self.held.range(first..).take_while(|(slot, _)| slot.at == device);
        let mut blocks = blocks.filter(|(slot, _)| matches!(slot.part, AttributePart::Block(_))).peekable();
        // After a restart some switches hold NO_PATH, others zeros.
        let is_empty = |bytes: &[u8]| [NO_PATH, 0].iter().any(|none| bytes.iter().all(|byte| byte == none));
        blocks.peek().is_some() && blocks.all(|(_, bytes)| is_empty(bytes))
    }

    fn attestation(
        &self,
        change: usize,
        restarted: &BTreeSet<DeviceId>,
        name: &dyn Fn(DeviceId) -> String,
    ) -> Attestation {
        let found = self.by_change.iter().filter(|((of, _), _)| *of == change);
        let devices: Vec<DeviceReport> = found
            .map(|((_, device), found)| DeviceReport {
                name: name(*device),
                guid: device.guid().to_string(),
                state: match found {
                    DeviceFindings { gone: 1.., .. } => DeviceState::Gone,
                    DeviceFindings { differ: 1.., .. } if restarted.contains(device) => {
                        DeviceState::Restarted
                    }
                    DeviceFindings { differ: 1.., .. } => DeviceState::Overwritten,
                    _ => DeviceState::Silent,
                },
                differ: found.differ + found.gone,
                unread: found.unread,
                as_before: found.as_before,
                by: found
                    .by
                    .iter()
                    .rev()
                    .map(|(other, entries)| self.other_change(*other, *entries))
                    .collect(),
            })
            .collect();
        Attestation {
            verdict: AttestationVerdict::Stands,
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

    fn other_change(&self, other: usize, entries: u64) -> OtherChange {
        let told = &self.history[other];
        OtherChange { id: told.begun.id.clone(), state: told.phase, entries }
    }
}

/// The entries with bytes that another change left: its new bytes, if its rollback is incomplete, or the old bytes that
/// its rollback restored.
fn entries_left_behind(
    history: &[ChangeState],
    (other, step): &(usize, WriteStep),
    change: usize,
    held: &[u8],
) -> EntryMask {
    let (told, part) = (&history[*other], step.slot.part);
    let written = differing_entries(part, &step.old, &step.new);
    let there = match told.phase {
        ChangePhase::Incomplete => written & !differing_entries(part, held, &step.new),
        _ => 0,
    };
    // A newer change found these bytes and restored them, so they are older than it.
    let put_back = match *other < change && is_ended_after_begin(told, &history[change]) {
        true => written & !differing_entries(part, held, &step.old),
        false => 0,
    };
    there | put_back
}

/// Whether a rollback ended after another change had begun.
fn is_ended_after_begin(taken_back: &ChangeState, change: &ChangeState) -> bool {
    let time = |text: &str| text.parse::<Timestamp>().ok();
    let ended = taken_back.ended.as_ref().and_then(|ended| time(&ended.time));
    matches!((ended, time(&change.begun.time)), (Some(ended), Some(begun)) if ended > begun)
}
