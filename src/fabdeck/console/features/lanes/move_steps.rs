//! The steps of a move of flows to the slow lane, and at which of them the session is.

use crate::catalogue::summary::count_words;
use crate::console::features::changes::change_actions::can_write;
use crate::console::model::state::SessionState;
use crate::operations::changes::change_row::countdown;
use crate::operations::lanes::slow_lanes::{LaneState, LaneStatus};

/// How far a step is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MoveStepState {
    Done,
    /// The session is here: it is what to do next.
    Here,
    Later,
}

/// A step of a move.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MoveStep {
    pub state: MoveStepState,
    /// The key of the step; empty where the step happens by itself.
    pub key: &'static str,
    pub text: String,
}

/// The place of the session among the steps, from 0.
fn place(state: &SessionState, lanes: &LaneState) -> usize {
    let flows = || lanes.spots.iter().flat_map(|spot| &spot.flows);
    let has = |status: LaneStatus| flows().any(|flow| flow.standing == status);
    let pending = state.known.changes.pending_rows().find(|row| !row.moves.is_empty());
    match pending.map(|row| row.state == fabdeck_change::ChangePhase::Applied) {
        Some(true) => 3,
        Some(false) => 2,
        None if has(LaneStatus::Proposed) => 1,
        None if has(LaneStatus::InForce) || has(LaneStatus::Cooling) || has(LaneStatus::Untold) => 4,
        None => 0,
    }
}

pub fn move_steps(state: &SessionState) -> Vec<MoveStep> {
    let Some(lanes) = &state.known.lanes.state else { return Vec::new() };
    let place = place(state, lanes);
    let flows = || lanes.spots.iter().flat_map(|spot| &spot.flows);
    let count = |status| flows().filter(|flow| flow.standing == status).count();
    let spots: Vec<&str> =
        lanes.spots.iter().map(|spot| spot.port.name.split(' ').next().unwrap_or_default()).collect();
    let found = match spots.as_slice() {
        [] => "an adapter receives more slowly than packets come: none does now".to_owned(),
        [one] => format!("{one} receives more slowly than packets come"),
        [first, rest @ ..] => {
            format!("{first} and {} more receive more slowly than packets come", rest.len())
        }
    };
    let proposed = count(LaneStatus::Proposed);
    let ask = match (proposed, can_write(state)) {
        (0, _) => "compares the moves with the fabric, and asks before it writes".to_owned(),
        (_, Err(why)) => format!("{} would move; not here: {why}", count_words(proposed, "flow", "flows")),
        (_, Ok(())) => format!(
            "{} move to the slow lane: compares that with the fabric, and asks",
            count_words(proposed, "flow", "flows")
        ),
    };
    let differing = lanes.differing_tables().count();
    let write = match differing {
        0 => "the guard asks the hosts to change the level; all tables are as needed".to_owned(),
        some => {
            let tables = count_words(some, "table", "tables");
            format!("the guard writes {tables} on the paths, then asks the hosts to change the level")
        }
    };
    let left = state.known.changes.first_pending_row().and_then(|row| state.known.changes.left_ms(row));
    let keep = match left.filter(|_| place == 3) {
        Some(left) => format!("keeps it, with {} left; u takes it back at once", countdown(left / 1000)),
        None => "keeps it, else it is taken back by itself; u does that at once".to_owned(),
    };
    let moved = count(LaneStatus::InForce) + count(LaneStatus::Cooling) + count(LaneStatus::Untold);
    let back = match moved {
        0 => "moves flows back, once the adapter keeps up again".to_owned(),
        moved => {
            format!("moves {} back, once the adapter keeps up again", count_words(moved, "flow", "flows"))
        }
    };
    let steps = [("", found), ("a", ask), ("", write), ("y", keep), ("B", back)];
    let step = |(at, (key, text)): (usize, (&'static str, String))| MoveStep {
        state: match at.cmp(&place) {
            std::cmp::Ordering::Less => MoveStepState::Done,
            std::cmp::Ordering::Equal => MoveStepState::Here,
            std::cmp::Ordering::Greater => MoveStepState::Later,
        },
        key,
        text,
    };
    steps.into_iter().enumerate().map(step).collect()
}
