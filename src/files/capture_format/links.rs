//! Dependencies between the frames of a capture, computed once so that each lookup has a constant cost.

use super::frame::flags;
use super::index::{FrameSlot, Index};

const STATE: u32 = flags::STATE_WHOLE | flags::STATE_MOVED;

/// The first and the last frame that make a state; all frames of the state between them belong to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateFrames {
    pub first: usize,
    pub last: usize,
}

/// The frame from which nothing can be shown, and the number of the missing record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lost {
    pub slot: usize,
    pub record: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Links {
    /// Frames of the state.
    states: Vec<usize>,
    /// By frame.
    state: Vec<Result<StateFrames, Lost>>,
    /// By frame: the first frame that its counters depend on.
    counters: Vec<Result<usize, Lost>>,
    /// Holes from the last to the first, only those whose record is below all records of the holes behind.
    holes: Vec<(u64, usize)>,
}

impl Links {
    pub fn of(index: &Index) -> Self {
        let mut states = Vec::new();
        let is_state = |slot: &FrameSlot| slot.lead.flags & STATE != 0;
        for (at, slot) in index.slots.iter().enumerate() {
            if is_state(slot) {
                states.push(at);
            }
        }
        Self {
            state: state_links(&index.slots),
            counters: counter_links(&index.slots),
            holes: holes(index),
            states,
        }
    }

    pub fn state(&self, slot: usize) -> Result<StateFrames, Lost> {
        self.state[slot]
    }

    pub fn counters(&self, slot: usize) -> Result<usize, Lost> {
        self.counters[slot]
    }

    pub fn is_state(&self, slot: usize) -> bool {
        self.states.binary_search(&slot).is_ok()
    }

    /// The frames of the state from one frame to another.
    pub fn state_between(&self, first: usize, last: usize) -> impl Iterator<Item = usize> + '_ {
        let from = self.states.partition_point(|state| *state < first);
        self.states[from..].iter().copied().take_while(move |state| *state <= last)
    }

    /// The last hole whose record is not after this one.
    pub fn hole_before(&self, record: u64) -> Option<usize> {
        let at = self.holes.partition_point(|(first, _)| *first > record);
        self.holes.get(at).map(|(_, hole)| *hole)
    }
}

/// A frame of the state names the previous one; any other frame names the frame with the current state.
fn state_links(slots: &[FrameSlot]) -> Vec<Result<StateFrames, Lost>> {
    let mut links: Vec<Result<StateFrames, Lost>> = Vec::with_capacity(slots.len());
    // The last frame of the state so far.
    let mut before: Option<usize> = None;
    for (at, FrameSlot { lead, .. }) in slots.iter().enumerate() {
        let is_state = lead.flags & STATE != 0;
        let link = match before {
            _ if lead.has_flag(flags::STATE_WHOLE) => Ok(StateFrames { first: at, last: at }),
            None => Err(Lost { slot: 0, record: lead.state }),
            Some(before) if slots[before].lead.first != lead.state => {
                Err(Lost { slot: before + 1, record: lead.state })
            }
            Some(before) => links[before].map(|state| match is_state {
                true => StateFrames { last: at, ..state },
                false => state,
            }),
        };
        links.push(link);
        if is_state {
            before = Some(at);
        }
    }
    links
}

/// Counters depend on all frames since the last one with whole counters; none of these may be missing.
fn counter_links(slots: &[FrameSlot]) -> Vec<Result<usize, Lost>> {
    let mut links: Vec<Result<usize, Lost>> = Vec::with_capacity(slots.len());
    for (at, FrameSlot { lead, .. }) in slots.iter().enumerate() {
        let link = match at.checked_sub(1) {
            _ if lead.has_flag(flags::COUNTERS_WHOLE) => Ok(at),
            None => Ok(0),
            Some(before) => links[before].and_then(|whole| match slots[before].lead.next_record() {
                next if next == lead.first => Ok(whole),
                record => Err(Lost { slot: at, record }),
            }),
        };
        links.push(link);
    }
    links
}

fn holes(index: &Index) -> Vec<(u64, usize)> {
    let mut holes: Vec<(u64, usize)> = Vec::new();
    for (at, hole) in index.holes.iter().enumerate().rev() {
        if holes.last().is_none_or(|(record, _)| hole.record < *record) {
            holes.push((hole.record, at));
        }
    }
    holes
}

#[cfg(test)]
mod tests {
    use super::super::frame::Lead;
    use super::super::index::{Hole, IndexStatus};
    use super::*;

    /// Walks back from a frame, as the format describes it.
    fn state_walked(slots: &[FrameSlot], slot: usize) -> Result<Vec<usize>, Lost> {
        let (mut chain, mut wanted, mut lost) = (Vec::new(), None, 0);
        for at in (0..=slot).rev() {
            let lead = slots[at].lead;
            if lead.flags & STATE == 0 {
                wanted = wanted.or(Some(lead.state));
                continue;
            }
            if wanted.is_some_and(|wanted| wanted != lead.first) {
                lost = at + 1;
                break;
            }
            chain.push(at);
            if lead.has_flag(flags::STATE_WHOLE) {
                chain.reverse();
                return Ok(chain);
            }
            wanted = Some(lead.state);
        }
        Err(Lost { slot: lost, record: wanted.unwrap_or(0) })
    }

    fn counters_walked(slots: &[FrameSlot], slot: usize) -> Result<usize, Lost> {
        let whole = (0..=slot).rev().find(|at| slots[*at].lead.has_flag(flags::COUNTERS_WHOLE)).unwrap_or(0);
        let torn = (whole + 1..=slot).find(|at| slots[*at].lead.first != slots[*at - 1].lead.next_record());
        torn.map_or(Ok(whole), |at| Err(Lost { slot: at, record: slots[at - 1].lead.next_record() }))
    }

    /// Random frames, most of which follow each other.
    fn drawn(mut seed: u64) -> Index {
        let mut below = |most: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % most
        };
        let (mut slots, mut first, mut state) = (Vec::new(), 0, 0);
        for _ in 0..40 {
            let frame_flags =
                [STATE, flags::STATE_MOVED, flags::COUNTERS, flags::COUNTERS | flags::COUNTERS_WHOLE];
            let frame_flags = frame_flags[below(4) as usize] | [0, flags::EVENT][below(2) as usize];
            let named = if below(12) == 0 { below(first + 1) } else { state };
            let lead = Lead {
                flags: frame_flags,
                first,
                state: named,
                records: 1 + below(3) as u32,
                ..Lead::default()
            };
            slots.push(FrameSlot { offset: 0, lead });
            if frame_flags & STATE != 0 {
                state = first;
            }
            first = lead.next_record() + u64::from(below(15) == 0);
        }
        let hole = |_| Hole { offset: 0, bytes: 1, record: below(50), torn: false };
        let holes = (0..8).map(hole).collect();
        Index { slots, holes, table: IndexStatus::Missing }
    }

    #[test]
    fn links_are_those_that_a_walk_back_finds() {
        let mut found = [0; 4];
        for seed in 0..400 {
            let index = drawn(seed);
            let links = Links::of(&index);
            for slot in 0..index.slots.len() {
                let state = links.state(slot).map(|of| links.state_between(of.first, of.last).collect());
                let (walked, counters) =
                    (state_walked(&index.slots, slot), counters_walked(&index.slots, slot));
                assert_eq!(state, walked, "{seed} {slot}");
                assert_eq!(links.counters(slot), counters, "{seed} {slot}");
                found[usize::from(walked.is_ok())] += 1;
                found[2 + usize::from(counters.is_ok())] += 1;
            }
            for record in 0..60 {
                let walked = index.holes.iter().rposition(|hole| hole.record <= record);
                assert_eq!(links.hole_before(record), walked, "{seed} {record}");
            }
        }
        assert!(found.iter().all(|count| *count > 500), "{found:?}");
    }
}
