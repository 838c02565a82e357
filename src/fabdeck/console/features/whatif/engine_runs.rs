//! The engines that run for the marks, one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::awaited::awaited_words;
use crate::console::features::jobs::running_jobs;
use crate::console::features::refresh::refresh_screens;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::ProposalState;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskDependency;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::preview::proposals::Proposals;
use crate::operations::preview::whatif::{MarkedFabric, Proposal, ProposalOptions};
use fabdeck_fabric::Faults;
use fabdeck_routing::{Engine, EngineRefusal, Request, RouteProgress};

/// Computes an engine's routes for the marks.
#[derive(Debug)]
pub struct ProposalTask {
    look: Arc<Snapshot>,
    proposals: Arc<Mutex<Proposals>>,
    marks: Faults,
    pub engine: &'static Engine,
    request: Request,
}

impl BackgroundTask for ProposalTask {
    fn dependency(&self) -> TaskDependency {
        TaskDependency::Marks
    }

    fn is_cancellable(&self) -> bool {
        true
    }

    fn run(
        &self,
        services: &mut dyn TaskServices,
        progress: &dyn RouteProgress,
    ) -> Option<Box<dyn TaskOutcome>> {
        let mut proposals = self.proposals.lock().unwrap_or_else(PoisonError::into_inner);
        let (look, faults) = (&*self.look, &self.marks);
        let fabric = MarkedFabric { look, tables: &look.observation.tables, faults };
        let asked =
            ProposalOptions { sent: LevelsInForce::Unsaid, ..ProposalOptions::for_terminals(&self.request) };
        let outcome = proposals.propose(fabric, self.engine, asked, progress);
        Some(Box::new(ProposalOutcome { engine: self.engine.id, outcome, took_ms: services.elapsed_ms() }))
    }
}

/// The routes of an engine, or the reason why it has none.
#[derive(Debug)]
pub struct ProposalOutcome {
    pub engine: &'static str,
    pub outcome: Result<Arc<Proposal>, EngineRefusal>,
    pub took_ms: u64,
}

/// Whether an engine is running or waiting.
pub fn has_running_engine(state: &SessionState) -> bool {
    state.known.proposed.values().any(|proposed| !matches!(proposed, ProposalState::Done { .. }))
}

/// Starts engines for the current marks, except those that have answered already.
pub fn preview_engines(state: &mut SessionState, engines: &[&'static Engine]) -> Vec<Effect> {
    running_jobs::use_known_jobs(state);
    for engine in engines {
        if !state.known.proposed.contains_key(engine.id) {
            state.known.proposed.insert(engine.id, ProposalState::Waiting);
            state.queue.push_back(engine);
        }
    }
    let effects = start_next_engine(state);
    if let (LoadState::Under(_), false, Some(awaited)) =
        (&state.loading, state.queue.is_empty(), awaited_words(state))
    {
        state.log_message(Severity::Info, format!("the engines run as soon as {awaited}"));
    }
    refresh_screens(state);
    effects
}

/// Starts the next engine in the queue, unless another one runs or the tables to compare with are still being
/// read.
pub(crate) fn start_next_engine(state: &mut SessionState) -> Vec<Effect> {
    let routes = state.known.proposed.values().any(|proposed| matches!(proposed, ProposalState::Under(_)));
    let reading = matches!(state.loading, LoadState::Under(_));
    let Some(look) = state.known.look.clone().filter(|_| !routes && !reading) else { return Vec::new() };
    // A run without jobs that become known a moment later would be of no use.
    if running_jobs::are_awaited(state, &look) {
        return Vec::new();
    }
    let Some(engine) = state.queue.pop_front() else { return Vec::new() };
    let (marks, request) = (state.known.marks.clone(), state.request.clone());
    let proposals = state.known.proposals.clone();
    let job = ProposalTask { look, proposals, marks, engine, request };
    let (task, effect) = state.begin(format!("{} routes", engine.id), job);
    state.known.proposed.insert(engine.id, ProposalState::Under(task));
    vec![effect]
}

/// Starts the engines that waited for the jobs.
pub fn go_on_with_jobs(state: &mut SessionState) -> Vec<Effect> {
    if state.queue.is_empty() {
        return Vec::new();
    }
    running_jobs::use_known_jobs(state);
    start_next_engine(state)
}

/// The engines that `p` runs: all that suit the fabric.
pub fn all_engines(state: &SessionState) -> Vec<&'static Engine> {
    state.known.look.as_ref().map_or_else(Vec::new, |look| look.suitable_engines().to_vec())
}
