//! What jobs make of every channel: under the tables in force, and under routes that are proposed.

use std::sync::Arc;

use super::Look;
use super::check::held;
use fabdeck_fabric::generate::{History, Workload};
use fabdeck_fabric::{Channel, Fabric, Faults, JobMap, NodeId, PortId, Routes};
use fabdeck_files::jobs::Placed;
use fabdeck_routing::Problem;
use fabdeck_routing::analysis::{Effective, Flows, JobLoads, JobMetrics};

/// Jobs over one set of routes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobsOver {
    pub loads: JobLoads,
    pub metrics: JobMetrics,
}

impl JobsOver {
    fn new(problem: &Problem<'_>, routes: &Routes, jobs: &JobMap) -> Self {
        let loads = JobLoads::of(&Flows::new(problem, routes), jobs);
        Self { metrics: loads.metrics(), loads }
    }
}

/// Jobs on what marks leave of a fabric.
#[derive(Clone, PartialEq, Debug)]
pub struct WeighedJobs {
    pub placed: Placed,
    /// Those of the list; channels and jobs below go by them.
    pub jobs: Arc<JobMap>,
    /// The ports that channels between switches leave from.
    pub channels: Vec<PortId>,
    /// Under the tables in force; `None` without any.
    pub in_force: Option<JobsOver>,
    /// Under the routes that are proposed.
    pub proposed: Option<JobsOver>,
    /// The most LIDs that a port of a host has. Of several, each host sends to one.
    pub lids_per_port: u16,
}

impl WeighedJobs {
    pub fn new(look: &Look, placed: Placed, faults: &Faults, proposed: Option<&Routes>) -> Self {
        let fabric = look.fabric();
        let problem = Problem::new(fabric, faults);
        let tables = &look.observation.tables;
        let routes = tables.has_forwarding().then(|| held(look, tables));
        let over = |routes: &Routes| JobsOver::new(&problem, routes, &placed.jobs);
        let leaves = |channel: &Channel| fabric.port_of(NodeId(channel.from), channel.from_port);
        Self {
            channels: problem.graph.channels().iter().filter_map(leaves).collect(),
            in_force: routes.as_ref().map(over),
            proposed: proposed.map(over),
            lids_per_port: most_lids(&problem),
            jobs: Arc::new(placed.jobs.clone()),
            placed,
        }
    }

    /// A job by its place in the map.
    pub fn name(&self, job: usize) -> Option<&String> {
        self.jobs.iter().nth(job).map(|(name, _)| name)
    }

    /// Under the tables in force.
    pub fn now(&self, job: usize) -> Option<&Effective> {
        self.in_force.as_ref()?.loads.jobs.get(job)
    }

    /// Under what is proposed.
    pub fn then(&self, job: usize) -> Option<&Effective> {
        self.proposed.as_ref()?.loads.jobs.get(job)
    }
}

/// The most LIDs that a port of a host has.
pub fn most_lids(problem: &Problem<'_>) -> u16 {
    let fabric = problem.fabric;
    Flows::new(problem, &Routes::empty(fabric.switch_count(), fabric.top_lid())).most_lids()
}

/// Of what is made up for simulated fabrics.
pub const MADE_SEED: u64 = 1;

/// Jobs for a fabric that nobody computes on, the same each time.
pub fn made_jobs(fabric: &Fabric) -> Placed {
    let hosts = fabric.count(fabdeck_fabric::NodeKind::ChannelAdapter);
    // Of a small fabric no job takes so much that no other has a place.
    let largest = (hosts / 4).clamp(2, Workload::USUAL.largest);
    let jobs = History::new(fabric, Workload { largest, ..Workload::USUAL }, MADE_SEED).next();
    let jobs = jobs.unwrap_or_default();
    let of = |port: &PortId| fabric.port(*port).node;
    let on: std::collections::BTreeSet<NodeId> = jobs.iter().flat_map(|(_, ports)| ports).map(of).collect();
    let (listed, hosts) = (jobs.iter().len(), on.len());
    Placed { jobs, listed, hosts, on: hosts, ..Placed::default() }
}
