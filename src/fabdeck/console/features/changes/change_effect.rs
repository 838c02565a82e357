//! Finds out what a change did: keeps the values of the time before its writes, and counts the pairs without a path.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::change_effects::PairCount;
use super::dialogue::DialogueQuestion;
use crate::console::features::screens::ScreenId;
use crate::console::model::background_task::{BackgroundTask, TaskOutcome};
use crate::console::model::effect::Effect;
use crate::console::model::fabric_model::Model;
use crate::console::model::overlay::Overlay;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::task_services::TaskServices;
use crate::console::model::tasks::TaskId;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::changes::pair_count::PairCountRequest;
use crate::operations::health::ranked_problems::RankedProblems;
use fabdeck_change::ChangePhase;
use fabdeck_routing::RouteProgress;

/// The last reading before the writes may be this old. With a longer interval between readings it is two of these.
const BEFORE_MS: u64 = 60_000;

/// Keeps the values before the writes of pending changes that were not known so far.
pub(super) fn keep_values_before(known: &mut Model) {
    let (changes, watch) = (&known.changes, &known.watch);
    let length_ms = BEFORE_MS.max(2 * watch.settings.interval_ms);
    let value = |row: &ChangeRow| {
        let written_ms = u64::try_from(changes.session_time_ms(&row.time)?).ok()?;
        watch.totals.last_before(written_ms, length_ms)
    };
    let new = changes.pending_rows().filter(|row| !changes.effects.before.contains_key(&row.id));
    let new: Vec<_> = new.map(|row| (row.id.clone(), value(row))).collect();
    let begun = |id: &String| changes.begun.contains(id);
    let is_new = |row: &&ChangeRow| {
        !row.moves.is_empty() && begun(&row.id) && !changes.effects.moves.contains_key(&row.id)
    };
    let moved = changes.pending_rows().find(is_new).map(|row| row.id.clone());
    let moved = moved.zip(known.lanes.before_move.clone());
    // Problems of a reading that is older than the writes; a session that found the change knows none.
    let ranked = known.problems.ranked.as_ref().filter(|ranked| ranked.at_ms.is_some());
    let titles = |ranked: &Arc<RankedProblems>| -> BTreeMap<String, String> {
        ranked.problems.iter().map(|problem| (problem.id.clone(), problem.title.clone())).collect()
    };
    let titles = ranked.map(titles);
    for (id, _) in new.iter().filter(|(_, value)| value.is_some()) {
        let titles = titles.iter().cloned().map(|titles| (id.clone(), titles));
        known.changes.effects.problems.extend(titles);
    }
    known.changes.effects.before.extend(new);
    known.changes.effects.moves.extend(moved);
}

/// Counts the pairs of the change at the cursor of Changes, or whose confirmation or rollback is asked about, where they are not known for this snapshot.
pub fn follow(state: &mut SessionState) -> Vec<Effect> {
    let Some((change, request)) = outdated_request(state) else { return Vec::new() };
    let count = PairCount { change, look: request.look.clone(), pairs: None };
    let (task, effect) = state.begin_quiet("counting pairs without a path", PairCountTask(request));
    state.known.changes.effects.counting = Some((task, count));
    vec![effect]
}

fn outdated_request(state: &SessionState) -> Option<(String, PairCountRequest)> {
    let id = match &state.layer {
        Some(Overlay::Dialogue(dialogue)) => match &dialogue.question {
            DialogueQuestion::Confirm { id } | DialogueQuestion::RollBack { id, .. } => id,
            _ => return None,
        },
        // Changes has the same figures beside the list.
        _ if state.screen == ScreenId::Changes => &state.screens.changes.change()?.id,
        _ => return None,
    };
    let changes = &state.known.changes;
    let row = changes.row(id).filter(|row| row.state == ChangePhase::Applied && row.pairs.is_some())?;
    // Until the fabric is read again, the tables of the snapshot are those before the writes.
    let is_current = state.loading == LoadState::Done && !changes.look_wanted;
    let is_live = state.known.playback.as_ref().is_none_or(|playback| playback.live.is_none());
    let look = state.known.look.clone().filter(|_| is_current && is_live)?;
    let effects = &changes.effects;
    let is_known = effects.counted.as_ref().is_some_and(|counted| counted.is_of(id, &look));
    let under =
        |(task, count): &(TaskId, PairCount)| state.tasks.get(*task).is_some() && count.is_of(id, &look);
    if is_known || effects.counting.as_ref().is_some_and(under) {
        return None;
    }
    // Where the journal has only the counts of a supposed failure, the same is counted now.
    let failed = if row.actual_pairs().is_some() { Vec::new() } else { row.failed.clone() };
    let switches = row.covers_switches;
    Some((id.clone(), PairCountRequest { look, failed, switches }))
}

/// Counts the pairs without a path.
#[derive(Debug)]
pub struct PairCountTask(PairCountRequest);

impl BackgroundTask for PairCountTask {
    fn run(&self, _: &mut dyn TaskServices, progress: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
        Some(Box::new(PairCountOutcome(self.0.run(progress))))
    }
}

#[derive(Debug)]
pub struct PairCountOutcome(Option<u64>);

impl TaskOutcome for PairCountOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, task: TaskId) -> Vec<Effect> {
        let effects = &mut state.known.changes.effects;
        if let Some((_, count)) = effects.counting.take_if(|(counting, _)| *counting == task) {
            effects.counted = Some(PairCount { pairs: self.0, ..count });
        }
        Vec::new()
    }

    fn digest_text(&self) -> String {
        format!("counted {:?}", self.0)
    }
}
