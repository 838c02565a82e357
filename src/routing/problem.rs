//! A fabric with its faults as engines take it: the switch graph, and what lies behind each switch.

use std::ops::Range;

use fabdeck_fabric::{Fabric, Faults, Lid, Lmc, NodeId, PortId, PortNum, Routes, SwitchGraph};

/// Lanes that a port can have for data: what is mapped to lane 15 is dropped, whatever a port has.
pub const DATA_LANES: u8 = 15;

/// A LID that routes lead to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Destination {
    /// The LID.
    pub lid: Lid,
    /// The port of its switch that leads to it; 0 for the switch itself.
    pub port: PortNum,
}

impl Destination {
    /// Whether the destination is a switch.
    pub fn is_switch(&self) -> bool {
        self.port == PortNum::MANAGEMENT
    }
}

/// A fabric with its faults, prepared for engines and the certificate.
#[derive(Debug)]
pub struct Problem<'f> {
    /// The fabric.
    pub fabric: &'f Fabric,
    /// The failed parts.
    pub faults: &'f Faults,
    /// The switches and channels without the failed parts.
    pub graph: SwitchGraph,
    destinations: Vec<Destination>,
    first_destination: Vec<u32>,
}

impl<'f> Problem<'f> {
    /// Prepares a fabric.
    pub fn new(fabric: &'f Fabric, faults: &'f Faults) -> Self {
        let graph = SwitchGraph::new(fabric, faults);
        let mut destinations = Vec::new();
        let mut first_destination = Vec::with_capacity(graph.switch_count() + 1);
        for switch in 0..graph.switch_count() as u32 {
            let start = destinations.len();
            first_destination.push(start as u32);
            if graph.is_alive(switch) {
                add_destinations(fabric, &graph, switch, &mut destinations);
            }
            destinations[start..].sort_unstable();
        }
        first_destination.push(destinations.len() as u32);
        Self { fabric, faults, graph, destinations, first_destination }
    }

    /// All destinations, those of one switch together, in the order of their LIDs there.
    pub fn destinations(&self) -> &[Destination] {
        &self.destinations
    }

    /// The destinations at a switch, itself included; none for a failed switch.
    pub fn destinations_behind(&self, switch: u32) -> &[Destination] {
        &self.destinations[self.destination_range(switch)]
    }

    /// The indices of these destinations among all.
    pub(crate) fn destination_range(&self, switch: u32) -> Range<usize> {
        let at = switch as usize;
        self.first_destination[at] as usize..self.first_destination[at + 1] as usize
    }

    /// The indices of all switches, failed ones included.
    pub fn switches(&self) -> Range<u32> {
        0..self.graph.switch_count() as u32
    }

    /// The number of data lanes of every cable on a possible path, those of adapters included, and the first port
    /// without more. `None` where no port states its lanes. Lane 15 carries management packets and does not count.
    pub fn lane_limit(&self) -> Option<(u8, PortId)> {
        let fabric = self.fabric;
        let port_of = |switch, number| fabric.port_of(NodeId(switch), number);
        let between =
            self.graph.channels().iter().filter_map(|channel| port_of(channel.from, channel.from_port));
        let ends = self.graph.terminals().iter().flat_map(|terminal| {
            [port_of(terminal.switch, terminal.switch_port), Some(terminal.port)].into_iter().flatten()
        });
        let told = |port: PortId| fabric.port(port).facts.operational_lanes.filter(|lanes| *lanes > 0);
        between.chain(ends).filter_map(|port| Some((told(port)?.min(DATA_LANES), port))).min()
    }

    /// Whether some port states the data lanes of an adapter's cable. A dump of the topology alone does not.
    pub fn has_adapter_lanes(&self) -> bool {
        let fabric = self.fabric;
        let ends = self.graph.terminals().iter().flat_map(|terminal| {
            [fabric.port_of(NodeId(terminal.switch), terminal.switch_port), Some(terminal.port)]
        });
        ends.flatten().any(|port| fabric.port(port).facts.operational_lanes.is_some_and(|lanes| lanes > 0))
    }

    /// The number of lanes that routes may use when `asked` are wished for.
    pub fn usable_lanes(&self, asked: u8) -> u8 {
        let limit = self.lane_limit().map_or(DATA_LANES, |(lanes, _)| lanes);
        asked.min(DATA_LANES).min(limit)
    }

    /// Makes routes without any path, with room for every LID.
    pub fn empty_routes(&self) -> Routes {
        Routes::empty(self.graph.switch_count(), self.fabric.top_lid())
    }
}

fn add_destinations(fabric: &Fabric, graph: &SwitchGraph, switch: u32, destinations: &mut Vec<Destination>) {
    let own = fabric.port_of(NodeId(switch), PortNum::MANAGEMENT).map(|port| &fabric.port(port).facts);
    if let Some((lid, lmc)) = own.and_then(|facts| Some((facts.lid?, facts.lmc))) {
        destinations.extend(owned_lids(lid, lmc).map(|lid| Destination { lid, port: PortNum::MANAGEMENT }));
    }
    for terminal in graph.terminals_of(switch) {
        let Some(lid) = terminal.lid else { continue };
        let port = terminal.switch_port;
        destinations.extend(owned_lids(lid, terminal.lmc).map(|lid| Destination { lid, port }));
    }
}

/// A port owns 2^LMC LIDs.
fn owned_lids(base: Lid, lmc: Lmc) -> impl Iterator<Item = Lid> {
    (0..u32::from(lmc.lid_count())).filter_map(move |more| Lid::new(u32::from(base.value()) + more))
}

/// The name of a switch with its GUID, for messages.
pub(crate) fn switch_name(fabric: &Fabric, switch: u32) -> String {
    let node = fabric.node(NodeId(switch));
    format!("{} ({})", node.facts.description.trim(), node.guid())
}
