//! The service level of each pair of switches, and the SL2VL tables that map levels to lanes.
//!
//! | bit of a level | meaning |
//! |---|---|
//! | 0, 1, 2 | the shorter way in x, y, z crosses the dateline, from coordinates alone |
//! | 3 | the class of service |
//!
//! | bit of a lane between switches | meaning |
//! |---|---|
//! | 0 | the level's bit of the dimension in which the packet leaves |
//! | 1 | the packet came by a later dimension than it leaves by: an illegal turn |
//! | 2 | the class of service |
//!
//! To and from hosts bit 0 of a lane is the class of service. With four lanes bit 2 is left out, with two bit 1 too.

use fabdeck_fabric::{Fabric, Lane, NodeId, PortNum, ServiceLevel, Sl2Vl, TORUS_DIMENSIONS, Tables};

use super::coordinates::{Place, TorusCoordinates};

/// How many lanes tell packets apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LaneWidth {
    /// On which side of the dateline.
    Two,
    /// Illegal turns too, which go round a failed switch.
    Four,
    /// Two classes of service too.
    Eight,
}

impl LaneWidth {
    /// The widest use of a number of lanes.
    pub(super) fn of_lanes(lanes: u8) -> Option<Self> {
        match lanes {
            0..=1 => None,
            2..=3 => Some(Self::Two),
            4..=7 => Some(Self::Four),
            _ => Some(Self::Eight),
        }
    }
}

/// The level of packets between two places.
pub(super) fn pair_level(torus: &TorusCoordinates, from: Place, to: Place) -> u8 {
    let crosses = |at: usize| torus.shorter_way(at, from[at], to[at]).1;
    (0..TORUS_DIMENSIONS).fold(0, |level, at| level | u8::from(crosses(at)) << at)
}

/// What a port leads to: another switch in a dimension, or a host (which port 0 counts as).
type PortUse = Option<usize>;

/// The SL2VL tables of all switches and adapters of a fabric, whatever has failed.
pub(super) fn lane_tables(fabric: &Fabric, torus: &TorusCoordinates, width: LaneWidth) -> Tables {
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        let cabled = fabric.ports_of(id).filter_map(|(_, port)| Some((port, fabric.port(port.peer?).node)));
        let ports: Vec<(PortNum, PortUse)> = cabled
            .map(|(port, peer)| {
                let is_switch = fabric.node(peer).is_switch();
                let way = is_switch.then(|| torus.direction(id.0, peer.0)).flatten();
                (port.number, way.map(|(dimension, _)| dimension))
            })
            .collect();
        let held = tables.node_mut(id);
        for (from, came) in std::iter::once(&(PortNum::MANAGEMENT, None)).chain(&ports) {
            // No packet leaves by the port by which it came.
            let others = ports.iter().filter(|(to, _)| to != from);
            let rows = others.map(|(to, leaves)| ((*from, *to), lane_row(*came, *leaves, width)));
            held.sl2vl.extend(rows);
        }
    }
    for (_, port) in fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch()) {
        let peer = port.peer.map(|peer| fabric.port(peer).node);
        if peer.is_some_and(|peer: NodeId| fabric.node(peer).is_switch()) {
            let row = lane_row(None, None, width);
            tables.node_mut(port.node).sl2vl.insert((PortNum::MANAGEMENT, port.number), row);
        }
    }
    tables
}

fn lane_row(came: PortUse, leaves: PortUse, width: LaneWidth) -> Sl2Vl {
    let mut row = Sl2Vl::default();
    for level in (0..16).filter_map(ServiceLevel::new) {
        let lane = Lane::new(lane_of(level.value(), came, leaves, width).into());
        row.set(level, lane.unwrap_or_default());
    }
    row
}

fn lane_of(level: u8, came: PortUse, leaves: PortUse, width: LaneWidth) -> u8 {
    let class = level >> 3 & 1;
    let Some(leaves) = leaves else { return class };
    let is_illegal = came.is_some_and(|came| came > leaves);
    let side = level >> leaves & 1;
    match width {
        LaneWidth::Two => side,
        LaneWidth::Four => side | u8::from(is_illegal) << 1,
        LaneWidth::Eight => side | u8::from(is_illegal) << 1 | class << 2,
    }
}
