//! Follows the packets to one destination by one set of entries.

use super::order_context::{AT_DESTINATION, NO_NEXT, OrderContext};
use fabdeck_routing::Destination;

/// What happens to a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Fate {
    #[default]
    Unknown,
    /// The path is being followed.
    Underway,
    Arrives,
    /// The packet is dropped.
    Ends,
    /// The packet goes round in a loop of switches.
    Loops,
}

/// The next switch of each switch, and the fate of packets there.
#[derive(Debug, Default)]
pub(super) struct DestinationTree {
    pub(super) next: Vec<u32>,
    pub(super) fate: Vec<Fate>,
    /// Number of hops, for switches whose packets arrive.
    pub(super) hops: Vec<u32>,
    /// The switches whose packets arrive, each after its next switch.
    pub(super) order: Vec<u32>,
    path: Vec<u32>,
}

impl DestinationTree {
    /// Follows the entries of all switches. `entry`: the port to which a switch sends the destination.
    pub(super) fn read_entries(
        &mut self,
        ground: &OrderContext<'_>,
        (root, end): (u32, &Destination),
        entry: impl Fn(usize) -> u8,
    ) {
        let count = ground.switch_count();
        self.next.clear();
        self.next.extend((0..count).map(|at| ground.next_switch(at as u32, entry(at), (root, end))));
        self.fate.clear();
        self.fate.resize(count, Fate::Unknown);
        self.hops.resize(count, 0);
        self.order.clear();
        (0..count as u32).for_each(|start| self.follow(start));
    }

    fn follow(&mut self, start: u32) {
        let mut at = start as usize;
        while self.fate[at] == Fate::Unknown {
            self.fate[at] = Fate::Underway;
            self.path.push(at as u32);
            match self.next[at] {
                AT_DESTINATION | NO_NEXT => break,
                next => at = next as usize,
            }
        }
        let end = match (self.fate[at], self.next[at]) {
            (Fate::Underway, AT_DESTINATION) => Fate::Arrives,
            (Fate::Underway, NO_NEXT) => Fate::Ends,
            (Fate::Underway, _) => Fate::Loops,
            (known, _) => known,
        };
        while let Some(switch) = self.path.pop() {
            let at = switch as usize;
            self.fate[at] = end;
            if end == Fate::Arrives {
                self.hops[at] = match self.next[at] {
                    AT_DESTINATION => 0,
                    next => self.hops[next as usize] + 1,
                };
                self.order.push(switch);
            }
        }
    }

    /// Whether every hop of the other tree is nearer by this one, so that no mixture of both has a loop.
    pub(super) fn is_nearing(&self, other: &Self) -> bool {
        other.order.iter().all(|switch| {
            let (at, next) = (*switch as usize, other.next[*switch as usize]);
            next == AT_DESTINATION || self.hops[next as usize] < self.hops[at]
        })
    }

    /// For each switch: the sum of `own` over the switches whose packets pass it, itself included.
    pub(super) fn sum_through(&self, own: impl Fn(u32) -> u64, through: &mut Vec<u64>) {
        through.clear();
        through.extend((0..self.next.len() as u32).map(own));
        for switch in self.order.iter().rev() {
            let next = self.next[*switch as usize];
            if next != AT_DESTINATION {
                through[next as usize] += through[*switch as usize];
            }
        }
    }
}
