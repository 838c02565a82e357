//! Routes to nodes over the present cables. A route over a lost cable is replaced.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashSet;

use super::discovery_state::{DiscoveredNode, DiscoveryState};
use fabdeck_fabric::NodeKind;
use fabdeck_mad::HOPS_MAX;

/// Routes by the port at which they arrive.
type RoutesByIngress = BTreeMap<(usize, u8), Vec<u8>>;

impl DiscoveryState {
    /// Gives every node a working route, around silent nodes if possible. A node without a route is cut off and keeps
    /// its last one.
    pub fn repair_routes(&mut self, silent: &FxHashSet<usize>) {
        let Some(local) = self.nodes.iter().position(|node| node.route.is_empty()) else { return };
        let mut ways = self.find_routes(local, silent);
        for (plug, way) in self.find_routes(local, &FxHashSet::default()) {
            // A silent node may still forward MADs.
            if ways.range((plug.0, 0)..=(plug.0, u8::MAX)).next().is_none() {
                ways.insert(plug, way);
            }
        }
        for at in 0..self.nodes.len() {
            let switch = self.nodes[at].kind == NodeKind::Switch;
            let leads = |way: &[u8], port: u8| self.is_route_to(local, way, (at, port), silent);
            let node = &self.nodes[at];
            let whole = at == local || leads(&node.route, node.ingress);
            if whole && node.further.iter().all(|(port, way)| leads(way, *port)) {
                self.nodes[at].memory.cut_off = false;
                continue;
            }
            let mut found = ways.range((at, 0)..=(at, u8::MAX)).map(|((_, port), way)| (*port, way.clone()));
            let node = &mut self.nodes[at];
            if !whole {
                let Some((ingress, route)) = found.next() else {
                    node.memory.cut_off = true;
                    continue;
                };
                (node.ingress, node.route) = (ingress, route);
            }
            node.memory.cut_off = false;
            node.further = if switch { BTreeMap::new() } else { found.collect() };
            let ingress = node.ingress;
            node.further.remove(&ingress);
        }
    }

    /// Finds routes breadth first: the first one to a switch, and one to each port of an adapter.
    fn find_routes(&self, local: usize, silent: &FxHashSet<usize>) -> RoutesByIngress {
        let mut ways = RoutesByIngress::new();
        let mut seen = FxHashSet::from_iter([local]);
        let mut queue = VecDeque::from([(local, Vec::new())]);
        while let Some((at, way)) = queue.pop_front() {
            if way.len() >= HOPS_MAX {
                continue;
            }
            for port in egresses(&self.nodes[at]) {
                let Some((peer, ingress)) = self.peer((at, port)) else { continue };
                let way = [way.as_slice(), &[port]].concat();
                if self.nodes[peer].kind != NodeKind::Switch {
                    ways.entry((peer, ingress)).or_insert(way);
                } else if seen.insert(peer) {
                    ways.insert((peer, ingress), way.clone());
                    if !silent.contains(&peer) {
                        queue.push_back((peer, way));
                    }
                }
            }
        }
        ways
    }

    /// Whether a route leads to a port without passing a silent node.
    fn is_route_to(&self, local: usize, way: &[u8], to: (usize, u8), silent: &FxHashSet<usize>) -> bool {
        let mut at = (local, self.nodes[local].ingress);
        for (hop, egress) in way.iter().enumerate() {
            if hop > 0 && (silent.contains(&at.0) || self.nodes[at.0].kind != NodeKind::Switch) {
                return false;
            }
            let Some(peer) = self.peer((at.0, *egress)) else { return false };
            at = peer;
        }
        at.0 == to.0 && (at.1 == to.1 || self.nodes[to.0].kind == NodeKind::Switch)
    }
}

/// The egress ports of a node; of an adapter, only the local port.
fn egresses(node: &DiscoveredNode) -> std::ops::RangeInclusive<u8> {
    match node.kind {
        NodeKind::Switch => 1..=node.port_count,
        _ => node.ingress..=node.ingress,
    }
}
