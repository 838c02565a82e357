//! Numbers of hosts that faults do not change, for engines that compute a path from the number of its destination.

use std::collections::BTreeSet;

use super::problem::Problem;
use fabdeck_fabric::{Faults, PortId, SwitchGraph};

/// Not a host, or without a LID.
const NONE: u32 = u32::MAX;

/// A switch with hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HostLeaf {
    pub switch: u32,
    /// The number of its hosts.
    pub hosts: u32,
    /// Its number among the leaves of its part.
    pub number: u32,
}

/// The leaves of a fabric and the places of hosts in them, without regard to faults: a host or leaf that is marked as
/// failed leaves its place empty, and moves no other.
#[derive(Clone, Debug)]
pub(super) struct HostPlaces {
    /// The fabric without its faults.
    pub graph: SwitchGraph,
    pub leaves: Vec<HostLeaf>,
    /// By port: its place on its leaf.
    place: Vec<u32>,
    /// By switch: its place among `leaves`.
    leaf_of: Vec<u32>,
    /// The most places of a leaf.
    pub width: u32,
}

impl HostPlaces {
    /// A host that is not there leaves a gap, as long as some other leaf has a host at that port number. Where leaves
    /// have their hosts at different ports, places are counted leaf by leaf.
    pub fn new(problem: &Problem<'_>) -> Self {
        let fabric = problem.fabric;
        let graph = SwitchGraph::new(fabric, &Faults::new());
        let (part, parts) = graph.components();
        let is_host = |port: PortId| !fabric.node(fabric.port(port).node).facts.is_aggregation();
        let mut numbers = vec![0; parts as usize];
        let mut places = Self {
            leaves: Vec::new(),
            place: vec![NONE; fabric.ports().len()],
            leaf_of: vec![NONE; graph.switch_count()],
            width: 1,
            graph: SwitchGraph::default(),
        };
        let hosts_of = |switch: u32| {
            graph.terminals_of(switch).iter().filter(|end| end.lid.is_some() && is_host(end.port))
        };
        let all = 0..graph.switch_count() as u32;
        let ports: BTreeSet<u8> = all.clone().flat_map(hosts_of).map(|end| end.switch_port.value()).collect();
        let most = all.clone().map(|switch| hosts_of(switch).count()).max().unwrap_or(0);
        let by_port = ports.len() == most;
        for switch in all {
            let hosts = hosts_of(switch).count() as u32;
            if hosts == 0 {
                continue;
            }
            let number = &mut numbers[part[switch as usize] as usize];
            places.leaf_of[switch as usize] = places.leaves.len() as u32;
            places.leaves.push(HostLeaf { switch, hosts, number: *number });
            *number += 1;
            for (place, end) in (0..).zip(hosts_of(switch)) {
                let gap = || ports.range(..end.switch_port.value()).count() as u32;
                places.place[end.port.index()] = if by_port { gap() } else { place };
            }
        }
        places.width = most.max(1) as u32;
        places.graph = graph;
        places
    }

    /// The leaf of a switch with hosts.
    pub fn leaf(&self, switch: u32) -> Option<&HostLeaf> {
        let at = self.leaf_of.get(switch as usize).filter(|at| **at != NONE)?;
        self.leaves.get(*at as usize)
    }

    /// The place of a host on its leaf.
    pub fn place(&self, port: PortId) -> Option<u32> {
        self.place.get(port.index()).copied().filter(|place| *place != NONE)
    }

    /// The number of a host: on an m-port n-tree the PID.
    pub fn number(&self, switch: u32, port: PortId) -> Option<u32> {
        Some(self.leaf(switch)?.number * self.width + self.place(port)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, FabricBuilder};

    #[test]
    fn a_missing_host_moves_no_other() {
        let fabric = generate(&"gft2,n=3,m=2,r=3".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let numbers = |fabric: &fabdeck_fabric::Fabric, faults: &Faults| -> Vec<(String, u32)> {
            let problem = Problem::new(fabric, faults);
            let places = HostPlaces::new(&problem);
            let ends = places.graph.terminals().iter();
            let name = |port| fabric.node(fabric.port(port).node).facts.description.clone();
            ends.map(|end| (name(end.port), places.number(end.switch, end.port).unwrap())).collect()
        };
        let whole = numbers(&fabric, &Faults::new());
        assert_eq!(whole.iter().map(|(_, number)| *number).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
        let host = SwitchGraph::new(&fabric, &Faults::new()).terminals()[3].port;
        let mut faults = Faults::new();
        faults.mark(ElementId::Node(fabric.port(host).node));
        assert_eq!(numbers(&fabric, &faults), whole, "a marked host keeps its number");
        // The same host without a LID, which is what a fabric without it looks like to an engine.
        let mut builder = FabricBuilder::from_fabric(&fabric);
        builder.port(fabric.port(host).node.into(), fabric.port(host).number).lid = None;
        let without = builder.finish();
        let problem = Problem::new(&without, &faults);
        let places = HostPlaces::new(&problem);
        let ends = places.graph.terminals().iter().filter(|end| end.lid.is_some());
        let rest: Vec<u32> = ends.map(|end| places.number(end.switch, end.port).unwrap()).collect();
        assert_eq!(rest, [0, 1, 2, 4, 5, 6, 7, 8]);
    }
}
