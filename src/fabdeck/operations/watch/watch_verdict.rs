//! The verdict on two sweeps, with rates and rows of lists. Background tasks compute it.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use super::backlog::{Backlog, backlogs_of};
use super::fabric_history::IntervalSums;
use super::history::{PortHistory, PortLevels, UNKNOWN_LEVELS, pack_levels, used_level};
use super::hot_ports::{HotPort, HotRole, SPARK, Spark, UNKNOWN_LEVEL};
use super::interval_verdict::IntervalVerdict;
use super::sweep_messages::sweep_messages;
use super::threshold_events::ThresholdState;
use crate::catalogue::query::{Columns, Query, Selection};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::counters::errors_by_port;
use crate::operations::rowset::Rowset;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestedPort, FlowHistory, HotSpots, LinkProblemKind, PortRates, Rates, Thresholds,
    rates_of_sweeps,
};
use fabdeck_fabric::observe::{PortIdentity, Sweep};
use fabdeck_fabric::{ElementId, LinkId, PortId};

/// The new rows of a list, and their selection.
#[derive(Clone, Debug)]
pub struct ListUpdate {
    pub rows: Arc<Rowset>,
    pub query: Query,
    /// `None` where the query has an error.
    pub selection: Option<Selection>,
}

/// The input of a verdict.
#[derive(Clone, Debug)]
pub struct VerdictRequest {
    pub look: Arc<Snapshot>,
    pub first: Arc<Sweep>,
    pub before: Arc<Sweep>,
    pub after: Arc<Sweep>,
    pub thresholds: Thresholds,
    pub history: PortHistory,
    pub earlier: Option<Arc<WatchVerdict>>,
    /// What is known of flows before these sweeps, where a recording says it; otherwise the earlier verdict does.
    pub flows: Option<FlowHistory>,
    /// The rows of Links, and their query.
    pub links: (Arc<Rowset>, Query),
    /// The query for all ports.
    pub ports: Query,
    /// Ports whose values are kept in a fabric of any size.
    pub pinned: Vec<PortIdentity>,
    pub at_ms: u64,
}

/// A verdict with its rows and levels.
#[derive(Clone, Debug)]
pub struct WatchVerdict {
    pub watched: IntervalVerdict,
    /// What was known of flows before this interval.
    pub flows_before: FlowHistory,
    /// When the last of both sweeps began.
    pub ended: Duration,
    pub levels: PortLevels,
    /// The sums over all ports.
    pub sums: IntervalSums,
    /// Highest utilization of the links of each node, in eighths.
    pub node_load: Vec<u8>,
    /// The ports with a role, the worst first.
    pub verdicts: Arc<Rowset>,
    /// The backlogs of the worst hot-spots.
    pub backlogs: Vec<Backlog>,
    /// Number of these ports with link errors.
    pub in_trouble: usize,
    /// Every port with a cable, in the order of ports.
    pub ports: ListUpdate,
    /// The links with their loads; they replace the rows of the next field.
    pub links: ListUpdate,
    pub links_before: Arc<Rowset>,
    /// Differences from the sweep before, as messages.
    pub changes: Vec<(Severity, String)>,
    /// What is above a threshold after this interval, and before it.
    above: ThresholdState,
    above_before: ThresholdState,
    pub at_ms: u64,
}

impl VerdictRequest {
    pub fn run(&self) -> WatchVerdict {
        let fabric = self.look.fabric();
        let ticks = &self.look.observation.ticks;
        let rates = rates_of_sweeps(fabric, &self.before, &self.after).with_ticks(fabric, ticks);
        let since = rates_of_sweeps(fabric, &self.first, &self.after).with_min_hour();
        let seconds = self.after.began.saturating_sub(self.before.began).as_secs_f64();
        self.judge(&rates, &since, seconds)
    }

    /// Judges rates, and those since the baseline of errors, over an hour at least.
    pub fn judge(&self, rates: &Rates, since: &Rates, seconds: f64) -> WatchVerdict {
        let (look, fabric) = (&*self.look, self.look.fabric());
        let flows_before = self.flows_before();
        let watched = IntervalVerdict::after(&flows_before, look, rates, seconds, since, &self.thresholds);
        let mut levels = vec![UNKNOWN_LEVELS; fabric.ports().len()];
        for port in &rates.ports {
            levels[port.port.index()] = pack_levels(port, self.thresholds.congestion);
        }
        let levels: PortLevels = levels.into();
        let mut history = self.history.clone();
        history.push(self.at_ms, levels.clone());
        let mut ports = self.port_rows(rates, since, &history);
        self.place_verdicts(&watched, &mut ports);
        let mut verdicts: Vec<HotPort> =
            ports.iter().flatten().filter(|port| port.is_judged()).cloned().collect();
        sort_worst_first(&mut verdicts, &watched.verdict);
        let in_trouble = verdicts.iter().filter(|port| port.troubles().next().is_some()).count();
        let node_load = self.node_load(&ports);
        let links = self.link_rows(&ports);
        // Most ports have a cable; a list that grows while it is filled would end with room for twice as many.
        let mut cabled = Vec::with_capacity(ports.len());
        cabled.extend(ports.into_iter().flatten());
        let ports = Arc::new(Rowset::Hot(cabled));
        let above_before = self.above_before();
        let above = ThresholdState::after(fabric, &watched.verdict, &watched.troubles, &above_before);
        // The same sweeps that are judged again change nothing.
        let reported = self.earlier.as_ref().map(|earlier| earlier.above.clone()).unwrap_or_default();
        let changes = sweep_messages(look, &watched, [&reported, &above], &self.thresholds);
        WatchVerdict {
            sums: IntervalSums::new(fabric, rates, &self.pinned).with_counter_rates(
                fabric,
                rates,
                [&self.before, &self.after],
            ),
            backlogs: backlogs_of(look, &watched.verdict),
            watched,
            flows_before,
            ended: self.after.began,
            levels,
            node_load,
            verdicts: Arc::new(Rowset::Hot(verdicts)),
            in_trouble,
            ports: update_list(look, ports, &self.ports),
            links: update_list(look, Arc::new(links), &self.links.1),
            links_before: self.links.0.clone(),
            changes,
            above,
            above_before,
            at_ms: self.at_ms,
        }
    }

    /// What was above a threshold before these sweeps.
    fn above_before(&self) -> ThresholdState {
        match &self.earlier {
            Some(earlier) if earlier.ended == self.after.began => earlier.above_before.clone(),
            Some(earlier) => earlier.above.clone(),
            None => ThresholdState::default(),
        }
    }

    /// What is known of flows from the interval that ended with the first of these sweeps. The same sweeps may be
    /// judged again, when rows of links have changed.
    fn flows_before(&self) -> FlowHistory {
        if let Some(flows) = &self.flows {
            return flows.clone();
        }
        match &self.earlier {
            Some(earlier) if earlier.ended == self.before.began => earlier.watched.flows.clone(),
            Some(earlier) if earlier.ended == self.after.began => earlier.flows_before.clone(),
            _ => FlowHistory::default(),
        }
    }

    /// A row for each port id; `None` for ports without a cable.
    fn port_rows(&self, rates: &Rates, since: &Rates, history: &PortHistory) -> Vec<Option<HotPort>> {
        let all: u128 = rates.ports.iter().filter_map(|port| port.waited.lower_bound()).map(u128::from).sum();
        let row = |(id, port): (PortId, &fabdeck_fabric::Port)| {
            port.peer?;
            Some(port_row(id, rates.port(id), since.port(id), all, history))
        };
        self.look.fabric().ports().map(row).collect()
    }

    fn place_verdicts(&self, watched: &IntervalVerdict, ports: &mut [Option<HotPort>]) {
        let verdict = &watched.verdict;
        let limit = self.thresholds.congestion;
        let mut waits = |at: &CongestedPort, role: HotRole, adapter_role: Option<CongestedAdapter>| {
            if let Some(port) = &mut ports[at.port.index()] {
                port.role = Some(role);
                let found = port.findings_mut();
                (found.waits, found.limit, found.adapter_role) = (Some(*at), limit, adapter_role);
            }
        };
        for hot in &verdict.hot_spots {
            waits(&hot.at, HotRole::HotSpot, None);
        }
        let alone = verdict.hot_spots.is_empty();
        for held in &verdict.congested_adapters {
            waits(&held.at, HotRole::of_adapter(held, alone), Some(*held));
        }
        for way in &verdict.congested_ports {
            let narrow = || verdict.oversubscribed.iter().any(|leaf| leaf.at.port == way.port);
            let role = match verdict.is_stalled() {
                true => HotRole::Stalled,
                false if alone || narrow() => HotRole::TooNarrow,
                false => HotRole::OnPath,
            };
            waits(way, role, None);
        }
        self.place_troubles(ports, watched);
        for untold in &verdict.unknown_ports {
            let port = ports[untold.index()].as_mut();
            port.into_iter().for_each(|port| port.role = Some(HotRole::Untold));
        }
        for port in ports.iter_mut().flatten().filter(|port| !port.is_judged()) {
            let Some(found) = &port.findings else { continue };
            let errored = found.errored.map(|_| HotRole::Errored);
            port.role = found.flaps.map(|_| HotRole::Flaps).or(errored).or(port.role);
        }
    }

    /// The troubles of links at the ends that counted them.
    fn place_troubles(&self, ports: &mut [Option<HotPort>], watched: &IntervalVerdict) {
        for trouble in &watched.troubles {
            let judged = Some((trouble.why, self.thresholds.limit_for(trouble.why)));
            match trouble.why {
                LinkProblemKind::Errored { at, .. } => {
                    ports[at.index()].iter_mut().for_each(|port| port.findings_mut().errored = judged)
                }
                LinkProblemKind::Discards { at, .. } => ports[at.index()].iter_mut().for_each(|port| {
                    let found = port.findings_mut();
                    found.errored = found.errored.or(judged);
                }),
                LinkProblemKind::Flaps { at, .. } => {
                    ports[at.index()].iter_mut().for_each(|port| port.findings_mut().flaps = judged)
                }
                // A degraded link was so before the watch; the list of links shows it.
                LinkProblemKind::Degraded => {}
            }
            if let LinkProblemKind::Errored { at, .. }
            | LinkProblemKind::Discards { at, .. }
            | LinkProblemKind::Flaps { at, .. } = trouble.why
            {
                let seconds = watched.watched_seconds;
                ports[at.index()].iter_mut().for_each(|port| port.findings_mut().watched_seconds = seconds);
            }
        }
    }

    fn node_load(&self, ports: &[Option<HotPort>]) -> Vec<u8> {
        let fabric = self.look.fabric();
        let mut loads = vec![UNKNOWN_LEVEL; fabric.nodes().len()];
        for hot in ports.iter().flatten() {
            let Some(used) = hot.used else { continue };
            let level = used_level(f64::from(used) / 100.0);
            // The data that a port sends is what its peer receives.
            for port in std::iter::once(hot.port).chain(fabric.peer(hot.port)) {
                let load = &mut loads[fabric.port(port).node.index()];
                *load = if *load == UNKNOWN_LEVEL { level } else { level.max(*load) };
            }
        }
        loads
    }

    fn link_rows(&self, ports: &[Option<HotPort>]) -> Rowset {
        let Rowset::Links(cables) = &*self.links.0 else { return (*self.links.0).clone() };
        let fabric = self.look.fabric();
        let counted = errors_by_port(fabric, &self.after.samples);
        let with_load = |cable: &crate::catalogue::views::links::Cable| {
            let ends = fabric.link(cable.link);
            let [a, b] = [ends.a, ends.b].map(|port| ports[port.index()].as_ref());
            let most = |of: fn(&HotPort) -> Option<u16>| a.and_then(of).max(b.and_then(of));
            let errors = [a, b].map(|port| port.and_then(|port| port.errors_per_hour));
            let all = [ends.a, ends.b].map(|port| counted.get(&port).copied());
            crate::catalogue::views::links::Cable {
                errors: all.into_iter().flatten().reduce(u64::saturating_add).or(cable.errors),
                load: most(|port| port.used),
                errors_per_hour: errors.into_iter().flatten().reduce(u64::saturating_add),
                ..*cable
            }
        };
        Rowset::Links(cables.iter().map(with_load).collect())
    }
}

fn update_list(look: &Snapshot, rows: Arc<Rowset>, query: &Query) -> ListUpdate {
    let selection = query.select(&*rows.listing(look), Columns::Shown).ok();
    ListUpdate { rows, query: query.clone(), selection }
}

/// Sorts by role, then by waiting. Oversubscribed uplinks come before hosts: they wait ten times as long as any hot-spot, as in
/// the lines of the command `hotspots`.
fn sort_worst_first(ports: &mut [HotPort], verdict: &HotSpots) {
    let is_oversubscribed = |id| verdict.oversubscribed.iter().any(|leaf| leaf.at.port == id);
    ports.sort_by_cached_key(|port| {
        let rates = (Reverse(port.waiting), Reverse(port.errors_per_hour));
        (!is_oversubscribed(port.port), port.role, rates)
    });
}

/// The row of a port: its rates, and its errors since the baseline.
fn port_row(
    id: PortId,
    now: Option<&PortRates>,
    since: Option<&PortRates>,
    all_waiting: u128,
    history: &PortHistory,
) -> HotPort {
    let whole = |number: f64| number.round() as u64;
    let mbps = |bytes: f64| whole(bytes * 8.0 / 1e6);
    let percent = |part: f64| (part * 100.0).round().clamp(0.0, 999.0) as u16;
    let (mut waited_levels, mut used_levels): (Spark, Spark) =
        ([UNKNOWN_LEVEL; SPARK], [UNKNOWN_LEVEL; SPARK]);
    let levels: Vec<(u8, u8)> = history.port_levels(id, SPARK).collect();
    let blank = SPARK - levels.len();
    for (at, (waited, used)) in levels.into_iter().enumerate() {
        (waited_levels[blank + at], used_levels[blank + at]) = (waited, used);
    }
    let share = now.and_then(|rates| rates.waited.lower_bound()).filter(|_| all_waiting > 0);
    HotPort {
        port: id,
        role: None,
        findings: None,
        waiting: now.and_then(PortRates::congestion).map(whole),
        used: now.and_then(PortRates::utilisation).map(percent),
        time_waited: now.and_then(PortRates::wait_share),
        share_of_all: share.map(|ticks| percent(ticks as f64 / all_waiting as f64)),
        sent_mbps: now.and_then(PortRates::bandwidth).map(mbps),
        received_mbps: now.and_then(PortRates::receive_bandwidth).map(mbps),
        errors_per_hour: since.and_then(PortRates::errors_per_hour).map(whole),
        waited_levels,
        used_levels,
    }
}

impl WatchVerdict {
    /// Links with errors or link-downs above the threshold, in the order of links.
    pub fn errored_links(&self) -> Vec<LinkId> {
        let errored = self.watched.troubles.iter().filter(|trouble| trouble.why != LinkProblemKind::Degraded);
        let mut links: Vec<LinkId> = errored.map(|trouble| trouble.link).collect();
        links.dedup();
        links
    }

    /// The row of a port.
    pub fn port_row_of(&self, what: ElementId) -> Option<&HotPort> {
        let (Rowset::Hot(rows), ElementId::Port(id)) = (&*self.ports.rows, what) else { return None };
        let at = rows.binary_search_by_key(&id, |row| row.port).ok()?;
        rows.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::NodeId;
    use fabdeck_fabric::counters::OversubscribedUplink;

    #[test]
    fn an_oversubscribed_uplink_comes_before_hosts_and_other_uplinks_after_them() {
        let port = |id, role, waiting| HotPort {
            role: Some(role),
            waiting: Some(waiting),
            ..port_row(PortId(id), None, None, 0, &PortHistory::default())
        };
        let mut ports = [
            port(1, HotRole::Contributor, 300_000),
            port(2, HotRole::HotSpot, 200_000),
            port(3, HotRole::OnPath, 250_000),
            port(4, HotRole::TooNarrow, 20_000_000),
        ];
        let at = CongestedPort {
            port: PortId(4),
            congestion: 2e7,
            at_least: false,
            time_waited: None,
            utilisation: None,
        };
        let leaf = OversubscribedUplink { at, leaf: NodeId(0), hosts: 32, uplinks: 1, ratio: 32.0 };
        let order = |ports: &[HotPort]| ports.iter().map(|port| port.port.0).collect::<Vec<_>>();
        sort_worst_first(&mut ports, &HotSpots { oversubscribed: vec![leaf], ..HotSpots::default() });
        assert_eq!(order(&ports), [4, 2, 1, 3]);
        sort_worst_first(&mut ports, &HotSpots::default());
        assert_eq!(order(&ports), [2, 1, 3, 4]);
    }
}
