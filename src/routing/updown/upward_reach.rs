//! What a switch reaches by going up alone, and by which of its hops.

use std::ops::Range;

use super::updown_order::UpDownOrder;

/// Bits for the hops up of a switch: it has 254 ports at the most.
type HopBits = [u64; 4];

#[derive(Clone, Copy, Debug)]
pub(super) struct ReachSlot {
    /// Steps up; `u16::MAX` for a switch that is not above.
    pub steps: u16,
    /// The hop that leads there if there is only one, otherwise `SEVERAL`.
    pub only: u8,
    /// How many hops lead there, and where they begin among `ways`.
    count: u8,
    first: u32,
    /// The first of these hops, if their numbers are consecutive; otherwise `SEVERAL`.
    row: u8,
}

const SEVERAL: u8 = u8::MAX;
const ABSENT: ReachSlot = ReachSlot { steps: u16::MAX, only: SEVERAL, count: 0, first: 0, row: SEVERAL };

#[derive(Debug)]
pub(super) struct UpwardReach {
    slots: Vec<ReachSlot>,
    hops: Vec<HopBits>,
    found: Vec<u32>,
    /// The hops that lead to each switch above. Each switch begins with another hop, so that not all choose the same.
    ways: Vec<u8>,
}

impl UpwardReach {
    pub fn new(switches: usize) -> Self {
        Self {
            slots: vec![ABSENT; switches],
            hops: vec![[0; 4]; switches],
            found: Vec::new(),
            ways: Vec::new(),
        }
    }

    /// Finds for `switch` which switches are above it, in how many steps up, and over which of its hops (breadth first).
    pub fn compute(&mut self, order: &UpDownOrder, switch: u32) {
        for at in self.found.drain(..) {
            self.slots[at as usize] = ABSENT;
            self.hops[at as usize] = [0; 4];
        }
        for (place, hop) in order.up_hops(switch).iter().enumerate() {
            self.add_reached(hop.to, 1);
            self.hops[hop.to as usize][place / 64] |= 1 << (place % 64);
        }
        // Hops that lead to `at` also lead to the switches above `at`, one step later.
        let mut next = 0;
        while let Some(at) = self.found.get(next).copied() {
            next += 1;
            let (steps, hops) = (self.slots[at as usize].steps, self.hops[at as usize]);
            for hop in order.up_hops(at) {
                self.add_reached(hop.to, steps + 1);
                if self.slots[hop.to as usize].steps == steps + 1 {
                    let all = &mut self.hops[hop.to as usize];
                    all.iter_mut().zip(hops).for_each(|(all, more)| *all |= more);
                }
            }
        }
        // The bits become lists of hops, one for each switch that was reached.
        self.ways.clear();
        for at in &self.found {
            let first = self.ways.len();
            self.ways.extend(bit_places(&self.hops[*at as usize]));
            let own = &mut self.ways[first..];
            let slot = &mut self.slots[*at as usize];
            (slot.count, slot.first) = (own.len() as u8, first as u32);
            if let [only] = own {
                slot.only = *only;
            }
            if let [low, .., high] = &*own
                && usize::from(*high - *low) + 1 == own.len()
            {
                slot.row = *low;
            }
            // Each switch begins its list at another hop, so that not all prefer the same one.
            let begin = (switch as usize).checked_rem(own.len()).unwrap_or(0);
            own.rotate_left(begin);
        }
    }

    fn add_reached(&mut self, at: u32, steps: u16) {
        if self.slots[at as usize].steps == u16::MAX {
            self.slots[at as usize].steps = steps;
            self.found.push(at);
        }
    }

    /// How a switch is reached: its distance, and which hops lead there.
    pub fn slot(&self, switch: u32) -> ReachSlot {
        self.slots[switch as usize]
    }

    /// The hops that lead to the switch of a slot, in the order in which they are preferred.
    pub fn hops(&self, slot: ReachSlot) -> &[u8] {
        &self.ways[slot.first as usize..slot.first as usize + usize::from(slot.count)]
    }
}

impl ReachSlot {
    /// Where the hops that lead there lie among those of the switch, if they follow one another.
    pub fn hop_range(self) -> Option<Range<usize>> {
        let start = usize::from(self.row);
        (self.row != SEVERAL).then(|| start..start + usize::from(self.count))
    }

    pub fn single_hop(self) -> Option<u8> {
        (self.only != SEVERAL).then_some(self.only)
    }
}

fn bit_places(hops: &HopBits) -> impl Iterator<Item = u8> + use<> {
    let hops = *hops;
    hops.into_iter().enumerate().flat_map(|(word, mut bits)| {
        std::iter::from_fn(move || {
            let bit = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            (bit < 64).then(|| (word * 64) as u8 + bit as u8)
        })
    })
}
