//! Shortest paths in hops, balanced per switch: of the ports that lead nearer to a destination each LID takes the one
//! with the fewest LIDs so far, the lowest port number among equals. No promise about deadlocks.

use rayon::prelude::*;

use crate::fabric::{Fabric, Faults, Lft, Lid, NO_PATH, NodeId, PortNum, SwitchGraph};

/// How far two switches are apart when there is no way.
const FAR: u8 = u8::MAX;

/// A LID that tables lead to: behind a port of a switch, or the switch itself (port 0).
struct Destination {
    lid: Lid,
    port: PortNum,
}

/// The table of every switch, in the order of the switches. Switches and terminals without a LID are nobody's
/// destination; a switch that is marked failed gets an empty table.
pub fn minhop(fabric: &Fabric, faults: &Faults) -> Vec<Lft> {
    let graph = SwitchGraph::new(fabric, faults);
    let destinations = destinations(fabric, &graph);
    let hops = hop_matrix(&graph);
    (0..graph.switch_count() as u32)
        .into_par_iter()
        .map(|switch| table(&graph, &hops, &destinations, switch))
        .collect()
}

/// What lies behind each switch, by LID.
fn destinations(fabric: &Fabric, graph: &SwitchGraph) -> Vec<Vec<Destination>> {
    let mut behind: Vec<Vec<Destination>> = Vec::with_capacity(graph.switch_count());
    for switch in 0..graph.switch_count() as u32 {
        let mut lids = Vec::new();
        let own = fabric.port_of(NodeId(switch), PortNum::MANAGEMENT).map(|port| &fabric.port(port).facts);
        if let Some((lid, lmc)) =
            own.and_then(|facts| Some((facts.lid?, facts.lmc))).filter(|_| graph.alive(switch))
        {
            lids.extend(owned(lid, lmc.lids()).map(|lid| Destination { lid, port: PortNum::MANAGEMENT }));
        }
        for terminal in graph.terminals_of(switch) {
            let Some(lid) = terminal.lid else { continue };
            let port = terminal.switch_port;
            lids.extend(owned(lid, terminal.lmc.lids()).map(|lid| Destination { lid, port }));
        }
        lids.sort_by_key(|destination| destination.lid);
        behind.push(lids);
    }
    behind
}

fn owned(base: Lid, count: u16) -> impl Iterator<Item = Lid> {
    (0..u32::from(count)).filter_map(move |more| Lid::new(u32::from(base.value()) + more))
}

/// The hops between every two switches: row `to`, column `from`.
fn hop_matrix(graph: &SwitchGraph) -> Vec<Vec<u8>> {
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

fn table(graph: &SwitchGraph, hops: &[Vec<u8>], destinations: &[Vec<Destination>], switch: u32) -> Lft {
    let channels = &graph.channels()[graph.leaving(switch)];
    let neighbours: Vec<u32> = channels.iter().map(|channel| channel.to).collect();
    let mut lids_on = vec![0u32; channels.len()];
    let mut ways: Vec<usize> = Vec::with_capacity(channels.len());
    let mut keys: Vec<u32> = Vec::with_capacity(channels.len());
    let top = destinations.iter().flatten().map(|destination| destination.lid.index()).max().unwrap_or(0);
    let mut entries = vec![NO_PATH; top + 1];
    for (to, behind) in destinations.iter().enumerate() {
        if to == switch as usize {
            behind.iter().for_each(|destination| entries[destination.lid.index()] = destination.port.value());
            continue;
        }
        let row = &hops[to];
        let here = row[switch as usize];
        if here == FAR {
            continue;
        }
        ways.clear();
        ways.extend((0..channels.len()).filter(|at| row[neighbours[*at] as usize] == here - 1));
        // Load above, place below: the least of these numbers is the way with the fewest LIDs, the first of equals.
        keys.clear();
        keys.extend(ways.iter().enumerate().map(|(place, at)| lids_on[*at] << 8 | place as u32));
        for destination in behind {
            let Some(least) = keys.iter().copied().min() else { break };
            let place = (least & 0xFF) as usize;
            entries[destination.lid.index()] = channels[ways[place]].from_port.value();
            keys[place] += 1 << 8;
        }
        for (at, key) in ways.iter().zip(&keys) {
            lids_on[*at] = key >> 8;
        }
    }
    Lft::of(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::Resolved;
    use crate::generate::{Spec, generate};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
    }

    /// Follows a table from a switch; how many switches it takes to the LID.
    fn walk(fabric: &Fabric, tables: &[Lft], from: NodeId, lid: Lid) -> Option<usize> {
        let target = fabric.port_by_lid(lid)?;
        let mut at = from;
        for steps in 0..64 {
            let egress = tables[at.index()].get(lid)?;
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
        for (lid, port) in tables[leaf.unwrap().0.index()].routed() {
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
        assert!(tables[1].is_empty());
        let lid = fabric.address_of(fabric.port_of(NodeId(1), PortNum(0)).unwrap()).unwrap().0;
        assert!(tables.iter().all(|table| table.get(lid).is_none()));
    }
}
