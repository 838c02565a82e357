//! An order of channels that every dependency taken so far follows, kept up while dependencies are added (Pearce and
//! Kelly's dynamic topological sort): as long as there is an order there is no cycle. Dependencies are rows of bits, so
//! that a search that comes to a switch a second time sees at once what it has seen there.

use super::dependencies::Dependencies;

/// Of one lane.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Of each channel, where it stands.
    rank: Vec<u32>,
    /// Rows of what was taken, by the channel that holds and by the channel that is wanted; and of what was refused.
    after: Vec<u64>,
    before: Vec<u64>,
    refused: Vec<u64>,
    seen: Seen,
    /// What the last searches found.
    later: Vec<u32>,
    earlier: Vec<u32>,
    stack: Vec<u32>,
    ranks: Vec<u32>,
}

/// The channels of each switch that a search has come to; a round of its own for each search.
#[derive(Clone, Debug)]
struct Seen {
    bits: Vec<u64>,
    round_of: Vec<u32>,
    round: u32,
}

impl Order {
    /// Without dependencies; `rank` is where channels stand.
    pub(super) fn new(on: &Dependencies, rank: Vec<u32>) -> Self {
        let bits = rank.len() * on.words();
        let switches = on.net.switch_count();
        Self {
            rank,
            after: vec![0; bits],
            before: vec![0; bits],
            refused: vec![0; bits],
            seen: Seen { bits: vec![0; switches * on.words()], round_of: vec![0; switches], round: 0 },
            later: Vec::new(),
            earlier: Vec::new(),
            stack: Vec::new(),
            ranks: Vec::new(),
        }
    }

    /// Takes the dependency of the channel `from` on the channel `to` that leaves where it ends, unless it closes a
    /// cycle. What is refused once stays refused, as dependencies are only added.
    pub(super) fn take(&mut self, on: &Dependencies, from: u32, to: u32) -> bool {
        let wanted = on.wanted(from, to);
        if self.after[wanted.word] & wanted.mask != 0 {
            return true;
        }
        if self.refused[wanted.word] & wanted.mask != 0 {
            return false;
        }
        if self.rank[from as usize] > self.rank[to as usize] && !self.make_room(on, from, to) {
            self.refused[wanted.word] |= wanted.mask;
            return false;
        }
        self.after[wanted.word] |= wanted.mask;
        let held = on.held(from, to);
        self.before[held.word] |= held.mask;
        true
    }

    /// Moves what follows `to` behind what leads to `from`; false when `from` follows `to`.
    fn make_room(&mut self, on: &Dependencies, from: u32, to: u32) -> bool {
        let (low, high) = (self.rank[to as usize], self.rank[from as usize]);
        if !self.follow(on, to, from, high) {
            return false;
        }
        self.lead(on, from, low);
        let rank = &self.rank;
        self.later.sort_unstable_by_key(|channel| rank[*channel as usize]);
        self.earlier.sort_unstable_by_key(|channel| rank[*channel as usize]);
        self.ranks.clear();
        self.ranks.extend(self.earlier.iter().chain(&self.later).map(|channel| rank[*channel as usize]));
        self.ranks.sort_unstable();
        for (channel, rank) in self.earlier.iter().chain(&self.later).zip(&self.ranks) {
            self.rank[*channel as usize] = *rank;
        }
        true
    }

    /// Finds what follows a channel up to a rank; false when `end` is among it.
    fn follow(&mut self, on: &Dependencies, start: u32, end: u32, high: u32) -> bool {
        self.seen.start();
        self.later.clear();
        self.stack.clear();
        self.stack.push(start);
        while let Some(channel) = self.stack.pop() {
            self.later.push(channel);
            let switch = on.net.end(channel);
            for word in 0..on.words() {
                let row = self.after[channel as usize * on.words() + word];
                let mut fresh = self.seen.fresh(switch, word, on.words(), row);
                while fresh != 0 {
                    let next = on.leaving(switch, word as u32 * 64 + fresh.trailing_zeros());
                    fresh &= fresh - 1;
                    if next == end {
                        return false;
                    }
                    if self.rank[next as usize] < high {
                        self.stack.push(next);
                    }
                }
            }
        }
        true
    }

    /// Finds what leads to a channel down to a rank.
    fn lead(&mut self, on: &Dependencies, start: u32, low: u32) {
        self.seen.start();
        self.earlier.clear();
        self.stack.clear();
        self.stack.push(start);
        while let Some(channel) = self.stack.pop() {
            self.earlier.push(channel);
            let switch = on.start(channel);
            for word in 0..on.words() {
                let row = self.before[channel as usize * on.words() + word];
                let mut fresh = self.seen.fresh(switch, word, on.words(), row);
                while fresh != 0 {
                    let next = on.entering(switch, word as u32 * 64 + fresh.trailing_zeros());
                    fresh &= fresh - 1;
                    if self.rank[next as usize] > low {
                        self.stack.push(next);
                    }
                }
            }
        }
    }
}

impl Seen {
    fn start(&mut self) {
        // Rounds are fewer than dependencies, of which there are fewer than 2^32.
        self.round += 1;
    }

    /// What of a row at a switch was not seen yet; it is now.
    fn fresh(&mut self, switch: u32, word: usize, words: usize, row: u64) -> u64 {
        let at = switch as usize;
        let bits = &mut self.bits[at * words..(at + 1) * words];
        if self.round_of[at] != self.round {
            self.round_of[at] = self.round;
            bits.fill(0);
        }
        let fresh = row & !bits[word];
        bits[word] |= fresh;
        fresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Faults, SwitchGraph};
    use crate::generate::{Spec, generate};

    #[test]
    fn a_ring_takes_all_dependencies_but_the_last_of_each_direction() {
        let fabric = generate(&"torus,dims=5".parse::<Spec>().unwrap()).unwrap().fabric;
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        let on = Dependencies::new(&graph);
        for descending in [false, true] {
            let mut ranks: Vec<u32> = (0..graph.channels().len() as u32).collect();
            if descending {
                ranks.reverse();
            }
            let mut order = Order::new(&on, ranks);
            let (mut taken, mut refused) = (Vec::new(), Vec::new());
            for (at, channel) in graph.channels().iter().enumerate() {
                let onward =
                    graph.leaving(channel.to).find(|next| graph.channels()[*next].to != channel.from);
                let pair = (at as u32, onward.unwrap() as u32);
                if order.take(&on, pair.0, pair.1) { taken.push(pair) } else { refused.push(pair) }
            }
            assert_eq!((taken.len(), refused.len()), (8, 2));
            assert!(taken.iter().all(|(from, to)| order.take(&on, *from, *to)));
            assert!(taken.iter().all(|(from, to)| order.rank[*from as usize] < order.rank[*to as usize]));
            assert!(refused.iter().all(|(from, to)| !order.take(&on, *from, *to)));
        }
    }
}
