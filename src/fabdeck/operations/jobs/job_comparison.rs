//! Channel loads of jobs, under the tables in force and under proposed routes.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::operations::check::judgement::routes_of_tables;
use fabdeck_fabric::generate::{JobHistory, Workload};
use fabdeck_fabric::{Channel, Fabric, Faults, JobMap, NodeId, PortId, Routes};
use fabdeck_files::jobs::JobPlacement;
use fabdeck_routing::Problem;
use fabdeck_routing::analysis::{EffectiveIndex, FlowPaths, JobLoads, JobMetrics};

/// The loads of jobs under one set of routes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobsUnderRoutes {
    pub loads: JobLoads,
    pub metrics: JobMetrics,
}

impl JobsUnderRoutes {
    fn new(problem: &Problem<'_>, routes: &Routes, jobs: &JobMap) -> Self {
        let loads = JobLoads::new(&FlowPaths::new(problem, routes), jobs);
        Self { metrics: loads.metrics(), loads }
    }
}

/// The loads of jobs on a fabric without its marked elements.
#[derive(Clone, PartialEq, Debug)]
pub struct JobComparison {
    pub placed: JobPlacement,
    /// The jobs of the list; channel loads and job indexes refer to this map.
    pub jobs: Arc<JobMap>,
    /// The egress ports of the channels between switches.
    pub channels: Vec<PortId>,
    /// Loads under the tables in force; `None` without tables.
    pub in_force: Option<JobsUnderRoutes>,
    /// Loads under the proposed routes.
    pub proposed: Option<JobsUnderRoutes>,
    /// Maximum number of LIDs of a host port. Where there are several, each host sends to one of them.
    pub lids_per_port: u16,
}

impl JobComparison {
    pub fn new(look: &Snapshot, placed: JobPlacement, faults: &Faults, proposed: Option<&Routes>) -> Self {
        let fabric = look.fabric();
        let problem = Problem::new(fabric, faults);
        let tables = &look.observation.tables;
        let routes = tables.has_forwarding().then(|| routes_of_tables(look, tables));
        let over = |routes: &Routes| JobsUnderRoutes::new(&problem, routes, &placed.jobs);
        let leaves = |channel: &Channel| fabric.port_of(NodeId(channel.from), channel.from_port);
        Self {
            channels: problem.graph.channels().iter().filter_map(leaves).collect(),
            in_force: routes.as_ref().map(over),
            proposed: proposed.map(over),
            lids_per_port: max_lids(&problem),
            jobs: Arc::new(placed.jobs.clone()),
            placed,
        }
    }

    /// The name of a job, by its index in the map.
    pub fn name(&self, job: usize) -> Option<&String> {
        self.jobs.iter().nth(job).map(|(name, _)| name)
    }

    /// The figures of a job under the tables in force.
    pub fn effective_in_force(&self, job: usize) -> Option<&EffectiveIndex> {
        self.in_force.as_ref()?.loads.jobs.get(job)
    }

    /// The figures of a job under the proposed routes.
    pub fn effective_proposed(&self, job: usize) -> Option<&EffectiveIndex> {
        self.proposed.as_ref()?.loads.jobs.get(job)
    }
}

/// Maximum number of LIDs of a host port.
pub fn max_lids(problem: &Problem<'_>) -> u16 {
    let fabric = problem.fabric;
    FlowPaths::new(problem, &Routes::empty(fabric.switch_count(), fabric.top_lid())).max_lids()
}

/// Seed of the jobs for simulated fabrics.
pub const SIMULATED_JOBS_SEED: u64 = 1;

/// Random jobs for a simulated fabric, the same for each run.
pub fn simulated_jobs(fabric: &Fabric) -> JobPlacement {
    let hosts = fabric.count(fabdeck_fabric::NodeKind::ChannelAdapter);
    // On a small fabric, this limit leaves room for several jobs.
    let largest = (hosts / 4).clamp(2, Workload::TYPICAL.largest);
    let jobs = JobHistory::new(fabric, Workload { largest, ..Workload::TYPICAL }, SIMULATED_JOBS_SEED).next();
    let jobs = jobs.unwrap_or_default();
    let of = |port: &PortId| fabric.port(*port).node;
    let on: std::collections::BTreeSet<NodeId> = jobs.iter().flat_map(|(_, ports)| ports).map(of).collect();
    let (listed, hosts) = (jobs.iter().len(), on.len());
    JobPlacement { jobs, listed, hosts, on: hosts, ..JobPlacement::default() }
}
