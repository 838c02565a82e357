//! Ranks the problems in background tasks: the certificate once for the tables, the places of jobs once for their list,
//! and the list of problems after each reading.

use std::sync::Arc;

use super::health_model::{DerivedValue, PendingValue};
use super::recorded_events::follow_recording;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::changes::write_marks::WriteEvent;
use crate::console::features::jobs::current_job_source::{
    CurrentJobSource, current_job_source, current_jobs,
};
use crate::console::features::map::health::FabricHealth;
use crate::console::features::screen::Screen;
use crate::console::features::timeline::annotations;
use crate::console::features::timeline::playback::frame_time;
use crate::console::features::watch::sweep_cycle;
use crate::console::features::whatif::engine_runs;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::health::ranked_problems::{RankedProblems, RankingRequest, RecentWrite};
use crate::operations::health::table_certificate::{CertificateInForce, certify_tables};
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::job_request::{JobComparisonRequest, JobInput};
use fabdeck_fabric::Faults;
use fabdeck_files::capture_format::AcknowledgementRecord;
use fabdeck_routing::RouteProgress;

/// Certifies the current tables.
#[derive(Debug)]
pub struct CertificateTask(Arc<Snapshot>);

impl BackgroundTask for CertificateTask {
    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let certificate = certify_tables(&self.0, progress).map_err(|refusal| refusal.to_string());
        Some(Box::new(CertificateOutcome(certificate)))
    }
}

#[derive(Debug)]
pub struct CertificateOutcome(CertificateInForce);

impl TaskOutcome for CertificateOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let model = &mut state.known.problems;
        if let Some(PendingValue { look, input, .. }) = model.certifying.take_if(|under| under.task == task) {
            model.certificate = Some(DerivedValue { look, input, value: Arc::new(self.0) });
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("certified {:?}", self.0)
    }
}

/// Finds the hosts and the paths of the running jobs.
#[derive(Debug)]
pub struct JobPlacesTask(JobComparisonRequest);

impl BackgroundTask for JobPlacesTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(JobPlacesOutcome(self.0.run())))
    }
}

#[derive(Debug)]
pub struct JobPlacesOutcome(JobComparison);

impl TaskOutcome for JobPlacesOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let model = &mut state.known.problems;
        if let Some(PendingValue { look, input, .. }) = model.placing.take_if(|under| under.task == task) {
            model.jobs = Some(DerivedValue { look, input, value: Arc::new(self.0) });
            state.screens.whatif.refresh(&state.known);
        }
        // Engines that were asked for before wait for the jobs.
        engine_runs::go_on_with_jobs(state)
    }

    fn digest_text(&self) -> String {
        format!("placed {:?}", self.0)
    }
}

/// Ranks the problems.
#[derive(Debug)]
pub struct RankingTask(Box<RankingRequest>);

impl BackgroundTask for RankingTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Snapshot
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let stored = services.link_ledger(&self.0.look);
        Some(Box::new(RankingOutcome(self.0.run(services.system(), stored.as_deref()))))
    }
}

#[derive(Debug)]
pub struct RankingOutcome(RankedProblems);

impl TaskOutcome for RankingOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        if let Some((_, of)) = state.known.problems.pending.take_if(|(under, _)| *under == task) {
            add_to_history(&mut state.known, &self.0);
            annotations::show_kept(&mut state.known, &self.0.annotations);
            state.known.problems.set_ranked(self.0, of);
            if let Some(health) = FabricHealth::update_from(&state.known) {
                state.known.health = health;
                state.screens.map.refresh(&state.known);
            }
            state.screens.health.refresh(&state.known);
            state.screens.jobs.refresh(&state.known);
            state.screens.links.refresh(&state.known);
        }
        Vec::new()
    }

    /// Acknowledgements are those of the user, and not of the session.
    fn digest_text(&self) -> String {
        let mut ids: Vec<String> =
            self.0.problems.iter().map(|problem| format!("{} {:?}", problem.id, problem.hits)).collect();
        ids.sort();
        format!("ranked {ids:?} {:?} {:?}", self.0.waits, self.0.jobs)
    }
}

/// Adds the number of problems to the history that charts show.
fn add_to_history(known: &mut Model, ranked: &RankedProblems) {
    let Some(at_ms) = ranked.at_ms else { return };
    let lost_pairs = ranked.lost_pairs.map(|pairs| pairs as f64);
    let (critical, warnings) = (ranked.critical as f64, ranked.warnings as f64);
    known.watch.totals.set_problems(at_ms, lost_pairs, critical, warnings);
    if let Some(playback) = &mut known.playback {
        playback.set_problems(at_ms, lost_pairs, critical, warnings);
    }
}

/// Whether the problems are being ranked, or what that rests on is computed.
pub fn is_busy(state: &SessionState) -> bool {
    let model = &state.known.problems;
    let derived = [&model.certifying, &model.placing].into_iter().flatten().map(|under| under.task);
    let mut tasks = derived.chain(model.pending.as_ref().map(|(task, _)| *task));
    tasks.any(|task| state.tasks.get(task).is_some())
}

/// Begins what the list of problems needs after any event.
pub fn follow(state: &mut SessionState) -> Vec<Effect> {
    let Some(look) = state.known.look.clone().filter(|_| state.loading == LoadState::Done) else {
        return Vec::new();
    };
    follow_recording(&mut state.known);
    let mut effects = Vec::new();
    effects.extend(follow_tables(state, &look));
    effects.extend(follow_jobs(state, &look));
    effects.extend(follow_reading(state, look));
    effects
}

/// Whether values of one snapshot are valid for another one.
fn is_alike(a: &Snapshot, b: &Snapshot) -> bool {
    a.observation.tables == b.observation.tables && a.fabric() == b.fabric()
}

/// Certifies tables that differ from those of the certificate.
fn follow_tables(state: &mut SessionState, look: &Arc<Snapshot>) -> Option<Effect> {
    let model = &mut state.known.problems;
    if let Some(certificate) = &mut model.certificate
        && !Arc::ptr_eq(&certificate.look, look)
        && is_alike(&certificate.look, look)
    {
        certificate.look = look.clone();
    }
    model.certifying.take_if(|under| state.tasks.get(under.task).is_none());
    if model.certifying.is_some()
        || model.certificate.as_ref().is_some_and(|own| Arc::ptr_eq(&own.look, look))
    {
        return None;
    }
    model.certificate = None;
    let (task, effect) = state.begin_quiet("checking the tables", CertificateTask(look.clone()));
    state.known.problems.certifying = Some(PendingValue { task, look: look.clone(), input: None });
    Some(effect)
}

/// The running jobs; those of a simulator where it has no other source.
pub fn job_input(state: &SessionState) -> Option<Arc<JobInput>> {
    let simulated = matches!(current_job_source(&state.known), CurrentJobSource::Unknown)
        && state.source.split(':').next() == Some("sim");
    let held = state.known.problems.jobs.as_ref().and_then(|jobs| jobs.input.clone());
    let held = held.filter(|input| **input == JobInput::Simulated);
    match simulated {
        true => Some(held.unwrap_or_else(|| Arc::new(JobInput::Simulated))),
        false => current_jobs(&state.known).cloned(),
    }
}

/// Places jobs of another list, or on another fabric.
fn follow_jobs(state: &mut SessionState, look: &Arc<Snapshot>) -> Option<Effect> {
    let input = job_input(state);
    let model = &mut state.known.problems;
    let same = |held: &Option<Arc<JobInput>>| match (held, &input) {
        (Some(held), Some(input)) => {
            Arc::ptr_eq(held, input) || **held == JobInput::Simulated && held == input
        }
        _ => false,
    };
    model.placing.take_if(|under| state.tasks.get(under.task).is_none());
    if let Some(jobs) = &mut model.jobs {
        if !Arc::ptr_eq(&jobs.look, look) && is_alike(&jobs.look, look) {
            jobs.look = look.clone();
        }
        if Arc::ptr_eq(&jobs.look, look) && same(&jobs.input) {
            return None;
        }
    }
    model.jobs = None;
    let list = input.clone().filter(|_| model.placing.is_none())?;
    let request =
        JobComparisonRequest { look: look.clone(), input: list, marks: Faults::new(), proposal: None };
    let (task, effect) = state.begin_quiet("placing jobs", JobPlacesTask(request));
    state.known.problems.placing = Some(PendingValue { task, look: look.clone(), input });
    Some(effect)
}

/// The acknowledgements of the capture that is replayed. During a pause of a watch, those of the state folder count.
fn recorded_acknowledgements(known: &Model) -> Arc<Vec<AcknowledgementRecord>> {
    let replay = known.playback.as_ref().filter(|playback| playback.live.is_none());
    replay
        .map(|playback| playback.acknowledged().clone())
        .unwrap_or_else(|| known.problems.unrecorded.clone())
}

/// The last write that reaches into the interval of the reading, or into the one before it.
fn recent_write(known: &Model) -> Option<RecentWrite> {
    let reading = known.watch.reading.as_ref().filter(|_| known.playback.is_none())?;
    let intervals_ms = (reading.watched.seconds * 2000.0) as u64;
    let reaches =
        |at_ms: &u64| *at_ms <= reading.at_ms && reading.at_ms.saturating_sub(*at_ms) < intervals_ms;
    let marks = known.changes.write_marks.iter().filter(|mark| mark.event != WriteEvent::Confirmed);
    let at_ms = marks.filter_map(|mark| u64::try_from(mark.at_ms).ok()).filter(reaches).max()?;
    Some(RecentWrite { at_ms, known: known.problems.known_before(at_ms) })
}

/// Ranks the problems of a new reading, or with new facts.
fn follow_reading(state: &mut SessionState, look: Arc<Snapshot>) -> Option<Effect> {
    if sweep_cycle::is_judging(state) {
        return None;
    }
    let (known, model) = (&state.known, &state.known.problems);
    let judged = known.watch.judged.as_ref().filter(|_| known.watch.reading.is_some());
    let request = RankingRequest {
        look,
        at: frame_time(known.playback.as_ref()),
        reading: known.watch.reading.clone(),
        news: judged.map_or_else(Vec::new, |judged| judged.after.news.clone()),
        certificate: model.certificate.as_ref().map(|certificate| certificate.value.clone()),
        paths: known.paths.clone(),
        jobs: model.jobs.as_ref().map(|jobs| jobs.value.clone()),
        recorded: recorded_acknowledgements(known),
        acknowledgements: model.acknowledgements,
        write: recent_write(known),
    };
    let running = model.pending.as_ref().is_some_and(|(task, _)| state.tasks.get(*task).is_some());
    if running || model.of.as_ref().is_some_and(|of| of.is_same(&request)) {
        return None;
    }
    let (task, effect) = state.begin_quiet("ranking problems", RankingTask(Box::new(request.clone())));
    state.known.problems.pending = Some((task, request));
    Some(effect)
}
