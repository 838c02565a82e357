//! The ports of adapters that marks hit: those that are cut off, and those that some senders no longer reach.

use super::failed_parts::FailedParts;
use super::marked_paths::{MarkedPaths, components};
use super::path_index::MarkIndex;
use fabdeck_fabric::{Fabric, Faults, PortId, SwitchGraph};

/// The ports of adapters that marks hit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct HitPorts {
    /// Ports that no cable connects any more with the largest part of their fabric, in the order of switches.
    pub cut_off: Vec<PortId>,
    /// Other ports to which senders have no path until a reroute, the most hit first. Senders that are cut off
    /// themselves do not count.
    pub degraded: Vec<DegradedPort>,
    /// Number of ports with a LID.
    pub ports: usize,
}

/// A port that some senders no longer reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DegradedPort {
    /// The port.
    pub port: PortId,
    /// Number of senders without a path to it.
    pub senders: u64,
}

impl HitPorts {
    /// The ports that marks cut off, whatever the tables are. Where the largest parts are equal, that of `anchor`
    /// counts as the rest of the fabric: mostly the port of the subnet manager.
    pub fn by_cables(fabric: &Fabric, faults: &Faults, anchor: Option<PortId>) -> Self {
        let graph = SwitchGraph::new(fabric, &Faults::new());
        let marks = MarkIndex::new(&graph, &FailedParts::new(fabric, &graph, faults));
        let ports = graph.terminals().iter().filter(|terminal| terminal.lid.is_some()).count();
        Self { cut_off: cut_off_ports(&graph, &marks, anchor), degraded: Vec::new(), ports }
    }
}

impl MarkedPaths {
    /// The ports that the marks hit under the indexed paths. See [`HitPorts::by_cables`] for `anchor`.
    pub fn hit_ports(&self, fabric: &Fabric, anchor: Option<PortId>) -> HitPorts {
        let graph = self.paths().graph();
        let marks = MarkIndex::new(graph, &FailedParts::new(fabric, graph, self.faults()));
        let cut_off = cut_off_ports(graph, &marks, anchor);
        let gone: Vec<PortId> = sorted(&cut_off);
        let (whole, _) = graph.components();
        // The senders that are cut off, for each part of the fabric before the marks.
        let ends = || graph.terminals().iter().filter(|terminal| terminal.lid.is_some());
        let cut = ends().filter(|terminal| gone.binary_search(&terminal.port).is_ok());
        let scope = self.paths().scope();
        let silent = scope.count_parts(cut.map(|terminal| (whole[terminal.switch as usize], terminal.port)));
        let silent_to = |(root, class): (u32, u32)| {
            silent.get(whole[root as usize] as usize).map_or(0, |counts| scope.count_senders(counts, class))
        };
        let hit = self.losses_to_ports().filter_map(|(port, place, pairs)| {
            let senders = pairs.saturating_sub(silent_to(place));
            (senders > 0 && gone.binary_search(&port).is_err()).then_some(DegradedPort { port, senders })
        });
        let mut degraded: Vec<DegradedPort> = hit.collect();
        degraded.sort_by_key(|hit| (std::cmp::Reverse(hit.senders), hit.port));
        HitPorts { cut_off, degraded, ports: ends().count() }
    }
}

fn sorted(ports: &[PortId]) -> Vec<PortId> {
    let mut ports = ports.to_vec();
    ports.sort_unstable();
    ports
}

/// Ports with a LID that are not in the largest part of what was connected with them before the marks.
fn cut_off_ports(graph: &SwitchGraph, marks: &MarkIndex, anchor: Option<PortId>) -> Vec<PortId> {
    let (whole, parts) = graph.components();
    let part = components(graph, marks);
    let failed = |switch: u32, port: u8| marks.ends.binary_search(&(switch, port)).is_ok();
    let ends = || graph.terminals().iter().filter(|terminal| terminal.lid.is_some());
    let works = |switch: u32, port: u8| part[switch as usize] != u32::MAX && !failed(switch, port);
    let mut sizes = vec![0usize; graph.switch_count()];
    let mut preferred = None;
    for terminal in ends().filter(|terminal| works(terminal.switch, terminal.switch_port.value())) {
        let at = part[terminal.switch as usize];
        sizes[at as usize] += 1;
        preferred = preferred.or((anchor == Some(terminal.port)).then_some(at));
    }
    let mut main: Vec<Option<u32>> = vec![None; parts as usize];
    for terminal in ends().filter(|terminal| works(terminal.switch, terminal.switch_port.value())) {
        let at = part[terminal.switch as usize];
        let Some(held) = main.get_mut(whole[terminal.switch as usize] as usize) else { continue };
        let rank = |at: u32| (sizes[at as usize], preferred == Some(at));
        if held.is_none_or(|held| rank(at) > rank(held)) {
            *held = Some(at);
        }
    }
    let is_cut_off = |switch: u32, port: u8| {
        let rest = main.get(whole[switch as usize] as usize).copied().flatten();
        !works(switch, port) || rest != Some(part[switch as usize])
    };
    let cut = ends().filter(|terminal| is_cut_off(terminal.switch, terminal.switch_port.value()));
    cut.map(|terminal| terminal.port).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::analysis::PathIndex;
    use crate::{NoProgress, Problem, Request, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, NodeId};

    fn fabric(spec: &str) -> Fabric {
        generate(&spec.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn marked(fabric: &Fabric) -> MarkedPaths {
        let faults = Faults::default();
        let problem = Problem::new(fabric, &faults);
        let engine = find_engine("minhop").unwrap();
        let routes = (engine.route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
        MarkedPaths::new(Arc::new(PathIndex::new(&problem, Arc::new(routes), &NoProgress).unwrap()))
    }

    fn hosts_at(fabric: &Fabric, switch: u32) -> Vec<PortId> {
        let graph = SwitchGraph::new(fabric, &Faults::new());
        graph.terminals_of(switch).iter().map(|terminal| terminal.port).collect()
    }

    fn cable_between(fabric: &Fabric, a: u32, b: u32) -> ElementId {
        let joins = |link: &fabdeck_fabric::Link| {
            let ends = [link.a, link.b].map(|port| fabric.port(port).node);
            ends == [NodeId(a), NodeId(b)] || ends == [NodeId(b), NodeId(a)]
        };
        ElementId::Link(fabric.links().find(|(_, link)| joins(link)).unwrap().0)
    }

    #[test]
    fn hosts_of_a_failed_switch_are_cut_off_and_no_sender_counts_twice() {
        let fabric = fabric("torus,dims=5,terminals=2");
        let mut marks = marked(&fabric);
        marks.mark(&fabric, ElementId::Node(NodeId(0))).unwrap();
        let hit = marks.hit_ports(&fabric, None);
        assert_eq!((hit.cut_off.clone(), hit.ports), (hosts_at(&fabric, 0), 10));
        assert_eq!(HitPorts::by_cables(&fabric, marks.faults(), None).cut_off, hit.cut_off);
        let losses = marks.path_losses();
        let degraded: u64 = hit.degraded.iter().map(|hit| hit.senders).sum();
        assert_eq!(degraded, losses.pairs - losses.critical, "paths over the failed switch");
        assert!(degraded > 0 && hit.degraded.is_sorted_by_key(|hit| std::cmp::Reverse(hit.senders)));
    }

    #[test]
    fn of_two_equal_parts_that_without_the_anchor_is_cut_off() {
        let fabric = fabric("torus,dims=4,terminals=2");
        let mut marks = marked(&fabric);
        for (a, b) in [(0, 1), (2, 3)] {
            marks.mark(&fabric, cable_between(&fabric, a, b)).unwrap();
        }
        for (anchor, cut_off) in [(0, [1, 2]), (1, [0, 3])] {
            let anchor = hosts_at(&fabric, anchor)[0];
            let expected: Vec<PortId> =
                cut_off.iter().flat_map(|switch| hosts_at(&fabric, *switch)).collect();
            assert_eq!(marks.hit_ports(&fabric, Some(anchor)).cut_off, expected);
        }
        // With a third switch on one side, the other side is cut off whatever the anchor is.
        marks.unmark(&fabric, cable_between(&fabric, 2, 3)).unwrap();
        marks.mark(&fabric, cable_between(&fabric, 0, 3)).unwrap();
        assert_eq!(marks.hit_ports(&fabric, Some(hosts_at(&fabric, 0)[0])).cut_off, hosts_at(&fabric, 0));
    }
}
