//! Loads of forwarding tables under flow patterns and running jobs.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::judgement::routes_of_tables;
use crate::catalogue::json_type::json_type;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Faults, JobMap, Routes, Tables};
use fabdeck_routing::analysis::{
    AverageBandwidth, EffectiveIndex, FlowPaths, JobLoads, JobMetrics, PermutationLoads, ShiftLoad,
    WorstPermutation,
};
use fabdeck_routing::{EngineRefusal, Problem, RouteProgress};

/// Maximum number of jobs that are listed.
const MAX_LISTED_JOBS: usize = 20;

json_type! {
    /// The mean over patterns of 1 divided by the largest number of flows on a channel.
    #[derive(Clone, PartialEq, Debug)]
    pub struct Bandwidth {
        pub mean: f64,
        pub patterns: u64,
        /// Whether the 99 % confidence interval is no wider than 1 % of the mean.
        pub settled: bool,
    }

    /// Permutation loads between hosts.
    #[derive(Clone, PartialEq, Debug)]
    pub struct LoadReport {
        pub hosts: usize,
        /// Maximum number of LIDs of a host port. Where there are several, each host sends to one, by its
        /// position among the hosts.
        pub lids_per_port: u16,
        /// Upper bound of the flows that a permutation puts on a channel; with `worst_exact`, some permutation
        /// reaches it.
        pub worst_permutation: u64,
        pub worst_exact: bool,
        pub average_bisect: Bandwidth,
        pub average_permutation: Bandwidth,
        pub average_dissemination: Bandwidth,
        /// Largest number of flows on one channel in one step of a shift.
        pub shift_degree: u32,
        /// Number of steps that were evaluated; the next field is the number of all steps.
        pub shift_steps: usize,
        pub shift_steps_of: usize,
    }

    /// Paths between hosts of one job.
    #[derive(Clone, PartialEq, Debug)]
    pub struct JobLoadRow {
        pub job: String,
        pub hosts: usize,
        /// Number of ports of these hosts to which paths lead.
        pub ports: usize,
        pub switches: usize,
        /// Number of channels that carry these paths.
        pub links: usize,
        /// The effective edge forwarding index.
        pub max: u64,
        pub mean: f64,
        /// Percentage of channels without such a path.
        pub dark_fiber: f64,
        /// Number of ordered pairs without a path; they load no channel.
        pub lost: u64,
    }

    /// The figures by which routings are compared for jobs (dissertation, tables 5.1 and 5.2).
    #[derive(Clone, PartialEq, Debug, Deserialize)]
    pub struct JobFigures {
        /// Number of jobs on several switches, over which the means are taken.
        pub multi_switch: usize,
        /// Number of paths of all jobs over the busiest channel. The next field is the mean over jobs of a job's
        /// own maximum.
        pub max: u64,
        pub mean_max: f64,
        /// Percentage of channels between switches that no path of a job crosses.
        pub dark_fiber: f64,
        /// Mean over jobs of the number of channels that a job uses.
        pub mean_links: f64,
        /// Number of ordered pairs within jobs that have no path. The other figures leave them out, so tables
        /// with more of them look better.
        pub lost: u64,
    }
}

impl JobFigures {
    /// Whether the proposed routes gain enough: `gain` and the required `least` are percentages. Lost pairs
    /// decide first: routes with fewer are always worth it, routes with more never.
    pub fn is_worth(&self, proposed: &Self, gain: f64, least: f64) -> bool {
        match proposed.lost.cmp(&self.lost) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => gain >= least,
        }
    }

    /// Text for lost pairs, `pairs without a path 24 to 0`; `None` where every pair has a path.
    pub fn lost_words(&self, proposed: &Self) -> Option<String> {
        let some = self.lost + proposed.lost > 0;
        let [now, then] = [self.lost, proposed.lost].map(digits_in_groups);
        some.then(|| format!("pairs without a path {now} to {then}"))
    }

    /// Percentage by which the mean maximum of jobs falls under the proposal. Where the maximum of all jobs
    /// together rises, that rise counts instead: a gain for single jobs must not harm all.
    pub fn gain(&self, proposed: &Self) -> f64 {
        let fall = |now: f64, proposed: f64| if now > 0.0 { 100.0 * (now - proposed) / now } else { 0.0 };
        match proposed.max > self.max {
            true => fall(self.max as f64, proposed.max as f64),
            false => fall(self.mean_max, proposed.mean_max),
        }
    }
}

impl From<JobMetrics> for JobFigures {
    fn from(JobMetrics { jobs, lost, max, mean_max, dark_fiber, mean_links }: JobMetrics) -> Self {
        Self { multi_switch: jobs, max, mean_max, dark_fiber, mean_links, lost }
    }
}

json_type! {
    /// Channel loads of jobs.
    #[derive(Clone, PartialEq, Debug)]
    pub struct JobReport {
        pub count: usize,
        /// Maximum number of LIDs of a host port, as for permutation loads.
        pub lids_per_port: u16,
        /// Number of hosts of all jobs together; only pairs within a job count as paths.
        pub hosts: usize,
        /// Number of channels that carry paths of some job.
        pub links: usize,
        pub mean: f64,
        #[serde(flatten)]
        pub figures: JobFigures,
        /// Numbers of paths with the number of channels that carry as many; channels without a path are left out.
        pub histogram: Vec<(u64, usize)>,
        /// The jobs with the most paths over one channel.
        pub first: Vec<JobLoadRow>,
    }
}

/// The loads to compute.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions<'a> {
    pub patterns: bool,
    pub jobs: Option<&'a JobMap>,
}

/// Computes the loads of tables.
pub fn compute_loads(
    look: &Snapshot,
    tables: &Tables,
    wanted: LoadOptions<'_>,
    pulse: &dyn RouteProgress,
) -> Result<(Option<LoadReport>, Option<JobReport>), EngineRefusal> {
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    let routes = routes_of_tables(look, tables);
    let flows = FlowPaths::new(&problem, &routes);
    let measured = wanted.patterns.then(|| PermutationLoads::measure(&flows, pulse)).transpose()?;
    let patterns = measured.map(|loads| pattern_loads(&loads, flows.max_lids()));
    Ok((patterns, wanted.jobs.map(|jobs| job_report(&flows, jobs))))
}

fn pattern_loads(loads: &PermutationLoads, lids_per_port: u16) -> LoadReport {
    let PermutationLoads {
        hosts,
        worst: WorstPermutation { flows, exact },
        shift: ShiftLoad { degree, steps, of },
        ..
    } = *loads;
    let bandwidth = |average: AverageBandwidth| Bandwidth {
        mean: average.bandwidth,
        patterns: average.patterns,
        settled: average.settled,
    };
    LoadReport {
        hosts,
        lids_per_port,
        worst_permutation: flows,
        worst_exact: exact,
        average_bisect: bandwidth(loads.bisect),
        average_permutation: bandwidth(loads.permutation),
        average_dissemination: bandwidth(loads.dissemination),
        shift_degree: degree,
        shift_steps: steps,
        shift_steps_of: of,
    }
}

/// The figures of jobs under tables, and a row for each job.
pub(crate) fn job_rows(look: &Snapshot, tables: &Tables, jobs: &JobMap) -> (JobReport, Vec<JobLoadRow>) {
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    let routes = routes_of_tables(look, tables);
    rank_jobs(&FlowPaths::new(&problem, &routes), jobs)
}

/// The figures of jobs under proposed routes.
pub fn job_figures(look: &Snapshot, routes: &Routes, jobs: &JobMap) -> JobFigures {
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    JobLoads::new(&FlowPaths::new(&problem, routes), jobs).metrics().into()
}

/// Running jobs with their figures under some routes.
#[derive(Clone, PartialEq, Debug)]
pub struct RunningJobs {
    jobs: Arc<JobMap>,
    pub figures: JobFigures,
}

impl RunningJobs {
    /// Computes the figures; `None` where there are no jobs.
    pub(crate) fn new(problem: &Problem<'_>, routes: &Routes, jobs: &Arc<JobMap>) -> Option<Self> {
        let metrics = || JobLoads::new(&FlowPaths::new(problem, routes), jobs).metrics();
        (!jobs.is_empty()).then(|| Self { jobs: Arc::clone(jobs), figures: metrics().into() })
    }

    /// The figures under the tables in force and under these routes, in the form that a plan stores.
    pub(crate) fn gain(&self, look: &Snapshot, faults: &Faults) -> JobGain {
        let tables = &look.observation.tables;
        let now = || job_figures_in_force(look, tables, faults, &self.jobs);
        let now = tables.has_forwarding().then(now).flatten();
        JobGain { count: self.jobs.iter().len(), now, then: self.figures.clone() }
    }

    /// Computes the figures of the same jobs under other routes.
    pub(crate) fn with_routes(&self, problem: &Problem<'_>, routes: &Routes) -> Option<Self> {
        Self::new(problem, routes, &self.jobs)
    }
}

/// The gain of running jobs by a plan, as computed when the plan was made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobGain {
    pub count: usize,
    /// Figures under the tables in force when the plan was made, where there were any.
    pub now: Option<JobFigures>,
    /// Figures under the tables of the plan.
    pub then: JobFigures,
}

/// The figures of jobs under the tables in force, on the fabric without the failed elements.
pub fn job_figures_in_force(
    look: &Snapshot,
    tables: &Tables,
    faults: &Faults,
    jobs: &Arc<JobMap>,
) -> Option<JobFigures> {
    let running =
        RunningJobs::new(&Problem::new(look.fabric(), faults), &routes_of_tables(look, tables), jobs);
    running.map(|running| running.figures)
}

fn job_report(flows: &FlowPaths<'_>, jobs: &JobMap) -> JobReport {
    let (mut report, mut rows) = rank_jobs(flows, jobs);
    rows.truncate(MAX_LISTED_JOBS);
    report.first = rows;
    report
}

fn rank_jobs(flows: &FlowPaths<'_>, jobs: &JobMap) -> (JobReport, Vec<JobLoadRow>) {
    let loads = JobLoads::new(flows, jobs);
    let row = |((job, _), index): ((&String, _), &EffectiveIndex)| JobLoadRow {
        job: job.clone(),
        hosts: index.hosts,
        ports: index.ports,
        switches: index.switches,
        links: index.used_channels(),
        max: index.max,
        mean: index.mean,
        dark_fiber: index.dark_fiber,
        lost: index.lost,
    };
    let mut rows: Vec<JobLoadRow> = jobs.iter().zip(&loads.jobs).map(row).collect();
    // The sort is stable, so equal jobs stay ordered by name.
    rows.sort_by_key(|row| std::cmp::Reverse(row.max));
    let report = JobReport {
        lids_per_port: flows.max_lids(),
        count: loads.jobs.len(),
        hosts: loads.all.hosts,
        links: loads.all.used_channels(),
        mean: loads.all.mean,
        figures: loads.metrics().into(),
        histogram: loads.all.histogram().into_iter().collect(),
        first: Vec::new(),
    };
    (report, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: JobFigures =
        JobFigures { multi_switch: 2, max: 9, mean_max: 8.0, dark_fiber: 0.0, mean_links: 4.0, lost: 0 };

    #[test]
    fn a_smaller_mean_with_a_larger_total_maximum_is_no_gain() {
        let figures = |max, mean_max| JobFigures { max, mean_max, ..NONE };
        assert_eq!(figures(10, 8.0).gain(&figures(10, 6.0)), 25.0);
        assert_eq!(figures(10, 8.0).gain(&figures(12, 4.0)), -20.0);
        assert_eq!(figures(0, 0.0).gain(&figures(0, 0.0)), 0.0);
    }

    #[test]
    fn lost_paths_come_before_every_gain() {
        let of = |lost| JobFigures { lost, ..NONE };
        assert!(of(3).is_worth(&of(2), -50.0, 10.0) && !of(2).is_worth(&of(3), 50.0, 10.0));
        assert!(of(2).is_worth(&of(2), 10.0, 10.0) && !of(2).is_worth(&of(2), 9.9, 10.0));
        assert_eq!(of(24).lost_words(&of(0)).as_deref(), Some("pairs without a path 24 to 0"));
        assert_eq!(of(0).lost_words(&of(0)), None);
    }
}
