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

/// A port that waits, and by how much.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Waiting {
    pub port: PortId,
    /// Ticks a second, and whether it may have been more.
    pub congestion: f64,
    pub at_least: bool,
    /// The part of the time that this is, where the length of a tick is known.
    pub time_waited: Option<f64>,
    /// Of its link's bandwidth, as far as that is known.
    pub utilisation: Option<f64>,
}

/// An adapter that takes in slower than packets come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HotSpot {
    /// The port of the switch, which counts.
    pub at: Waiting,
    /// The adapter's port: the hot-spot.
    pub adapter: PortId,
}

/// What an adapter that waits is, and what tells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Role {
    /// It gets less than a fair share, and sends to a hot-spot.
    Contributor(Evidence),
    /// It gets less than a fair share: it sends to a hot-spot, or its packets stand behind such. Counters alone do not
    /// tell the two apart.
    ContributorOrVictim,
    /// It gets less than a fair share, and of what it sends so much at the most goes to a hot-spot. Bytes a second.
    Victim { most: f64, sent: f64 },
    /// It waits, but has at least the fair share of its link.
    FairShare,
    /// It waits, and how much it sends is not known.
    Unknown,
}

/// An adapter that is held up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Contributor {
    /// The adapter's own port, which counts.
    pub at: Waiting,
    pub role: Role,
}

/// The verdict over one interval.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HotSpots {
    /// The worst first.
    pub hot_spots: Vec<HotSpot>,
    /// Adapters that wait, the worst first. Without a hot-spot they are held up by something else.
    pub held_up: Vec<Contributor>,
    /// Ports between switches that wait, the worst first.
    pub on_the_way: Vec<Waiting>,
    /// Those of them that are too narrow for the hosts behind them, the worst first.
    pub oversubscribed: Vec<Oversubscribed>,
    /// Ports whose waiting is not known: they do not count it, it is stuck, or they did not answer.
    pub untold: Vec<PortId>,
}

impl HotSpots {
    /// Whether ports between switches wait although no adapter is a hot-spot.
    pub fn links_too_narrow(&self) -> bool {
        self.hot_spots.is_empty() && !self.on_the_way.is_empty()
    }

    /// Whether these ports send next to nothing: nothing moves, however much room links have.
    pub fn stands_still(&self) -> bool {
        let still = |way: &Waiting| way.utilisation.is_some_and(|used| used < 0.005);
        self.links_too_narrow() && self.on_the_way.iter().all(still)
    }

    pub fn is_quiet(&self) -> bool {
        self.hot_spots.is_empty() && self.held_up.is_empty() && self.on_the_way.is_empty()
    }
}

/// Algorithm 1 over the rates of one interval.
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
