//! What waits for what where lanes change on the way: (channel, lane) for (channel, lane).

use std::sync::atomic::{AtomicU64, Ordering};

use super::cycle_search::{self, WaitGraph, set_bit, set_bits};
use crate::trees::place_of;
use fabdeck_fabric::SwitchGraph;

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
            set_bit(word, column);
        }
    }

    /// A cycle, as short as a bounded search finds, from its lowest channel on.
    pub fn find_loop(&self, graph: &SwitchGraph) -> Option<Vec<(usize, u8)>> {
        let cycle = cycle_search::find_cycle(&DependenciesOfLanes { all: self, graph })?;
        Some(cycle.into_iter().map(|row| (row / self.lanes, (row % self.lanes) as u8)).collect())
    }
}

/// The dependencies of all lanes: a row is a channel with a lane.
struct DependenciesOfLanes<'d> {
    all: &'d LaneDependencies,
    graph: &'d SwitchGraph,
}

impl WaitGraph for DependenciesOfLanes<'_> {
    fn row_count(&self) -> usize {
        self.all.channels * self.all.lanes
    }

    fn successors(&self, row: usize) -> impl Iterator<Item = usize> {
        let LaneDependencies { lanes, words, bits, .. } = self.all;
        let first = self.graph.outgoing(self.graph.channels()[row / lanes].to).start * lanes;
        set_bits(&bits[row * words..(row + 1) * words]).map(move |column| first + column)
    }

    fn predecessors(&self, row: usize) -> impl Iterator<Item = usize> {
        let LaneDependencies { lanes, words, bits, .. } = self.all;
        let (channel, lane) = (row / lanes, row % lanes);
        let column = place_of(self.graph, channel) as usize * lanes + lane;
        let coming = self.graph.outgoing(self.graph.channels()[channel].from);
        let coming = coming.map(|away| self.graph.channels()[away].reverse.index());
        let rows = coming.flat_map(move |other| (0..*lanes).map(move |lane| other * lanes + lane));
        rows.filter(move |other| {
            let word = bits.get(other * words + column / 64);
            word.is_some_and(|word| word.load(Ordering::Relaxed) & (1 << (column % 64)) != 0)
        })
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
