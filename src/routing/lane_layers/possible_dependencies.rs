//! The dependencies that a fabric can have: a channel that enters a switch, and one that leaves it. A dependency is a
//! bit in the row of the channel that is held, at the place of the wanted channel among those of the switch.

use crate::descent::Neighbours;
use fabdeck_fabric::SwitchGraph;

#[derive(Debug)]
pub(super) struct PossibleDependencies {
    pub(super) net: Neighbours,
    /// The switch that a channel leaves.
    start: Vec<u32>,
    /// The channels that enter each switch, side by side, and the place of each channel among them.
    entering: Vec<u32>,
    first_entering: Vec<u32>,
    entry: Vec<u8>,
    /// Words of 64 bits in a row.
    words: usize,
}

/// A bit of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct DependencyBit {
    pub(super) word: usize,
    pub(super) mask: u64,
}

impl PossibleDependencies {
    pub(super) fn new(graph: &SwitchGraph) -> Self {
        let net = Neighbours::new(graph);
        let switches = net.switch_count();
        let start: Vec<u32> = graph.channels().iter().map(|channel| channel.from).collect();
        let mut first_entering = vec![0u32; switches + 1];
        for channel in graph.channels() {
            first_entering[channel.to as usize + 1] += 1;
        }
        for switch in 0..switches {
            first_entering[switch + 1] += first_entering[switch];
        }
        let mut entering = vec![0; start.len()];
        let mut entry = vec![0; start.len()];
        let mut filled = vec![0u32; switches];
        for (at, channel) in graph.channels().iter().enumerate() {
            let filled = &mut filled[channel.to as usize];
            entering[(first_entering[channel.to as usize] + *filled) as usize] = at as u32;
            // A switch has 254 ports at most.
            entry[at] = *filled as u8;
            *filled += 1;
        }
        let leaving = (0..switches as u32).map(|switch| net.neighbours(switch).len()).max().unwrap_or(0);
        let most = filled.iter().map(|entering| *entering as usize).max().unwrap_or(0).max(leaving);
        Self { net, start, entering, first_entering, entry, words: most.div_ceil(64).max(1) }
    }

    pub(super) fn word_count(&self) -> usize {
        self.words
    }

    /// The switch that a channel leaves.
    pub(super) fn source_switch(&self, channel: u32) -> u32 {
        self.start[channel as usize]
    }

    /// Where in the row of the channel `from` the dependency on `to` is.
    pub(super) fn wanted_bit(&self, from: u32, to: u32) -> DependencyBit {
        self.bit(from, self.exit_place(to))
    }

    /// Where in the row of the channel `to`, of those that hold, `from` is.
    pub(super) fn held_bit(&self, from: u32, to: u32) -> DependencyBit {
        self.bit(to, self.entry_place(from))
    }

    /// The place of a channel among those that leave its switch.
    pub(super) fn exit_place(&self, channel: u32) -> u32 {
        channel - self.net.first(self.source_switch(channel))
    }

    /// The place of a channel among those that enter the switch it leads to.
    pub(super) fn entry_place(&self, channel: u32) -> u32 {
        self.entry[channel as usize].into()
    }

    fn bit(&self, row: u32, place: u32) -> DependencyBit {
        DependencyBit { word: row as usize * self.words + place as usize / 64, mask: 1 << (place % 64) }
    }

    /// The channel that leaves a switch at a place.
    pub(super) fn channel_leaving(&self, switch: u32, place: u32) -> u32 {
        self.net.first(switch) + place
    }

    /// The channel that enters a switch at a place.
    pub(super) fn channel_entering(&self, switch: u32, place: u32) -> u32 {
        self.entering[(self.first_entering[switch as usize] + place) as usize]
    }

    /// An order to start from, given switches from a root outwards: first what leads towards the root, from the outside
    /// in, then what leads away from it. Up and down around one root has no cycle, so much of what short paths need is
    /// in order already. Channels get ranks.
    pub(super) fn inwards_then_outwards(&self, order: &[u32]) -> Vec<u32> {
        let mut place = vec![u32::MAX; self.net.switch_count()];
        for (at, switch) in order.iter().enumerate() {
            place[*switch as usize] = at as u32;
        }
        let mut channels: Vec<u32> = (0..self.start.len() as u32).collect();
        channels.sort_by_key(|channel| {
            let from = place[self.source_switch(*channel) as usize];
            let to = place[self.net.target(*channel) as usize];
            if from > to { (0, u32::MAX - from, u32::MAX - to) } else { (1, from, to) }
        });
        let mut rank = vec![0; channels.len()];
        for (at, channel) in channels.iter().enumerate() {
            rank[*channel as usize] = at as u32;
        }
        rank
    }
}
