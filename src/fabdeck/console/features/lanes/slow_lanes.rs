//! The lanes of dFtree in a session: proposed moves, moved flows, and the status of tables. While Lanes is
//! visible, they are computed in the background after each verdict. On a live fabric, the process reads the
//! tables.

use std::sync::Arc;

use super::move_baseline::MoveBaseline;
use super::relief_model;
use crate::catalogue::severity::Severity;
use crate::console::features::changes::apply_actions;
use crate::console::features::screens::ScreenId;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome, WholeOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::changes::changer::{PlanSource, WriteAccess};
use crate::operations::lanes::lane_request::LaneRequest;
use crate::operations::lanes::slow_lanes::LaneState;
use fabdeck_routing::RouteProgress;

/// Computes the state of dFtree's lanes; on a live fabric, reads their tables.
#[derive(Debug)]
pub struct LaneTask(Box<LaneRequest>);

impl BackgroundTask for LaneTask {
    fn restore(&self, whole: &WholeOutcome) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(LaneOutcome(whole.content("lanes")?)))
    }

    fn run(&self, services: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        let lanes = match self.0.live {
            true => services.changes().read_lanes(&self.0),
            false => Ok(self.0.run()),
        };
        Some(Box::new(LaneOutcome(lanes.map(Box::new))))
    }
}

#[derive(Debug)]
pub struct LaneOutcome(pub Result<Box<LaneState>, String>);

impl TaskOutcome for LaneOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        receive_lanes(state, task, self.0)
    }

    fn digest_text(&self) -> String {
        format!("lanes {:?}", self.0)
    }

    fn to_whole(&self) -> Option<WholeOutcome> {
        WholeOutcome::new("lanes", &self.0)
    }
}

/// Minimum interval between two readings of lane tables. There are many tables, so not every sweep reads
/// them.
const READ_INTERVAL_MS: u64 = 5000;

/// The input for the state, as of now.
fn current_request(state: &SessionState) -> Option<LaneRequest> {
    let known = &state.known;
    let (look, reading) = (known.look.clone()?, known.watch.reading.clone());
    let past = known.playback.as_ref().is_some_and(|playback| playback.live.is_some());
    let live = !matches!(state.writing, WriteAccess::Never(_)) && !past;
    known.tables.then_some(LaneRequest { look, reading, live, back: false })
}

/// The input for a new state, if Lanes is visible and its state has another input.
fn outdated_request(state: &SessionState) -> Option<LaneRequest> {
    let lanes = &state.known.lanes;
    // A new snapshot cancels the tasks of the old one.
    let under = lanes.pending.as_ref().is_some_and(|(task, _)| state.tasks.get(*task).is_some());
    let here = state.screen == ScreenId::Lanes && !under;
    current_request(state).filter(|asked| here && lanes.of.as_ref().is_none_or(|of| !of.is_same(asked)))
}

/// Time at which the lanes need a tick, even without any other event.
pub fn next_wake_ms(state: &SessionState) -> Option<u64> {
    outdated_request(state).map(|_| state.known.lanes.due_ms.max(state.now_ms))
}

/// Handles the passing of time or a change of the screen: starts a task where the state is old.
pub fn tick(state: &mut SessionState) -> Vec<Effect> {
    relief_model::follow(&mut state.known);
    let Some(asked) = outdated_request(state).filter(|_| state.now_ms >= state.known.lanes.due_ms) else {
        return Vec::new();
    };
    let (task, effect) = state.begin_quiet("reading lanes", LaneTask(Box::new(asked.clone())));
    state.known.lanes.pending = Some((task, asked));
    vec![effect]
}

/// Marks the state as old, after a change was written or rolled back.
pub fn invalidate_tables(known: &mut Model) {
    (known.lanes.of, known.lanes.due_ms) = (None, 0);
}

/// Records the waiting before flows move, to compare with the waiting afterwards.
pub fn record_waiting(known: &mut Model) {
    let watched = known.look.clone().zip(known.watch.reading.clone());
    known.lanes.before_move = watched.map(|(look, reading)| MoveBaseline::new(look, reading));
}

/// Receives the state of lanes.
fn receive_lanes(
    state: &mut SessionState,
    task: TaskId,
    result: Result<Box<LaneState>, String>,
) -> Vec<Effect> {
    let now_ms = state.now_ms;
    let lanes = &mut state.known.lanes;
    let Some((_, of)) = lanes.pending.take_if(|(under, _)| *under == task) else { return Vec::new() };
    (lanes.of, lanes.due_ms) = (Some(of), now_ms + READ_INTERVAL_MS);
    match result {
        Ok(state) => (lanes.state, lanes.trouble) = (Some(Arc::from(state)), None),
        Err(error) => lanes.trouble = Some(error),
    }
    state.screens.refresh(&state.known);
    Vec::new()
}

/// The plan of the proposed moves.
pub fn plan_moves(state: &SessionState) -> Result<PlanSource, &'static str> {
    let lanes = &state.known.lanes;
    let wants = lanes.state.as_ref().is_some_and(|state| state.needs_plan());
    match current_request(state).filter(|asked| asked.live && wants) {
        Some(asked) => Ok(PlanSource::Lanes(Box::new(asked))),
        None if wants => Err("the screens show a recording"),
        None => Err("no flow would move to the slow lane or back, and no table needs a write"),
    }
}

/// Checks that flows on the slow lane can be moved back.
pub fn can_move_back(state: &SessionState) -> Result<(), String> {
    apply_actions::can_apply(state)?;
    match state.known.lanes.state.as_ref().is_some_and(|lanes| lanes.has_moved()) {
        true => Ok(()),
        false if state.known.lanes.state.is_none() => {
            Err("the state of lanes is not known yet: Lanes reads it".to_owned())
        }
        false => Err("no flow is on the slow lane".to_owned()),
    }
}

/// Offers the plan that moves all flows back from the slow lane.
pub fn move_back(state: &mut SessionState, _: &str) -> Vec<Effect> {
    let Some(asked) = current_request(state).filter(|asked| asked.live) else {
        state.log_message(Severity::Warning, "move-back: the screens show a recording");
        return Vec::new();
    };
    let asked = LaneRequest { back: true, ..asked };
    apply_actions::apply_lanes(
        state,
        PlanSource::Lanes(Box::new(asked)),
        ("moving flows back", "lanes propose --back"),
    )
}
