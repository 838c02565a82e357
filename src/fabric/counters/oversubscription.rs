//! Uplinks that are too narrow for the hosts behind them.
//!
//! A port between switches that waits stands in the congestion tree of a hot-spot, or is the bottleneck itself. In a tree
//! ports wait about as long as the hot-spot does; a port that waits far longer, or without any hot-spot, is a bottleneck.
//! It is oversubscribed where the hosts of the leaf on one of its ends can send more than all uplinks of that leaf carry.

use super::congestion::{CongestedPort, HotSpots, OversubscribedUplink};
use super::rates::data_capacity;
use crate::{Fabric, NodeId, PortId};

/// A port of a congestion tree waits about as long as its hot-spot. A port that waits longer by this factor is no part of
/// the tree.
const BOTTLENECK_FACTOR: f64 = 10.0;

/// The ports between switches that are bottlenecks of their leaf, the worst first.
pub fn find_oversubscribed_uplinks(fabric: &Fabric, verdict: &HotSpots) -> Vec<OversubscribedUplink> {
    if verdict.is_stalled() {
        return Vec::new();
    }
    let hottest = verdict.hot_spots.iter().map(|hot| hot.at.congestion).fold(0.0, f64::max);
    let beyond = verdict.congested_ports.iter().filter(|way| way.congestion >= BOTTLENECK_FACTOR * hottest);
    beyond.filter_map(|way| check_uplink(fabric, *way)).filter(|found| found.ratio > 1.0).collect()
}

fn check_uplink(fabric: &Fabric, at: CongestedPort) -> Option<OversubscribedUplink> {
    let ends = [Some(at.port), fabric.peer(at.port)];
    ends.into_iter().flatten().find_map(|end| compare_leaf_capacity(fabric, at, fabric.port(end).node))
}

/// What the hosts of a switch can send and its uplinks can carry; links of unknown speed count alike.
fn compare_leaf_capacity(fabric: &Fabric, at: CongestedPort, leaf: NodeId) -> Option<OversubscribedUplink> {
    let (mut hosts, mut uplinks) = (Vec::new(), Vec::new());
    for (port, about) in fabric.ports_of(leaf) {
        let Some(peer) = about.peer else { continue };
        let beyond = fabric.node(fabric.port(peer).node);
        match beyond.is_switch() {
            true if fabric.port(peer).node != leaf => uplinks.push(link_capacity(fabric, port)),
            true => {}
            // An aggregation node sends only what its switch reduces.
            false if beyond.facts.is_aggregation() => {}
            false => hosts.push(link_capacity(fabric, port)),
        }
    }
    if hosts.is_empty() || uplinks.is_empty() {
        return None;
    }
    let known = hosts.iter().chain(&uplinks).all(Option::is_some);
    let sum = |links: &[Option<f64>]| match known {
        true => links.iter().flatten().sum(),
        false => links.len() as f64,
    };
    let ratio = sum(&hosts) / sum(&uplinks);
    Some(OversubscribedUplink { at, leaf, hosts: hosts.len(), uplinks: uplinks.len(), ratio })
}

fn link_capacity(fabric: &Fabric, port: PortId) -> Option<f64> {
    let of = |port: PortId| data_capacity(&fabric.port(port).facts);
    of(port).or_else(|| fabric.peer(port).and_then(of)).filter(|capacity| *capacity > 0.0)
}
