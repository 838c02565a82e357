//! Who moves to the slow lane, who joins there, and who goes back (dFtree, section III-C, Algorithm 1).
//!
//! - Flows of contributors to a hot-spot go to the slow lane. A contributor is who waits beyond the threshold and gets less
//!   than a fair share. Who waits and does not tell how much it sends is taken along: what moves are flows to the hot-spot
//!   alone, which wait there on any lane.
//! - Who stands behind contributors only (a victim) or has its fair share stays.
//! - New contributors join a hot-spot that is in force.
//! - Where a port does not wait any more, all flows to its adapter go back.
//! - While it is not known whether a port waits, its flows stay as they are.
//!
//! Counters do not tell the destinations of packets, so each contributor moves its flows to every hot-spot; one without
//! flows there moves none.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use fabdeck_fabric::counters::{CongestedAdapter, CongestedPort, CongestionRole, HotSpots, LikelyRole};
use fabdeck_fabric::{Fabric, Lid, PortId, ServiceLevel};

/// Flows on the slow lane, from several hosts to one LID of a hot-spot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MovedFlows {
    /// The LID of the hot-spot.
    pub hot_spot: Lid,
    /// The service level before.
    pub fast: ServiceLevel,
    /// The service level on the slow lane.
    pub slow: ServiceLevel,
    /// The LIDs of the hosts.
    pub hosts: BTreeSet<Lid>,
    /// Which end is missing in the fabric; `None` when both ends are there.
    pub gone: Option<MissingEnd>,
}

/// The end of moved flows that the fabric does not have any more: no port has both its GUID and its LID.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingEnd {
    /// The hot-spot.
    HotSpot,
    /// The hosts.
    Hosts,
}

/// The state of the flows to a hot-spot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MovePhase {
    /// The hot-spot is hot, and no flow has moved yet.
    New,
    /// The hot-spot is hot, and flows are on the slow lane.
    InForce,
    /// The hot-spot is not hot any more: its flows go back.
    Cooled,
    /// Flows are on the slow lane, and the state of the hot-spot is unknown.
    Untold,
}

/// The moves for one hot-spot.
#[derive(Clone, PartialEq, Debug)]
pub struct HotSpotMoves {
    /// The adapter port that is the hot-spot.
    pub adapter: PortId,
    /// The state of its flows.
    pub phase: MovePhase,
    /// How long its switch port waits, where the spot is hot.
    pub at: Option<CongestedPort>,
    /// Adapter ports that contribute and have not moved yet.
    pub joins: Vec<PortId>,
    /// The flows that have moved already.
    pub moved: Vec<MovedFlows>,
}

/// The moves that follow from the hot-spots of one interval.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FlowMoves {
    /// The hot-spots: hot ones first, the worst of them first, then the others by adapter.
    pub spots: Vec<HotSpotMoves>,
    /// Flows with a missing end. They neither go back nor conflict with others.
    pub gone: Vec<MovedFlows>,
}

impl FlowMoves {
    /// Whether any flow would move.
    pub fn has_moves(&self) -> bool {
        self.spots.iter().any(|spot| !spot.joins.is_empty() || spot.phase == MovePhase::Cooled)
    }

    /// The hosts whose flows move, have moved or go back.
    pub fn affected_hosts(&self, fabric: &Fabric) -> BTreeSet<Lid> {
        let joins = self.spots.iter().flat_map(|spot| &spot.joins);
        let joins = joins.filter_map(|port| fabric.port(*port).facts.lid);
        joins.chain(self.moved_flows().flat_map(|moved| moved.hosts.iter().copied())).collect()
    }

    /// The flows in force, without a new verdict: all of them stay.
    pub fn keep_all(fabric: &Fabric, in_force: &[MovedFlows]) -> Self {
        let mut moves = propose_moves(fabric, &HotSpots::default(), &[], in_force);
        moves.spots.iter_mut().for_each(|spot| spot.phase = MovePhase::InForce);
        moves
    }

    /// Moves all flows in force back, whatever the counters say.
    pub fn return_all(fabric: &Fabric, in_force: &[MovedFlows]) -> Self {
        let mut moves = Self::keep_all(fabric, in_force);
        moves.spots.iter_mut().for_each(|spot| spot.phase = MovePhase::Cooled);
        moves
    }

    /// The flows that have moved and still exist.
    pub fn moved_flows(&self) -> impl Iterator<Item = &MovedFlows> {
        self.spots.iter().flat_map(|spot| &spot.moved)
    }
}

/// The LIDs of an adapter port.
pub fn lids_of(fabric: &Fabric, port: PortId) -> impl Iterator<Item = Lid> + use<> {
    let facts = &fabric.port(port).facts;
    let (base, count) = (facts.lid, u32::from(facts.lmc.lid_count()));
    let owned = move |base: Lid| (0..count).filter_map(move |more| Lid::new(u32::from(base.value()) + more));
    base.into_iter().flat_map(owned)
}

/// Proposes moves by algorithm 1 of dFtree, from the marking of hot-spots on. `told` are the switch ports in front
/// of adapters whose waiting is known, ascending.
pub fn propose_moves(
    fabric: &Fabric,
    verdict: &HotSpots,
    told: &[PortId],
    in_force: &[MovedFlows],
) -> FlowMoves {
    let mut moves = FlowMoves::default();
    let mut moved: BTreeMap<PortId, Vec<MovedFlows>> = BTreeMap::new();
    let is_adapter = |port: &PortId| !fabric.node(fabric.port(*port).node).is_switch();
    for flows in in_force {
        match (flows.gone, fabric.port_by_lid(flows.hot_spot).filter(is_adapter)) {
            (None, Some(adapter)) => moved.entry(adapter).or_default().push(flows.clone()),
            (None, None) => moves.gone.push(MovedFlows { gone: Some(MissingEnd::HotSpot), ..flows.clone() }),
            (Some(_), _) => moves.gone.push(flows.clone()),
        }
    }
    let contributors: Vec<PortId> = verdict
        .congested_adapters
        .iter()
        .filter(|held| is_movable(held))
        .map(|held| held.at.port)
        .filter(|port| fabric.port(*port).facts.lid.is_some())
        .collect();
    for hot in &verdict.hot_spots {
        let moved = moved.remove(&hot.adapter).unwrap_or_default();
        let phase = if moved.is_empty() { MovePhase::New } else { MovePhase::InForce };
        let mut joins: Vec<PortId> = contributors.clone();
        joins.retain(|port| *port != hot.adapter && !has_moved(fabric, hot.adapter, *port, &moved));
        joins.sort_unstable();
        moves.spots.push(HotSpotMoves { adapter: hot.adapter, phase, at: Some(hot.at), joins, moved });
    }
    for (adapter, moved) in moved {
        let known = fabric.peer(adapter).is_some_and(|port| told.binary_search(&port).is_ok());
        let phase = if known { MovePhase::Cooled } else { MovePhase::Untold };
        moves.spots.push(HotSpotMoves { adapter, phase, at: None, joins: Vec::new(), moved });
    }
    moves
}

/// Whether the slow lane would help the others. A host that is likely a victim would only lose by it.
fn is_movable(held: &CongestedAdapter) -> bool {
    match held.role {
        CongestionRole::Undecided => !matches!(held.likely, Some(LikelyRole::Victim { .. })),
        CongestionRole::Contributor(_) | CongestionRole::Unknown => true,
        CongestionRole::Victim { .. } | CongestionRole::FairShare => false,
    }
}

/// Whether the flows of a host to all LIDs of a hot-spot have moved.
fn has_moved(fabric: &Fabric, adapter: PortId, host: PortId, moved: &[MovedFlows]) -> bool {
    let Some(host) = fabric.port(host).facts.lid else { return true };
    let has = |lid: Lid| moved.iter().any(|flows| flows.hot_spot == lid && flows.hosts.contains(&host));
    lids_of(fabric, adapter).all(has)
}
