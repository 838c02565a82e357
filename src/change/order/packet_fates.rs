//! Follows the packets to one destination, write by write.

use super::constraints::TreePair;
use super::destination_tree::Fate;
use super::order_context::{AT_DESTINATION, NO_NEXT};

/// The present entries.
#[derive(Debug, Default)]
pub(super) struct PacketFates {
    next: Vec<u32>,
    fate: Vec<Fate>,
    front: Vec<u32>,
}

impl PacketFates {
    /// Writes the switches in this order. Reports each switch whose packets change their fate: the index of the write,
    /// the switch, the old and the new fate. The two trees have to be linked first.
    pub(super) fn apply_order(
        &mut self,
        both: &TreePair,
        order: &[u32],
        tell: &mut dyn FnMut(usize, u32, Fate, Fate),
    ) {
        self.next.clone_from(&both.old.next);
        self.fate.clone_from(&both.old.fate);
        for (at, switch) in order.iter().enumerate().filter(|(_, switch)| both.is_changed(**switch)) {
            let next = both.new.next[*switch as usize];
            let (was, is) = (self.fate[*switch as usize], self.fate_through(*switch, next));
            self.next[*switch as usize] = next;
            if was != is {
                self.propagate(both, *switch, (was, is), &mut |switch| tell(at, switch, was, is));
            }
        }
    }

    /// The fate of packets at a switch whose entry leads to `next`.
    fn fate_through(&self, switch: u32, next: u32) -> Fate {
        match next {
            AT_DESTINATION => Fate::Arrives,
            NO_NEXT => Fate::Ends,
            // All switches whose packets cross this one share its fate. So a next switch with another fate does not
            // cross it.
            next if self.fate[next as usize] != self.fate[switch as usize] => self.fate[next as usize],
            next if self.is_crossing(next, switch) => Fate::Loops,
            next => self.fate[next as usize],
        }
    }

    /// Whether packets from one switch pass another.
    fn is_crossing(&self, from: u32, over: u32) -> bool {
        let mut at = from;
        // A longer path loops elsewhere.
        for _ in 0..self.next.len() {
            if at >= AT_DESTINATION {
                return false;
            }
            if at == over {
                return true;
            }
            at = self.next[at as usize];
        }
        false
    }

    /// Gives the new fate of a switch to all switches whose packets pass it.
    fn propagate(
        &mut self,
        both: &TreePair,
        switch: u32,
        (was, is): (Fate, Fate),
        tell: &mut dyn FnMut(u32),
    ) {
        self.fate[switch as usize] = is;
        tell(switch);
        self.front.push(switch);
        while let Some(switch) = self.front.pop() {
            for behind in both.predecessors(switch) {
                let at = *behind as usize;
                if self.next[at] == switch && self.fate[at] == was {
                    self.fate[at] = is;
                    tell(*behind);
                    self.front.push(*behind);
                }
            }
        }
    }
}
