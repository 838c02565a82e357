//! The jobs of a session. The list of running jobs is requested while Health, Jobs or What-if is visible. A
//! background task computes the channel loads, under the tables in force and under sar's proposal.

use std::sync::Arc;

use super::current_job_source::{
    CurrentJobSource, current_job_source, current_jobs, load_recorded, recorded_words, trouble_words,
};
use super::job_lines::{dropped_answer_line, lost_line};
use super::job_words::asked_file;
use super::jobs_model::{JobSettings, JobsModel};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::features::timeline::position_text::replay_word;
use crate::console::features::whatif::engine_runs;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, TaskPlace, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::ProposalState;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::jobs::job_comparison::{JobComparison, SIMULATED_JOBS_SEED};
use crate::operations::jobs::job_request::{JobComparisonRequest, JobInput, JobListSource};
use fabdeck_files::job_lists::JobList;
use fabdeck_routing::RouteProgress;

/// Reads the list of running jobs.
#[derive(Debug)]
pub struct JobListTask(pub JobListSource);

impl BackgroundTask for JobListTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Nothing
    }

    fn place(&self) -> TaskPlace {
        TaskPlace::ChildProcess
    }

    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(JobListOutcome(whole.content("listed")?)))
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let list = services.list_jobs(&self.0)?;
        Some(Box::new(JobListOutcome(list.map(Box::new))))
    }
}

#[derive(Debug)]
pub struct JobListOutcome(pub Result<Box<JobList>, String>);

impl TaskOutcome for JobListOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_list(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("listed {:?}", self.0)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("listed", &self.0)
    }
}

/// Computes the channel loads of jobs.
#[derive(Debug)]
pub struct JobComparisonTask(Box<JobComparisonRequest>);

impl BackgroundTask for JobComparisonTask {
    fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(JobComparisonOutcome(self.0.run())))
    }
}

#[derive(Debug)]
pub struct JobComparisonOutcome(JobComparison);

impl TaskOutcome for JobComparisonOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_comparison(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("weighed {:?}", self.0)
    }
}

/// The age of a list is shown in steps of this size.
const AGE_STEP_MS: u64 = 10_000;

/// Whether engines wait for the jobs that are being placed on this snapshot.
pub fn are_awaited(state: &SessionState, look: &Arc<Snapshot>) -> bool {
    let placing = state.known.problems.placing_task(look);
    placing.is_some_and(|task| state.tasks.get(task).is_some()) && !uses_simulated_jobs(state)
}

/// Whether simulated jobs are used, because a simulated fabric has no source of job lists.
pub fn uses_simulated_jobs(state: &SessionState) -> bool {
    matches!(current_job_source(&state.known), CurrentJobSource::Unknown)
        && state.source.split(':').next() == Some("sim")
}

/// The input for the loads, as of now.
fn current_request(state: &SessionState) -> Option<JobComparisonRequest> {
    let known = &state.known;
    let (look, input) = (known.look.clone()?, current_jobs(known)?.clone());
    // Routes that were computed without jobs are no proposal for them.
    let sar = JobsModel::sar_engine().filter(|_| !known.jobs.asked_with.is_empty());
    let proposal = sar.and_then(|sar| known.proposal(sar).cloned());
    Some(JobComparisonRequest { look, input, marks: known.marks.clone(), proposal })
}

fn outdated_request(state: &SessionState) -> Option<JobComparisonRequest> {
    let jobs = &state.known.jobs;
    let under = jobs.pending.as_ref().is_some_and(|(task, _)| state.tasks.get(*task).is_some());
    // Health places jobs itself, on the fabric without marks.
    let here = is_wanted(state) && state.screen != ScreenId::Health && !under;
    current_request(state).filter(|asked| here && jobs.of.as_ref().is_none_or(|of| !of.is_same(asked)))
}

/// Whether a visible screen uses the list of jobs: Jobs and Health show them, and What-if adds them to the request of
/// engines.
fn is_wanted(state: &SessionState) -> bool {
    matches!(state.screen, ScreenId::Health | ScreenId::Jobs | ScreenId::Whatif)
}

/// Whether a list may be requested now.
fn is_due(state: &SessionState) -> bool {
    let jobs = &state.known.jobs;
    let named =
        matches!(current_job_source(&state.known), CurrentJobSource::Named(_)) && jobs.asking.is_none();
    named && is_wanted(state) && state.known.look.is_some()
}

/// Time at which the jobs need a tick, even without any other event.
pub fn next_wake_ms(state: &SessionState) -> Option<u64> {
    let jobs = &state.known.jobs;
    let named = matches!(current_job_source(&state.known), CurrentJobSource::Named(_));
    let ages = jobs.received.as_ref().filter(|_| state.screen == ScreenId::Jobs && named);
    let older = ages.map(|(_, at)| at + (state.now_ms.saturating_sub(*at) / AGE_STEP_MS + 1) * AGE_STEP_MS);
    let due = is_due(state).then(|| jobs.due_ms.max(state.now_ms));
    [older, due].into_iter().flatten().min()
}

/// Handles the passing of time or a change of the screen: requests lists, and starts tasks.
pub fn tick(state: &mut SessionState) -> Vec<Effect> {
    let mut effects = Vec::new();
    state.known.jobs.was_open |= state.screen == ScreenId::Jobs;
    let jobs = &state.known.jobs;
    let named = jobs.naming.clone().filter(|_| jobs.asking.is_none());
    let due = || jobs.settings.from.clone().filter(|_| is_due(state) && state.now_ms >= jobs.due_ms);
    if let Some(from) = named.or_else(due) {
        let (task, effect) = state.begin_quiet("reading the list of jobs", JobListTask(from));
        state.known.jobs.asking = Some(task);
        effects.push(effect);
    }
    load_recorded(&mut state.known);
    let shows_jobs = matches!(state.screen, ScreenId::Jobs | ScreenId::Whatif);
    if shows_jobs && uses_simulated_jobs(state) && state.known.jobs.received.is_none() {
        state.known.jobs.received = Some((Arc::new(JobInput::Simulated), state.now_ms));
    }
    // At a moment of a recording without a list, jobs are unknown.
    if state.known.jobs.comparison.is_some() && current_jobs(&state.known).is_none() {
        (state.known.jobs.of, state.known.jobs.comparison) = (None, None);
        state.screens.refresh(&state.known);
    }
    if let Some(asked) = outdated_request(state) {
        let (task, effect) =
            state.begin_quiet("computing channel loads of jobs", JobComparisonTask(Box::new(asked.clone())));
        state.known.jobs.pending = Some((task, asked));
        effects.push(effect);
    }
    effects
}

/// Receives a list, or the reason why there is none; the earlier list then stays.
fn receive_list(state: &mut SessionState, task: TaskId, result: Result<Box<JobList>, String>) -> Vec<Effect> {
    let now_ms = state.now_ms;
    let jobs = &mut state.known.jobs;
    if jobs.asking.take_if(|asking| *asking == task).is_none() {
        return Vec::new();
    }
    if let Some(from) = jobs.naming.take() {
        if let Err(error) = result {
            let words = format!("jobs: {error}; the previous list stays");
            state.log_message(Severity::Warning, words);
            return Vec::new();
        }
        state.log_message(Severity::Info, format!("jobs: {} from now on", from.words()));
        set_source(state, Some(from));
    }
    let jobs = &mut state.known.jobs;
    jobs.due_ms = now_ms + jobs.settings.interval_ms;
    match result {
        Ok(list) => {
            let same = |input: &Arc<JobInput>| {
                matches!(input.as_ref(),
            JobInput::List(held) if *held == *list)
            };
            let held = jobs.received.take().map(|(input, _)| input).filter(same);
            jobs.received = Some((held.unwrap_or_else(|| Arc::new(JobInput::List(*list))), now_ms));
            jobs.trouble = None;
        }
        Err(error) => jobs.trouble = Some(error),
    }
    Vec::new()
}

/// Receives the channel loads of jobs.
fn receive_comparison(state: &mut SessionState, task: TaskId, comparison: JobComparison) -> Vec<Effect> {
    let jobs = &mut state.known.jobs;
    let Some((_, of)) = jobs.pending.take_if(|(under, _)| *under == task) else { return Vec::new() };
    jobs.gone = jobs.gone.filter(|_| of.proposal.is_none());
    (jobs.of, jobs.comparison) = (Some(of), Some(Arc::new(comparison)));
    state.screens.refresh(&state.known);
    Vec::new()
}

/// Adds the current jobs to the request of engines, and drops answers for other jobs.
pub fn use_known_jobs(state: &mut SessionState) {
    let jobs = &state.known.jobs;
    // Port ids of another fabric differ.
    let here = jobs
        .snapshot()
        .zip(state.snapshot())
        .is_some_and(|(of, look)| Arc::ptr_eq(of, look) || of.fabric() == look.fabric());
    let placed = || state.known.problems.compared_jobs(state.known.look.as_ref()?);
    let Some(comparison) = jobs.comparison.clone().filter(|_| here).or_else(placed) else { return };
    if uses_simulated_jobs(state) && !state.known.jobs.was_open {
        return;
    }
    let is_waiting = |proposed: &ProposalState| matches!(proposed, ProposalState::Waiting);
    let all_wait = state.known.proposed.values().all(is_waiting);
    if *jobs.asked_with == *comparison.jobs || (engine_runs::has_running_engine(state) && !all_wait) {
        return;
    }
    state.request.jobs = comparison.jobs.clone();
    state.known.jobs.asked_words = list_words(state, &comparison, usize::MAX);
    state.known.jobs.asked_with = comparison.jobs.clone();
    // Engines that wait run with these jobs.
    if !all_wait {
        state.known.proposed.clear();
    }
}

/// Runs sar for the jobs.
pub fn ask_sar(state: &mut SessionState) -> Vec<Effect> {
    let some = state.known.jobs.comparison.as_ref().is_some_and(|comparison| !comparison.jobs.is_empty());
    let Some(sar) = JobsModel::sar_engine().filter(|_| some) else {
        state.log_message(
            Severity::Warning,
            "preview: no job is known that sar could route for; :jobs FILE names some",
        );
        return Vec::new();
    };
    let effects = engine_runs::preview_engines(state, &[sar]);
    if effects.is_empty() && state.known.proposal(sar).is_some() {
        state.log_message(Severity::Info, "sar has answered for these jobs; w on What-if writes its plan");
    }
    effects
}

/// Names the source of job lists: a file, or Slurm.
pub fn name_source(state: &mut SessionState, argument: &str) -> Vec<Effect> {
    open_screen(state, ScreenId::Jobs);
    if argument.is_empty() {
        crate::console::features::completion::open_prompt(state, Purpose::Command, "jobs ");
        return Vec::new();
    }
    let usual = state.known.jobs.usual.clone();
    let from = match (argument, &usual) {
        ("usual", _) => {
            set_source(state, usual);
            state.known.jobs.named = false;
            return Vec::new();
        }
        ("slurm", Some(JobListSource::Slurm(squeue))) => JobListSource::Slurm(squeue.clone()),
        ("slurm", _) => JobListSource::Slurm(None),
        (file, _) => JobListSource::File(file.into()),
    };
    if current_jobs(&state.known).is_none() {
        set_source(state, Some(from));
    } else {
        let words = format!("jobs: reading {}; until then the previous list stays", from.words());
        state.log_message(Severity::Info, words);
        (state.known.jobs.naming, state.known.jobs.asking) = (Some(from), None);
    }
    Vec::new()
}

/// Cancels the request for a list that would replace the current one.
pub fn cancel_list(state: &mut SessionState) -> Option<Effect> {
    state.known.jobs.naming.take()?;
    let task = state.known.jobs.asking.take()?;
    state.log_message(Severity::Info, "jobs: no longer read; the previous list stays");
    state.tasks.end(task).map(|_| Effect::Cancel(task))
}

/// Changes the source of job lists; lists of the old source are dropped.
fn set_source(state: &mut SessionState, from: Option<JobListSource>) {
    let jobs = &mut state.known.jobs;
    let settings = JobSettings { from, ..jobs.settings.clone() };
    let (asked_with, asked_words) = (jobs.asked_with.clone(), jobs.asked_words.clone());
    let usual = jobs.usual.clone();
    *jobs = JobsModel { settings, usual, named: true, asked_with, asked_words, ..JobsModel::default() };
    state.screens.refresh(&state.known);
}

/// Whether the request of engines has jobs that no command line can name.
pub fn has_unnamed_jobs(state: &SessionState) -> bool {
    let named = asked_file(state).is_some();
    !state.request.jobs.is_empty() && !named && matches!(state.screen, ScreenId::Whatif | ScreenId::Jobs)
}

/// The lines above the list, with their severity: the source of the jobs, and their figures.
pub fn jobs_head(state: &SessionState) -> Vec<(Severity, String)> {
    let mut lines = Vec::new();
    lines.extend(trouble_words(&state.known).map(|trouble| (Severity::Warning, trouble)));
    let Some(comparison) = &state.known.jobs.comparison else { return lines };
    lines.extend(outdated_line(&state.known.jobs));
    let room = usize::from(state.areas().body.width).saturating_sub(1);
    lines.push((Severity::Info, list_words(state, comparison, room)));
    lines.push((Severity::Info, figures_words(state, comparison)));
    lines.extend(remarks(state, comparison));
    lines
}

/// The lines of a screen whose panes have the source of the jobs elsewhere: their figures, and what else is to be said.
pub fn figure_lines(state: &SessionState, comparison: &JobComparison) -> Vec<(Severity, String)> {
    let mut lines = vec![(Severity::Info, figures_words(state, comparison))];
    lines.extend(trouble_words(&state.known).map(|trouble| (Severity::Warning, trouble)));
    lines.extend(outdated_line(&state.known.jobs));
    lines.extend(remarks(state, comparison));
    lines
}

fn outdated_line(jobs: &JobsModel) -> Option<(Severity, String)> {
    let words = "sar ran with other jobs than those that run now: p runs it again";
    jobs.is_outdated().then(|| (Severity::Warning, words.to_owned()))
}

/// What the figures rest on, and what they leave out.
fn remarks(state: &SessionState, comparison: &JobComparison) -> Vec<(Severity, String)> {
    let lids = lids_line(comparison).map(|words| (Severity::Info, words));
    let lost = lost_line(comparison).map(|words| (Severity::Warning, words));
    let dropped = dropped_answer_line(&state.known).map(|words| (Severity::Warning, words));
    lids.into_iter().chain(lost).chain(dropped).collect()
}

/// The line about the LID that figures use, where ports have several (FN-708 of the commands).
fn lids_line(comparison: &JobComparison) -> Option<String> {
    let lids = comparison.lids_per_port;
    (lids > 1).then(|| format!("each sender uses one of up to {lids} LIDs of a port, by its path bits"))
}

/// Text about the source, the age of the list, and its jobs on the fabric. In little room, the path is
/// shortened first.
pub fn list_words(state: &SessionState, comparison: &JobComparison, room: usize) -> String {
    let placed = &comparison.placed;
    let several = comparison.in_force.as_ref().or(comparison.proposed.as_ref()).map(|over| over.metrics.jobs);
    let mut figures = format!(": {} on {}", placed.listed, count_words(placed.on, "host", "hosts"));
    figures.extend(several.map(|several| format!(", {several} on several switches")));
    if !placed.unknown.is_empty() {
        figures.push_str(&format!("; {} unknown", count_words(placed.unknown.len(), "host", "hosts")));
    }
    if !placed.ambiguous.is_empty() {
        figures.push_str(&format!("; {} ambiguous", count_words(placed.ambiguous.len(), "host", "hosts")));
    }
    let who = match current_job_source(&state.known) {
        CurrentJobSource::Unknown => format!("SIMULATED jobs (seed {SIMULATED_JOBS_SEED})"),
        CurrentJobSource::Recorded(list) => recorded_words(&state.known, list),
        CurrentJobSource::Named(from) => {
            let age = age_words(state);
            from.words_in(room.saturating_sub(age.len() + figures.len())) + &age
        }
    };
    who + &figures
}

fn age_words(state: &SessionState) -> String {
    let Some((_, at)) = &state.known.jobs.received else { return String::new() };
    // A source of job lists knows only the present.
    if replay_word(&state.known).is_some() {
        return ", of now".to_owned();
    }
    match state.now_ms.saturating_sub(*at) / AGE_STEP_MS * (AGE_STEP_MS / 1000) {
        0 => ", just now".to_owned(),
        seconds => format!(", {seconds} s ago"),
    }
}

/// The figures, each as `name: in force -> sar`.
fn figures_words(state: &SessionState, comparison: &JobComparison) -> String {
    let figures = |over: &Option<crate::operations::jobs::job_comparison::JobsUnderRoutes>| {
        over.as_ref().map(|over| over.metrics)
    };
    let (now, then) = (figures(&comparison.in_force), figures(&comparison.proposed));
    let figure = |name: &str, of: &dyn Fn(fabdeck_routing::analysis::JobMetrics) -> String, unit: &str| {
        let now = now.map_or_else(|| "?".to_owned(), of);
        let then = then.map(|then| format!(" -> {}", of(then))).unwrap_or_default();
        format!("{name}: {now}{then}{unit}")
    };
    let unused = if then.is_some() { "unused" } else { "channels unused" };
    let mut words = vec![
        figure("most paths", &|metrics| metrics.max.to_string(), ""),
        figure(unused, &|metrics| format!("{:.1}", metrics.dark_fiber), " %"),
        figure("links per job", &|metrics| format!("{:.1}", metrics.mean_links), ""),
    ];
    words.extend(sar_words(state, comparison));
    words.join("   ")
}

/// What is said where sar was not run, which the border of the pane of paths says too.
pub(super) const P_RUNS_SAR: &str = "p runs sar";

/// The status of sar, where its figures are not shown.
fn sar_words(state: &SessionState, comparison: &JobComparison) -> Option<String> {
    let (jobs, sar) = (&state.known.jobs, JobsModel::sar_engine()?);
    let same = *jobs.asked_with == *comparison.jobs;
    let words = match state.known.proposed.get(sar.id) {
        Some(ProposalState::Waiting | ProposalState::Under(_)) => "sar routes",
        Some(ProposalState::Done { outcome: Err(_), .. }) if same => "sar refuses (M)",
        Some(ProposalState::Done { outcome: Ok(_), .. }) if same || jobs.is_outdated() => return None,
        _ => P_RUNS_SAR,
    };
    Some(words.to_owned())
}
