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
    /// Which search has come to each channel last: a mark of its own for each.
    mark: Vec<u32>,
    rounds: u32,
    ranks: Vec<u32>,
}

/// What one search has found, breadth first, and gone on from. The channels of each switch that it has come to are bits;
/// a round of its own for each search clears them.
#[derive(Clone, Debug)]
struct Search {
    /// Ranks before channels, as one number that sorts by them.
    found: Vec<u64>,
    went: usize,
    mark: u32,
    bits: Vec<u64>,
    round_of: Vec<u32>,
    round: u32,
}

impl Order {
    /// Without dependencies; `rank` is where channels stand.
    pub(super) fn new(on: &Dependencies, rank: Vec<u32>) -> Self {
        let bits = rank.len() * on.words();
        Self {
            mark: vec![0; rank.len()],
            rounds: 0,
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
        // Rounds are fewer than dependencies, of which there are fewer than 2^31.
        self.rounds += 1;
        let (later, earlier) = (self.rounds * 2, self.rounds * 2 + 1);
        (self.mark[to as usize], self.mark[from as usize]) = (later, earlier);
        self.later.start(later, (low, to), on.start(to), on.wanted(from, to), on.words());
        self.earlier.start(earlier, (high, from), on.net.end(from), on.held(from, to), on.words());
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
        let (later, earlier) = (&mut self.later.found, &mut self.earlier.found);
        later.sort_unstable();
        earlier.sort_unstable();
        // Their ranks together, lowest first.
        self.ranks.clear();
        let (mut low, mut high) = (later.iter().peekable(), earlier.iter().peekable());
        while let Some(next) =
            low.next_if(|low| high.peek().is_none_or(|high| low < high)).or_else(|| high.next())
        {
            self.ranks.push((next >> 32) as u32);
        }
        for (found, rank) in earlier.iter().chain(&*later).zip(&self.ranks) {
            self.rank[*found as u32 as usize] = *rank;
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
                let rank = self.rank[next as usize];
                if rank <= high {
                    let mark = &mut self.mark[next as usize];
                    if *mark == self.earlier.mark {
                        return Step::Met;
                    }
                    *mark = self.later.mark;
                    self.later.found.push(sorted_by(rank, next));
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
                let rank = self.rank[next as usize];
                if rank >= low {
                    let mark = &mut self.mark[next as usize];
                    if *mark == self.later.mark {
                        return Step::Met;
                    }
                    *mark = self.earlier.mark;
                    self.earlier.found.push(sorted_by(rank, next));
                }
            }
        }
        Step::Went
    }
}

fn sorted_by(rank: u32, channel: u32) -> u64 {
    u64::from(rank) << 32 | u64::from(channel)
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
            mark: 0,
            bits: vec![0; switches * on.words()],
            round_of: vec![0; switches],
            round: 0,
        }
    }

    /// From a channel at a rank, which is the one at `bit` of any row of a switch.
    fn start(&mut self, mark: u32, (rank, channel): (u32, u32), switch: u32, bit: Bit, words: usize) {
        self.round += 1;
        self.mark = mark;
        self.found.clear();
        self.found.push(sorted_by(rank, channel));
        self.went = 0;
        self.fresh(switch, bit.word % words, words, bit.mask);
    }

    fn next(&mut self) -> Option<u32> {
        let next = self.found.get(self.went).map(|found| *found as u32);
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
