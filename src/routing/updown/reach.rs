//! What a switch reaches by going up alone, and by which of its hops.

use super::order::Order;

/// Bits for the hops up of a switch: it has 254 ports at the most.
type Hops = [u64; 4];

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// Steps up; `u16::MAX` for a switch that is not above.
    pub steps: u16,
    /// The one hop that leads there, `MANY` when there are more.
    pub only: u8,
}

const MANY: u8 = u8::MAX;
const ABSENT: Slot = Slot { steps: u16::MAX, only: MANY };

#[derive(Debug)]
pub(super) struct Reach {
    slots: Vec<Slot>,
    hops: Vec<Hops>,
    found: Vec<u32>,
}

impl Reach {
    pub fn new(switches: usize) -> Self {
        Self { slots: vec![ABSENT; switches], hops: vec![[0; 4]; switches], found: Vec::new() }
    }

    /// Takes another switch in view.
    pub fn look_up(&mut self, order: &Order, switch: u32) {
        for at in self.found.drain(..) {
            self.slots[at as usize] = ABSENT;
            self.hops[at as usize] = [0; 4];
        }
        for (place, hop) in order.up(switch).iter().enumerate() {
            self.arrive(hop.to, 1);
            self.hops[hop.to as usize][place / 64] |= 1 << (place % 64);
        }
        let mut next = 0;
        while let Some(at) = self.found.get(next).copied() {
            next += 1;
            let (steps, hops) = (self.slots[at as usize].steps, self.hops[at as usize]);
            for hop in order.up(at) {
                self.arrive(hop.to, steps + 1);
                if self.slots[hop.to as usize].steps == steps + 1 {
                    let all = &mut self.hops[hop.to as usize];
                    all.iter_mut().zip(hops).for_each(|(all, more)| *all |= more);
                }
            }
        }
        for at in &self.found {
            if self.count(*at) == 1 {
                self.slots[*at as usize].only = places(&self.hops[*at as usize]).next().unwrap_or(MANY);
            }
        }
    }

    fn arrive(&mut self, at: u32, steps: u16) {
        if self.slots[at as usize].steps == u16::MAX {
            self.slots[at as usize].steps = steps;
            self.found.push(at);
        }
    }

    pub fn slot(&self, switch: u32) -> Slot {
        self.slots[switch as usize]
    }

    /// How many hops lead there.
    pub fn count(&self, switch: u32) -> usize {
        self.hops[switch as usize].iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn places(&self, switch: u32) -> impl Iterator<Item = u8> {
        places(&self.hops[switch as usize])
    }
}

impl Slot {
    pub fn single(self) -> Option<u8> {
        (self.only != MANY).then_some(self.only)
    }
}

fn places(hops: &Hops) -> impl Iterator<Item = u8> + use<> {
    let hops = *hops;
    hops.into_iter().enumerate().flat_map(|(word, mut bits)| {
        std::iter::from_fn(move || {
            let bit = bits.trailing_zeros();
            bits &= bits.wrapping_sub(1);
            (bit < 64).then(|| (word * 64) as u8 + bit as u8)
        })
    })
}
