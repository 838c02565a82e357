//! Who moves to the slow lane, who joins there, and who goes back (dFtree, section III-C, Algorithm 1).
//!
//! - Flows of contributors to a hot-spot go to the slow lane. A contributor is who waits beyond the threshold and gets less
//!   than a fair share. Who waits and does not tell how much it sends is taken along: what moves are flows to the hot-spot
//!   alone, which are held up there on any lane.
//! - Who stands behind contributors only (a victim) or has its fair share stays.
//! - New contributors join a hot-spot that is in force.
//! - Where a port does not wait any more, all flows to its adapter go back.
//! - Where nobody knows whether it waits, everything stays as it is.
//!
//! Counters do not say where packets go, so whoever contributes moves its flows to each hot-spot: who has none there moves none.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use fabdeck_fabric::counters::{HotSpots, Role, Waiting};
use fabdeck_fabric::{Fabric, Lid, PortId, ServiceLevel};

/// Flows that are on the slow lane: of these hosts to one LID of a hot-spot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Moved {
    pub hot_spot: Lid,
    pub fast: ServiceLevel,
    pub slow: ServiceLevel,
    pub hosts: BTreeSet<Lid>,
    /// `None`: both ends are there.
    pub gone: Option<Gone>,
}

/// Which end of flows is not there any more: no port is in the fabric that has its GUID and its LID.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gone {
    HotSpot,
    Hosts,
}

/// What becomes of the flows to a hot-spot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// It is hot, and nothing has moved yet.
    New,
    /// It is hot, and flows are on the slow lane.
    InForce,
    /// It is hot no more: its flows go back.
    Cooled,
    /// Flows are on the slow lane, and whether it is hot nobody knows.
    Untold,
}

/// One hot-spot, now or until now.
#[derive(Clone, PartialEq, Debug)]
pub struct SpotMoves {
    pub adapter: PortId,
    pub phase: Phase,
    /// How its switch waits, where it is hot.
    pub at: Option<Waiting>,
    /// Ports of adapters that contribute and have not moved yet.
    pub joins: Vec<PortId>,
    /// What has moved already.
    pub moved: Vec<Moved>,
}

/// What the verdict over one interval comes to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Moves {
    /// The worst of those that are hot first, then the others by adapter.
    pub spots: Vec<SpotMoves>,
    /// Flows of which an end is gone: they neither go back nor stand against others.
    pub gone: Vec<Moved>,
}

impl Moves {
    /// Whether any flow would move.
    pub fn any(&self) -> bool {
        self.spots.iter().any(|spot| !spot.joins.is_empty() || spot.phase == Phase::Cooled)
    }

    /// Hosts whose flows move, have moved or come back.
    pub fn hosts(&self, fabric: &Fabric) -> BTreeSet<Lid> {
        let joins = self.spots.iter().flat_map(|spot| &spot.joins);
        let joins = joins.filter_map(|port| fabric.port(*port).facts.lid);
        joins.chain(self.moved().flat_map(|moved| moved.hosts.iter().copied())).collect()
    }

    /// What is in force, with nothing judged: it all stays.
    pub fn standing(fabric: &Fabric, in_force: &[Moved]) -> Self {
        let mut moves = propose(fabric, &HotSpots::default(), &[], in_force);
        moves.spots.iter_mut().for_each(|spot| spot.phase = Phase::InForce);
        moves
    }

    /// All that is in force goes back, whatever the counters say.
    pub fn back(fabric: &Fabric, in_force: &[Moved]) -> Self {
        let mut moves = Self::standing(fabric, in_force);
        moves.spots.iter_mut().for_each(|spot| spot.phase = Phase::Cooled);
        moves
    }

    /// All that has moved and is there still.
    pub fn moved(&self) -> impl Iterator<Item = &Moved> {
        self.spots.iter().flat_map(|spot| &spot.moved)
    }
}

/// The LIDs of a port of an adapter.
pub fn lids_of(fabric: &Fabric, port: PortId) -> impl Iterator<Item = Lid> + use<> {
    let facts = &fabric.port(port).facts;
    let (base, count) = (facts.lid, u32::from(facts.lmc.lids()));
    let owned = move |base: Lid| (0..count).filter_map(move |more| Lid::new(u32::from(base.value()) + more));
    base.into_iter().flat_map(owned)
}

/// Algorithm 1, from marking hot-spots on. `told`: ports of switches that lead to adapters and of which it is known how much
/// they wait, ascending.
pub fn propose(fabric: &Fabric, verdict: &HotSpots, told: &[PortId], in_force: &[Moved]) -> Moves {
    let mut moves = Moves::default();
    let mut moved: BTreeMap<PortId, Vec<Moved>> = BTreeMap::new();
    let is_adapter = |port: &PortId| !fabric.node(fabric.port(*port).node).is_switch();
    for flows in in_force {
        match (flows.gone, fabric.port_by_lid(flows.hot_spot).filter(is_adapter)) {
            (None, Some(adapter)) => moved.entry(adapter).or_default().push(flows.clone()),
            (None, None) => moves.gone.push(Moved { gone: Some(Gone::HotSpot), ..flows.clone() }),
            (Some(_), _) => moves.gone.push(flows.clone()),
        }
    }
    let contributors: Vec<PortId> = verdict
        .held_up
        .iter()
        .filter(|held| moves_along(held.role))
        .map(|held| held.at.port)
        .filter(|port| fabric.port(*port).facts.lid.is_some())
        .collect();
    for hot in &verdict.hot_spots {
        let moved = moved.remove(&hot.adapter).unwrap_or_default();
        let phase = if moved.is_empty() { Phase::New } else { Phase::InForce };
        let mut joins: Vec<PortId> = contributors.clone();
        joins.retain(|port| *port != hot.adapter && !has_moved(fabric, hot.adapter, *port, &moved));
        joins.sort_unstable();
        moves.spots.push(SpotMoves { adapter: hot.adapter, phase, at: Some(hot.at), joins, moved });
    }
    for (adapter, moved) in moved {
        let known = fabric.peer(adapter).is_some_and(|port| told.binary_search(&port).is_ok());
        let phase = if known { Phase::Cooled } else { Phase::Untold };
        moves.spots.push(SpotMoves { adapter, phase, at: None, joins: Vec::new(), moved });
    }
    moves
}

fn moves_along(role: Role) -> bool {
    match role {
        Role::Contributor(_) | Role::ContributorOrVictim | Role::Unknown => true,
        Role::Victim { .. } | Role::FairShare => false,
    }
}

/// Whether the flows of a host to all LIDs of a hot-spot have moved.
fn has_moved(fabric: &Fabric, adapter: PortId, host: PortId, moved: &[Moved]) -> bool {
    let Some(host) = fabric.port(host).facts.lid else { return true };
    let has = |lid: Lid| moved.iter().any(|flows| flows.hot_spot == lid && flows.hosts.contains(&host));
    lids_of(fabric, adapter).all(has)
}
