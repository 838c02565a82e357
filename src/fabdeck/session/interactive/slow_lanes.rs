//! The lanes of dFtree in a session: proposed moves, moved flows, and the status of tables. While Lanes is
//! visible, they are computed in the background after each verdict. On a live fabric, the process reads the
//! tables.

use std::sync::Arc;

use super::changing::{self, Planned, Writing};
use super::effect::{Effect, Job};
use super::known::Known;
use super::messages::Severity;
use super::screens::ScreenId;
use super::state::State;
use super::tasks::TaskId;
use super::watch::Reading;
use crate::session::{LaneStanding, LaneState, Look, Sent, Value, counted, lane_state};
use fabdeck_routing::lanes::{Moves, propose};

/// Minimum interval between two readings of lane tables. There are many tables, so not every sweep reads
/// them.
const REST_MS: u64 = 5000;

/// The input for the state of lanes.
#[derive(Clone, Debug)]
pub struct LanesAsked {
    pub look: Arc<Look>,
    /// The last verdict; without one, the state has only the moves in force.
    pub reading: Option<Arc<Reading>>,
    /// Whether the fabric is live, so that only the process can read it.
    pub live: bool,
    /// Whether all flows on the slow lane move back, independent of the verdict.
    pub back: bool,
}

impl LanesAsked {
    /// Computes the state from the snapshot alone, which does not contain the moves of applied changes.
    pub fn run(&self) -> LaneState {
        let moves = self.reading.as_ref().map_or_else(Moves::default, |reading| {
            propose(self.look.fabric(), &reading.watched.verdict, &reading.watched.told, &[])
        });
        lane_state(&self.look, &moves, &[], Sent::Unsaid)
    }

    fn is(&self, other: &Self) -> bool {
        let reading = match (&self.reading, &other.reading) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        Arc::ptr_eq(&self.look, &other.look) && reading
    }
}

/// The model of lanes in a session.
#[derive(Clone, Debug, Default)]
pub struct LanesSeen {
    pub state: Option<Arc<LaneState>>,
    /// Reason why the state could not be computed.
    pub trouble: Option<String>,
    /// The input of the state.
    of: Option<LanesAsked>,
    under: Option<(TaskId, LanesAsked)>,
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
    fn of(reading: &Reading) -> Self {
        let held = &reading.watched.verdict.held_up;
        Self { hosts: held.len(), ticks: held.iter().map(|held| held.at.congestion).sum() }
    }

    /// The waiting as text: `14 hosts, 35.6G ticks/s`.
    fn words(self) -> String {
        let ticks = Value::Number(self.ticks as u64).scaled().into_owned();
        format!("{}, {ticks} ticks/s", counted(self.hosts, "host", "hosts"))
    }
}

impl LanesSeen {
    /// The snapshot of the state, which defines its port ids.
    pub fn look(&self) -> Option<&Arc<Look>> {
        self.of.as_ref().map(|of| &of.look)
    }
}

/// The input for the state, as of now.
fn asked(state: &State) -> Option<LanesAsked> {
    let known = &state.known;
    let (look, reading) = (known.look.clone()?, known.watch.reading.clone());
    let past = known.playback.as_ref().is_some_and(|playback| playback.live.is_some());
    let live = !matches!(state.writing, Writing::Never(_)) && !past;
    known.tables.then_some(LanesAsked { look, reading, live, back: false })
}

/// The input for a new state, if Lanes is visible and its state has another input.
fn is_old(state: &State) -> Option<LanesAsked> {
    let lanes = &state.known.lanes;
    // A new snapshot cancels the tasks of the old one.
    let under = lanes.under.as_ref().is_some_and(|(task, _)| state.tasks.get(*task).is_some());
    let here = state.screen == ScreenId::Lanes && !under;
    asked(state).filter(|asked| here && lanes.of.as_ref().is_none_or(|of| !of.is(asked)))
}

/// Time at which the lanes need a tick, even without any other event.
pub fn wakes_ms(state: &State) -> Option<u64> {
    is_old(state).map(|_| state.known.lanes.due_ms.max(state.now_ms))
}

/// Handles the passing of time or a change of the screen: starts a task where the state is old.
pub fn tick(state: &mut State) -> Vec<Effect> {
    let Some(asked) = is_old(state).filter(|_| state.now_ms >= state.known.lanes.due_ms) else {
        return Vec::new();
    };
    let (task, effect) = state.begin_quiet("reading lanes", Job::Lanes(Box::new(asked.clone())));
    state.known.lanes.under = Some((task, asked));
    vec![effect]
}

/// Marks the state as old, after a change was written or rolled back.
pub fn changed(known: &mut Known) {
    (known.lanes.of, known.lanes.due_ms) = (None, 0);
}

/// Records the waiting hosts before flows move, to compare with the waiting afterwards.
pub fn moves_begin(known: &mut Known) {
    known.lanes.before_move = known.watch.reading.as_ref().map(|reading| WaitingHosts::of(reading));
}

/// The line about the effect of a move, once there is a verdict over the time after it.
fn relief(known: &Known) -> Option<(Severity, String)> {
    let before = known.lanes.before_move?;
    let reading = known.watch.reading.as_ref().filter(|_| !known.watch.before_look())?;
    let now = WaitingHosts::of(reading);
    Some((Severity::Said, format!("held up before the move: {}; now: {}", before.words(), now.words())))
}

/// Receives the state of lanes.
pub fn told(state: &mut State, task: TaskId, result: Result<Box<LaneState>, String>) -> Vec<Effect> {
    let now_ms = state.now_ms;
    let lanes = &mut state.known.lanes;
    let Some((_, of)) = lanes.under.take_if(|(under, _)| *under == task) else { return Vec::new() };
    (lanes.of, lanes.due_ms) = (Some(of), now_ms + REST_MS);
    match result {
        Ok(told) => (lanes.state, lanes.trouble) = (Some(Arc::from(told)), None),
        Err(error) => lanes.trouble = Some(error),
    }
    state.screens.refresh(&state.known);
    Vec::new()
}

/// The plan of the proposed moves.
pub fn planned(state: &State) -> Result<Planned, &'static str> {
    let lanes = &state.known.lanes;
    let wants = lanes.state.as_ref().is_some_and(|state| state.wants_plan());
    match asked(state).filter(|asked| asked.live && wants) {
        Some(asked) => Ok(Planned::Lanes(Box::new(asked))),
        None if wants => Err("what is shown is a recording"),
        None => Err("no flow would go to the slow lane or come back from it, and no table wants writing"),
    }
}

/// Checks that flows on the slow lane can be moved back.
pub fn can_move_back(state: &State) -> Result<(), String> {
    changing::can_apply(state)?;
    match state.known.lanes.state.as_ref().is_some_and(|lanes| lanes.has_moved()) {
        true => Ok(()),
        false if state.known.lanes.state.is_none() => {
            Err("how lanes stand is not known yet: Lanes (6) asks".to_owned())
        }
        false => Err("no flow is on the slow lane".to_owned()),
    }
}

/// Offers the plan that moves all flows back from the slow lane.
pub fn move_back(state: &mut State, _: &str) -> Vec<Effect> {
    let Some(asked) = asked(state).filter(|asked| asked.live) else {
        state.say(Severity::Warning, "move-back: what is shown is a recording");
        return Vec::new();
    };
    let asked = LanesAsked { back: true, ..asked };
    changing::apply_lanes(
        state,
        Planned::Lanes(Box::new(asked)),
        ("moving flows back", "lanes propose --back"),
    )
}

/// The lines above the list, with their severity.
pub fn lanes_head(known: &Known) -> Vec<(Severity, String)> {
    let lanes = &known.lanes;
    if let Some(trouble) = &lanes.trouble {
        return vec![(Severity::Warning, trouble.clone())];
    }
    let Some(state) = &lanes.state else { return Vec::new() };
    let mut lines = vec![flows_head(state, known.watch.reading.is_some())];
    lines.extend(tables_head(state));
    lines.extend(relief(known));
    lines
}

/// The line about flows. Without a verdict, the proposed moves are unknown.
fn flows_head(state: &LaneState, judged: bool) -> (Severity, String) {
    let count = |standing| {
        let flows = state.spots.iter().flat_map(|spot| &spot.flows);
        flows.filter(|flow| flow.standing == standing).count()
    };
    let flows = |count: usize| counted(count, "flow", "flows");
    let proposed = count(LaneStanding::Proposed);
    let cooling = count(LaneStanding::Cooling);
    let slow = count(LaneStanding::InForce) + count(LaneStanding::Untold);
    let mut words = Vec::new();
    if proposed > 0 {
        words.push(format!("{} would go to the slow lane (a)", flows(proposed)));
    }
    if cooling > 0 {
        words.push(format!("{} would come back from the slow lane (a)", flows(cooling)));
    }
    if slow > 0 {
        words.push(format!("{} on the slow lane", flows(slow)));
    }
    match words.is_empty() {
        true if judged => (Severity::Said, "no flow is on a slow lane, and none would go there".to_owned()),
        true => {
            let text = "no flow is known to be on a slow lane; nobody swept counters yet";
            (Severity::Said, text.to_owned())
        }
        false if proposed + cooling > 0 => (Severity::Warning, words.join("; ")),
        false => (Severity::Said, words.join("; ")),
    }
}

fn tables_head(state: &LaneState) -> Option<(Severity, String)> {
    if let Some(why) = &state.refused {
        return Some((Severity::Warning, format!("what tables should hold is not known: {why}")));
    }
    let all = counted(state.tables.len(), "table", "tables");
    match state.differing().count() {
        _ if state.tables.is_empty() => None,
        0 => Some((Severity::Said, format!("{all} on the ways, all as the lanes need them"))),
        some => {
            let more = if state.wants_tables() { "; a puts them right" } else { "" };
            Some((
                Severity::Warning,
                format!("{all} on the ways, {some} not as the lanes need them (the other view{more})"),
            ))
        }
    }
}
