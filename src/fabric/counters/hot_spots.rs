//! End-point hot-spots, who contributes to them and who suffers from them (dFtree, section III-C, Algorithm 1).
//!
//! A port of a switch that leads to an adapter and waits beyond the threshold is a hot-spot: its adapter takes packets in
//! slower than they come. An adapter that waits beyond the threshold is held up. One that uses less than the fair share of
//! its link is a potential contributor in the paper; who of them only stands behind a contributor, counters alone do not
//! tell (with forwarding tables [`super::tell_apart`] does, as far as can be).
//! A port between switches that waits is congestion on the way: behind a hot-spot it is its tree,
//! without one it is a link with too little bandwidth (a rail with one uplink), and no end-point hot-spot.

use super::apart::Evidence;
use super::oversubscribed::{Oversubscribed, oversubscribed};
use super::rates::{PortRates, Rates};
use super::thresholds::Thresholds;
use crate::{Fabric, NodeKind, PortId};

/// A port that waits, and how much.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waiting {
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
    pub at: Waiting,
    /// The adapter's port, which is the hot-spot.
    pub adapter: PortId,
}

/// The role of an adapter that waits, with its evidence.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Role {
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
pub struct Contributor {
    /// The adapter's own port, which counts the waiting.
    pub at: Waiting,
    /// Whether the adapter causes the waiting or suffers from it.
    pub role: Role,
}

/// The hot-spots of one interval, and the ports that wait.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HotSpots {
    /// The hot-spots, the most congested first.
    pub hot_spots: Vec<HotSpot>,
    /// Adapters that wait, the most congested first. Without a hot-spot the cause is another one.
    pub held_up: Vec<Contributor>,
    /// Ports between switches that wait, the most congested first.
    pub on_the_way: Vec<Waiting>,
    /// The ports of `on_the_way` that are too narrow for the hosts behind them, the most congested first.
    pub oversubscribed: Vec<Oversubscribed>,
    /// Ports whose waiting is unknown: they do not count it, the counter is at its maximum, or they did not answer.
    pub untold: Vec<PortId>,
}

impl HotSpots {
    /// Whether ports between switches wait although no adapter is a hot-spot.
    pub fn links_too_narrow(&self) -> bool {
        self.hot_spots.is_empty() && !self.on_the_way.is_empty()
    }

    /// Whether the waiting ports between switches send almost nothing although their links have bandwidth left.
    pub fn stands_still(&self) -> bool {
        let still = |way: &Waiting| way.utilisation.is_some_and(|used| used < 0.005);
        self.links_too_narrow() && self.on_the_way.iter().all(still)
    }

    /// Whether no port waits.
    pub fn is_quiet(&self) -> bool {
        self.hot_spots.is_empty() && self.held_up.is_empty() && self.on_the_way.is_empty()
    }
}

/// Finds hot-spots by algorithm 1 of dFtree from the rates of one interval.
pub fn hot_spots(fabric: &Fabric, rates: &Rates, thresholds: &Thresholds) -> HotSpots {
    let mut verdict = HotSpots { untold: rates.once.clone(), ..HotSpots::default() };
    for port in &rates.ports {
        let Some(peer) = fabric.peer(port.port) else { continue };
        let Some(congestion) = port.congestion() else {
            verdict.untold.push(port.port);
            continue;
        };
        // At the threshold is not beyond it.
        if congestion <= thresholds.congestion {
            continue;
        }
        let at = waiting(port, congestion);
        let is_switch = |port: PortId| fabric.node(fabric.port(port).node).facts.kind == NodeKind::Switch;
        match (is_switch(port.port), is_switch(peer)) {
            (true, false) => verdict.hot_spots.push(HotSpot { at, adapter: peer }),
            (true, true) => verdict.on_the_way.push(at),
            (false, _) => verdict.held_up.push(Contributor { at, role: role(&at, thresholds) }),
        }
    }
    verdict.untold.sort_unstable();
    let worst = |a: &Waiting, b: &Waiting| b.congestion.total_cmp(&a.congestion).then(a.port.cmp(&b.port));
    verdict.hot_spots.sort_by(|a, b| worst(&a.at, &b.at));
    verdict.held_up.sort_by(|a, b| worst(&a.at, &b.at));
    verdict.on_the_way.sort_by(worst);
    verdict.oversubscribed = oversubscribed(fabric, &verdict);
    verdict
}

fn waiting(port: &PortRates, congestion: f64) -> Waiting {
    Waiting {
        port: port.port,
        congestion,
        at_least: port.waited.is_bound(),
        time_waited: port.time_waited(),
        utilisation: port.utilisation(),
    }
}

fn role(at: &Waiting, thresholds: &Thresholds) -> Role {
    match at.utilisation {
        None => Role::Unknown,
        Some(used) if used < thresholds.fair_share => Role::ContributorOrVictim,
        Some(_) => Role::FairShare,
    }
}
