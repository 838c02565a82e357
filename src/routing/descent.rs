//! The ways nearer to one switch: the switches that reach it in order of hops, and the channels of each that lead one
//! hop nearer. Every tree of shortest paths into the switch takes one way of each.

use fabdeck_fabric::SwitchGraph;

/// Not reached.
const NOWHERE: u32 = u32::MAX;

/// Where the channels of each switch lead, side by side: what a search reads most.
#[derive(Debug)]
pub(super) struct Neighbours {
    first: Vec<u32>,
    to: Vec<u32>,
    alive: Vec<bool>,
}

impl Neighbours {
    pub(super) fn new(graph: &SwitchGraph) -> Self {
        let switches = 0..graph.switch_count() as u32;
        let mut first: Vec<u32> =
            switches.clone().map(|switch| graph.outgoing(switch).start as u32).collect();
        first.push(graph.channels().len() as u32);
        Self {
            first,
            to: graph.channels().iter().map(|channel| channel.to).collect(),
            alive: switches.map(|switch| graph.is_alive(switch)).collect(),
        }
    }

    pub(super) fn switch_count(&self) -> usize {
        self.alive.len()
    }

    pub(super) fn channel_count(&self) -> usize {
        self.to.len()
    }

    /// The switch that a channel leads to.
    pub(super) fn target(&self, channel: u32) -> u32 {
        self.to[channel as usize]
    }

    /// The first channel that leaves a switch.
    pub(super) fn first(&self, switch: u32) -> u32 {
        self.first[switch as usize]
    }

    /// The switches next to one, a time for each channel, with the channels from `first` on.
    pub(super) fn neighbours(&self, switch: u32) -> &[u32] {
        let at = switch as usize;
        &self.to[self.first[at] as usize..self.first[at + 1] as usize]
    }
}

/// A channel one hop nearer, and the place of the switch it leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescentHop {
    pub(super) channel: u32,
    pub(super) place: u32,
}

/// Built again and again for other switches, so that its memory is asked for once.
#[derive(Clone, Debug, Default)]
pub(super) struct Descent {
    /// The switches that reach the destination, nearest first; it stands at place 0.
    order: Vec<u32>,
    /// Of each place, where its ways begin.
    first: Vec<u32>,
    ways: Vec<DescentHop>,
    place: Vec<u32>,
    hops: Vec<u32>,
}

impl Descent {
    /// Of the switch `to`. A failed one is reached from nowhere. One pass over all channels: when a search comes to a switch
    /// it has been to all that are nearer, and these stand before the first of those that are as far.
    pub(super) fn build(&mut self, net: &Neighbours, to: u32) {
        self.place.clear();
        self.place.resize(net.switch_count(), NOWHERE);
        self.order.clear();
        self.hops.clear();
        self.ways.clear();
        self.first.clear();
        self.first.push(0);
        if !net.alive[to as usize] {
            return;
        }
        self.enqueue(to, 0);
        let (mut at, mut level) = (0, 0);
        while let (Some(switch), Some(hops)) = (self.order.get(at).copied(), self.hops.get(at).copied()) {
            if hops > self.hops[level as usize] {
                level = at as u32;
            }
            for (channel, next) in (net.first(switch)..).zip(net.neighbours(switch)) {
                let place = self.place[*next as usize];
                // A cable works in both directions: who is reached reaches.
                if place < level {
                    self.ways.push(DescentHop { channel, place });
                } else if place == NOWHERE {
                    self.enqueue(*next, hops + 1);
                }
            }
            self.first.push(self.ways.len() as u32);
            at += 1;
        }
    }

    fn enqueue(&mut self, switch: u32, hops: u32) {
        self.place[switch as usize] = self.order.len() as u32;
        self.order.push(switch);
        self.hops.push(hops);
    }

    pub(super) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The hops of the farthest switch.
    pub(super) fn max_hops(&self) -> u32 {
        self.hops.last().copied().unwrap_or(0)
    }

    /// Where a switch that reaches the destination stands in the order.
    pub(super) fn position(&self, switch: u32) -> usize {
        self.place[switch as usize] as usize
    }

    /// The ways of the switch at a place, by channel; none at place 0.
    pub(super) fn hops(&self, place: usize) -> &[DescentHop] {
        &self.ways[self.first[place] as usize..self.first[place + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Faults, NodeId};

    #[test]
    fn nearest_first_with_every_way_one_hop_nearer() {
        let fabric = generate(&"torus,dims=4x4".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let mut faults = Faults::default();
        faults.mark(ElementId::Node(NodeId(5)));
        let net = Neighbours::new(&SwitchGraph::new(&fabric, &faults));
        let mut descent = Descent::default();
        descent.build(&net, 0);
        assert_eq!((descent.order()[0], descent.order().len()), (0, 15));
        assert!(descent.hops(0).is_empty());
        for place in 1..15 {
            for way in descent.hops(place) {
                assert_eq!(net.target(way.channel), descent.order()[way.place as usize]);
                assert_eq!(descent.hops[way.place as usize] + 1, descent.hops[place]);
            }
            assert!(!descent.hops(place).is_empty());
        }
        // Two opposite ways around each ring: the switch across has all four.
        assert_eq!(descent.hops(14).len(), 4);
        descent.build(&net, 5);
        assert!(descent.order().is_empty());
    }
}
