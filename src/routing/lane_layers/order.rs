//! An order of channels that every dependency taken so far follows, kept up while dependencies are added (a dynamic
//! topological sort): as long as there is an order there is no cycle. Two searches go step by step, as those of Haeupler,
//! Kavitha, Mathew, Sen and Tarjan do, and only what the one that ends first has found moves: mostly a few channels, where
//! the other would go on through thousands. Dependencies are rows of bits, so that a search that comes to a switch a second
//! time sees at once what it has seen there.

use super::dependencies::{Bit, Dependencies};
use super::line::Line;

/// Of one lane.
#[derive(Clone, Debug)]
pub(super) struct Order {
    line: Line,
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
}

/// What one search has found, breadth first, and gone on from. The channels of each switch that it has come to are bits;
/// a round of its own for each search clears them.
#[derive(Clone, Debug)]
struct Search {
    found: Vec<u32>,
    went: usize,
    mark: u32,
    bits: Vec<u64>,
    round_of: Vec<u32>,
    round: u32,
}

impl Order {
    /// Without dependencies; `rank` is where channels stand.
    pub(super) fn new(on: &Dependencies, rank: &[u32]) -> Self {
        let bits = rank.len() * on.words();
        Self {
            mark: vec![0; rank.len()],
            rounds: 0,
            line: Line::new(rank),
            settled: false,
            after: vec![0; bits],
            before: vec![0; bits],
            refused: vec![0; bits],
            later: Search::new(on),
            earlier: Search::new(on),
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
        if self.line.number(from) > self.line.number(to) && (self.settled || !self.make_room(on, from, to)) {
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

    /// Moves what follows `to` behind `from`, or what leads to `from` before `to`, whichever is known first; false when
    /// `from` follows `to`. A cycle shows where the searches meet, long before either has come to its end.
    fn make_room(&mut self, on: &Dependencies, from: u32, to: u32) -> bool {
        let (low, high) = (self.line.number(to), self.line.number(from));
        // Rounds are fewer than dependencies, of which there are fewer than 2^31.
        self.rounds += 1;
        let (later, earlier) = (self.rounds * 2, self.rounds * 2 + 1);
        (self.mark[to as usize], self.mark[from as usize]) = (later, earlier);
        self.later.start(later, to, on.start(to), on.wanted(from, to), on.words());
        self.earlier.start(earlier, from, on.net.end(from), on.held(from, to), on.words());
        loop {
            match (self.follow(on, high), self.lead(on, low)) {
                (Step::Met, _) | (_, Step::Met) => return false,
                (Step::Done, _) => {
                    self.line.move_behind(from, self.later.in_order(&self.line));
                    return true;
                }
                (_, Step::Done) => {
                    self.line.move_before(to, self.earlier.in_order(&self.line));
                    return true;
                }
                (Step::Went, Step::Went) => {}
            }
        }
    }

    /// One channel further in what follows, up to a number of the line.
    fn follow(&mut self, on: &Dependencies, high: u64) -> Step {
        let Some(channel) = self.later.next() else { return Step::Done };
        let switch = on.net.end(channel);
        for word in 0..on.words() {
            let row = self.after[channel as usize * on.words() + word];
            let mut fresh = self.later.fresh(switch, word, on.words(), row);
            while fresh != 0 {
                let next = on.leaving(switch, word as u32 * 64 + fresh.trailing_zeros());
                fresh &= fresh - 1;
                if self.line.number(next) <= high {
                    let mark = &mut self.mark[next as usize];
                    if *mark == self.earlier.mark {
                        return Step::Met;
                    }
                    *mark = self.later.mark;
                    self.later.found.push(next);
                }
            }
        }
        Step::Went
    }

    /// One channel further in what leads there, down to a number of the line.
    fn lead(&mut self, on: &Dependencies, low: u64) -> Step {
        let Some(channel) = self.earlier.next() else { return Step::Done };
        let switch = on.start(channel);
        for word in 0..on.words() {
            let row = self.before[channel as usize * on.words() + word];
            let mut fresh = self.earlier.fresh(switch, word, on.words(), row);
            while fresh != 0 {
                let next = on.entering(switch, word as u32 * 64 + fresh.trailing_zeros());
                fresh &= fresh - 1;
                if self.line.number(next) >= low {
                    let mark = &mut self.mark[next as usize];
                    if *mark == self.later.mark {
                        return Step::Met;
                    }
                    *mark = self.earlier.mark;
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
            mark: 0,
            bits: vec![0; switches * on.words()],
            round_of: vec![0; switches],
            round: 0,
        }
    }

    /// From a channel, which is the one at `bit` of any row of a switch.
    fn start(&mut self, mark: u32, channel: u32, switch: u32, bit: Bit, words: usize) {
        self.round += 1;
        self.mark = mark;
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

    /// All that was found, as it stands in line.
    fn in_order(&mut self, line: &Line) -> &[u32] {
        self.found.sort_unstable_by_key(|channel| line.number(*channel));
        &self.found
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
    use fabdeck_fabric::generate::{Spec, generate};
    use fabdeck_fabric::{Faults, SwitchGraph};

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
            let mut order = Order::new(&on, &ranks);
            let (mut taken, mut refused) = (Vec::new(), Vec::new());
            for (at, channel) in graph.channels().iter().enumerate() {
                let onward =
                    graph.leaving(channel.to).find(|next| graph.channels()[*next].to != channel.from);
                let pair = (at as u32, onward.unwrap() as u32);
                if order.take(&on, pair.0, pair.1) { taken.push(pair) } else { refused.push(pair) }
            }
            assert_eq!((taken.len(), refused.len()), (8, 2));
            assert!(taken.iter().all(|(from, to)| order.take(&on, *from, *to)));
            assert!(taken.iter().all(|(from, to)| order.line.number(*from) < order.line.number(*to)));
            assert!(refused.iter().all(|(from, to)| !order.take(&on, *from, *to)));
        }
    }
}
