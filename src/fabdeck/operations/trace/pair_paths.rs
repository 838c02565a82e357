//! What a pair of ends has besides its path: the way back, the paths to the other LIDs of the destination, the next hops that
//! are as near to it as the one in use, and the lane of each hop.

use super::path_trace::{LidChoice, Trace, TraceEndpoint};
use super::trace_ends::{switch_distances, switch_of};
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::PolicyLevels;
use fabdeck_fabric::{Lane, Lid, NodeId, PortId, PortNum, PortState, Routes, ServiceLevel, Tables};

/// Most LIDs of a destination whose paths are followed.
const MAX_LIDS: u16 = 16;

/// The source of forwarding entries for both directions of a pair.
#[derive(Clone, Copy, Debug)]
pub enum PairTables<'t> {
    InForce(&'t Tables),
    Proposed(&'t Routes),
}

impl PairTables<'_> {
    /// Follows the path from one end to the other; `None` where the destination has no such LID.
    pub fn follow(
        self,
        look: &Snapshot,
        from: TraceEndpoint,
        to: TraceEndpoint,
        choice: LidChoice,
    ) -> Option<Trace> {
        match self {
            Self::InForce(tables) => Trace::follow(look, tables, from, to, choice).ok(),
            Self::Proposed(routes) => Trace::follow_routes(look, routes, from, to, choice).ok(),
        }
    }
}

/// The ports by which a switch of the path could send: all that lead to a switch as near to the destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextHops {
    pub switch: NodeId,
    pub in_use: PortId,
    /// The other ports, in the order of their numbers.
    pub others: Vec<PortId>,
}

/// What a pair of ends has besides its path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PairPaths {
    /// The path from the destination to the source; `None` where the source has no LID.
    pub back: Option<Trace>,
    /// The paths to the LIDs of the destination after the one that is shown.
    pub other_lids: Vec<Trace>,
    /// Number of the LIDs of the destination.
    pub lids: u16,
    /// The switches of the path that have a choice, in its order.
    pub next_hops: Vec<NextHops>,
    /// The lane of each hop of the path, and of the way back; `None` where it is not known.
    pub lanes: [Vec<Option<Lane>>; 2],
    /// The service level of the path, where a source states it.
    pub level: Option<ServiceLevel>,
}

impl PairPaths {
    /// Derives all from the path that is shown.
    pub fn new(look: &Snapshot, tables: PairTables<'_>, shown: &Trace) -> Self {
        let (from, to) = (shown.from, shown.to);
        let back = tables.follow(look, to, from, LidChoice::Picked);
        let address = to.address(look);
        let lids = address.map_or(1, |(_, count)| count);
        let base = address.map_or(shown.lid.value(), |(base, _)| base.value());
        let at = shown.lid.value().saturating_sub(base);
        let after = (1..lids.min(MAX_LIDS)).map(|step| u32::from(base + (at + step) % lids));
        let other_lids = after.filter_map(|lid| tables.follow(look, from, to, LidChoice::One(lid))).collect();
        let no_hops = Vec::new();
        let back_hops = back.as_ref().map_or(&no_hops, |back| &back.hops);
        let lanes = [
            hop_lanes(look, tables, from, shown.lid, &shown.hops),
            hop_lanes(look, tables, to, back.as_ref().map_or(shown.lid, |back| back.lid), back_hops),
        ];
        let level = service_level(look, tables, from, shown.lid);
        Self { back, other_lids, lids, next_hops: next_hops(look, shown), lanes, level }
    }
}

/// The next hops of the switches of a path. A port whose link is down is no next hop.
fn next_hops(look: &Snapshot, shown: &Trace) -> Vec<NextHops> {
    let fabric = look.fabric();
    let distances = switch_distances(look, switch_of(look, shown.to));
    let far = |port: PortId| fabric.peer(port).map(|peer| fabric.port(peer).node);
    let is_down = |port: PortId| fabric.port(port).facts.state == Some(PortState::Down);
    let mut all = Vec::new();
    for hop in shown.hops.iter().filter(|hop| fabric.node(hop.node).is_switch()) {
        let Some(in_use) = hop.egress.and_then(|number| fabric.port_of(hop.node, number)) else { continue };
        let here = distances.get(hop.node.index()).copied().unwrap_or(u32::MAX);
        let is_nearer = |port: &PortId| {
            let next = far(*port).filter(|next| fabric.node(*next).is_switch());
            next.is_some_and(|next| distances[next.index()] < here)
        };
        let ports = fabric.ports_of(hop.node).map(|(port, _)| port).filter(|port| *port != in_use);
        let others: Vec<PortId> = ports.filter(|port| !is_down(*port)).filter(is_nearer).collect();
        if !others.is_empty() {
            all.push(NextHops { switch: hop.node, in_use, others });
        }
    }
    all
}

/// The service level from an end to a LID: that of computed routes, or that of a policy.
fn service_level(
    look: &Snapshot,
    tables: PairTables<'_>,
    from: TraceEndpoint,
    lid: Lid,
) -> Option<ServiceLevel> {
    let fabric = look.fabric();
    let routes = match tables {
        PairTables::Proposed(routes) => Some(routes),
        PairTables::InForce(_) => look.routes.as_ref(),
    };
    if let Some(routes) = routes {
        // Computed routes have a level for each lane, with its number.
        let switch = switch_of(look, from)?;
        return ServiceLevel::new(routes.lane(switch.0, lid).value().into());
    }
    match look.observation.policy.as_ref()? {
        PolicyLevels::ByDestination(by_guid) => {
            let guid = fabric.port(fabric.port_by_lid(lid)?).facts.guid?;
            ServiceLevel::new(by_guid.get(&guid).copied().unwrap_or(0).into())
        }
        PolicyLevels::ByPath(table) => table.level(fabric.port(from.port?).facts.guid?, lid),
        PolicyLevels::Undecided => None,
    }
}

/// The lane of each hop by the SL2VL tables of its node, or by the routes that have it.
fn hop_lanes(
    look: &Snapshot,
    tables: PairTables<'_>,
    from: TraceEndpoint,
    lid: Lid,
    hops: &[super::path_trace::TraceHop],
) -> Vec<Option<Lane>> {
    let fabric = look.fabric();
    let level = service_level(look, tables, from, lid);
    let is_proposed = matches!(tables, PairTables::Proposed(_));
    let mut entered = PortNum::MANAGEMENT;
    let mut lanes = Vec::with_capacity(hops.len());
    for hop in hops {
        let port = hop.egress.and_then(|number| fabric.port_of(hop.node, number));
        let lane = level.zip(hop.egress).and_then(|(level, egress)| {
            if is_proposed {
                return Lane::new(level.value().into());
            }
            let held = look.observation.tables.nodes.get(&hop.node)?;
            Some(held.sl2vl.get(&(entered, egress))?.lane(level))
        });
        lanes.push(lane);
        entered = port
            .and_then(|port| fabric.peer(port))
            .map_or(PortNum::MANAGEMENT, |peer| fabric.port(peer).number);
    }
    lanes
}
