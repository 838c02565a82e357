//! End-point hot-spots, who contributes to them and who suffers from them (dFtree, section III-C, Algorithm 1).
//!
//! A port of a switch that leads to an adapter and waits beyond the threshold is a hot-spot: its adapter takes packets in
//! slower than they come. An adapter that waits beyond the threshold is congested. One that uses less than the fair share of
//! its link is a potential contributor in the paper; who of them only stands behind a contributor, counters alone do not
//! tell (with forwarding tables [`super::classify_adapters`] does, as far as can be).
//! A port between switches that waits is congestion on a path: behind a hot-spot it is its tree,
//! without one it is a link with too little bandwidth (a rail with one uplink), and no end-point hot-spot.

use super::congestion::{CongestedAdapter, CongestedPort, CongestionRole, HotSpot, HotSpots};
use super::oversubscription::find_oversubscribed_uplinks;
use super::rates::{PortRates, Rates};
use super::thresholds::Thresholds;
use crate::{Fabric, NodeKind, PortId};

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
                .push(CongestedAdapter::new(at, classify_by_thresholds(&at, thresholds))),
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
        Some(used) if used < thresholds.fair_share => CongestionRole::Undecided,
        Some(_) => CongestionRole::FairShare,
    }
}
