//! The lanes of dFtree in a session: proposed moves, moved flows, and the status of tables. While Lanes is
//! visible, they are computed in the background after each verdict. On a live fabric, the process reads the
//! tables.

use crate::console::features::changes::apply_actions;
use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::Value;
use crate::console::features::changes::changer::{PlanSource, WriteAccess};
use crate::console::features::screen::ScreenId;
use crate::console::features::watch::verdict::WatchVerdict;
use crate::console::model::effect::{Effect, TaskRequest};
use crate::console::model::fabric_model::Model;
use crate::console::model::messages::Severity;
use crate::console::model::state::SessionState;
use crate::console::model::tasks::TaskId;
use crate::operations::lanes::levels::LevelsInForce;
use crate::operations::lanes::slow_lanes::{LaneState, LaneStatus, lane_state};
use fabdeck_routing::lanes::{FlowMoves, propose_moves};

/// Minimum interval between two readings of lane tables. There are many tables, so not every sweep reads
/// them.
const READ_INTERVAL_MS: u64 = 5000;

/// The input for the state of lanes.
#[derive(Clone, Debug)]
pub struct LaneRequest {
    pub look: Arc<Snapshot>,
    /// The last verdict; without one, the state has only the moves in force.
    pub reading: Option<Arc<WatchVerdict>>,
    /// Whether the fabric is live, so that only the process can read it.
    pub live: bool,
    /// Whether all flows on the slow lane move back, independent of the verdict.
    pub back: bool,
}

impl LaneRequest {
    /// Computes the state from the snapshot alone, which does not contain the moves of applied changes.
    pub fn run(&self) -> LaneState {
        let moves = self.reading.as_ref().map_or_else(FlowMoves::default, |reading| {
            propose_moves(self.look.fabric(), &reading.watched.verdict, &reading.watched.told, &[])
        });
        lane_state(&self.look, &moves, &[], LevelsInForce::Unsaid)
    }

    fn is_same(&self, other: &Self) -> bool {
        let reading = match (&self.reading, &other.reading) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        Arc::ptr_eq(&self.look, &other.look) && reading
    }
}

/// The model of lanes in a session.
#[derive(Clone, Debug, Default)]
pub struct LanesModel {
    pub state: Option<Arc<LaneState>>,
    /// Reason why the state could not be computed.
    pub trouble: Option<String>,
    /// The input of the state.
    of: Option<LaneRequest>,
    pending: Option<(TaskId, LaneRequest)>,
    due_ms: u64,
    /// The waiting hosts when the last move of flows began.
    before_move: Option<WaitingHosts>,
}

/// Number of hosts that are held up, and the sum of their waiting in ticks per second.
#[derive(Clone, Copy, PartialEq, Debug)]
struct WaitingHosts {
    hosts: usize,
    ticks: f64,
}

impl WaitingHosts {
    fn from_verdict(reading: &WatchVerdict) -> Self {
        let held = &reading.watched.verdict.congested_adapters;
        Self { hosts: held.len(), ticks: held.iter().map(|held| held.at.congestion).sum() }
    }

    /// The waiting as text: `14 hosts, 35.6G ticks/s`.
    fn words(self) -> String {
        let ticks = Value::Number(self.ticks as u64).scaled().into_owned();
        format!("{}, {ticks} ticks/s", count_words(self.hosts, "host", "hosts"))
    }
}

impl LanesModel {
    /// The snapshot of the state, which defines its port ids.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.of.as_ref().map(|of| &of.look)
    }
}

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
    let Some(asked) = outdated_request(state).filter(|_| state.now_ms >= state.known.lanes.due_ms) else {
        return Vec::new();
    };
    let (task, effect) = state.begin_quiet("reading lanes", TaskRequest::Lanes(Box::new(asked.clone())));
    state.known.lanes.pending = Some((task, asked));
    vec![effect]
}

/// Marks the state as old, after a change was written or rolled back.
pub fn invalidate_tables(known: &mut Model) {
    (known.lanes.of, known.lanes.due_ms) = (None, 0);
}

/// Records the waiting hosts before flows move, to compare with the waiting afterwards.
pub fn record_waiting(known: &mut Model) {
    known.lanes.before_move = known.watch.reading.as_ref().map(|reading| WaitingHosts::from_verdict(reading));
}

/// The line about the effect of a move, once there is a verdict over the time after it.
fn relief_line(known: &Model) -> Option<(Severity, String)> {
    let before = known.lanes.before_move?;
    let reading = known.watch.reading.as_ref().filter(|_| !known.watch.has_earlier_verdict())?;
    let now = WaitingHosts::from_verdict(reading);
    Some((Severity::Info, format!("held up before the move: {}; now: {}", before.words(), now.words())))
}

/// Receives the state of lanes.
pub fn receive_lanes(
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
            Err("the state of lanes is not known yet: Lanes (6) reads it".to_owned())
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

/// The lines above the list, with their severity.
pub fn lanes_head(known: &Model) -> Vec<(Severity, String)> {
    let lanes = &known.lanes;
    if let Some(trouble) = &lanes.trouble {
        return vec![(Severity::Warning, trouble.clone())];
    }
    let Some(state) = &lanes.state else { return Vec::new() };
    let mut lines = vec![flows_head(state, known.watch.reading.is_some())];
    lines.extend(tables_head(state));
    lines.extend(relief_line(known));
    lines
}

/// The line about flows. Without a verdict, the proposed moves are unknown.
fn flows_head(state: &LaneState, judged: bool) -> (Severity, String) {
    let count = |standing| {
        let flows = state.spots.iter().flat_map(|spot| &spot.flows);
        flows.filter(|flow| flow.standing == standing).count()
    };
    let flows = |count: usize| count_words(count, "flow", "flows");
    let proposed = count(LaneStatus::Proposed);
    let cooling = count(LaneStatus::Cooling);
    let slow = count(LaneStatus::InForce) + count(LaneStatus::Untold);
    let mut words = Vec::new();
    if proposed > 0 {
        words.push(format!("{} would move to the slow lane (a)", flows(proposed)));
    }
    if cooling > 0 {
        words.push(format!("{} would move back from the slow lane (a)", flows(cooling)));
    }
    if slow > 0 {
        words.push(format!("{} on the slow lane", flows(slow)));
    }
    match words.is_empty() {
        true if judged => (Severity::Info, "no flow is on a slow lane, and none would move there".to_owned()),
        true => {
            let text = "no flow is known to be on a slow lane; counters were not read yet";
            (Severity::Info, text.to_owned())
        }
        false if proposed + cooling > 0 => (Severity::Warning, words.join("; ")),
        false => (Severity::Info, words.join("; ")),
    }
}

fn tables_head(state: &LaneState) -> Option<(Severity, String)> {
    if let Some(why) = &state.refused {
        return Some((Severity::Warning, format!("the tables that lanes need are not known: {why}")));
    }
    let all = count_words(state.tables.len(), "table", "tables");
    match state.differing_tables().count() {
        _ if state.tables.is_empty() => None,
        0 => Some((Severity::Info, format!("{all} on the paths, all as the lanes need them"))),
        some => {
            let more = if state.needs_tables() { "; a corrects them" } else { "" };
            Some((
                Severity::Warning,
                format!("{all} on the paths, {some} not as the lanes need them (the other view{more})"),
            ))
        }
    }
}
