//! The event queue: a timing wheel. A heap would take more time than all other work for a packet.
//!
//! An actor has at most one planned event, so events are links between actors, and nothing is allocated. A slot spans
//! 128 ps, 1/650 of the time of a 2,048-byte packet at 200 Gb/s. Events of one slot happen in the order in which they
//! were planned. Callers keep exact times, so slots do not distort rates.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// log2 of the picoseconds of a slot.
const SLOT_BITS: u32 = 7;
/// The wheel covers 16.8 us; later events wait in a heap.
const SLOTS: usize = 1 << 17;
const WORDS: usize = SLOTS / 64;

const NO_ACTOR: u32 = u32::MAX;
const IDLE: u32 = u32::MAX - 1;

#[derive(Clone, Copy, Debug)]
struct WheelSlot {
    first: u32,
    last: u32,
}

const EMPTY: WheelSlot = WheelSlot { first: NO_ACTOR, last: NO_ACTOR };

#[derive(Debug)]
pub(crate) struct TimingWheel {
    slots: Vec<WheelSlot>,
    /// The next actor in the same slot; `IDLE` if the actor has no planned event.
    after: Vec<u32>,
    /// A bit for each slot that is not empty, and a bit for each such word that is not zero.
    words: Vec<u64>,
    index: [u64; WORDS / 64],
    /// The current slot, counted from the beginning of time.
    at: u64,
    later: BinaryHeap<Reverse<(u64, u64, u32)>>,
    planned: u64,
}

impl TimingWheel {
    pub fn new(actors: usize) -> Self {
        Self {
            slots: vec![EMPTY; SLOTS],
            after: vec![IDLE; actors],
            words: vec![0; WORDS],
            index: [0; WORDS / 64],
            at: 0,
            later: BinaryHeap::new(),
            planned: 0,
        }
    }

    /// The time of the current slot, in picoseconds.
    pub fn now(&self) -> u64 {
        self.at << SLOT_BITS
    }

    /// Whether a time is not after the current slot.
    pub fn is_due(&self, time: u64) -> bool {
        time >> SLOT_BITS <= self.at
    }

    pub fn is_scheduled(&self, actor: u32) -> bool {
        self.after[actor as usize] != IDLE
    }

    /// Plans the event of an actor. An event in the past happens now.
    pub fn schedule(&mut self, time: u64, actor: u32) {
        debug_assert!(!self.is_scheduled(actor), "an actor has one event at a time");
        let slot = (time >> SLOT_BITS).max(self.at);
        if slot - self.at < SLOTS as u64 {
            return self.add_to_slot(slot, actor);
        }
        self.after[actor as usize] = NO_ACTOR;
        self.later.push(Reverse((slot, self.planned, actor)));
        self.planned += 1;
    }

    fn add_to_slot(&mut self, slot: u64, actor: u32) {
        let place = slot as usize % SLOTS;
        self.after[actor as usize] = NO_ACTOR;
        let held = &mut self.slots[place];
        if held.first == NO_ACTOR {
            *held = WheelSlot { first: actor, last: actor };
            self.words[place / 64] |= 1 << (place % 64);
            self.index[place / 4096] |= 1 << (place / 64 % 64);
        } else {
            self.after[held.last as usize] = actor;
            held.last = actor;
        }
    }

    /// The next actor whose event is not after `until`. `until` must not be before the current slot.
    pub fn next_actor(&mut self, until: u64) -> Option<u32> {
        let place = self.at as usize % SLOTS;
        if self.slots[place].first == NO_ACTOR {
            let slot = self.next_slot().filter(|slot| slot << SLOT_BITS <= until)?;
            self.enter_slot(slot);
        }
        let place = self.at as usize % SLOTS;
        let held = &mut self.slots[place];
        let actor = held.first;
        held.first = self.after[actor as usize];
        self.after[actor as usize] = IDLE;
        if held.first == NO_ACTOR {
            self.words[place / 64] &= !(1 << (place % 64));
            if self.words[place / 64] == 0 {
                self.index[place / 4096] &= !(1 << (place / 64 % 64));
            }
        }
        Some(actor)
    }

    /// Advances time, at most to the next event.
    pub fn advance_to(&mut self, until: u64) {
        let slot = (until >> SLOT_BITS).max(self.at);
        self.enter_slot(self.next_slot().map_or(slot, |next| next.min(slot)));
    }

    /// The time of the next event, in picoseconds.
    pub fn next_time(&self) -> Option<u64> {
        self.next_slot().map(|slot| slot << SLOT_BITS)
    }

    /// Gives actors other numbers, `actors` in all; the order of events stays.
    pub fn renumber(&mut self, actors: usize, number: impl Fn(u32) -> u32) {
        let renumbered = |actor: u32| if actor < IDLE { number(actor) } else { actor };
        let before = std::mem::replace(&mut self.after, vec![IDLE; actors]);
        for (actor, after) in (0u32..).zip(before).filter(|(_, after)| *after != IDLE) {
            self.after[number(actor) as usize] = renumbered(after);
        }
        for slot in &mut self.slots {
            // An emptied slot still holds its last actor.
            *slot = match slot.first {
                NO_ACTOR => EMPTY,
                first => WheelSlot { first: number(first), last: number(slot.last) },
            };
        }
        let later = std::mem::take(&mut self.later).into_iter();
        self.later =
            later.map(|Reverse((slot, order, actor))| Reverse((slot, order, number(actor)))).collect();
    }

    fn enter_slot(&mut self, slot: u64) {
        self.at = slot;
        while let Some(Reverse((slot, _, actor))) = self.later.peek().copied() {
            if slot - self.at >= SLOTS as u64 {
                break;
            }
            self.later.pop();
            self.add_to_slot(slot, actor);
        }
    }

    fn next_slot(&self) -> Option<u64> {
        let place = self.at as usize % SLOTS;
        let found = self.find_slot(place, SLOTS).or_else(|| self.find_slot(0, place));
        let near = found.map(|found| self.at + ((found + SLOTS - place) % SLOTS) as u64);
        near.or_else(|| self.later.peek().map(|Reverse((slot, ..))| *slot))
    }

    /// The first slot of a range that is not empty.
    fn find_slot(&self, from: usize, end: usize) -> Option<usize> {
        let within = |place: usize| (place < end).then_some(place);
        let rest = self.words.get(from / 64)? >> (from % 64);
        if rest != 0 {
            return within(from + rest.trailing_zeros() as usize);
        }
        let word = from / 64 + 1;
        let mut group = word / 64;
        let mut bits = self.index.get(group).map_or(0, |bits| bits >> (word % 64) << (word % 64));
        while bits == 0 {
            group += 1;
            bits = *self.index.get(group)?;
        }
        let word = group * 64 + bits.trailing_zeros() as usize;
        within(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SimulatorRng;

    #[test]
    fn events_come_by_time_and_those_of_one_slot_as_they_were_planned() {
        const ACTORS: u32 = 64;
        let mut dice = SimulatorRng::new(3);
        let mut wheel = TimingWheel::new(ACTORS as usize);
        // The same event queue, kept as a list.
        let mut naive: Vec<(u64, u64, u32)> = Vec::new();
        let mut planned = 0;
        for round in 0..20_000u64 {
            let actor = dice.draw_below(ACTORS.into()) as u32;
            let far = [300, 100_000, 40_000_000][dice.draw_below(3) as usize];
            if !wheel.is_scheduled(actor) && !round.is_multiple_of(3) {
                let time = wheel.now() + dice.draw_below(far);
                wheel.schedule(time, actor);
                naive.push(((time >> SLOT_BITS).max(wheel.now() >> SLOT_BITS), planned, actor));
                planned += 1;
                continue;
            }
            let Some(first) = naive.iter().copied().min() else { continue };
            assert_eq!(wheel.next_time(), Some(first.0 << SLOT_BITS));
            // The current slot is never before its time.
            if first.0 > wheel.now() >> SLOT_BITS {
                assert_eq!(wheel.next_actor((first.0 << SLOT_BITS) - 1), None, "not before its time");
            }
            assert_eq!((wheel.next_actor(u64::MAX), wheel.now()), (Some(first.2), first.0 << SLOT_BITS));
            naive.retain(|event| *event != first);
        }
        assert!(planned > 5_000);
    }

    #[test]
    fn time_passes_without_events_but_not_over_one() {
        let mut wheel = TimingWheel::new(2);
        wheel.advance_to(1_000_000);
        assert_eq!((wheel.now() >> SLOT_BITS, wheel.next_time()), (1_000_000 >> SLOT_BITS, None));
        wheel.schedule(100_000_000, 1);
        wheel.advance_to(200_000_000);
        assert_eq!(wheel.next_actor(u64::MAX), Some(1));
        assert_eq!(wheel.now() >> SLOT_BITS, 100_000_000 >> SLOT_BITS);
    }

    #[test]
    fn actors_with_other_numbers_come_when_they_would_have_come() {
        let mut wheel = TimingWheel::new(4);
        for (actor, time) in [(0, 1_000), (1, 1_000), (2, 40_000_000), (3, 500)] {
            wheel.schedule(time, actor);
        }
        assert_eq!(wheel.next_actor(u64::MAX), Some(3));
        wheel.renumber(8, |actor| 2 * actor);
        // The actor joins the end of a slot that another actor has begun.
        wheel.schedule(1_000, 7);
        let rest: Vec<u32> = std::iter::from_fn(|| wheel.next_actor(u64::MAX)).collect();
        assert_eq!(rest, [0, 2, 7, 4]);
        assert!((0..8).all(|actor| !wheel.is_scheduled(actor)));
    }
}
