//! Hot-spots with those that wait for them, and ports that wait without any hot-spot.

use super::problem::{
    FabricProblem, HitHost, HitRole, NextStep, ProblemCause, ProblemHits, ProblemKind, ProblemSeverity,
};
use super::problem_list::HealthFacts;
use super::short_port_name::short_port_name;
use crate::catalogue::summary::count_words;
use crate::operations::watch::backlog::{BacklogRole, role_at};
use crate::operations::watch::interval_verdict::{IntervalVerdict, per_cent};
use fabdeck_fabric::counters::{CongestedAdapter, HotSpot, HotSpots};
use fabdeck_fabric::{ElementId, NodeId, PortId};

/// From this share of its link on, an adapter accepts about as much as its link carries.
const FULL_LINK: f64 = 0.9;

impl HealthFacts<'_> {
    pub(super) fn congestion_problems(&self) -> Vec<FabricProblem> {
        let Some(IntervalVerdict { verdict, brief_wait, .. }) = self.interval else { return Vec::new() };
        let hot_spots = verdict.hot_spots.iter().map(|hot| self.hot_spot(hot, verdict, *brief_wait));
        hot_spots.chain(self.narrow_links(verdict)).collect()
    }

    fn hot_spot(&self, hot: &HotSpot, verdict: &HotSpots, brief_wait: f64) -> FabricProblem {
        let waiting: Vec<(&CongestedAdapter, HitRole)> = verdict
            .congested_adapters
            .iter()
            .filter_map(|held| Some((held, role_at(hot.adapter, held, verdict.hot_spots.len())?.into())))
            .collect();
        let mut hosts = self.waiting_hosts(&waiting);
        let name = short_port_name(self.look, hot.adapter);
        let mut wait = count_words(hosts.len(), "host waits", "hosts wait");
        // Of several hot-spots, hosts may wait for another one.
        let own =
            if verdict.hot_spots.len() > 1 && hot.at.time_waited.is_some() { &[] } else { hosts.as_slice() };
        let is_brief = longest_wait(hot, own).is_some_and(|wait| wait < brief_wait);
        if is_brief {
            wait.push_str(" briefly");
            // A host that waits long does so for another hot-spot.
            for host in &mut hosts {
                host.time_waited = host.time_waited.filter(|waited| *waited < brief_wait);
            }
        }
        let accepts = match hot.at.utilisation {
            Some(used) => format!("{name} accepts {} of its link", per_cent(used)),
            None => format!("{name} accepts less than is sent to it"),
        };
        let cause = hot_spot_cause(hot.at.utilisation);
        let nodes = self.nodes_of(&waiting);
        FabricProblem {
            id: format!("{}:{}", ProblemKind::HotSpot.word(), self.port_key(hot.adapter)),
            kind: ProblemKind::HotSpot,
            severity: match hosts.is_empty() || is_brief {
                true => ProblemSeverity::Warning,
                false => ProblemSeverity::Critical,
            },
            elements: vec![ElementId::Port(hot.adapter), ElementId::Port(hot.at.port)],
            title: format!("{accepts}, and {wait}"),
            cause,
            hits: ProblemHits { jobs: self.jobs_of_hosts(&nodes), hosts, paths: None },
            next: self.step("see which flows would move to the slow lane", "lanes propose"),
            acknowledged: None,
            worse_since: None,
            history: None,
            sign: None,
        }
    }

    /// The waiting between switches without any hot-spot.
    fn narrow_links(&self, verdict: &HotSpots) -> Option<FabricProblem> {
        if !verdict.hot_spots.is_empty() || verdict.is_quiet() {
            return None;
        }
        let waiting: Vec<_> = verdict.congested_adapters.iter().map(|held| (held, HitRole::Victim)).collect();
        let (hosts, nodes) = (self.waiting_hosts(&waiting), self.nodes_of(&waiting));
        let ports: Vec<PortId> = verdict.congested_ports.iter().map(|at| at.port).collect();
        let first = *ports.first().or(verdict.congested_adapters.first().map(|held| &held.at.port))?;
        let wait = count_words(hosts.len(), "host waits", "hosts wait");
        let (kind, cause, next) = self.cause_of_narrowness(verdict);
        let title = match (kind, ports.len()) {
            (ProblemKind::Stalled, count) => {
                format!(
                    "{} between switches wait and send next to nothing",
                    count_words(count, "port", "ports")
                )
            }
            (_, 0) => format!("{wait}, and no port between switches does"),
            (_, count) => {
                format!(
                    "{} between switches carry less than is sent, and {wait}",
                    count_words(count, "port", "ports")
                )
            }
        };
        Some(FabricProblem {
            id: format!("{}:{}", kind.word(), self.port_key(first)),
            kind,
            severity: ProblemSeverity::Critical,
            elements: ports.into_iter().map(ElementId::Port).collect(),
            title,
            cause,
            hits: ProblemHits { jobs: self.jobs_of_hosts(&nodes), hosts, paths: None },
            next,
            acknowledged: None,
            worse_since: None,
            history: None,
            sign: None,
        })
    }

    fn cause_of_narrowness(&self, verdict: &HotSpots) -> (ProblemKind, ProblemCause, NextStep) {
        if verdict.is_stalled() {
            let next = self.step("search for a credit loop", "check --switches --lanes one");
            let cause = ProblemCause::likely("a credit loop: no port waits for a host, and nothing moves");
            return (ProblemKind::Stalled, cause, next);
        }
        let next = self.step("compare routes that spread the paths better", "whatif");
        let cause = match verdict.oversubscribed.first() {
            Some(leaf) => ProblemCause::sure(format!(
                "{} on {} share {} to other switches, {:.1} to 1",
                count_words(leaf.hosts, "host", "hosts"),
                self.look.unique_name(leaf.leaf),
                count_words(leaf.uplinks, "link", "links"),
                leaf.ratio
            )),
            None => ProblemCause::likely("paths of many hosts share these links: no adapter is a hot-spot"),
        };
        (ProblemKind::NarrowLinks, cause, next)
    }

    /// Those that wait, victims first, and of one role those that wait longest.
    fn waiting_hosts(&self, waiting: &[(&CongestedAdapter, HitRole)]) -> Vec<HitHost> {
        let mut hosts: Vec<HitHost> = waiting
            .iter()
            .map(|(held, role)| HitHost {
                host: self.look.unique_name(self.look.fabric().port(held.at.port).node).into_owned(),
                role: *role,
                time_waited: held.at.time_waited,
            })
            .collect();
        hosts.sort_by(|a, b| {
            let waited = |host: &HitHost| host.time_waited.unwrap_or(0.0);
            a.role.cmp(&b.role).then(waited(b).total_cmp(&waited(a))).then_with(|| a.host.cmp(&b.host))
        });
        hosts
    }

    fn nodes_of(&self, waiting: &[(&CongestedAdapter, HitRole)]) -> Vec<NodeId> {
        waiting.iter().map(|(held, _)| self.look.fabric().port(held.at.port).node).collect()
    }
}

/// The longest wait for a hot-spot, as a share of the time: of the port that leads to it, or of a host; `None` where no
/// length of a tick is known.
fn longest_wait(hot: &HotSpot, hosts: &[HitHost]) -> Option<f64> {
    let waits = hosts.iter().map(|host| host.time_waited).chain([hot.at.time_waited]);
    waits.flatten().reduce(f64::max)
}

/// The cause of a hot-spot, by the share of its link that it accepts. Every screen takes it from here.
pub fn hot_spot_cause(accepted: Option<f64>) -> ProblemCause {
    match accepted {
        Some(used) if used >= FULL_LINK => {
            ProblemCause::sure("its link is full: more is sent to it than it carries")
        }
        Some(used) => {
            ProblemCause::likely(format!("a slow host: load only {} while packets wait", per_cent(used)))
        }
        None => ProblemCause::unknown("the load of its link is not known"),
    }
}

impl From<BacklogRole> for HitRole {
    fn from(role: BacklogRole) -> Self {
        match role {
            BacklogRole::Victim => Self::Victim,
            BacklogRole::LikelyVictim => Self::LikelyVictim,
            BacklogRole::Undecided => Self::Undecided,
            BacklogRole::LikelyContributor => Self::LikelyContributor,
            BacklogRole::Contributor => Self::Contributor,
        }
    }
}
