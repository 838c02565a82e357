//! Hop counts as in OpenSM's min-hop matrix: the distance from a switch through one of its ports.

use std::collections::VecDeque;

use fabdeck_fabric::{Fabric, Faults, SwitchGraph};

/// No distance is that long: the switch is not reached.
const UNREACHABLE: u8 = u8::MAX;

/// Most switches. The matrix has one byte for each pair; beyond this count, which no subnet reaches, hops are unknown.
const MOST_SWITCHES: usize = 16_384;

pub(super) struct HopMatrix {
    graph: SwitchGraph,
    /// Row by row: `distances[from * switches + to]`.
    distances: Vec<u8>,
}

impl HopMatrix {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let graph = SwitchGraph::new(fabric, &Faults::default());
        let switches = graph.switch_count();
        let mut distances = Vec::new();
        if switches <= MOST_SWITCHES {
            let neighbours = neighbours(&graph);
            distances = vec![UNREACHABLE; switches * switches];
            let mut queue = VecDeque::new();
            for (from, row) in distances.chunks_mut(switches.max(1)).enumerate() {
                fill_row(from, row, &neighbours, &mut queue);
            }
        }
        Self { graph, distances }
    }

    /// Hops from switch to switch.
    pub(super) fn distance(&self, from: u32, to: u32) -> Option<u8> {
        let at = from as usize * self.graph.switch_count() + to as usize;
        self.distances.get(at).copied().filter(|hops| *hops != UNREACHABLE)
    }

    /// Hops from switch to switch through a port; port 0 leads to the switch itself.
    pub(super) fn distance_through_port(&self, from: u32, port: u8, to: u32) -> Option<u8> {
        if port == 0 {
            return (from == to).then_some(0);
        }
        let leaving = self.graph.channels().get(self.graph.outgoing(from))?;
        let at = leaving.binary_search_by_key(&port, |channel| channel.from_port.value()).ok()?;
        let hops = self.distance(leaving.get(at)?.to, to)?;
        hops.checked_add(1).filter(|hops| *hops != UNREACHABLE)
    }

    /// The lowest port on a shortest path.
    pub(super) fn best_port(&self, from: u32, to: u32) -> Option<u8> {
        let best = self.distance(from, to)?;
        let leaving = self.graph.channels().get(self.graph.outgoing(from))?;
        let shortest = |hops: Option<u8>| hops.is_some_and(|hops| hops.checked_add(1) == Some(best));
        let channel = leaving.iter().find(|channel| shortest(self.distance(channel.to, to)));
        channel.map(|channel| channel.from_port.value())
    }
}

/// The neighbours of each switch, without duplicates for parallel cables.
fn neighbours(graph: &SwitchGraph) -> Vec<Vec<u32>> {
    let of = |switch: usize| {
        let channels = graph.channels().get(graph.outgoing(switch as u32)).unwrap_or_default();
        let mut near: Vec<u32> = channels.iter().map(|channel| channel.to).collect();
        near.sort_unstable();
        near.dedup();
        near
    };
    (0..graph.switch_count()).map(of).collect()
}

fn fill_row(from: usize, row: &mut [u8], neighbours: &[Vec<u32>], queue: &mut VecDeque<u32>) {
    row[from] = 0;
    queue.push_back(from as u32);
    while let Some(here) = queue.pop_front() {
        let next = row[here as usize].saturating_add(1);
        if next == UNREACHABLE {
            continue;
        }
        for near in &neighbours[here as usize] {
            let known = &mut row[*near as usize];
            if *known == UNREACHABLE {
                *known = next;
                queue.push_back(*near);
            }
        }
    }
}
