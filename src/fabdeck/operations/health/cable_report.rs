//! What one cable is: what lies behind its ends, who uses it, and what its failure costs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::problem::HitJob;
use super::problem_list::HealthFacts;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::preview::mark_loss::count_mark_loss;
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::victims::{HitHosts, HostNames, Victims};
use crate::operations::preview::whatif::MarkLoss;
use fabdeck_fabric::{ElementId, Faults, LinkId, NodeId, PortId};
use fabdeck_routing::analysis::PathIndex;

/// What is asked about a cable, and what the answer rests on.
#[derive(Clone, Debug)]
pub struct CableReportRequest {
    pub link: LinkId,
    pub look: Arc<Snapshot>,
    /// The paths of the tables in force; `None` without tables.
    pub paths: Option<Arc<PathIndex>>,
    /// The same paths with marks, on which the failure is tried.
    pub preview: Option<Arc<Mutex<Preview>>>,
    pub jobs: Option<Arc<JobComparison>>,
}

/// The answer.
#[derive(Debug)]
pub struct CableReport {
    /// What lies behind each end, in words.
    pub behind: [String; 2],
    /// Paths from each end; `None` where tables are not known, or an end is a host.
    pub paths: Option<[u64; 2]>,
    /// Its number among the cables between the same two nodes, from 1, and how many there are.
    pub parallel: (usize, usize),
    /// The jobs that use it, those with the most paths first; `None` where no job is known.
    pub jobs: Option<Vec<JobOverCable>>,
    pub loss: MarkLoss,
    pub victims: Victims,
}

/// A job that uses the cable, and how many paths there are between its hosts.
#[derive(Debug)]
pub struct JobOverCable {
    pub hit: HitJob,
    pub all_paths: u64,
}

impl CableReportRequest {
    pub fn run(&self) -> CableReport {
        let (look, fabric) = (&*self.look, self.look.fabric());
        let ends = [fabric.link(self.link).a, fabric.link(self.link).b];
        let facts = HealthFacts {
            look,
            at: None,
            interval: None,
            news: &[],
            certificate: None,
            paths: self.paths.as_deref(),
            jobs: self.jobs.as_deref(),
        };
        let [a, b] = ends.map(|port| fabric.port(port).node);
        let mut parallel = fabric
            .ports_of(a)
            .filter_map(|(_, port)| {
                let link = port.link.filter(|_| port.peer.is_some_and(|peer| fabric.port(peer).node == b))?;
                Some(link)
            })
            .collect::<Vec<LinkId>>();
        parallel.sort_unstable();
        parallel.dedup();
        let place = parallel.iter().position(|link| *link == self.link).map_or(1, |at| at + 1);
        let (loss, hit) = self.try_failure();
        CableReport {
            behind: ends.map(|port| behind_words(look, &facts, port)),
            paths: self.paths.as_ref().and_then(|paths| paths.load_of(self.link)),
            parallel: (place, parallel.len()),
            jobs: facts
                .jobs_over(self.link)
                .map(|hit| hit.into_iter().map(|hit| self.job_over(hit)).collect()),
            victims: hit.victims(look, self.jobs.as_ref().map(|jobs| &*jobs.jobs), HostNames::Short),
            loss,
        }
    }

    fn job_over(&self, hit: HitJob) -> JobOverCable {
        let mut ports_of: BTreeMap<NodeId, u64> = BTreeMap::new();
        for jobs in self.jobs.iter().map(|compared| &compared.jobs) {
            let own = jobs.iter().filter(|(name, _)| **name == hit.job).flat_map(|(_, ports)| ports);
            own.for_each(|port| *ports_of.entry(jobs.host(self.look.fabric(), *port)).or_default() += 1);
        }
        // A host sends to itself over no cable.
        let ports: u64 = ports_of.values().sum();
        let all_paths = ports_of.values().map(|own| own * (ports - own)).sum();
        JobOverCable { hit, all_paths }
    }

    /// The pairs and hosts that lose their paths if the cable fails.
    fn try_failure(&self) -> (MarkLoss, HitHosts) {
        let mut faults = Faults::new();
        faults.mark(ElementId::Link(self.link));
        let Some(preview) = &self.preview else { return count_mark_loss(&self.look, None, &faults) };
        let mut preview = preview.lock().unwrap_or_else(PoisonError::into_inner);
        // The marks of the session come back, although each task that counts sets its own.
        let before = preview.faults().clone();
        let found = count_mark_loss(&self.look, Some(&mut *preview), &faults);
        preview.set_marks(&self.look, &before);
        found
    }
}

/// What lies behind an end: a host is there itself, a leaf has hosts, another switch has switches.
fn behind_words(look: &Snapshot, facts: &HealthFacts<'_>, port: PortId) -> String {
    let fabric = look.fabric();
    let node = fabric.port(port).node;
    if !fabric.node(node).is_switch() {
        return "the host itself".to_owned();
    }
    let hosts = facts.hosts_at(node);
    let name = |id: &NodeId| look.host_name(*id).into_owned();
    match hosts.as_slice() {
        [] => {
            let far = fabric.peer(port).map(|peer| fabric.port(peer).node);
            let mut switches: Vec<NodeId> = fabric
                .ports_of(node)
                .filter_map(|(_, port)| Some(fabric.port(port.peer?).node))
                .filter(|peer| fabric.node(*peer).is_switch() && Some(*peer) != far)
                .collect();
            switches.sort_unstable();
            switches.dedup();
            count_words(switches.len(), "other switch", "other switches")
        }
        [one] => format!("1 host, {}", name(one)),
        [first, .., last] => format!("{} hosts, {} to {}", hosts.len(), name(first), name(last)),
    }
}
