//! Vertex connectivity: the least number of switches whose failure separates two others (dissertation 3.1), by maximum
//! flows over a graph in which each switch has room for one path (Even's algorithm).

use std::collections::VecDeque;

use fabdeck_fabric::SwitchGraph;

const NONE: u32 = u32::MAX;

/// The least number of switches whose failure separates two others of the same fabric; of a complete graph, all but one.
/// `None` without switches, or if the flows may take more than `max_steps` steps. Parallel cables count once, and a fabric of
/// several parts has 0.
pub fn vertex_connectivity(graph: &SwitchGraph, max_steps: u64) -> Option<u32> {
    let alive: Vec<u32> = (0..graph.switch_count() as u32).filter(|switch| graph.is_alive(*switch)).collect();
    let neighbours: Vec<Vec<u32>> = alive.iter().map(|switch| neighbours_of(graph, *switch)).collect();
    let mut place = vec![NONE; graph.switch_count()];
    (0u32..).zip(&alive).for_each(|(at, switch)| place[*switch as usize] = at);
    let near: Vec<Vec<u32>> =
        neighbours.iter().map(|own| own.iter().map(|switch| place[*switch as usize]).collect()).collect();
    let least = near.iter().map(Vec::len).min()? as u32;
    if near.len() == 1 {
        return Some(0);
    }
    let arcs: u64 = near.iter().map(|own| own.len() as u64).sum();
    let bound = u64::from(least.min(near.len() as u32 - 1));
    if (bound + 1) * (bound + 1) * near.len() as u64 * (arcs + near.len() as u64) > max_steps {
        return None;
    }
    let mut flows = SwitchFlows::new(&near);
    let mut found = bound as u32;
    // A smallest cut leaves out one of the first `found` + 1 switches, and separates that one from another.
    let mut first = 0;
    while first <= found && (first as usize) < near.len() {
        for other in 0..near.len() as u32 {
            if other != first && !near[first as usize].contains(&other) {
                found = found.min(flows.disjoint_paths(first, other, found));
            }
        }
        first += 1;
    }
    Some(found)
}

fn neighbours_of(graph: &SwitchGraph, switch: u32) -> Vec<u32> {
    let leaving = &graph.channels()[graph.outgoing(switch)];
    let mut near: Vec<u32> = leaving.iter().map(|channel| channel.to).collect();
    near.sort_unstable();
    near.dedup();
    near
}

/// Paths between two switches that share no other switch. Each switch is split into an entrance 2s and an exit 2s + 1.
struct SwitchFlows {
    /// The arcs of each node: target and index in `room`. Arc `a ^ 1` is the reverse of arc `a`.
    arcs: Vec<Vec<(u32, u32)>>,
    whole: Vec<u8>,
    room: Vec<u8>,
    came_by: Vec<u32>,
    from: Vec<u32>,
}

impl SwitchFlows {
    fn new(near: &[Vec<u32>]) -> Self {
        let nodes = near.len() * 2;
        let mut flows = Self {
            arcs: vec![Vec::new(); nodes],
            whole: Vec::new(),
            room: Vec::new(),
            came_by: vec![NONE; nodes],
            from: vec![NONE; nodes],
        };
        for (switch, own) in (0u32..).zip(near) {
            flows.add_arc(2 * switch, 2 * switch + 1);
            own.iter().for_each(|other| flows.add_arc(2 * switch + 1, 2 * other));
        }
        flows
    }

    fn add_arc(&mut self, from: u32, to: u32) {
        let arc = self.whole.len() as u32;
        self.arcs[from as usize].push((to, arc));
        self.arcs[to as usize].push((from, arc + 1));
        self.whole.extend([1, 0]);
    }

    /// The number of paths, counted up to `most`.
    fn disjoint_paths(&mut self, from: u32, to: u32, most: u32) -> u32 {
        self.room.clone_from(&self.whole);
        let mut paths = 0;
        while paths < most && self.add_path(2 * from + 1, 2 * to) {
            paths += 1;
        }
        paths
    }

    /// Finds one more path, breadth first.
    fn add_path(&mut self, from: u32, to: u32) -> bool {
        self.came_by.fill(NONE);
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for (next, arc) in &self.arcs[at as usize] {
                if self.room[*arc as usize] > 0 && self.came_by[*next as usize] == NONE && *next != from {
                    self.came_by[*next as usize] = *arc;
                    self.from[*next as usize] = at;
                    queue.push_back(*next);
                }
            }
            if self.came_by[to as usize] != NONE {
                break;
            }
        }
        if self.came_by[to as usize] == NONE {
            return false;
        }
        let mut at = to;
        while at != from {
            let arc = self.came_by[at as usize] as usize;
            self.room[arc] -= 1;
            self.room[arc ^ 1] += 1;
            at = self.from[at as usize];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Fabric, Faults, NodeId};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn connectivity(name: &str) -> Option<u32> {
        vertex_connectivity(&SwitchGraph::new(&fabric(name), &Faults::default()), u64::MAX)
    }

    /// Whether the switches that are left are one part.
    fn is_connected(fabric: &Fabric, removed: &[u32]) -> bool {
        let mut faults = Faults::default();
        removed.iter().for_each(|switch| {
            faults.mark(ElementId::Node(NodeId(*switch)));
        });
        let graph = SwitchGraph::new(fabric, &faults);
        let (part, _) = graph.components();
        let mut parts: Vec<u32> = part
            .iter()
            .zip(0u32..)
            .filter(|(_, switch)| graph.is_alive(*switch))
            .map(|(part, _)| *part)
            .collect();
        parts.sort_unstable();
        parts.dedup();
        parts.len() <= 1
    }

    #[test]
    fn topologies_have_the_connectivity_of_their_definition() {
        for (name, wanted) in [
            ("mesh,dims=4x4", 2),
            ("mesh,dims=3x3x3", 3),
            ("torus,dims=4x4", 4),
            ("torus,dims=5", 2),
            ("kary,k=4,n=3", 4),
            ("kautz,d=2,k=3", 3),
        ] {
            assert_eq!(connectivity(name), Some(wanted), "{name}");
        }
    }

    #[test]
    fn no_smaller_set_of_switches_separates_a_random_graph() {
        for seed in 1..=6 {
            let fabric = fabric(&format!("random,switches=9,links=16,seed={seed}"));
            let found =
                vertex_connectivity(&SwitchGraph::new(&fabric, &Faults::default()), u64::MAX).unwrap();
            let sets = |size: u32| {
                (0u32..1 << 9)
                    .filter(move |set| set.count_ones() == size)
                    .map(|set| (0..9).filter(|at| set >> at & 1 == 1).collect::<Vec<u32>>())
            };
            assert!(sets(found - 1).all(|set| is_connected(&fabric, &set)), "seed {seed}: {found}");
            assert!(sets(found).any(|set| !is_connected(&fabric, &set)), "seed {seed}: {found}");
        }
    }
}
