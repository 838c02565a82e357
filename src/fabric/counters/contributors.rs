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
//! A contributor sends more than 5 % of its data to hot-spots, a victim no more. What a rule cannot know is on the other
//! side of the comparison: input buffers may have filled or emptied between the readings, by at most what they hold (IBA
//! 7.9.4.4), and ports are not read at the same instant, so that a burst is in one of two counters. Packets that switches
//! discarded arrived nowhere. When a link went down in the interval, packets took several paths, and no adapter is
//! decided. The rules hold for unicast; multicast packets take other paths.

use super::channel_rates::ChannelRates;
use super::congestion::{CongestionRole, Evidence, HotSpots};
use super::flow_history::FlowHistory;
use super::rates::Rates;
use crate::{Fabric, Lid, NodeId, PortId, Tables};

/// The share of its data that makes an adapter a contributor if it sends more of it to hot-spots, otherwise a victim.
pub(super) const CONTRIBUTION: f64 = 0.05;

/// No adapter is decided when reading the ports took a larger fraction of the interval than this.
const MAX_SKEW: f64 = 0.5;

/// The largest number of paths to follow; with more of them adapters are judged by their hot-spots alone.
const MAX_PATHS: usize = 1_000_000;

/// The largest number of switches to examine for all hot-spots; with more no adapter is decided.
const MAX_SWITCH_VISITS: usize = 4_000_000;

/// Longer than any path without a loop.
pub(super) const MAX_HOPS: usize = 64;

/// Separates contributors from victims among the adapters that wait, as far as this interval proves it.
pub fn classify_adapters(fabric: &Fabric, tables: &Tables, rates: &Rates, verdict: &mut HotSpots) {
    FlowHistory::default().classify(fabric, tables, rates, verdict);
}

/// Whether rates prove anything: paths did not change, and reading took no more than a part of the interval.
pub(super) fn is_provable(rates: &Rates) -> bool {
    !has_route_changes(rates) && rates.skew <= MAX_SKEW
}

/// Judges each adapter by the paths to and from it.
pub(super) fn classify_by_paths(fabric: &Fabric, tables: &Tables, rates: &Rates, verdict: &mut HotSpots) {
    let open = |role: CongestionRole| role == CongestionRole::Undecided;
    if verdict.hot_spots.is_empty() || !verdict.congested_adapters.iter().any(|held| open(held.role)) {
        return;
    }
    if verdict.hot_spots.len().saturating_mul(fabric.switch_count()) > MAX_SWITCH_VISITS {
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
        let sent = ways.channels.sent_rate(held.at.port);
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
    /// What the buffers on all paths to it can hold.
    buffered: f64,
}

/// The ways to one LID, and what they can have brought there at the most.
struct LidInflow {
    lid: Lid,
    /// What came to the adapter.
    brought: f64,
    /// Of each switch: what came in for it, and what went on.
    gathered: Vec<f64>,
    went_on: Vec<f64>,
    buffered: f64,
}

struct FlowBounds<'f> {
    channels: ChannelRates<'f>,
    /// What the adapters on each switch sent.
    own: Vec<f64>,
    /// The fraction of a rate that may be in the counters of one port and not in those of another.
    skew: f64,
    /// What the buffers behind all channels that carried something can hold.
    all_buffered: f64,
}

impl<'f> FlowBounds<'f> {
    fn new(fabric: &'f Fabric, tables: &'f Tables, rates: &'f Rates) -> Self {
        let channels = ChannelRates::new(fabric, tables, rates);
        let own = fabric.switches().map(|(switch, _)| channels.sent_by_adapters(switch, None)).collect();
        let all_buffered = channels.all_buffered_rate();
        Self { channels, own, skew: rates.skew, all_buffered }
    }

    fn adapter_inflow(&self, adapter: PortId) -> Option<AdapterInflow> {
        let arrived = self.channels.rates.port(self.channels.fabric.peer(adapter)?)?.bandwidth()?;
        let trees: Option<Vec<LidInflow>> =
            self.channels.lids(adapter).map(|lid| self.lid_inflow(adapter, lid)).collect();
        let trees = trees.filter(|trees| !trees.is_empty())?;
        // The paths to several LIDs of one adapter can have the same channels.
        let buffered = trees.iter().map(|tree| tree.buffered).sum();
        Some(AdapterInflow { adapter, arrived, trees, buffered })
    }

    /// From the switches that are farthest away towards the adapter: what went on is no more than what came in.
    fn lid_inflow(&self, adapter: PortId, lid: Lid) -> Option<LidInflow> {
        let switches = self.channels.fabric.switch_count();
        let mut behind: Vec<Vec<NodeId>> = vec![Vec::new(); switches];
        for (switch, _) in self.channels.fabric.switches() {
            if !self.channels.tables.is_entry_known(switch, lid) {
                return None;
            }
            let next = self.channels.egress(switch, lid).and_then(|port| self.channels.switch_at(port));
            if let Some(next) = next {
                behind[next.index()].push(switch);
            }
        }
        let root = self.channels.switch_at(adapter)?;
        let mut order = vec![root];
        let mut at = 0;
        while let Some(switch) = order.get(at) {
            // Each switch leads to one other, so that nothing that leads to the adapter comes twice.
            order.extend(behind[switch.index()].iter().filter(|one| **one != root));
            at += 1;
        }
        let (mut gathered, mut went_on, mut buffered) = (vec![0.0; switches], vec![0.0; switches], 0.0);
        for switch in order.into_iter().rev() {
            let at = switch.index();
            let own = match switch == root {
                true => self.channels.sent_by_adapters(root, Some(adapter)),
                false => self.own[at],
            };
            gathered[at] = own + behind[at].iter().map(|one| went_on[one.index()]).sum::<f64>();
            let carried = self.channels.egress(switch, lid).map_or(0.0, |port| self.channels.sent_rate(port));
            went_on[at] = carried.min(gathered[at]);
            let onward = self.channels.egress(switch, lid).into_iter();
            buffered += onward
                .chain(self.channels.adapters(switch))
                .map(|port| self.channels.buffered_rate(port))
                .sum::<f64>();
        }
        Some(LidInflow { lid, brought: went_on[root.index()], gathered, went_on, buffered })
    }

    /// Adapters that took something in and are no hot-spots.
    fn receivers(&self, basins: &[AdapterInflow]) -> Vec<(PortId, f64)> {
        let adapters = self.channels.fabric.nodes().filter(|(_, node)| !node.is_switch());
        let ports = adapters.flat_map(|(id, _)| self.channels.fabric.ports_of(id).map(|(port, _)| port));
        let cool = ports.filter(|port| basins.iter().all(|basin| basin.adapter != *port));
        cool.map(|port| (port, self.channels.received_rate(port))).filter(|(_, taken)| *taken > 0.0).collect()
    }

    fn role(
        &self,
        adapter: PortId,
        sent: f64,
        basins: &[AdapterInflow],
        cool: Option<&Vec<(PortId, f64)>>,
    ) -> CongestionRole {
        let others_of = |basin: &&AdapterInflow| basin.adapter != adapter;
        let (least, unsure) = (CONTRIBUTION * sent, self.skew * sent);
        let most: f64 =
            basins.iter().filter(others_of).map(|basin| self.max_sent_between(adapter, basin.adapter)).sum();
        if most + unsure <= least {
            return CongestionRole::Victim { most, sent };
        }
        for basin in basins.iter().filter(others_of) {
            let others = basin
                .trees
                .iter()
                .map(|tree| self.max_from_others((adapter, basin.adapter), sent, tree))
                .sum::<f64>();
            let (hot_spot, arrived) = (basin.adapter, basin.arrived);
            let unsure = self.skew * arrived + basin.buffered;
            // Where the ways of all do not account for it, tables or counters were others meanwhile.
            let all = basin.trees.iter().map(|tree| tree.brought).sum::<f64>();
            let is_accounted = arrived - all <= CONTRIBUTION * arrived + unsure;
            if is_accounted && arrived - others - unsure > least.max(CONTRIBUTION * arrived) {
                return CongestionRole::Contributor(Evidence::OthersFallShort { hot_spot, others, arrived });
            }
        }
        let Some(cool) = cool else { return CongestionRole::Undecided };
        let mut elsewhere = self.channels.lost + self.all_buffered;
        for (to, taken) in cool.iter().filter(|(to, _)| *to != adapter) {
            elsewhere += self.max_sent_between(adapter, *to).min(*taken);
            if sent - elsewhere - unsure <= least {
                return CongestionRole::Undecided;
            }
        }
        match sent - elsewhere - unsure > least {
            true => CongestionRole::Contributor(Evidence::NowhereElse { elsewhere, sent }),
            false => CongestionRole::Undecided,
        }
    }

    /// What one adapter can have sent to another.
    fn max_sent_between(&self, from: PortId, to: PortId) -> f64 {
        self.channels
            .lids(to)
            .map(|lid| self.max_carried(from, to, lid))
            .sum::<f64>()
            .min(self.channels.sent_rate(from))
    }

    /// What the narrowest channel on the path carried, and the buffers before it can hold: nothing without a path,
    /// everything sent where a table is unknown.
    fn max_carried(&self, from: PortId, to: PortId, lid: Lid) -> f64 {
        let mut least = self.channels.sent_rate(from);
        let mut buffered = self.channels.buffered_rate(from);
        let mut switch = self.channels.switch_at(from);
        for _ in 0..MAX_HOPS {
            let Some(at) = switch else { return 0.0 };
            if !self.channels.tables.is_entry_known(at, lid) {
                return least;
            }
            let Some(port) = self.channels.egress(at, lid) else { return 0.0 };
            least = least.min(self.channels.sent_rate(port) + buffered);
            if self.channels.fabric.peer(port) == Some(to) {
                return least;
            }
            buffered += self.channels.buffered_rate(port);
            switch = self.channels.switch_at(port);
        }
        0.0
    }

    /// What all others can have brought to the adapter that a tree leads to: all of it, where this one has no way there.
    fn max_from_others(&self, (from, to): (PortId, PortId), sent: f64, tree: &LidInflow) -> f64 {
        let mut less = sent;
        let mut switch = self.channels.switch_at(from);
        for _ in 0..MAX_HOPS {
            let Some(at) = switch else { break };
            let Some(port) = self.channels.egress(at, tree.lid) else { break };
            let brought = self.channels.sent_rate(port).min(tree.gathered[at.index()] - less);
            if self.channels.fabric.peer(port) == Some(to) {
                return brought;
            }
            let fewer = tree.went_on[at.index()] - brought;
            less = if fewer.is_finite() { fewer } else { 0.0 };
            switch = self.channels.switch_at(port);
        }
        tree.brought
    }
}
