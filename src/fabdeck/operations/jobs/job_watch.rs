//! The watch over jobs: figure 5.6 of the dissertation. The watch reads lists of jobs repeatedly. If the jobs on several
//! switches differ and routes made for them gain enough, it proposes those routes, and applies them with `--apply`.
//!
//! The watch reads the fabric only to judge a list. The last snapshot shows whether that is needed: hosts change their
//! switches less often than jobs change their hosts. An unknown host leads to a new snapshot.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::list_reader::JobListReader;
use super::list_source::{JobSource, POLL_INTERVAL};
use super::plan_applier::{AfterApply, JobPlanApplier};
use super::summary::{note_judged_lids, summarize_jobs};
use super::watch_event::{ENGINE, JobWatchEvent, JobWatchFrontEnd, MissingCounts};
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::changer::Acceptance;
use crate::operations::changes::preparation::DriverOptions;
use crate::operations::check::loads::{JobFigures, job_figures};
use crate::operations::lanes::lanes_in_force;
use crate::operations::lanes::lanes_in_force::{LaneReading, LanesInForce};
use crate::operations::plans::phased_routing;
use crate::operations::plans::phased_routing::PhasedHalf;
use crate::operations::plans::phases::LidHalf;
use crate::operations::plans::route_plan::{RoutedPlan, route_plan, text_of_plan};
use crate::operations::preview::engine_names;
use crate::operations::preview::whatif::ProposalOptions;
use crate::system::output_file;
use crate::system::stop_flag::StopFlag;
use fabdeck_fabric::observe::NotePlace;
use fabdeck_fabric::{Faults, Tables};
use fabdeck_files::job_lists::JobList;
use fabdeck_files::jobs::{HostIndex, JobPlacement, MultiSwitchJobs};
use fabdeck_mad::access::ReadOptions;
use fabdeck_routing::{LaneDependence, Request};

/// What to watch, and what to do with a proposal.
pub struct JobWatchRequest {
    pub source: JobSource,
    /// Interval between two readings of the list.
    pub interval: Duration,
    /// Shortest time between two proposals.
    pub at_most_every: Duration,
    /// Gain in percent that makes a proposal worthwhile.
    pub gain: f64,
    /// Folder for the plans of proposals.
    pub output: Option<PathBuf>,
    /// Number of readings; `None`: until the stop flag is set.
    pub count: Option<u32>,
    pub lanes_by: LaneDependence,
    /// Whether changes are proposed in five phases.
    pub phases: bool,
    /// How proposals are applied, if they are.
    pub apply: Option<(DriverOptions, Acceptance)>,
}

/// Watches lists of jobs and proposes routes.
pub fn watch_jobs(front: &mut dyn JobWatchFrontEnd, request: &JobWatchRequest) -> Result<(), Failure> {
    front.operation().env.named_source()?;
    if request.source.file.as_deref() == Some(Path::new("-")) {
        return Err(Failure::usage(
            "FD-7814: stdin can be read once, and a list is read repeatedly; give a file, or --slurm",
        ));
    }
    if let Some(folder) = request.output.as_deref().filter(|folder| !folder.is_dir()) {
        std::fs::create_dir(folder).map_err(|error| {
            let folder = folder.display();
            Failure::usage(format!(
                "FD-7812: the folder {folder} for plans cannot be created: {error}; give another one with -o"
            ))
        })?;
    }
    let stop = front.operation().listen_to_stop();
    let applier = match &request.apply {
        Some(how) => Some(JobPlanApplier::new(front, how)?),
        None => None,
    };
    let mut watch = JobWatch {
        request,
        applier,
        since: Instant::now(),
        lists: JobListReader::of(&request.source),
        place: request.source.place(),
        last_list: None,
        last_snapshot: None,
        noted: None,
        judgement: None,
        proposed: None,
    };
    let mut lists = 0;
    while !stop.is_requested() {
        let began = watch.since.elapsed();
        let event = watch.process_next_list(front, &stop);
        if stop.is_requested() {
            break;
        }
        watch.report(front, &stop, event?)?;
        lists += 1;
        if request.count.is_some_and(|count| lists >= count) {
            break;
        }
        // The interval includes the time that reading a list takes.
        while !stop.is_requested() && watch.since.elapsed() < began + request.interval {
            std::thread::sleep(POLL_INTERVAL.min(request.interval));
        }
    }
    Ok(())
}

/// The last snapshot of the fabric, without tables.
struct LastSnapshot {
    snapshot: Snapshot,
    /// Hosts of jobs that the snapshot does not have.
    missing: BTreeSet<String>,
}

impl LastSnapshot {
    /// Stores a snapshot without its tables; `None` if it is partial.
    fn new(mut snapshot: Snapshot, placed: &JobPlacement) -> Option<Self> {
        if snapshot.observation.is_partial() {
            return None;
        }
        snapshot.observation.tables = Tables::default();
        Some(Self { snapshot, missing: missing(placed) })
    }

    /// Places the jobs of a list; `None` if the list has a host that was not searched for in this snapshot.
    fn placed(&self, list: &JobList) -> Option<JobPlacement> {
        let placed = HostIndex::new(self.snapshot.fabric(), &self.snapshot.names).place_jobs(list);
        missing(&placed).is_subset(&self.missing).then_some(placed)
    }
}

fn missing(placed: &JobPlacement) -> BTreeSet<String> {
    placed.unknown.iter().chain(placed.ambiguous.keys()).cloned().collect()
}

struct JobWatch<'a> {
    request: &'a JobWatchRequest,
    applier: Option<JobPlanApplier>,
    since: Instant,
    lists: JobListReader,
    /// Source of the lists, for notes.
    place: NotePlace,
    /// Time of the last list.
    last_list: Option<Duration>,
    last_snapshot: Option<LastSnapshot>,
    /// Hosts missing from the fabric in the last notes; `None` before the first snapshot.
    noted: Option<BTreeSet<String>>,
    /// The last judgement.
    judgement: Option<LastJudgement>,
    /// Time of the last proposal.
    proposed: Option<Duration>,
}

/// A judgement with its time and outcome.
struct LastJudgement {
    several: MultiSwitchJobs,
    at: Duration,
    outcome: Option<ProposalFigures>,
}

/// What new routes would gain. A repeated outcome is reported as unchanged.
#[derive(Clone, PartialEq)]
struct ProposalFigures {
    now: JobFigures,
    proposed: JobFigures,
    writes: usize,
}

/// Event of a list, its missing hosts, and the plan that may be applied.
struct ListOutcome {
    event: JobWatchEvent,
    missing: Option<MissingCounts>,
    plan: Option<String>,
}

impl From<JobWatchEvent> for ListOutcome {
    fn from(event: JobWatchEvent) -> Self {
        Self { event, missing: None, plan: None }
    }
}

impl JobWatch<'_> {
    /// Prints the event, and applies its plan.
    fn report(
        &mut self,
        front: &mut dyn JobWatchFrontEnd,
        stop: &StopFlag,
        outcome: ListOutcome,
    ) -> Result<(), Failure> {
        front.report_event(&outcome.event, outcome.missing)?;
        let (Some(applier), Some(plan)) = (&self.applier, outcome.plan) else { return Ok(()) };
        if applier.apply(front, stop, plan)? == AfterApply::Retry {
            // The same jobs may get a proposal again, once the interval between proposals is over.
            self.judgement = None;
        }
        Ok(())
    }

    /// Reads a list and returns the event that it leads to.
    fn process_next_list(
        &mut self,
        front: &mut dyn JobWatchFrontEnd,
        stop: &StopFlag,
    ) -> Result<ListOutcome, Failure> {
        let since = self.since;
        let list = match self.lists.next(stop, || since.elapsed()) {
            Ok(list) => list,
            Err(why) => {
                let age = self.last_list.map(|at| (self.since.elapsed() - at).as_secs());
                let age_seconds = age.filter(|_| !front.operation().env.given.no_times);
                return Ok(JobWatchEvent::Unheard { why, age_seconds }.into());
            }
        };
        let now = self.since.elapsed();
        self.last_list = Some(now);
        if let Some(outcome) = self.judge_without_snapshot(front, &list, now) {
            return Ok(outcome);
        }
        let (snapshot, in_force) = match read_snapshot(front) {
            // A fabric that answered earlier lists is expected to answer the next one.
            Err(failure) if failure.exit != Exit::Bug && self.noted.is_some() => {
                return Ok(JobWatchEvent::Unseen { why: failure.message.unwrap_or_default() }.into());
            }
            read => read?,
        };
        let placed = HostIndex::new(snapshot.fabric(), &snapshot.names).place_jobs(&list);
        front.operation().reporter.report_statistics(&snapshot);
        if self.noted.is_none() {
            front.operation().reporter.report_notes(&snapshot.observation.notes);
        }
        self.report_missing(front, &placed);
        self.judge(front, snapshot, &in_force, &placed, now)
    }

    /// Prints notes about missing hosts, if they differ from those of the list before.
    fn report_missing(&mut self, front: &mut dyn JobWatchFrontEnd, placed: &JobPlacement) {
        let missing = missing(placed);
        if self.noted.as_ref() != Some(&missing) {
            front.operation().reporter.report_notes(&placed.notes(&self.place));
            self.noted = Some(missing);
        }
    }

    /// Judges a list by the last snapshot, if that suffices.
    fn judge_without_snapshot(
        &mut self,
        front: &mut dyn JobWatchFrontEnd,
        list: &JobList,
        now: Duration,
    ) -> Option<ListOutcome> {
        let last = self.last_snapshot.as_ref()?;
        let placed = last.placed(list)?;
        let event = self.unchanged_event(&MultiSwitchJobs::of(last.snapshot.fabric(), &placed.jobs), now)?;
        self.report_missing(front, &placed);
        Some(ListOutcome { missing: Some(MissingCounts::of(&placed)), ..event.into() })
    }

    /// Event for jobs that need no judgement. The fabric can change over time, so the same jobs are judged again
    /// after a while.
    fn unchanged_event(&self, several: &MultiSwitchJobs, now: Duration) -> Option<JobWatchEvent> {
        let (multi_switch, every) = (several.len(), self.request.at_most_every);
        match &self.judgement {
            Some(judgement) if judgement.several == *several => {
                return (now < judgement.at + every).then_some(JobWatchEvent::Unchanged { multi_switch });
            }
            _ => {}
        }
        let early = self.proposed.is_some_and(|at| now < at + every);
        early.then_some(JobWatchEvent::Held { multi_switch })
    }

    /// Judges a list with a new snapshot of the fabric.
    fn judge(
        &mut self,
        front: &mut dyn JobWatchFrontEnd,
        mut snapshot: Snapshot,
        in_force: &LanesInForce,
        placed: &JobPlacement,
        now: Duration,
    ) -> Result<ListOutcome, Failure> {
        let several = MultiSwitchJobs::of(snapshot.fabric(), &placed.jobs);
        let mut outcome = match self.unchanged_event(&several, now) {
            Some(event) => event.into(),
            None => {
                let before = self.judgement.take().filter(|judgement| judgement.several == several);
                let before = before.and_then(|judgement| judgement.outcome);
                let (result, figures) = match several.is_empty() {
                    true => (idle_outcome(&snapshot, placed), None),
                    false => self.judge_routes(front, &mut snapshot, placed, in_force, before.as_ref())?,
                };
                // A list whose routes failed, or whose plan could not be written, is judged again next time.
                if !matches!(result.event, JobWatchEvent::Refused { .. } | JobWatchEvent::Unwritten { .. }) {
                    self.judgement = Some(LastJudgement { several, at: now, outcome: figures });
                }
                result
            }
        };
        if matches!(outcome.event, JobWatchEvent::Proposed { .. }) {
            self.proposed = Some(now);
        }
        outcome.missing = Some(MissingCounts::of(placed));
        self.last_snapshot = LastSnapshot::new(snapshot, placed);
        Ok(outcome)
    }

    /// Computes routes for the jobs, and compares them with the tables in force and with the previous outcome.
    fn judge_routes(
        &self,
        front: &mut dyn JobWatchFrontEnd,
        snapshot: &mut Snapshot,
        placed: &JobPlacement,
        in_force: &LanesInForce,
        before: Option<&ProposalFigures>,
    ) -> Result<(ListOutcome, Option<ProposalFigures>), Failure> {
        let lanes_by = self.request.lanes_by;
        let (jobs, manager) = (Arc::new(placed.jobs.clone()), snapshot.manager());
        let mut request = Request { jobs, manager, lanes_by, ..Request::default() }
            .with_lanes(None, front.operation().env.given.supposed_lanes);
        if self.request.phases {
            // Hosts learn a single service level for base LIDs.
            request.lanes = 1;
        }
        let asked = ProposalOptions { request: &request, switches: false, sent: in_force.sent() };
        let (engine, none) = (engine_names::engine_named(ENGINE)?, Faults::new());
        let routed = match self.request.phases {
            false => route_plan(&mut front.operation(), snapshot, &none, engine, asked),
            true => phased_routing::read_agents(&mut front.operation(), snapshot, &none).and_then(|agents| {
                phased_routing::route_in_phases(
                    &mut front.operation(),
                    snapshot,
                    &none,
                    engine,
                    PhasedHalf { half: LidHalf::Base, agents: &agents },
                    asked,
                )
            }),
        };
        match routed {
            Err(failure) => {
                Ok((JobWatchEvent::Refused { why: failure.message.unwrap_or_default() }.into(), None))
            }
            Ok(routed) => self.compare_routes(snapshot, placed, routed, before),
        }
    }

    /// Decides whether the routes gain enough, and writes the plan if they do.
    fn compare_routes(
        &self,
        snapshot: &Snapshot,
        placed: &JobPlacement,
        routed: RoutedPlan,
        before: Option<&ProposalFigures>,
    ) -> Result<(ListOutcome, Option<ProposalFigures>), Failure> {
        let now = figures_in_force(snapshot, placed);
        let proposed = job_figures(snapshot, &routed.proposal.routes, &placed.jobs);
        let writes = routed.plan.writes.len();
        let outcome = ProposalFigures { now: now.clone(), proposed: proposed.clone(), writes };
        let gain = now.gain(&proposed);
        if before == Some(&outcome) {
            let event = JobWatchEvent::Unchanged { multi_switch: now.multi_switch };
            return Ok((event.into(), Some(outcome)));
        }
        // Even with a required gain of 0, routes that gain nothing over the last proposal are not proposed.
        let repeated = before.is_some() && gain <= 0.0 && proposed.lost >= now.lost;
        if repeated || !now.is_worth(&proposed, gain, self.request.gain) {
            return Ok((JobWatchEvent::Kept { gain, now, proposed }.into(), Some(outcome)));
        }
        let wanted = self.request.output.is_some() || self.applier.is_some();
        let text = wanted.then(|| text_of_plan(&routed.plan)).transpose()?;
        let file = match (&self.request.output, &text) {
            (Some(folder), Some(text)) => write_plan(folder, text).map(Some),
            _ => Ok(None),
        };
        let plan = match file {
            Ok(file) => file.map(|file| file.display().to_string()),
            Err(failure) => {
                return Ok((
                    JobWatchEvent::Unwritten { why: failure.message.unwrap_or_default() }.into(),
                    None,
                ));
            }
        };
        let mut findings = routed.plan.findings;
        let transition = &routed.plan.transition;
        findings.extend(transition.safe.is_none().then(|| transition.short_verdict()));
        let event = JobWatchEvent::Proposed { gain, now, proposed, writes, findings, plan };
        Ok((ListOutcome { event, missing: None, plan: text }, Some(outcome)))
    }
}

/// Reads the fabric with its tables.
fn read_snapshot(front: &mut dyn JobWatchFrontEnd) -> Result<(Snapshot, LanesInForce), Failure> {
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let (mut snapshot, in_force) =
        lanes_in_force::read_snapshot(&mut front.operation(), wanted, LaneReading::default())?;
    if !snapshot.observation.tables.has_forwarding() {
        return Err(Failure::usage(
            "FD-7913: the source has no forwarding tables, so the changes of a plan are unknown; put a dump of them \
             beside the topology (dump_lfts, opensm-lfts.dump)",
        ));
    }
    note_judged_lids(&mut snapshot);
    Ok((snapshot, in_force))
}

/// Outcome if no job spans several switches: there is nothing to gain.
fn idle_outcome(snapshot: &Snapshot, placed: &JobPlacement) -> ListOutcome {
    let now = figures_in_force(snapshot, placed);
    JobWatchEvent::Kept { gain: 0.0, proposed: now.clone(), now }.into()
}

/// Writes a plan under the first free name.
fn write_plan(folder: &Path, text: &str) -> Result<PathBuf, Failure> {
    let file = free_path(folder)?;
    output_file::write_new(&file, text.as_bytes())?;
    Ok(file)
}

/// Figures of the jobs under the tables in force.
fn figures_in_force(snapshot: &Snapshot, placed: &JobPlacement) -> JobFigures {
    let (_, totals) = summarize_jobs(snapshot, placed);
    JobFigures {
        multi_switch: totals.multi_switch,
        max: totals.max.unwrap_or_default(),
        mean_max: totals.mean_max.unwrap_or_default(),
        dark_fiber: totals.dark_fiber.unwrap_or_default(),
        mean_links: totals.mean_links.unwrap_or_default(),
        lost: totals.lost.unwrap_or_default(),
    }
}

/// The first free name.
fn free_path(folder: &Path) -> Result<PathBuf, Failure> {
    let names = (1..=99_999).map(|number| folder.join(format!("{ENGINE}-{number:05}.plan")));
    let mut names = names.filter(|file| !file.exists());
    names.next().ok_or_else(|| {
        let what = format!(
            "FD-7813: {} has a plan under every number up to 99,999; move the plans away",
            folder.display()
        );
        Failure::new(Exit::Failed, what)
    })
}
