//! The verdict on two sweeps, with rates and rows of lists. Background tasks compute it.

use std::cmp::Reverse;
use std::sync::Arc;

use super::changes::changes;
use super::history::{History, Levels, NOBODY, byte, used_level};
use crate::session::interactive::messages::Severity;
use crate::session::{
    Columns, HotPort, HotRole, Look, Query, Rowset, SPARK, Selection, Spark, UNTOLD, Watched, errors_by_port,
};
use fabdeck_fabric::counters::{HotSpots, PortRates, Rates, Role, Thresholds, Waiting, Why, rates_of_sweeps};
use fabdeck_fabric::observe::Sweep;
use fabdeck_fabric::{LinkId, PortId, Resolved};

/// The new rows of a list, and their selection.
#[derive(Clone, Debug)]
pub struct Listed {
    pub rows: Arc<Rowset>,
    pub query: Query,
    /// `None` where the query has an error.
    pub selection: Option<Selection>,
}

/// The input of a verdict.
#[derive(Clone, Debug)]
pub struct Judging {
    pub look: Arc<Look>,
    pub first: Arc<Sweep>,
    pub before: Arc<Sweep>,
    pub after: Arc<Sweep>,
    pub thresholds: Thresholds,
    pub history: History,
    pub earlier: Option<Arc<Reading>>,
    /// The rows of Links, and their query.
    pub links: (Arc<Rowset>, Query),
    /// The query for all ports.
    pub ports: Query,
    pub at_ms: u64,
}

/// A verdict with its rows and levels.
#[derive(Clone, Debug)]
pub struct Reading {
    pub watched: Watched,
    pub levels: Levels,
    /// Highest utilization of the links of each node, in eighths.
    pub node_load: Vec<u8>,
    /// The ports with a role, the worst first.
    pub verdicts: Arc<Rowset>,
    /// Number of these ports with link errors.
    pub in_trouble: usize,
    /// Every port with a cable, in the order of ports.
    pub ports: Listed,
    /// The links with their loads; they replace the rows of the next field.
    pub links: Listed,
    pub links_before: Arc<Rowset>,
    /// Differences from the sweep before, as messages.
    pub changes: Vec<(Severity, String)>,
    pub at_ms: u64,
}

impl Judging {
    pub fn run(&self) -> Reading {
        let (look, fabric) = (&*self.look, self.look.fabric());
        let ticks = &look.observation.ticks;
        let rates = rates_of_sweeps(fabric, &self.before, &self.after).with_ticks(fabric, ticks);
        let since = rates_of_sweeps(fabric, &self.first, &self.after);
        let seconds = self.after.began.saturating_sub(self.before.began).as_secs_f64();
        let watched = Watched::new(look, (&rates, seconds), since.clone(), &self.thresholds);
        let since = since.over_an_hour();
        let mut levels = vec![NOBODY; fabric.ports().len()];
        for port in &rates.ports {
            levels[port.port.index()] = byte(port, self.thresholds.congestion);
        }
        let levels: Levels = levels.into();
        let mut history = self.history.clone();
        history.push(self.at_ms, levels.clone());
        let mut ports = self.ports(&rates, &since, &history);
        self.place_verdicts(&watched, &mut ports);
        let mut verdicts: Vec<HotPort> =
            ports.iter().flatten().filter(|port| port.is_judged()).copied().collect();
        sort_worst_first(&mut verdicts, &watched.verdict);
        let in_trouble = verdicts.iter().filter(|port| port.troubles().next().is_some()).count();
        let node_load = self.node_load(&ports);
        let links = self.links(&ports);
        let ports = Arc::new(Rowset::Hot(ports.into_iter().flatten().collect()));
        let changes = changes(look, &watched, self.earlier.as_deref(), &self.thresholds);
        Reading {
            watched,
            levels,
            node_load,
            verdicts: Arc::new(Rowset::Hot(verdicts)),
            in_trouble,
            ports: listed(look, ports, &self.ports),
            links: listed(look, Arc::new(links), &self.links.1),
            links_before: self.links.0.clone(),
            changes,
            at_ms: self.at_ms,
        }
    }

    /// A row for each port id; `None` for ports without a cable.
    fn ports(&self, rates: &Rates, since: &Rates, history: &History) -> Vec<Option<HotPort>> {
        let all: u128 = rates.ports.iter().filter_map(|port| port.waited.known()).map(u128::from).sum();
        let row = |(id, port): (PortId, &fabdeck_fabric::Port)| {
            port.peer?;
            Some(row(id, (rates.of(id), since.of(id)), all, history))
        };
        self.look.fabric().ports().map(row).collect()
    }

    fn place_verdicts(&self, watched: &Watched, ports: &mut [Option<HotPort>]) {
        let verdict = &watched.verdict;
        let limit = self.thresholds.congestion;
        let mut waits = |at: &Waiting, role: HotRole, held: Option<Role>| {
            if let Some(port) = &mut ports[at.port.index()] {
                (port.role, port.waits, port.limit, port.held) = (Some(role), Some(*at), limit, held);
            }
        };
        for hot in &verdict.hot_spots {
            waits(&hot.at, HotRole::HotSpot, None);
        }
        let alone = verdict.hot_spots.is_empty();
        for held in &verdict.held_up {
            let role = match (held.role, alone) {
                (Role::Contributor(_), _) => HotRole::Contributor,
                (Role::Victim { .. }, _) => HotRole::Victim,
                (Role::ContributorOrVictim, false) => HotRole::ContributorOrVictim,
                (Role::ContributorOrVictim, true) => HotRole::Victim,
                (Role::FairShare, _) => HotRole::FairShare,
                (Role::Unknown, _) => HotRole::HeldUp,
            };
            waits(&held.at, role, Some(held.role));
        }
        for way in &verdict.on_the_way {
            let narrow = || verdict.oversubscribed.iter().any(|leaf| leaf.at.port == way.port);
            let role = match verdict.stands_still() {
                true => HotRole::StandsStill,
                false if alone || narrow() => HotRole::TooNarrow,
                false => HotRole::OnTheWay,
            };
            waits(way, role, None);
        }
        for trouble in &watched.troubles {
            let told = Some((trouble.why, self.thresholds.of(trouble.why)));
            match trouble.why {
                Why::Errored { at, .. } => ports[at.index()].iter_mut().for_each(|port| port.errored = told),
                Why::Flaps { at, .. } => ports[at.index()].iter_mut().for_each(|port| port.flaps = told),
                // A degraded link was so before the watch; the list of links shows it.
                Why::Degraded => {}
            }
        }
        for untold in &verdict.untold {
            let port = ports[untold.index()].as_mut();
            port.into_iter().for_each(|port| port.role = Some(HotRole::Untold));
        }
        for port in ports.iter_mut().flatten().filter(|port| !port.is_judged()) {
            let errored = port.errored.map(|_| HotRole::Errored);
            port.role = port.flaps.map(|_| HotRole::Flaps).or(errored).or(port.role);
        }
    }

    fn node_load(&self, ports: &[Option<HotPort>]) -> Vec<u8> {
        let fabric = self.look.fabric();
        let mut loads = vec![UNTOLD; fabric.nodes().len()];
        for hot in ports.iter().flatten() {
            let Some(used) = hot.used else { continue };
            let level = used_level(f64::from(used) / 100.0);
            // The data that a port sends is what its peer receives.
            for port in std::iter::once(hot.port).chain(fabric.peer(hot.port)) {
                let load = &mut loads[fabric.port(port).node.index()];
                *load = if *load == UNTOLD { level } else { level.max(*load) };
            }
        }
        loads
    }

    fn links(&self, ports: &[Option<HotPort>]) -> Rowset {
        let Rowset::Links(cables) = &*self.links.0 else { return (*self.links.0).clone() };
        let fabric = self.look.fabric();
        let counted = errors_by_port(fabric, &self.after.samples);
        let with_load = |cable: &crate::session::Cable| {
            let ends = fabric.link(cable.link);
            let [a, b] = [ends.a, ends.b].map(|port| ports[port.index()].as_ref());
            let most = |of: fn(&HotPort) -> Option<u16>| a.and_then(of).max(b.and_then(of));
            let errors = [a, b].map(|port| port.and_then(|port| port.errors_per_hour));
            let all = [ends.a, ends.b].map(|port| counted.get(&port).copied());
            crate::session::Cable {
                errors: all.into_iter().flatten().reduce(u64::saturating_add).or(cable.errors),
                load: most(|port| port.used),
                errors_per_hour: errors.into_iter().flatten().reduce(u64::saturating_add),
                ..*cable
            }
        };
        Rowset::Links(cables.iter().map(with_load).collect())
    }
}

fn listed(look: &Look, rows: Arc<Rowset>, query: &Query) -> Listed {
    let selection = query.select(&*rows.listing(look), Columns::Shown).ok();
    Listed { rows, query: query.clone(), selection }
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
fn row(
    id: PortId,
    (now, since): (Option<&PortRates>, Option<&PortRates>),
    all_waiting: u128,
    history: &History,
) -> HotPort {
    let whole = |number: f64| number.round() as u64;
    let mbps = |bytes: f64| whole(bytes * 8.0 / 1e6);
    let percent = |part: f64| (part * 100.0).round().clamp(0.0, 999.0) as u16;
    let (mut waited_levels, mut used_levels): (Spark, Spark) = ([UNTOLD; SPARK], [UNTOLD; SPARK]);
    let levels: Vec<(u8, u8)> = history.of(id, SPARK).collect();
    let blank = SPARK - levels.len();
    for (at, (waited, used)) in levels.into_iter().enumerate() {
        (waited_levels[blank + at], used_levels[blank + at]) = (waited, used);
    }
    let share = now.and_then(|rates| rates.waited.known()).filter(|_| all_waiting > 0);
    HotPort {
        port: id,
        role: None,
        waits: None,
        held: None,
        flaps: None,
        errored: None,
        limit: 0.0,
        waiting: now.and_then(PortRates::congestion).map(whole),
        used: now.and_then(PortRates::utilisation).map(percent),
        time_waited: now.and_then(PortRates::time_waited),
        share_of_all: share.map(|ticks| percent(ticks as f64 / all_waiting as f64)),
        sent_mbps: now.and_then(PortRates::bandwidth).map(mbps),
        received_mbps: now.and_then(PortRates::intake).map(mbps),
        errors_per_hour: since.and_then(PortRates::errors_per_hour).map(whole),
        waited_levels,
        used_levels,
    }
}

impl Reading {
    /// Links with errors or link-downs above the threshold, in the order of links.
    pub fn errored_links(&self) -> Vec<LinkId> {
        let errored = self.watched.troubles.iter().filter(|trouble| trouble.why != Why::Degraded);
        let mut links: Vec<LinkId> = errored.map(|trouble| trouble.link).collect();
        links.dedup();
        links
    }

    /// The row of a port.
    pub fn port(&self, what: Resolved) -> Option<&HotPort> {
        let (Rowset::Hot(rows), Resolved::Port(id)) = (&*self.ports.rows, what) else { return None };
        let at = rows.binary_search_by_key(&id, |row| row.port).ok()?;
        rows.get(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::NodeId;
    use fabdeck_fabric::counters::Oversubscribed;

    #[test]
    fn an_oversubscribed_uplink_comes_before_hosts_and_other_uplinks_after_them() {
        let port = |id, role, waiting| HotPort {
            role: Some(role),
            waiting: Some(waiting),
            ..row(PortId(id), (None, None), 0, &History::default())
        };
        let mut ports = [
            port(1, HotRole::Contributor, 300_000),
            port(2, HotRole::HotSpot, 200_000),
            port(3, HotRole::OnTheWay, 250_000),
            port(4, HotRole::TooNarrow, 20_000_000),
        ];
        let at = Waiting {
            port: PortId(4),
            congestion: 2e7,
            at_least: false,
            time_waited: None,
            utilisation: None,
        };
        let leaf = Oversubscribed { at, leaf: NodeId(0), hosts: 32, uplinks: 1, ratio: 32.0 };
        let order = |ports: &[HotPort]| ports.iter().map(|port| port.port.0).collect::<Vec<_>>();
        sort_worst_first(&mut ports, &HotSpots { oversubscribed: vec![leaf], ..HotSpots::default() });
        assert_eq!(order(&ports), [4, 2, 1, 3]);
        sort_worst_first(&mut ports, &HotSpots::default());
        assert_eq!(order(&ports), [2, 1, 3, 4]);
    }
}
