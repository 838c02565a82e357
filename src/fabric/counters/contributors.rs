//! Separates contributors from victims by the forwarding tables in force.
//!
//! The counters of an adapter do not show where its packets go. The channels on its paths show where they cannot have
//! gone:
//!
//! - An adapter sends to a hot-spot at most what each channel on that path carried. When that is almost nothing of what
//!   it sends, it is a **victim**.
//! - What arrived at a hot-spot, less what the paths of all other adapters can have carried there, came from this
//!   adapter: a **contributor**.
//! - What an adapter sends, less what its paths can have carried to other adapters that received it, went to a hot-spot:
//!   a contributor too.
//!
//! Experiment I of dFtree as an example: 1, 3 and 6 send to 5, and 2 sends to 3. Only 5 and 3 receive anything, so what 3
//! sends can only go to 5; the uplink of 6 carried nothing, so 6 sends to 5 on its own switch. 1 and 2 are at one leaf and
//! share one uplink to both 3 and 5: either of them may be the victim, so both stay undecided.
//!
//! The rules hold for unicast; multicast packets take other paths. Ports are not read at the same instant, so a burst
//! between two readings is in one of two counters; the slack allows for that. Packets that switches discarded arrived
//! nowhere. When a link went down in the interval, packets took several paths, and no adapter is decided.

use super::congestion::{CongestionRole, Evidence, HotSpots};
use super::rates::Rates;
use crate::{Fabric, Lid, NodeId, PortId, Tables};

/// A fraction of the data sent or received that proves nothing, besides the allowance for ports that are read one after
/// the other.
const SLACK: f64 = 0.05;

/// No adapter is decided when reading the ports took a larger fraction of the interval than this.
const MAX_SKEW: f64 = 0.5;

/// The largest number of paths to follow; with more of them adapters are judged by their hot-spots alone.
const MAX_PATHS: usize = 1_000_000;

/// The largest number of switches to examine for all hot-spots; with more no adapter is decided.
const MAX_SWITCH_VISITS: usize = 4_000_000;

/// A packet has no more bytes, headers included.
const MAX_PACKET_BYTES: f64 = 4300.0;

/// Longer than any path without a loop.
const MAX_HOPS: usize = 64;

/// Separates contributors from victims among the adapters that wait, as far as the forwarding tables show which
/// paths their packets take.
pub fn classify_adapters(fabric: &Fabric, tables: &Tables, rates: &Rates, verdict: &mut HotSpots) {
    let open = |role: CongestionRole| role == CongestionRole::ContributorOrVictim;
    if verdict.hot_spots.is_empty()
        || !verdict.congested_adapters.iter().any(|held| open(held.role))
        || has_route_changes(rates)
    {
        return;
    }
    if verdict.hot_spots.len().saturating_mul(fabric.switch_count()) > MAX_SWITCH_VISITS {
        return;
    }
    // Where reading took most of the interval, what one counter says of another is no proof of anything.
    if rates.skew > MAX_SKEW {
        return;
    }
    let ways = FlowBounds::new(fabric, tables, rates);
    let basins: Option<Vec<AdapterInflow>> =
        verdict.hot_spots.iter().map(|hot| ways.adapter_inflow(hot.adapter)).collect();
    // A switch whose table was not read may forward anything anywhere.
    let Some(basins) = basins else { return };
    let cool = ways.receivers(&basins);
    let follow = cool.len().saturating_mul(verdict.congested_adapters.len()) <= MAX_PATHS;
    for held in verdict.congested_adapters.iter_mut().filter(|held| open(held.role)) {
        let sent = ways.sent_rate(held.at.port);
        if sent > 0.0 && sent.is_finite() {
            held.role = ways.role(held.at.port, sent, &basins, follow.then_some(&cool));
        }
    }
}

/// Whether ways were others at the beginning: a link went down, or only one of the readings has a port.
fn has_route_changes(rates: &Rates) -> bool {
    !rates.once.is_empty()
        || rates.ports.iter().any(|port| port.downed.lower_bound().is_some_and(|times| times > 0))
}

/// What flows towards one adapter.
struct AdapterInflow {
    adapter: PortId,
    /// At the least.
    arrived: f64,
    /// For each of its LIDs.
    trees: Vec<LidInflow>,
}

/// The ways to one LID, and what they can have brought there at the most.
struct LidInflow {
    lid: Lid,
    /// What came to the adapter.
    brought: f64,
    /// Of each switch: what came in for it, and what went on.
    gathered: Vec<f64>,
    went_on: Vec<f64>,
}

struct FlowBounds<'f> {
    fabric: &'f Fabric,
    tables: &'f Tables,
    rates: &'f Rates,
    /// What the adapters on each switch sent.
    own: Vec<f64>,
    /// What switches threw away, at the most.
    lost: f64,
    slack: f64,
}

impl<'f> FlowBounds<'f> {
    fn new(fabric: &'f Fabric, tables: &'f Tables, rates: &'f Rates) -> Self {
        let slack = SLACK + rates.skew;
        let mut ways = Self { fabric, tables, rates, own: Vec::new(), lost: 0.0, slack };
        ways.own = fabric.switches().map(|(switch, _)| ways.sent_by_adapters(switch, None)).collect();
        let of_switches = rates.ports.iter().filter(|port| {
            let port = fabric.port(port.port);
            port.peer.is_some() && fabric.node(port.node).is_switch()
        });
        let thrown_away = of_switches.map(|port| {
            let packets = port.discarded.lower_bound().filter(|_| !port.discarded.is_lower_bound());
            packets.map_or(f64::INFINITY, |packets| packets as f64 * MAX_PACKET_BYTES / port.seconds)
        });
        ways.lost = thrown_away.sum();
        ways
    }

    /// What the adapters on a switch sent, one of them left out.
    fn sent_by_adapters(&self, switch: NodeId, but: Option<PortId>) -> f64 {
        let adapters = self.fabric.ports_of(switch).filter_map(|(_, port)| port.peer);
        let adapters = adapters
            .filter(|peer| Some(*peer) != but && !self.fabric.node(self.fabric.port(*peer).node).is_switch());
        adapters.map(|peer| self.sent_rate(peer)).sum()
    }

    /// What a port sent in a second at the most.
    fn sent_rate(&self, port: PortId) -> f64 {
        let rates = self.rates.port(port).filter(|rates| !rates.sent.is_lower_bound());
        rates.and_then(|rates| rates.bandwidth()).unwrap_or(f64::INFINITY)
    }

    /// What an adapter took in at the most: it or its switch counts it.
    fn received_rate(&self, adapter: PortId) -> f64 {
        let own = self.rates.port(adapter).filter(|rates| !rates.received.is_lower_bound());
        let own = own.and_then(|rates| rates.receive_bandwidth()).unwrap_or(f64::INFINITY);
        self.fabric.peer(adapter).map_or(0.0, |port| own.min(self.sent_rate(port)))
    }

    fn lids(&self, adapter: PortId) -> impl Iterator<Item = Lid> + use<> {
        let facts = &self.fabric.port(adapter).facts;
        let (lid, count) = (facts.lid, 1u32 << facts.lmc.value());
        lid.into_iter()
            .flat_map(move |lid| (0..count).filter_map(move |more| Lid::new(u32::from(lid.value()) + more)))
    }

    /// The port of a switch through which it leads packets for a LID.
    fn egress(&self, switch: NodeId, lid: Lid) -> Option<PortId> {
        self.fabric.port_of(switch, self.tables.lft(switch)?.get(lid)?)
    }

    fn switch_at(&self, port: PortId) -> Option<NodeId> {
        let node = self.fabric.port(self.fabric.peer(port)?).node;
        self.fabric.node(node).is_switch().then_some(node)
    }

    fn adapter_inflow(&self, adapter: PortId) -> Option<AdapterInflow> {
        let arrived = self.rates.port(self.fabric.peer(adapter)?)?.bandwidth()?;
        let trees: Option<Vec<LidInflow>> =
            self.lids(adapter).map(|lid| self.lid_inflow(adapter, lid)).collect();
        Some(AdapterInflow { adapter, arrived, trees: trees.filter(|trees| !trees.is_empty())? })
    }

    /// From the switches that are farthest away towards the adapter: what went on is no more than what came in.
    fn lid_inflow(&self, adapter: PortId, lid: Lid) -> Option<LidInflow> {
        let switches = self.fabric.switch_count();
        let mut behind: Vec<Vec<NodeId>> = vec![Vec::new(); switches];
        for (switch, _) in self.fabric.switches() {
            if !self.tables.is_entry_known(switch, lid) {
                return None;
            }
            let next = self.egress(switch, lid).and_then(|port| self.switch_at(port));
            if let Some(next) = next {
                behind[next.index()].push(switch);
            }
        }
        let root = self.switch_at(adapter)?;
        let mut order = vec![root];
        let mut at = 0;
        while let Some(switch) = order.get(at) {
            // Each switch leads to one other, so that nothing that leads to the adapter comes twice.
            order.extend(behind[switch.index()].iter().filter(|one| **one != root));
            at += 1;
        }
        let (mut gathered, mut went_on) = (vec![0.0; switches], vec![0.0; switches]);
        for switch in order.into_iter().rev() {
            let at = switch.index();
            let own = match switch == root {
                true => self.sent_by_adapters(root, Some(adapter)),
                false => self.own[at],
            };
            gathered[at] = own + behind[at].iter().map(|one| went_on[one.index()]).sum::<f64>();
            let carried = self.egress(switch, lid).map_or(0.0, |port| self.sent_rate(port));
            went_on[at] = carried.min(gathered[at]);
        }
        Some(LidInflow { lid, brought: went_on[root.index()], gathered, went_on })
    }

    /// Adapters that took something in and are no hot-spots.
    fn receivers(&self, basins: &[AdapterInflow]) -> Vec<(PortId, f64)> {
        let adapters = self.fabric.nodes().filter(|(_, node)| !node.is_switch());
        let ports = adapters.flat_map(|(id, _)| self.fabric.ports_of(id).map(|(port, _)| port));
        let cool = ports.filter(|port| basins.iter().all(|basin| basin.adapter != *port));
        cool.map(|port| (port, self.received_rate(port))).filter(|(_, taken)| *taken > 0.0).collect()
    }

    fn role(
        &self,
        adapter: PortId,
        sent: f64,
        basins: &[AdapterInflow],
        cool: Option<&Vec<(PortId, f64)>>,
    ) -> CongestionRole {
        let others_of = |basin: &&AdapterInflow| basin.adapter != adapter;
        let most: f64 =
            basins.iter().filter(others_of).map(|basin| self.max_sent_between(adapter, basin.adapter)).sum();
        if most <= self.slack * sent {
            return CongestionRole::Victim { most, sent };
        }
        for basin in basins.iter().filter(others_of) {
            let others = basin
                .trees
                .iter()
                .map(|tree| self.max_from_others((adapter, basin.adapter), sent, tree))
                .sum::<f64>();
            let arrived = basin.arrived;
            // Where the ways of all do not account for it, tables or counters were others meanwhile.
            let all = basin.trees.iter().map(|tree| tree.brought).sum::<f64>();
            if arrived - all <= self.slack * arrived && arrived - others > self.slack * arrived {
                return CongestionRole::Contributor(Evidence::OthersFallShort {
                    hot_spot: basin.adapter,
                    others,
                    arrived,
                });
            }
        }
        let Some(cool) = cool else { return CongestionRole::ContributorOrVictim };
        let mut elsewhere = self.lost;
        for (to, taken) in cool.iter().filter(|(to, _)| *to != adapter) {
            elsewhere += self.max_sent_between(adapter, *to).min(*taken);
            if sent - elsewhere <= self.slack * sent {
                break;
            }
        }
        match sent - elsewhere > self.slack * sent {
            true => CongestionRole::Contributor(Evidence::NowhereElse { elsewhere, sent }),
            false => CongestionRole::ContributorOrVictim,
        }
    }

    /// What one adapter can have sent to another.
    fn max_sent_between(&self, from: PortId, to: PortId) -> f64 {
        self.lids(to).map(|lid| self.max_carried(from, to, lid)).sum::<f64>().min(self.sent_rate(from))
    }

    /// What the narrowest channel on the path carried: nothing without a path, everything sent where a table is unknown.
    fn max_carried(&self, from: PortId, to: PortId, lid: Lid) -> f64 {
        let mut least = self.sent_rate(from);
        let mut switch = self.switch_at(from);
        for _ in 0..MAX_HOPS {
            let Some(at) = switch else { return 0.0 };
            if !self.tables.is_entry_known(at, lid) {
                return least;
            }
            let Some(port) = self.egress(at, lid) else { return 0.0 };
            least = least.min(self.sent_rate(port));
            if self.fabric.peer(port) == Some(to) {
                return least;
            }
            switch = self.switch_at(port);
        }
        0.0
    }

    /// What all others can have brought to the adapter that a tree leads to: all of it, where this one has no way there.
    fn max_from_others(&self, (from, to): (PortId, PortId), sent: f64, tree: &LidInflow) -> f64 {
        let mut less = sent;
        let mut switch = self.switch_at(from);
        for _ in 0..MAX_HOPS {
            let Some(at) = switch else { break };
            let Some(port) = self.egress(at, tree.lid) else { break };
            let brought = self.sent_rate(port).min(tree.gathered[at.index()] - less);
            if self.fabric.peer(port) == Some(to) {
                return brought;
            }
            let fewer = tree.went_on[at.index()] - brought;
            less = if fewer.is_finite() { fewer } else { 0.0 };
            switch = self.switch_at(port);
        }
        tree.brought
    }
}
