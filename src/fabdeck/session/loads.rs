//! What patterns of flows and running jobs make of tables, in an operator's words.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Look;
use super::check::held;
use fabdeck_fabric::{Faults, JobMap, Routes, Tables};
use fabdeck_routing::Problem;
use fabdeck_routing::analysis::{Average, Effective, Flows, JobLoads, JobMetrics, Loads, Shift, Worst};

/// How many jobs are listed.
const LISTED: usize = 20;

/// The mean over patterns of one over the most flows that share a channel.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Bandwidth {
    pub mean: f64,
    pub patterns: u64,
    /// The interval of 99 % confidence is no wider than 1 % of the mean.
    pub settled: bool,
}

/// Permutation loads between hosts.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LoadReport {
    pub hosts: usize,
    /// The most LIDs that a port of a host has. Of several each host sends to one, by its place among the hosts.
    pub lids_per_port: u16,
    /// No permutation puts more flows on a channel; `worst_exact`: some puts so many.
    pub worst_permutation: u64,
    pub worst_exact: bool,
    pub average_bisect: Bandwidth,
    pub average_permutation: Bandwidth,
    pub average_dissemination: Bandwidth,
    /// The most flows of one step of a shift on one channel.
    pub shift_degree: u32,
    /// Steps that were looked at, and how many there are.
    pub shift_steps: usize,
    pub shift_steps_of: usize,
}

/// Paths between hosts of one job.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JobRow {
    pub job: String,
    pub hosts: usize,
    /// Of these, to which paths lead.
    pub ports: usize,
    pub switches: usize,
    /// Channels that carry them.
    pub links: usize,
    /// The effective edge forwarding index.
    pub max: u64,
    pub mean: f64,
    /// Percent of the channels.
    pub dark_fiber: f64,
    /// Ordered pairs without a path, which the rest does not tell of.
    pub lost: u64,
}

/// What routings are compared by, for jobs (dissertation, tables 5.1 and 5.2).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobFigures {
    /// Jobs on several switches: means are over them.
    pub multi_switch: usize,
    /// Paths of all jobs over the busiest channel, and the mean over jobs of those of one over its busiest.
    pub max: u64,
    pub mean_max: f64,
    /// Percent of the channels between switches that no path of a job crosses.
    pub dark_fiber: f64,
    /// The mean over jobs of the channels that one uses.
    pub mean_links: f64,
    /// Ordered pairs within jobs that have no path. They are in none of the figures above, so that tables with more of them
    /// look better.
    pub lost: u64,
}

impl JobFigures {
    /// Whether routes that gain so many percent are worth it, where so many are wanted. Paths that are lost come first: who
    /// has fewer of them is, whatever his loads, and who has more never is.
    pub fn is_worth(&self, proposed: &Self, gain: f64, least: f64) -> bool {
        match proposed.lost.cmp(&self.lost) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => gain >= least,
        }
    }

    /// `24 to 0` where pairs have no path.
    pub fn lost_to(&self, proposed: &Self) -> Option<String> {
        let (now, then) = (self.lost, proposed.lost);
        (now + then > 0).then(|| format!("pairs without a path {now} to {then}"))
    }

    /// By how many percent the mean over jobs of their largest index falls with what is proposed. Where the largest of all jobs
    /// together rises, that rise counts: what helps each must not hurt all.
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

/// What jobs make of channels.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JobReport {
    pub count: usize,
    /// As of permutation loads.
    pub lids_per_port: u16,
    /// All jobs together, each among its own hosts.
    pub hosts: usize,
    /// Channels that carry paths of some job.
    pub links: usize,
    pub mean: f64,
    #[serde(flatten)]
    pub figures: JobFigures,
    /// How many channels carry so many paths; those that carry none are left out.
    pub histogram: Vec<(u64, usize)>,
    /// The first, those with the most paths over one channel.
    pub first: Vec<JobRow>,
}

/// What of it is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadsWanted<'a> {
    pub patterns: bool,
    pub jobs: Option<&'a JobMap>,
}

/// Loads of tables.
pub fn loads(
    look: &Look,
    tables: &Tables,
    wanted: LoadsWanted<'_>,
) -> (Option<LoadReport>, Option<JobReport>) {
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    let routes = held(look, tables);
    let flows = Flows::new(&problem, &routes);
    let patterns = wanted.patterns.then(|| patterns(&Loads::of(&flows), flows.most_lids()));
    (patterns, wanted.jobs.map(|jobs| running(&flows, jobs)))
}

fn patterns(loads: &Loads, lids_per_port: u16) -> LoadReport {
    let Loads { hosts, worst: Worst { flows, exact }, shift: Shift { degree, steps, of }, .. } = *loads;
    let told = |average: Average| Bandwidth {
        mean: average.bandwidth,
        patterns: average.patterns,
        settled: average.settled,
    };
    LoadReport {
        hosts,
        lids_per_port,
        worst_permutation: flows,
        worst_exact: exact,
        average_bisect: told(loads.bisect),
        average_permutation: told(loads.permutation),
        average_dissemination: told(loads.dissemination),
        shift_degree: degree,
        shift_steps: steps,
        shift_steps_of: of,
    }
}

/// What tables make of jobs, and a row for each of them.
pub(super) fn job_rows(look: &Look, tables: &Tables, jobs: &JobMap) -> (JobReport, Vec<JobRow>) {
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    let routes = held(look, tables);
    ranked(&Flows::new(&problem, &routes), jobs)
}

/// What paths within jobs come to under routes that are proposed.
pub fn job_figures(look: &Look, routes: &Routes, jobs: &JobMap) -> JobFigures {
    let faults = Faults::new();
    let problem = Problem::new(look.fabric(), &faults);
    JobLoads::of(&Flows::new(&problem, routes), jobs).metrics().into()
}

/// Jobs that run, and what they make of routes.
#[derive(Clone, PartialEq, Debug)]
pub struct Running {
    jobs: Arc<JobMap>,
    pub figures: JobFigures,
}

impl Running {
    /// Nothing where there are no jobs.
    pub(super) fn new(problem: &Problem<'_>, routes: &Routes, jobs: &Arc<JobMap>) -> Option<Self> {
        let told = || JobLoads::of(&Flows::new(problem, routes), jobs).metrics();
        (!jobs.is_empty()).then(|| Self { jobs: Arc::clone(jobs), figures: told().into() })
    }

    /// For how many jobs, and what they make of the tables in force and of these routes; so it stands in a plan.
    pub(super) fn gain(&self, look: &Look, faults: &Faults) -> JobGain {
        let tables = &look.observation.tables;
        let now = || job_figures_in_force(look, tables, faults, &self.jobs);
        let now = tables.has_forwarding().then(now).flatten();
        JobGain { count: self.jobs.iter().len(), now, then: self.figures.clone() }
    }

    /// The same jobs over other routes.
    pub(super) fn over(&self, problem: &Problem<'_>, routes: &Routes) -> Option<Self> {
        Self::new(problem, routes, &self.jobs)
    }
}

/// What running jobs would gain by a plan, as it was when that was made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct JobGain {
    pub count: usize,
    /// Of the tables in force then, where there were any.
    pub now: Option<JobFigures>,
    pub then: JobFigures,
}

/// What jobs make of the tables in force on what faults leave of the fabric.
pub fn job_figures_in_force(
    look: &Look,
    tables: &Tables,
    faults: &Faults,
    jobs: &Arc<JobMap>,
) -> Option<JobFigures> {
    let running = Running::new(&Problem::new(look.fabric(), faults), &held(look, tables), jobs);
    running.map(|running| running.figures)
}

fn running(flows: &Flows<'_>, jobs: &JobMap) -> JobReport {
    let (mut report, mut rows) = ranked(flows, jobs);
    rows.truncate(LISTED);
    report.first = rows;
    report
}

fn ranked(flows: &Flows<'_>, jobs: &JobMap) -> (JobReport, Vec<JobRow>) {
    let loads = JobLoads::of(flows, jobs);
    let row = |((job, _), told): ((&String, _), &Effective)| JobRow {
        job: job.clone(),
        hosts: told.hosts,
        ports: told.ports,
        switches: told.switches,
        links: told.links(),
        max: told.max,
        mean: told.mean,
        dark_fiber: told.dark_fiber,
        lost: told.lost,
    };
    let mut rows: Vec<JobRow> = jobs.iter().zip(&loads.jobs).map(row).collect();
    // Equals stay in the order of their names.
    rows.sort_by_key(|row| std::cmp::Reverse(row.max));
    let report = JobReport {
        lids_per_port: flows.most_lids(),
        count: loads.jobs.len(),
        hosts: loads.all.hosts,
        links: loads.all.links(),
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
    fn what_helps_each_and_hurts_all_is_no_gain() {
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
        assert_eq!(of(24).lost_to(&of(0)).as_deref(), Some("pairs without a path 24 to 0"));
        assert_eq!(of(0).lost_to(&of(0)), None);
    }
}
