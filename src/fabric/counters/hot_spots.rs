//! End-point hot-spots, who contributes to them and who suffers from them (dFtree, section III-C, Algorithm 1).
//!
//! A port of a switch that leads to an adapter and waits beyond the threshold is a hot-spot: its adapter takes packets in
//! slower than they come. An adapter that waits beyond the threshold is held up. One that uses less than the fair share of
//! its link is a potential contributor in the paper; who of them only stands behind a contributor, counters alone do not
//! tell (with forwarding tables [`super::classify_adapters`] does, as far as can be).
//! A port between switches that waits is congestion on the way: behind a hot-spot it is its tree,
//! without one it is a link with too little bandwidth (a rail with one uplink), and no end-point hot-spot.

use super::contributors::Evidence;
use super::oversubscription::{OversubscribedUplink, find_oversubscribed_uplinks};
use super::rates::{PortRates, Rates};
use super::thresholds::Thresholds;
use crate::{Fabric, NodeKind, PortId};

/// A port that waits, and how much.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CongestedPort {
    /// The port.
    pub port: PortId,
    /// Ticks of waiting per second.
    pub congestion: f64,
    /// Whether the port may have waited more than `congestion` says.
    pub at_least: bool,
    /// The fraction of the time in which the port waited, where the length of a tick is known.
    pub time_waited: Option<f64>,
    /// The fraction of its link's bandwidth that the port used, where that is known.
    pub utilisation: Option<f64>,
}

/// An adapter that receives more slowly than packets arrive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HotSpot {
    /// The switch port in front of the adapter; it counts the waiting.
    pub at: CongestedPort,
    /// The adapter's port, which is the hot-spot.
    pub adapter: PortId,
}

/// The role of an adapter that waits, with its evidence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum CongestionRole {
    /// It gets less than a fair share and sends to a hot-spot.
    Contributor(Evidence),
    /// It gets less than a fair share: either it sends to a hot-spot, or its packets wait behind packets to one.
    /// The counters alone do not separate the two.
    ContributorOrVictim,
    /// It gets less than a fair share, and little of what it sends goes to a hot-spot. Rates are in bytes per
    /// second.
    Victim {
        /// What the adapter sends to hot-spots at most.
        most: f64,
        /// What the adapter sends.
        sent: f64,
    },
    /// It waits, and it gets at least the fair share of its link.
    FairShare,
    /// It waits, and how much it sends is unknown.
    Unknown,
}

/// An adapter whose sending is held up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CongestedAdapter {
    /// The adapter's own port, which counts the waiting.
    pub at: CongestedPort,
    /// Whether the adapter causes the waiting or suffers from it.
    pub role: CongestionRole,
}

/// The hot-spots of one interval, and the ports that wait.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HotSpots {
    /// The hot-spots, the most congested first.
    pub hot_spots: Vec<HotSpot>,
    /// Adapters that wait, the most congested first. Without a hot-spot the cause is another one.
    pub congested_adapters: Vec<CongestedAdapter>,
    /// Ports between switches that wait, the most congested first.
    pub congested_ports: Vec<CongestedPort>,
    /// The ports of `on_the_way` that are too narrow for the hosts behind them, the most congested first.
    pub oversubscribed: Vec<OversubscribedUplink>,
    /// Ports whose waiting is unknown: they do not count it, the counter is at its maximum, or they did not answer.
    pub unknown_ports: Vec<PortId>,
}

impl HotSpots {
    /// Whether ports between switches wait although no adapter is a hot-spot.
    pub fn has_narrow_links(&self) -> bool {
        self.hot_spots.is_empty() && !self.congested_ports.is_empty()
    }

    /// Whether the waiting ports between switches send almost nothing although their links have bandwidth left.
    pub fn is_stalled(&self) -> bool {
        let still = |way: &CongestedPort| way.utilisation.is_some_and(|used| used < 0.005);
        self.has_narrow_links() && self.congested_ports.iter().all(still)
    }

    /// Whether no port waits.
    pub fn is_quiet(&self) -> bool {
        self.hot_spots.is_empty() && self.congested_adapters.is_empty() && self.congested_ports.is_empty()
    }
}

/// Finds hot-spots by algorithm 1 of dFtree from the rates of one interval.
pub fn find_hot_spots(fabric: &Fabric, rates: &Rates, thresholds: &Thresholds) -> HotSpots {
    let mut verdict = HotSpots { unknown_ports: rates.once.clone(), ..HotSpots::default() };
    for port in &rates.ports {
        let Some(peer) = fabric.peer(port.port) else { continue };
        let Some(congestion) = port.congestion() else {
            verdict.unknown_ports.push(port.port);
            continue;
        };
        // At the threshold is not beyond it.
        if congestion <= thresholds.congestion {
            continue;
        }
        let at = congested_port(port, congestion);
        let is_switch = |port: PortId| fabric.node(fabric.port(port).node).facts.kind == NodeKind::Switch;
        match (is_switch(port.port), is_switch(peer)) {
            (true, false) => verdict.hot_spots.push(HotSpot { at, adapter: peer }),
            (true, true) => verdict.congested_ports.push(at),
            (false, _) => verdict
                .congested_adapters
                .push(CongestedAdapter { at, role: classify_by_thresholds(&at, thresholds) }),
        }
    }
    verdict.unknown_ports.sort_unstable();
    let worst = |a: &CongestedPort, b: &CongestedPort| {
        b.congestion.total_cmp(&a.congestion).then(a.port.cmp(&b.port))
    };
    verdict.hot_spots.sort_by(|a, b| worst(&a.at, &b.at));
    verdict.congested_adapters.sort_by(|a, b| worst(&a.at, &b.at));
    verdict.congested_ports.sort_by(worst);
    verdict.oversubscribed = find_oversubscribed_uplinks(fabric, &verdict);
    verdict
}

fn congested_port(port: &PortRates, congestion: f64) -> CongestedPort {
    CongestedPort {
        port: port.port,
        congestion,
        at_least: port.waited.is_lower_bound(),
        time_waited: port.wait_share(),
        utilisation: port.utilisation(),
    }
}

fn classify_by_thresholds(at: &CongestedPort, thresholds: &Thresholds) -> CongestionRole {
    match at.utilisation {
        None => CongestionRole::Unknown,
        Some(used) if used < thresholds.fair_share => CongestionRole::ContributorOrVictim,
        Some(_) => CongestionRole::FairShare,
    }
}
