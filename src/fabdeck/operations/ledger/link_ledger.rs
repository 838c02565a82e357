//! The histories of all cables with events. A cable is known by the serial numbers of its modules where they are known,
//! and otherwise by its two ports:
//!
//! | at the same ports | serial numbers | it is |
//! |---|---|---|
//! | yes | the same, or not known | the same cable |
//! | yes | others | another cable: its history begins anew |
//! | no | those of a known cable that is no longer at its place | that cable, moved |
//! | no | others, or not known | a new cable |

use std::collections::{BTreeMap, HashMap};

use super::cable_history::{CableCounts, CableHistory, CableSighting};
use super::period::PeriodLength;
use fabdeck_fabric::observe::PortIdentity;

/// Most cables; of more, those whose last event is the oldest are deleted.
const MAX_CABLES: usize = 40_000;

/// A cable of the ledger.
pub type CableId = u64;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct LinkLedger {
    cables: BTreeMap<CableId, CableHistory>,
    next: CableId,
    /// The cable that is at a port, and those with a serial number, by the lowest id.
    by_port: HashMap<PortIdentity, CableId>,
    by_serial: HashMap<String, Vec<CableId>>,
}

impl LinkLedger {
    /// The ledger with these histories.
    pub fn from_histories(histories: impl IntoIterator<Item = CableHistory>) -> Self {
        let mut ledger = Self::default();
        for history in histories {
            ledger.insert(history);
        }
        ledger
    }

    pub fn histories(&self) -> impl Iterator<Item = &CableHistory> {
        self.cables.values()
    }

    pub fn is_empty(&self) -> bool {
        self.cables.is_empty()
    }

    fn insert(&mut self, history: CableHistory) -> CableId {
        let id = self.next;
        self.next += 1;
        if history.is_in_place {
            for end in history.place.ends {
                if let Some(other) = self.by_port.insert(end, id).filter(|other| *other != id)
                    && let Some(other) = self.cables.get_mut(&other)
                {
                    other.is_in_place = false;
                }
            }
        }
        for serial in history.place.serials.iter().flatten() {
            self.by_serial.entry(serial.clone()).or_default().push(id);
        }
        self.cables.insert(id, history);
        id
    }

    fn remove(&mut self, id: CableId) -> Option<CableHistory> {
        let history = self.cables.remove(&id)?;
        self.by_port.retain(|_, at| *at != id);
        for serial in history.place.serials.iter().flatten() {
            if let Some(with) = self.by_serial.get_mut(serial) {
                with.retain(|other| *other != id);
            }
        }
        Some(history)
    }

    /// The cable that is at a port, as far as is known.
    pub fn at_port(&self, port: PortIdentity) -> Option<&CableHistory> {
        self.cables.get(self.by_port.get(&port)?)
    }

    /// The history of the cable at a place.
    pub fn find(&self, place: &CableSighting) -> Option<&CableHistory> {
        let (id, _) = self.find_id(place)?;
        self.cables.get(&id)
    }

    /// The cable, and whether it is found at its place.
    fn find_id(&self, place: &CableSighting) -> Option<(CableId, bool)> {
        let [a, b] = place.ends.map(|end| self.by_port.get(&end));
        if let (Some(a), Some(b)) = (a, b)
            && a == b
            && self.cables.get(a).is_some_and(|cable| !contradicts(&cable.place, place))
        {
            return Some((*a, true));
        }
        let serials: Vec<&String> = place.serials.iter().flatten().collect();
        let with = serials.iter().filter_map(|serial| self.by_serial.get(*serial)).flatten();
        let mut moved =
            with.filter(|id| self.cables.get(id).is_some_and(|cable| is_same_cable(&cable.place, place)));
        moved.next().map(|id| (*id, false))
    }

    /// Whether the ledger says something else of this place than what is seen there: another cable, a cable that was moved
    /// here, or one whose serial numbers it does not know. `is_elsewhere`: whether a place still has the cable that is
    /// known to be there.
    pub fn is_outdated(&self, place: &CableSighting, is_elsewhere: impl Fn(&CableSighting) -> bool) -> bool {
        match self.find_id(place) {
            Some((id, true)) => self.cables.get(&id).is_some_and(|known| {
                let known = &known.place.serials;
                known.iter().zip(&place.serials).any(|(known, seen)| known.is_none() && seen.is_some())
            }),
            Some((id, false)) => self.cables.get(&id).is_some_and(|known| !is_elsewhere(&known.place)),
            None => place
                .ends
                .iter()
                .filter_map(|end| self.at_port(*end))
                .any(|known| known.place.ends == place.ends && contradicts(&known.place, place)),
        }
    }

    /// Counts what happened to the cable at a place. A cable without events gets no history.
    pub fn apply(&mut self, place: &CableSighting, counts: &CableCounts, time_ms: i64) {
        let found = self.find_id(place);
        let id = match found {
            Some((id, true)) => {
                self.complete(id, place);
                id
            }
            Some((id, false)) => {
                let Some(mut history) = self.remove(id) else { return };
                self.vacate(place, time_ms);
                history.move_to(complete_place(&history.place, place), time_ms);
                self.insert(history)
            }
            None => {
                self.vacate(place, time_ms);
                if !counts.is_event() {
                    return;
                }
                self.insert(CableHistory::new(place.clone(), time_ms))
            }
        };
        if let Some(history) = self.cables.get_mut(&id) {
            history.add(counts, time_ms);
        }
        if self.cables.len() > MAX_CABLES {
            let oldest = self.cables.iter().min_by_key(|(_, cable)| cable.last_ms).map(|(id, _)| *id);
            oldest.and_then(|oldest| self.remove(oldest));
        }
    }

    /// Takes up serial numbers that became known, and present names.
    fn complete(&mut self, id: CableId, place: &CableSighting) {
        let Some(known) = self.cables.get_mut(&id).filter(|known| known.place != *place) else { return };
        let completed = complete_place(&known.place, place);
        for serial in completed.serials.iter().flatten() {
            if !known.has_serial(serial) {
                self.by_serial.entry(serial.clone()).or_default().push(id);
            }
        }
        known.place = completed;
    }

    /// The cables that were at these ports are no longer there.
    fn vacate(&mut self, place: &CableSighting, time_ms: i64) {
        for end in place.ends {
            let Some(id) = self.by_port.remove(&end) else { continue };
            let Some(known) = self.cables.get_mut(&id) else { continue };
            self.by_port.retain(|_, at| *at != id);
            known.is_in_place = false;
            let words = match known.place.ends == place.ends {
                true => format!("another cable at its place{}", serial_words(place)),
                false => format!("no longer at its place: {} have a cable", place.words()),
            };
            known.note_action(Some(words), time_ms);
        }
    }

    /// Deletes what is no longer kept.
    pub fn delete_old(&mut self, now_ms: i64) {
        let oldest = PeriodLength::Year.oldest_kept(now_ms);
        let is_old = |cable: &CableHistory| PeriodLength::Year.period_at(cable.last_ms) < oldest;
        let old: Vec<CableId> =
            self.cables.iter().filter(|(_, cable)| is_old(cable)).map(|(id, _)| *id).collect();
        old.into_iter().for_each(|id| drop(self.remove(id)));
        self.cables.values_mut().for_each(|cable| cable.delete_old(now_ms));
    }

    /// The cables, repeat offenders first: those with events on the most of the last 90 days, then those that went down
    /// most often, had the most errors, and had an event last.
    pub fn ranked(&self, now_ms: i64) -> Vec<&CableHistory> {
        use std::cmp::Reverse;
        let mut all: Vec<&CableHistory> = self.cables.values().collect();
        all.sort_by_cached_key(|cable| {
            let sums = (Reverse(cable.downs), Reverse(cable.errors), Reverse(cable.last_ms));
            (Reverse(cable.days(now_ms).count()), sums, cable.place.ends)
        });
        all
    }
}

/// Whether the modules at both places are known at an end, and are others.
fn contradicts(known: &CableSighting, seen: &CableSighting) -> bool {
    let mut ends = known.serials.iter().zip(&seen.serials);
    ends.any(|(known, seen)| known.is_some() && seen.is_some() && known != seen)
}

/// Whether two places have the modules of one cable: all that are known at one place are known at the other one. A cable
/// may have one serial number at both ends.
fn is_same_cable(known: &CableSighting, seen: &CableSighting) -> bool {
    let sorted = |place: &CableSighting| {
        let mut serials: Vec<String> = place.serials.iter().flatten().cloned().collect();
        serials.sort();
        serials
    };
    match (&sorted(known)[..], &sorted(seen)[..]) {
        ([], _) | (_, []) => false,
        ([one], [a, b]) | ([a, b], [one]) => one == a || one == b,
        (known, seen) => known == seen,
    }
}

/// The place that is seen, with the serial numbers that are known of it.
fn complete_place(known: &CableSighting, seen: &CableSighting) -> CableSighting {
    let same_ends = known.ends == seen.ends;
    let mut place = seen.clone();
    for (serial, known) in place.serials.iter_mut().zip(&known.serials) {
        if serial.is_none() && same_ends {
            serial.clone_from(known);
        }
    }
    place
}

fn serial_words(place: &CableSighting) -> String {
    let mut serials: Vec<&str> = place.serials.iter().flatten().map(String::as_str).collect();
    serials.dedup();
    if serials.is_empty() { String::new() } else { format!(": {}", serials.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::{Guid, PortNum};

    fn place(a: u64, b: u64, serials: [&str; 2]) -> CableSighting {
        let end = |node: u64, serial: &str| {
            let serial = (!serial.is_empty()).then(|| serial.to_owned());
            ((Guid(node), PortNum(1)), format!("n{node}[1]"), serial)
        };
        CableSighting::new(end(a, serials[0]), end(b, serials[1]))
    }

    fn once() -> CableCounts {
        CableCounts { downs: [1, 1, 1], ..CableCounts::default() }
    }

    #[test]
    fn a_swapped_cable_begins_anew_and_a_moved_one_keeps_its_history() {
        let mut ledger = LinkLedger::default();
        let first = place(1, 2, ["A", "B"]);
        ledger.apply(&first, &once(), 10);
        ledger.apply(&first, &once(), 20);
        // Other modules at the same ports.
        let second = place(1, 2, ["C", "D"]);
        assert_eq!(ledger.find(&second), None);
        assert!(ledger.is_outdated(&second, |_| false));
        ledger.apply(&second, &CableCounts::default(), 30);
        assert_eq!((ledger.cables.len(), ledger.at_port((Guid(1), PortNum(1)))), (1, None));
        ledger.apply(&second, &once(), 40);
        assert_eq!((ledger.find(&second).unwrap().downs, ledger.find(&first).unwrap().downs), (1, 2));
        assert!(ledger.find(&first).unwrap().actions[0].text.contains("another cable at its place: C, D"));
        // The first cable is found between other ports, the other way round.
        let moved = place(7, 3, ["A", "B"]);
        assert!(ledger.is_outdated(&moved, |_| false) && !ledger.is_outdated(&moved, |_| true));
        ledger.apply(&moved, &once(), 50);
        let cable = ledger.find(&moved).unwrap();
        assert_eq!((cable.downs, &cable.place), (3, &moved));
        assert!(cable.actions.last().unwrap().text.contains("moved from n1[1] to n2[1] to n3[1] to n7[1]"));
        assert_eq!(ledger.cables.len(), 2);
    }

    #[test]
    fn serial_numbers_that_are_not_known_are_no_other_cable() {
        let mut ledger = LinkLedger::default();
        ledger.apply(&place(1, 2, ["", ""]), &once(), 10);
        let known = place(1, 2, ["A", "A"]);
        assert!(ledger.is_outdated(&known, |_| false));
        ledger.apply(&known, &once(), 20);
        ledger.apply(&place(1, 2, ["", "A"]), &once(), 30);
        assert_eq!(ledger.cables.len(), 1);
        assert_eq!(ledger.find(&place(2, 1, ["", ""])).unwrap().downs, 3);
        // A module of it beside another one is another cable.
        assert_eq!(ledger.find(&place(1, 2, ["A", "X"])), None);
        // Without serial numbers other ports are another cable, and one that takes a port ends the other one's place.
        ledger.apply(&place(2, 3, ["", ""]), &once(), 40);
        assert_eq!(ledger.cables.len(), 2);
        assert!(!ledger.cables[&0].is_in_place && ledger.at_port((Guid(1), PortNum(1))).is_none());
        let again = LinkLedger::from_histories(ledger.histories().cloned());
        assert_eq!((&again.by_port, again.cables.len()), (&ledger.by_port, 2));
    }

    #[test]
    fn repeat_offenders_come_first() {
        use crate::operations::ledger::period::DAY_MS;
        let mut ledger = LinkLedger::default();
        let many = CableCounts { downs: [40, 40, 1], errors: 9, ..CableCounts::default() };
        ledger.apply(&place(1, 2, ["", ""]), &many, 5 * DAY_MS);
        (0..3).for_each(|day| ledger.apply(&place(3, 4, ["", ""]), &once(), day * DAY_MS));
        let ranked: Vec<u64> = ledger.ranked(6 * DAY_MS).iter().map(|cable| cable.downs).collect();
        assert_eq!(ranked, [3, 40]);
        // After the days are forgotten the sums decide, and after ten years nothing is left.
        let ranked: Vec<u64> = ledger.ranked(500 * DAY_MS).iter().map(|cable| cable.downs).collect();
        assert_eq!(ranked, [40, 3]);
        ledger.delete_old(4100 * DAY_MS);
        assert!(ledger.is_empty() && ledger.by_port.is_empty());
    }
}
