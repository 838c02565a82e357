//! What marks take out of a switch graph.

use fabdeck_fabric::{ElementId, Fabric, Faults, LinkId, NodeId, PortId, SwitchGraph};

/// Marked things as a graph without marks has them, each once.
#[derive(Clone, Default, Debug)]
pub struct FailedParts {
    pub switches: Vec<u32>,
    /// Both channels of each link.
    pub channels: Vec<u32>,
    /// Places among the terminals of the graph, of switches that work.
    pub terminals: Vec<u32>,
}

impl FailedParts {
    pub fn new(fabric: &Fabric, graph: &SwitchGraph, faults: &Faults) -> Self {
        let mut struck = Self::default();
        for what in faults.iter() {
            struck.add(fabric, graph, what);
        }
        for list in [&mut struck.switches, &mut struck.channels, &mut struck.terminals] {
            list.sort_unstable();
            list.dedup();
        }
        let failed = |switch: u32| struck.switches.binary_search(&switch).is_ok();
        struck.terminals.retain(|at| !failed(graph.terminals()[*at as usize].switch));
        // A failed switch takes its channels with it; that both ends are marked changes nothing.
        struck.channels.retain(|id| {
            let channel = &graph.channels()[*id as usize];
            !failed(channel.from) && !failed(channel.to)
        });
        struck
    }

    /// One mark on its own.
    pub fn single(fabric: &Fabric, graph: &SwitchGraph, what: ElementId) -> Self {
        let mut one = Faults::new();
        one.mark(what);
        Self::new(fabric, graph, &one)
    }

    fn add(&mut self, fabric: &Fabric, graph: &SwitchGraph, what: ElementId) {
        match what {
            ElementId::Node(node) if fabric.node(node).is_switch() => self.switches.push(node.0),
            ElementId::Node(node) => {
                fabric
                    .ports_of(node)
                    .filter_map(|(_, port)| port.link)
                    .for_each(|l| self.add_link(fabric, graph, l));
            }
            ElementId::Port(port) => {
                if let Some(link) = fabric.port(port).link {
                    self.add_link(fabric, graph, link);
                }
            }
            ElementId::Link(link) => self.add_link(fabric, graph, link),
        }
    }

    fn add_link(&mut self, fabric: &Fabric, graph: &SwitchGraph, link: LinkId) {
        let ends = [fabric.link(link).a, fabric.link(link).b];
        for end in ends {
            let node = fabric.port(end).node;
            if fabric.node(node).is_switch() {
                self.add_port(fabric, graph, node, end);
            }
        }
    }

    fn add_port(&mut self, fabric: &Fabric, graph: &SwitchGraph, node: NodeId, port: PortId) {
        let number = fabric.port(port).number;
        let leaving = graph.outgoing(node.0);
        let channels = &graph.channels()[leaving.clone()];
        if let Ok(at) = channels.binary_search_by_key(&number, |channel| channel.from_port) {
            self.channels.push((leaving.start + at) as u32);
        }
        let before = graph.terminals().partition_point(|terminal| terminal.switch < node.0);
        let terminals = graph.terminals_of(node.0);
        if let Ok(at) = terminals.binary_search_by_key(&number, |terminal| terminal.switch_port) {
            self.terminals.push((before + at) as u32);
        }
    }
}
