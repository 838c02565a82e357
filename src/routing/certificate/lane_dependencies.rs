//! What waits for what where lanes change on the way: (channel, lane) for (channel, lane).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::trees::place_of;
use fabdeck_fabric::SwitchGraph;

/// Largest number of dependencies that the search for a shorter cycle than the first one visits.
const MAX_SEARCHED: usize = 20_000_000;

/// A dependency is a bit: the row is the channel and lane by which a packet comes, the column the place of the channel
/// that it leaves by, and the lane there. Bits are only ever set, so that the outcome does not depend on the order of threads.
#[derive(Debug)]
pub struct LaneDependencies {
    lanes: usize,
    words: usize,
    channels: usize,
    bits: Vec<AtomicU64>,
}

impl LaneDependencies {
    pub fn new(graph: &SwitchGraph, lanes: u8) -> Self {
        let switches = 0..graph.switch_count() as u32;
        let widest = switches.map(|switch| graph.outgoing(switch).len()).max().unwrap_or(0);
        let (lanes, channels) = (usize::from(lanes.max(1)), graph.channels().len());
        let words = (widest * lanes).div_ceil(64).max(1);
        Self {
            lanes,
            words,
            channels,
            bits: (0..words * channels * lanes).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// What is on a channel, on any of some lanes, waits for a lane of the channel at a place.
    pub fn add(&self, (channel, mut on): (usize, u16), place: u32, lane: u8) {
        let column = place as usize * self.lanes + usize::from(lane);
        while on != 0 {
            let row = channel * self.lanes + on.trailing_zeros() as usize;
            on &= on - 1;
            let Some(word) = self.bits.get(row * self.words + column / 64) else { continue };
            let bit = 1 << (column % 64);
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// The rows that a row waits for, ascending.
    fn successors<'w>(&'w self, graph: &'w SwitchGraph, row: usize) -> impl Iterator<Item = usize> + 'w {
        let first = graph.outgoing(graph.channels()[row / self.lanes].to).start * self.lanes;
        let words = self.bits[row * self.words..(row + 1) * self.words].iter().enumerate();
        words.flat_map(move |(at, word)| {
            let mut left = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let column = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(first + at * 64 + column)
            })
        })
    }

    /// The rows that wait for a row.
    fn predecessors<'w>(&'w self, graph: &'w SwitchGraph, row: usize) -> impl Iterator<Item = usize> + 'w {
        let (channel, lane) = (row / self.lanes, row % self.lanes);
        let column = place_of(graph, channel) as usize * self.lanes + lane;
        let coming = graph.outgoing(graph.channels()[channel].from);
        let coming = coming.map(|away| graph.channels()[away].reverse.index());
        let rows = coming.flat_map(move |other| (0..self.lanes).map(move |lane| other * self.lanes + lane));
        rows.filter(move |other| {
            let word = self.bits.get(other * self.words + column / 64);
            word.is_some_and(|word| word.load(Ordering::Relaxed) & (1 << (column % 64)) != 0)
        })
    }

    /// A cycle, as short as a bounded search finds, from its lowest channel on.
    pub fn find_loop(&self, graph: &SwitchGraph) -> Option<Vec<(usize, u8)>> {
        let waiting = self.unsorted_counts(graph);
        let first = waiting.iter().position(|count| *count > 0)?;
        let mut best = self.find_loop_behind(graph, &waiting, first)?;
        let mut budget = MAX_SEARCHED;
        for start in best.clone() {
            if best.len() <= 2 || budget == 0 {
                break;
            }
            if let Some(shorter) = self.shortest_loop_through(graph, start, best.len(), &mut budget) {
                best = shorter;
            }
        }
        let lowest = (0..best.len()).min_by_key(|at| best[*at]).unwrap_or(0);
        best.rotate_left(lowest);
        Some(best.into_iter().map(|row| (row / self.lanes, (row % self.lanes) as u8)).collect())
    }

    /// Sorts topologically. Returns for each row the number of rows before it that could not be sorted: all 0 without a cycle.
    fn unsorted_counts(&self, graph: &SwitchGraph) -> Vec<u32> {
        let rows = self.channels * self.lanes;
        let mut waiting = vec![0u32; rows];
        (0..rows).for_each(|row| self.successors(graph, row).for_each(|next| waiting[next] += 1));
        let mut free: Vec<usize> = (0..rows).filter(|row| waiting[*row] == 0).collect();
        while let Some(row) = free.pop() {
            for next in self.successors(graph, row) {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    free.push(next);
                }
            }
        }
        waiting
    }

    /// Whatever could not be sorted has another before it: going back ends in a cycle.
    fn find_loop_behind(&self, graph: &SwitchGraph, waiting: &[u32], start: usize) -> Option<Vec<usize>> {
        let mut seen_at = vec![usize::MAX; waiting.len()];
        let (mut path, mut at) = (Vec::new(), start);
        while seen_at[at] == usize::MAX {
            seen_at[at] = path.len();
            path.push(at);
            at = self.predecessors(graph, at).find(|other| waiting[*other] > 0)?;
        }
        let mut cycle = path.split_off(seen_at[at]);
        cycle.reverse();
        Some(cycle)
    }

    /// The shortest cycle through a row, if it is shorter than `below`.
    fn shortest_loop_through(
        &self,
        graph: &SwitchGraph,
        start: usize,
        below: usize,
        budget: &mut usize,
    ) -> Option<Vec<usize>> {
        let mut from = vec![usize::MAX; self.channels * self.lanes];
        let mut front = vec![start];
        for _ in 1..below {
            let mut next_front = Vec::new();
            for row in front {
                for next in self.successors(graph, row) {
                    *budget = budget.checked_sub(1)?;
                    if next == start {
                        let mut cycle = vec![row];
                        while cycle.last().is_some_and(|last| *last != start) {
                            cycle.extend(cycle.last().map(|last| from[*last]));
                        }
                        cycle.reverse();
                        return Some(cycle);
                    }
                    if from[next] == usize::MAX {
                        from[next] = row;
                        next_front.push(next);
                    }
                }
            }
            front = next_front;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_loop_of_two_channels_is_found_beside_a_longer_one() {
        let fabric = generate(&"torus,dims=4".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        let channels = graph.channels();
        let onward = |channel: usize| {
            let mut leaving = graph.outgoing(channels[channel].to);
            leaving.find(|next| channels[*next].to != channels[channel].from).unwrap()
        };
        for (first, channel) in channels.iter().enumerate() {
            let waits = LaneDependencies::new(&graph, 1);
            let mut around = first;
            for _ in 0..4 {
                waits.add((around, 1), place_of(&graph, onward(around)), 0);
                around = onward(around);
            }
            assert_eq!(around, first);
            assert_eq!(waits.find_loop(&graph).map(|found| found.len()), Some(4));
            let back = channel.reverse.index();
            waits.add((first, 1), place_of(&graph, back), 0);
            waits.add((back, 1), place_of(&graph, first), 0);
            assert_eq!(waits.find_loop(&graph), Some(vec![(first.min(back), 0), (first.max(back), 0)]));
        }
    }

    #[test]
    fn a_loop_over_a_channel_beyond_the_sixty_fourth_is_found() {
        let fabric = generate(&"random,switches=2,links=70".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        let [(there, back), (wide_there, wide_back)] =
            [0, 69].map(|place| (place, graph.channels()[place].reverse.index()));
        for lane in [0, 1] {
            let waits = LaneDependencies::new(&graph, lane + 1);
            let around = [there, wide_back, wide_there, back];
            for (at, channel) in around.iter().enumerate() {
                waits.add((*channel, 1 << lane), place_of(&graph, around[(at + 1) % 4]), lane);
            }
            assert_eq!(waits.find_loop(&graph).unwrap(), around.map(|channel| (channel, lane)));
        }
    }
}
