//! An order of channels that every dependency taken so far follows, kept up while dependencies are added (Pearce and
//! Kelly's dynamic topological sort): as long as there is an order there is no cycle. Dependencies are rows of bits, so
//! that a search that comes to a switch a second time sees at once what it has seen there.

use super::dependencies::{Bit, Dependencies};

/// Of one lane.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Of each channel, where it stands.
    rank: Vec<u32>,
    settled: bool,
    /// Rows of what was taken, by the channel that holds and by the channel that is wanted; and of what was refused.
    after: Vec<u64>,
    before: Vec<u64>,
    refused: Vec<u64>,
    later: Search,
    earlier: Search,
    ranks: Vec<u32>,
}

/// What one search has found, breadth first, and gone on from. The channels of each switch that it has come to are bits;
/// a round of its own for each search clears them.
#[derive(Clone, Debug)]
struct Search {
    found: Vec<u32>,
    went: usize,
    bits: Vec<u64>,
    round_of: Vec<u32>,
    round: u32,
}

impl Order {
    /// Without dependencies; `rank` is where channels stand.
    pub(super) fn new(on: &Dependencies, rank: Vec<u32>) -> Self {
        let bits = rank.len() * on.words();
        Self {
            rank,
            settled: false,
            after: vec![0; bits],
            before: vec![0; bits],
            refused: vec![0; bits],
            later: Search::new(on),
            earlier: Search::new(on),
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
        if self.rank[from as usize] > self.rank[to as usize]
            && (self.settled || !self.make_room(on, from, to))
        {
            self.refused[wanted.word] |= wanted.mask;
            return false;
        }
        self.after[wanted.word] |= wanted.mask;
        let held = on.held(from, to);
        self.before[held.word] |= held.mask;
        true
    }

    /// From now on only what goes with the order as it stands is taken, which costs no search.
    pub(super) fn settle(&mut self) {
        self.settled = true;
    }

    /// Moves what follows `to` behind what leads to `from`; false when `from` follows `to`. The two searches go step by
    /// step together, as a cycle shows where they meet, long before either has come to its end.
    fn make_room(&mut self, on: &Dependencies, from: u32, to: u32) -> bool {
        let (low, high) = (self.rank[to as usize], self.rank[from as usize]);
        self.later.start(to, on.start(to), on.wanted(from, to), on.words());
        self.earlier.start(from, on.net.end(from), on.held(from, to), on.words());
        loop {
            let (later, earlier) = (self.follow(on, high), self.lead(on, low));
            match (later, earlier) {
                (Step::Met, _) | (_, Step::Met) => return false,
                // One end without meeting is enough to know; the other is still to be found.
                (Step::Done, _) | (_, Step::Done) => break,
                (Step::Went, Step::Went) => {}
            }
        }
        while matches!(self.follow(on, high), Step::Went) {}
        while matches!(self.lead(on, low), Step::Went) {}
        self.reorder();
        true
    }

    fn reorder(&mut self) {
        let rank = &self.rank;
        self.later.found.sort_unstable_by_key(|channel| rank[*channel as usize]);
        self.earlier.found.sort_unstable_by_key(|channel| rank[*channel as usize]);
        let moved = || self.earlier.found.iter().chain(&self.later.found);
        self.ranks.clear();
        self.ranks.extend(moved().map(|channel| rank[*channel as usize]));
        self.ranks.sort_unstable();
        for (channel, rank) in moved().zip(&self.ranks) {
            self.rank[*channel as usize] = *rank;
        }
    }

    /// One channel further in what follows, up to a rank.
    fn follow(&mut self, on: &Dependencies, high: u32) -> Step {
        let Some(channel) = self.later.next() else { return Step::Done };
        let switch = on.net.end(channel);
        for word in 0..on.words() {
            let row = self.after[channel as usize * on.words() + word];
            let mut fresh = self.later.fresh(switch, word, on.words(), row);
            while fresh != 0 {
                let next = on.leaving(switch, word as u32 * 64 + fresh.trailing_zeros());
                fresh &= fresh - 1;
                if self.rank[next as usize] <= high {
                    if self.earlier.has(on.net.end(next), on.entry(next), on.words()) {
                        return Step::Met;
                    }
                    self.later.found.push(next);
                }
            }
        }
        Step::Went
    }

    /// One channel further in what leads there, down to a rank.
    fn lead(&mut self, on: &Dependencies, low: u32) -> Step {
        let Some(channel) = self.earlier.next() else { return Step::Done };
        let switch = on.start(channel);
        for word in 0..on.words() {
            let row = self.before[channel as usize * on.words() + word];
            let mut fresh = self.earlier.fresh(switch, word, on.words(), row);
            while fresh != 0 {
                let next = on.entering(switch, word as u32 * 64 + fresh.trailing_zeros());
                fresh &= fresh - 1;
                if self.rank[next as usize] >= low {
                    if self.later.has(on.start(next), on.exit(next), on.words()) {
                        return Step::Met;
                    }
                    self.earlier.found.push(next);
                }
            }
        }
        Step::Went
    }
}

/// How a step of a search ended.
enum Step {
    Went,
    /// The other search was here.
    Met,
    Done,
}

impl Search {
    fn new(on: &Dependencies) -> Self {
        let switches = on.net.switch_count();
        Self {
            found: Vec::new(),
            went: 0,
            bits: vec![0; switches * on.words()],
            round_of: vec![0; switches],
            round: 0,
        }
    }

    /// From a channel, which is the one at `bit` of any row of a switch.
    fn start(&mut self, channel: u32, switch: u32, bit: Bit, words: usize) {
        // Rounds are fewer than dependencies, of which there are fewer than 2^32.
        self.round += 1;
        self.found.clear();
        self.found.push(channel);
        self.went = 0;
        self.fresh(switch, bit.word % words, words, bit.mask);
    }

    fn next(&mut self) -> Option<u32> {
        let next = self.found.get(self.went).copied();
        self.went += 1;
        next
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

    fn has(&self, switch: u32, place: u32, words: usize) -> bool {
        let at = switch as usize;
        self.round_of[at] == self.round
            && self.bits[at * words + place as usize / 64] >> (place % 64) & 1 != 0
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
