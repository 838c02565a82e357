//! Shortest paths in hops, balanced per switch: of the ports that lead nearer to a destination each LID takes the one
//! with the fewest LIDs so far, the lowest port number among equals. No promise about deadlocks.

use rayon::prelude::*;

use super::engine::{Answer, Pulse, Refusal, Request};
use super::problem::Problem;
use crate::fabric::SwitchGraph;

/// How far two switches are apart when there is no way.
pub(super) const FAR: u8 = u8::MAX;

pub fn route(problem: &Problem<'_>, _: &Request, pulse: &dyn Pulse) -> Result<Answer, Refusal> {
    let hops = hop_matrix(&problem.graph);
    if pulse.cancelled() {
        return Err(Refusal::Cancelled);
    }
    let mut routes = problem.no_routes();
    let stride = routes.stride().max(1);
    let rows = routes.bytes_mut().par_chunks_exact_mut(stride);
    rows.enumerate().for_each(|(switch, row)| {
        if !pulse.cancelled() {
            fill_row(problem, &hops, switch as u32, row);
        }
    });
    if pulse.cancelled() { Err(Refusal::Cancelled) } else { Ok(routes.into()) }
}

/// The hops between every two switches: row `to`, column `from`.
pub(super) fn hop_matrix(graph: &SwitchGraph) -> Vec<Vec<u8>> {
    let rows = (0..graph.switch_count() as u32).into_par_iter();
    rows.map(|to| hops_to(graph, to)).collect()
}

fn hops_to(graph: &SwitchGraph, to: u32) -> Vec<u8> {
    let mut hops = vec![FAR; graph.switch_count()];
    if !graph.alive(to) {
        return hops;
    }
    hops[to as usize] = 0;
    let mut queue = std::collections::VecDeque::from([to]);
    while let Some(switch) = queue.pop_front() {
        let next = hops[switch as usize].saturating_add(1);
        // A cable works in both directions, so the channels that leave lead to those from where one comes.
        for channel in &graph.channels()[graph.leaving(switch)] {
            let at = channel.to as usize;
            if hops[at] == FAR && next < FAR {
                hops[at] = next;
                queue.push_back(channel.to);
            }
        }
    }
    hops
}

fn fill_row(problem: &Problem<'_>, hops: &[Vec<u8>], switch: u32, row: &mut [u8]) {
    let channels = &problem.graph.channels()[problem.graph.leaving(switch)];
    let neighbours: Vec<u32> = channels.iter().map(|channel| channel.to).collect();
    let mut lids_on = vec![0u32; channels.len()];
    let mut ways: Vec<usize> = Vec::with_capacity(channels.len());
    let mut keys: Vec<u32> = Vec::with_capacity(channels.len());
    for to in problem.switches() {
        if to == switch {
            problem.behind(to).iter().for_each(|end| row[end.lid.index()] = end.port.value());
            continue;
        }
        let from_here = &hops[to as usize];
        let here = from_here[switch as usize];
        if here == FAR {
            continue;
        }
        ways.clear();
        ways.extend((0..channels.len()).filter(|at| from_here[neighbours[*at] as usize] == here - 1));
        // Load above, place below: the least of these numbers is the way with the fewest LIDs, the first of equals.
        keys.clear();
        keys.extend(ways.iter().enumerate().map(|(place, at)| lids_on[*at] << 8 | place as u32));
        for destination in problem.behind(to) {
            let Some(least) = keys.iter().copied().min() else { break };
            let place = (least & 0xFF) as usize;
            row[destination.lid.index()] = channels[ways[place]].from_port.value();
            keys[place] += 1 << 8;
        }
        for (at, key) in ways.iter().zip(&keys) {
            lids_on[*at] = key >> 8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Resolved;
    use crate::fabric::{Fabric, Faults, Lid, NodeId, PortNum, Routes};
    use crate::generate::{Spec, generate};
    use crate::routing::NoPulse;

    fn minhop(fabric: &Fabric, faults: &Faults) -> Routes {
        route(&Problem::new(fabric, faults), &Request::default(), &NoPulse).unwrap().routes
    }

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
    }

    /// Follows a table from a switch; how many switches it takes to the LID.
    fn walk(fabric: &Fabric, tables: &Routes, from: NodeId, lid: Lid) -> Option<usize> {
        let target = fabric.port_by_lid(lid)?;
        let mut at = from;
        for steps in 0..64 {
            let egress = tables.get(at.0, lid)?;
            if egress == PortNum::MANAGEMENT {
                return (fabric.port(target).node == at).then_some(steps);
            }
            let peer = fabric.peer(fabric.port_of(at, egress)?)?;
            if peer == target {
                return Some(steps);
            }
            at = fabric.port(peer).node;
        }
        None
    }

    #[test]
    fn every_switch_reaches_every_lid_on_a_shortest_path() {
        for name in
            ["demo", "kary,k=3,n=3", "torus,dims=4x3", "random,switches=20,links=40", "dragonfly,a=4,h=2,g=5"]
        {
            let fabric = fabric(name);
            let tables = minhop(&fabric, &Faults::default());
            let graph = SwitchGraph::new(&fabric, &Faults::default());
            let hops = hop_matrix(&graph);
            for (port, facts) in fabric.ports().filter_map(|(id, port)| Some((id, port.facts.lid?))) {
                let end = fabric.port(port).node;
                let last = match fabric.node(end).is_switch() {
                    true => end,
                    false => fabric.port(fabric.peer(port).unwrap()).node,
                };
                for (switch, _) in fabric.switches() {
                    let taken = walk(&fabric, &tables, switch, facts);
                    let shortest = usize::from(hops[last.index()][switch.index()]);
                    assert_eq!(taken, Some(shortest), "{name}: {switch:?} to {facts}");
                }
            }
        }
    }

    #[test]
    fn lids_spread_evenly_over_the_ways_up() {
        let fabric = fabric("kary,k=4,n=2");
        let tables = minhop(&fabric, &Faults::default());
        let leaf = fabric.switches().find(|(id, _)| {
            fabric.ports_of(*id).any(|(_, port)| {
                port.peer.is_some_and(|peer| !fabric.node(fabric.port(peer).node).is_switch())
            })
        });
        let mut used = std::collections::BTreeMap::<PortNum, u32>::new();
        for (lid, port) in tables.lft(leaf.unwrap().0.0).routed() {
            let owner = fabric.port(fabric.port_by_lid(lid).unwrap()).node;
            if !fabric.node(owner).is_switch() {
                *used.entry(port).or_default() += 1;
            }
        }
        // Four hosts of its own, twelve others over four ways up.
        assert_eq!(used.len(), 8);
        assert!(used.values().all(|lids| *lids == 1 || *lids == 3 || *lids == 2 || *lids == 4), "{used:?}");
    }

    #[test]
    fn what_is_cut_off_has_no_entry() {
        let fabric = fabric("torus,dims=3");
        let mut faults = Faults::default();
        faults.mark(Resolved::Node(NodeId(1)));
        let tables = minhop(&fabric, &faults);
        assert!(tables.lft(1).is_empty());
        let lid = fabric.address_of(fabric.port_of(NodeId(1), PortNum(0)).unwrap()).unwrap().0;
        assert!((0..3).all(|switch| tables.get(switch, lid).is_none()));
    }
}
