//! An order of channels that every accepted dependency follows (a dynamic topological sort). As long as such an order exists
//! there is no cycle.
//!
//! To add a dependency against the order, two searches advance in turns, as those of Haeupler, Kavitha, Mathew, Sen and Tarjan
//! do. Only the channels that the faster search found are moved: mostly a few, where the other would visit thousands.
//! Dependencies are rows of bits, so a search that returns to a switch sees at once which channels it has visited there.

use super::channel_line::ChannelLine;
use super::possible_dependencies::{DependencyBit, PossibleDependencies};

/// The order of the channels of one virtual lane.
#[derive(Clone, Debug)]
pub(super) struct ChannelOrder {
    line: ChannelLine,
    settled: bool,
    /// By channel: the channels that it waits for.
    after: Vec<u64>,
    /// By channel: the channels that wait for it.
    before: Vec<u64>,
    /// By channel: the dependencies that would close a cycle.
    refused: Vec<u64>,
    later: OrderSearch,
    earlier: OrderSearch,
    /// By channel: the number of the search that visited it last.
    mark: Vec<u32>,
    rounds: u32,
}

/// A search, breadth first. Visited channels are bits by switch; a switch whose round is not the current one has none.
#[derive(Clone, Debug)]
struct OrderSearch {
    found: Vec<u32>,
    went: usize,
    mark: u32,
    bits: Vec<u64>,
    round_of: Vec<u32>,
    round: u32,
}

impl ChannelOrder {
    /// An order without dependencies; `rank` is the first position of each channel.
    pub(super) fn new(on: &PossibleDependencies, rank: &[u32]) -> Self {
        let bits = rank.len() * on.word_count();
        Self {
            mark: vec![0; rank.len()],
            rounds: 0,
            line: ChannelLine::new(rank),
            settled: false,
            after: vec![0; bits],
            before: vec![0; bits],
            refused: vec![0; bits],
            later: OrderSearch::new(on),
            earlier: OrderSearch::new(on),
        }
    }

    /// Adds the dependency of channel `from` on channel `to`, which begins at the switch where `from` ends. Returns false if it
    /// would close a cycle. A refusal is final, even if a dependency is removed later, until it is forgotten.
    pub(super) fn try_use(&mut self, on: &PossibleDependencies, from: u32, to: u32) -> bool {
        let wanted = on.wanted_bit(from, to);
        if self.after[wanted.word] & wanted.mask != 0 {
            return true;
        }
        if self.refused[wanted.word] & wanted.mask != 0 {
            return false;
        }
        if self.line.number(from) > self.line.number(to) && (self.settled || !self.reorder(on, from, to)) {
            self.refused[wanted.word] |= wanted.mask;
            return false;
        }
        self.after[wanted.word] |= wanted.mask;
        let held = on.held_bit(from, to);
        self.before[held.word] |= held.mask;
        true
    }

    /// What is known of a dependency without a search.
    pub(super) fn state(&self, on: &PossibleDependencies, from: u32, to: u32) -> LaneDependencyState {
        let wanted = on.wanted_bit(from, to);
        if self.after[wanted.word] & wanted.mask != 0 {
            LaneDependencyState::Used
        } else if self.refused[wanted.word] & wanted.mask != 0 {
            LaneDependencyState::Refused
        } else {
            LaneDependencyState::Open
        }
    }

    /// Takes a dependency away. All others still follow the order.
    pub(super) fn remove(&mut self, on: &PossibleDependencies, from: u32, to: u32) {
        let (wanted, held) = (on.wanted_bit(from, to), on.held_bit(from, to));
        self.after[wanted.word] &= !wanted.mask;
        self.before[held.word] &= !held.mask;
    }

    /// Lets a refused dependency be tried again.
    pub(super) fn forget_refusal(&mut self, on: &PossibleDependencies, from: u32, to: u32) {
        let wanted = on.wanted_bit(from, to);
        self.refused[wanted.word] &= !wanted.mask;
    }

    /// Fixes the order: from now on a dependency that does not follow it is refused without a search.
    pub(super) fn freeze(&mut self) {
        self.settled = true;
    }

    /// Moves the channels that follow `to` behind `from`, or those that lead to `from` before `to`, whichever search ends first.
    /// Returns false if the searches meet: then `from` follows `to`, and there would be a cycle.
    fn reorder(&mut self, on: &PossibleDependencies, from: u32, to: u32) -> bool {
        let (low, high) = (self.line.number(to), self.line.number(from));
        // Rounds are fewer than dependencies, of which there are fewer than 2^31.
        self.rounds += 1;
        let (later, earlier) = (self.rounds * 2, self.rounds * 2 + 1);
        (self.mark[to as usize], self.mark[from as usize]) = (later, earlier);
        self.later.start(later, to, on.source_switch(to), on.wanted_bit(from, to), on.word_count());
        self.earlier.start(earlier, from, on.net.target(from), on.held_bit(from, to), on.word_count());
        loop {
            match (self.step_forward(on, high), self.step_backward(on, low)) {
                (SearchStep::Met, _) | (_, SearchStep::Met) => return false,
                (SearchStep::Done, _) => {
                    self.line.move_behind(from, self.later.found_in_order(&self.line));
                    return true;
                }
                (_, SearchStep::Done) => {
                    self.line.move_before(to, self.earlier.found_in_order(&self.line));
                    return true;
                }
                (SearchStep::Went, SearchStep::Went) => {}
            }
        }
    }

    /// Takes the next channel that the search for later channels found, and adds the channels which that one waits for, if
    /// they are new and their number in `line` is at most `high` (the lower number stands first). `Met`: the other search
    /// has found one of them, so the new dependency would close a cycle. `Done`: no channel is left to take.
    fn step_forward(&mut self, on: &PossibleDependencies, high: u64) -> SearchStep {
        let Some(channel) = self.later.next() else { return SearchStep::Done };
        let switch = on.net.target(channel);
        for word in 0..on.word_count() {
            let row = self.after[channel as usize * on.word_count() + word];
            let mut fresh = self.later.unseen(switch, word, on.word_count(), row);
            while fresh != 0 {
                let next = on.channel_leaving(switch, word as u32 * 64 + fresh.trailing_zeros());
                // Clears the lowest bit.
                fresh &= fresh - 1;
                if self.line.number(next) <= high {
                    let mark = &mut self.mark[next as usize];
                    if *mark == self.earlier.mark {
                        return SearchStep::Met;
                    }
                    *mark = self.later.mark;
                    self.later.found.push(next);
                }
            }
        }
        SearchStep::Went
    }

    /// Advances the search for earlier channels by one channel, down to the number `low`.
    fn step_backward(&mut self, on: &PossibleDependencies, low: u64) -> SearchStep {
        let Some(channel) = self.earlier.next() else { return SearchStep::Done };
        let switch = on.source_switch(channel);
        for word in 0..on.word_count() {
            let row = self.before[channel as usize * on.word_count() + word];
            let mut fresh = self.earlier.unseen(switch, word, on.word_count(), row);
            while fresh != 0 {
                let next = on.channel_entering(switch, word as u32 * 64 + fresh.trailing_zeros());
                // Clears the lowest bit.
                fresh &= fresh - 1;
                if self.line.number(next) >= low {
                    let mark = &mut self.mark[next as usize];
                    if *mark == self.later.mark {
                        return SearchStep::Met;
                    }
                    *mark = self.earlier.mark;
                    self.earlier.found.push(next);
                }
            }
        }
        SearchStep::Went
    }
}

/// What a lane holds of a dependency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneDependencyState {
    Used,
    Refused,
    /// It was not tried yet.
    Open,
}

/// How a step of a search ended.
enum SearchStep {
    Went,
    /// The other search was here.
    Met,
    Done,
}

impl OrderSearch {
    fn new(on: &PossibleDependencies) -> Self {
        let switches = on.net.switch_count();
        Self {
            found: Vec::new(),
            went: 0,
            mark: 0,
            bits: vec![0; switches * on.word_count()],
            round_of: vec![0; switches],
            round: 0,
        }
    }

    /// From a channel, which is the one at `bit` of any row of a switch.
    fn start(&mut self, mark: u32, channel: u32, switch: u32, bit: DependencyBit, words: usize) {
        self.round += 1;
        self.mark = mark;
        self.found.clear();
        self.found.push(channel);
        self.went = 0;
        self.unseen(switch, bit.word % words, words, bit.mask);
    }

    fn next(&mut self) -> Option<u32> {
        let next = self.found.get(self.went).copied();
        self.went += 1;
        next
    }

    /// All that was found, as it stands in line.
    fn found_in_order(&mut self, line: &ChannelLine) -> &[u32] {
        self.found.sort_unstable_by_key(|channel| line.number(*channel));
        &self.found
    }

    /// What of a row at a switch was not seen yet; it is now.
    fn unseen(&mut self, switch: u32, word: usize, words: usize, row: u64) -> u64 {
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
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Faults, SwitchGraph};

    #[test]
    fn a_ring_takes_all_dependencies_but_the_last_of_each_direction() {
        let fabric = generate(&"torus,dims=5".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        let on = PossibleDependencies::new(&graph);
        for descending in [false, true] {
            let mut ranks: Vec<u32> = (0..graph.channels().len() as u32).collect();
            if descending {
                ranks.reverse();
            }
            let mut order = ChannelOrder::new(&on, &ranks);
            let (mut taken, mut refused) = (Vec::new(), Vec::new());
            for (at, channel) in graph.channels().iter().enumerate() {
                let onward =
                    graph.outgoing(channel.to).find(|next| graph.channels()[*next].to != channel.from);
                let pair = (at as u32, onward.unwrap() as u32);
                if order.try_use(&on, pair.0, pair.1) { taken.push(pair) } else { refused.push(pair) }
            }
            assert_eq!((taken.len(), refused.len()), (8, 2));
            assert!(taken.iter().all(|(from, to)| order.try_use(&on, *from, *to)));
            assert!(taken.iter().all(|(from, to)| order.line.number(*from) < order.line.number(*to)));
            assert!(refused.iter().all(|(from, to)| !order.try_use(&on, *from, *to)));
        }
    }

    #[test]
    fn of_one_cycle_over_seventy_cables_the_last_dependency_is_refused() {
        let fabric = generate(&"random,switches=2,links=70".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        let on = PossibleDependencies::new(&graph);
        assert_eq!(on.word_count(), 2);
        let back = |channel: u32| graph.channels()[channel as usize].reverse.index() as u32;
        // There by a cable, back by the next one, and there by that one again.
        let cycle: Vec<(u32, u32)> = (0..70)
            .flat_map(|at| [(at, back((at + 1) % 70)), (back((at + 1) % 70), (at + 1) % 70)])
            .collect();
        for descending in [false, true] {
            let mut ranks: Vec<u32> = (0..graph.channels().len() as u32).collect();
            if descending {
                ranks.reverse();
            }
            let mut order = ChannelOrder::new(&on, &ranks);
            let (last, others) = cycle.split_last().unwrap();
            assert!(others.iter().all(|(from, to)| order.try_use(&on, *from, *to)));
            assert!(others.iter().all(|(from, to)| order.line.number(*from) < order.line.number(*to)));
            assert!(!order.try_use(&on, last.0, last.1));
        }
    }
}
