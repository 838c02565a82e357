//! The switch graph as flat arrays: channels, the dependencies between them, and what each switch sends.

use std::sync::Arc;

use fabdeck_fabric::SwitchGraph;

pub(crate) const NONE: u32 = u32::MAX;

/// Channels keep the indices that they have in the switch graph.
#[derive(Debug)]
pub(crate) struct FlatGraph {
    first: Vec<u32>,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    pub reverse: Vec<u32>,
    /// Channels that lead to each switch, with the switch that they leave.
    arriving: Vec<(u32, u32)>,
    first_arriving: Vec<u32>,
    /// Where the dependencies of a channel begin: one for each channel that leaves its far end.
    first_dependency: Vec<u32>,
    /// Terminals of each switch, which is the number of paths from there to every LID.
    pub senders: Arc<[u32]>,
    pub part: Vec<u32>,
    pub part_size: Vec<u32>,
    /// The first switch of each part.
    pub part_first: Vec<u32>,
}

impl FlatGraph {
    pub fn new(graph: &SwitchGraph) -> Self {
        let switches = graph.switch_count() as u32;
        let channels = graph.channels();
        let (part, parts) = graph.components();
        let mut part_size = vec![0; parts as usize];
        part.iter().filter(|part| **part != NONE).for_each(|part| part_size[*part as usize] += 1);
        let mut net = Self {
            first: (0..switches).map(|switch| graph.outgoing(switch).start as u32).collect(),
            from: channels.iter().map(|channel| channel.from).collect(),
            to: channels.iter().map(|channel| channel.to).collect(),
            reverse: channels.iter().map(|channel| channel.reverse.0).collect(),
            arriving: Vec::with_capacity(channels.len()),
            first_arriving: vec![0],
            first_dependency: Vec::with_capacity(channels.len() + 1),
            senders: (0..switches).map(|switch| graph.terminals_of(switch).len() as u32).collect(),
            part_first: (0..parts)
                .filter_map(|number| part.iter().position(|part| *part == number))
                .map(|at| at as u32)
                .collect(),
            part_size,
            part,
        };
        net.first.push(channels.len() as u32);
        for switch in 0..switches {
            let back = net.leaving(switch).map(|channel| net.reverse[channel as usize]);
            let back = back.filter(|channel| *channel != NONE);
            net.arriving.extend(back.map(|channel| (channel, net.from[channel as usize])));
            net.first_arriving.push(net.arriving.len() as u32);
        }
        let mut next = 0;
        for channel in 0..channels.len() as u32 {
            net.first_dependency.push(next);
            next += net.leaving(net.to[channel as usize]).len() as u32;
        }
        net.first_dependency.push(next);
        net
    }

    pub fn switch_count(&self) -> usize {
        self.senders.len()
    }

    pub fn channel_count(&self) -> usize {
        self.to.len()
    }

    pub fn dependency_count(&self) -> usize {
        self.first_dependency.last().map_or(0, |past| *past as usize)
    }

    pub fn leaving(&self, switch: u32) -> std::ops::Range<u32> {
        self.first[switch as usize]..self.first[switch as usize + 1]
    }

    /// The place of a channel among those that leave its switch; a switch has at most 254 ports.
    pub fn place(&self, channel: u32) -> u8 {
        (channel - self.first[self.from[channel as usize] as usize]) as u8
    }

    /// The channel of a place.
    pub fn channel_at(&self, switch: u32, place: u8) -> u32 {
        self.first[switch as usize] + u32::from(place)
    }

    /// The dependency of a packet that holds `held` and wants `wanted`, which leaves the far end of `held`.
    pub fn dependency(&self, held: u32, wanted: u32) -> usize {
        let start = self.first[self.to[held as usize] as usize];
        (self.first_dependency[held as usize] + (wanted - start)) as usize
    }

    /// The dependencies of a channel, in the order of those that leave its far end.
    pub fn dependencies_of(&self, held: u32) -> std::ops::Range<usize> {
        let at = held as usize;
        self.first_dependency[at] as usize..self.first_dependency[at + 1] as usize
    }

    /// The same of the channel at a place among those that leave the far end of `held`.
    pub fn dependency_at(&self, held: u32, place: u8) -> usize {
        self.first_dependency[held as usize] as usize + usize::from(place)
    }

    /// Channels that lead to a switch, each with the switch that it leaves.
    pub fn incoming(&self, switch: u32) -> &[(u32, u32)] {
        let at = switch as usize;
        &self.arriving[self.first_arriving[at] as usize..self.first_arriving[at + 1] as usize]
    }

    /// For each channel, how many lead to the switch that it leaves.
    pub fn incoming_counts(&self) -> impl Iterator<Item = usize> + '_ {
        let mut at_switch = vec![0; self.switch_count()];
        self.to.iter().for_each(|to| at_switch[*to as usize] += 1);
        self.from.iter().map(move |from| at_switch[*from as usize])
    }

    /// Hops from every switch to the nearest of some; `NONE` where there is no way.
    pub fn hops(&self, starts: &[u32], hops: &mut Vec<u32>, queue: &mut Vec<u32>) {
        hops.clear();
        hops.resize(self.switch_count(), NONE);
        queue.clear();
        queue.extend_from_slice(starts);
        starts.iter().for_each(|start| hops[*start as usize] = 0);
        let mut head = 0;
        while let Some(switch) = queue.get(head).copied() {
            head += 1;
            for channel in self.leaving(switch) {
                let far = self.to[channel as usize] as usize;
                if hops[far] == NONE {
                    hops[far] = hops[switch as usize] + 1;
                    queue.push(far as u32);
                }
            }
        }
    }
}
