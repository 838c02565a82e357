//! What a new snapshot and its paths do to the session.

use std::sync::{Arc, Mutex};

use super::refresh::refresh_screens;
use super::snapshot_change::{PathIndexOutcome, SnapshotOutcome, replace_snapshot};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::changes::change_requests;
use crate::console::features::map::rank_task::RankTask;
use crate::console::features::watch::sweep_cycle;
use crate::console::features::whatif::engine_runs::start_next_engine;
use crate::console::features::whatif::marking::count_lost_paths;
use crate::console::model::background_task::TaskOutcome;
use crate::console::model::effect::Effect;
use crate::console::model::messages::LogMessage;
use crate::console::model::state::{LoadState, SessionState};
use crate::console::model::tasks::TaskId;
use crate::operations::preview::path_preview::Preview;

impl TaskOutcome for SnapshotOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        let look = match self.0 {
            Ok(look) => look,
            Err(error) => return report_failed_reload(state, error),
        };
        let before = state.known.look.clone();
        let mut effects = receive_snapshot(state, look);
        effects.extend(sweep_cycle::restart_after_snapshot(state, before));
        effects.extend(change_requests::update_after_snapshot(state));
        effects
    }

    fn digest_text(&self) -> String {
        match &self.0 {
            Ok(look) => format!("looked {:?}", look.observation.fabric),
            Err(error) => format!("looked {error}"),
        }
    }

    fn opened_snapshot(&self) -> Option<&Snapshot> {
        self.0.as_deref().ok()
    }
}

impl TaskOutcome for PathIndexOutcome {
    fn receive(self: Box<Self>, state: &mut SessionState, _: TaskId) -> Vec<Effect> {
        match self.0 {
            Ok(preview) => receive_path_index(state, preview),
            Err(refusal) => {
                state.log_message(Severity::Error, format!("lost paths cannot be counted: {refusal}"));
                state.known.unindexed = Some(refusal.to_string());
                refresh_screens(state);
                Vec::new()
            }
        }
    }

    fn digest_text(&self) -> String {
        match &self.0 {
            Ok(_) => "indexed".to_owned(),
            Err(refusal) => format!("indexed {refusal}"),
        }
    }
}

/// Reports that reading failed. An earlier snapshot stays, and so does the watch.
fn report_failed_reload(state: &mut SessionState, error: String) -> Vec<Effect> {
    state.log_message(Severity::Error, error.clone());
    state.set_loading(match state.known.tables {
        true => LoadState::Done,
        false => LoadState::Failed(error),
    });
    refresh_screens(state);
    start_next_engine(state)
}

/// Receives the fabric before its tables, which is enough for browsing. If an earlier snapshot exists, the
/// session waits for the complete one.
pub fn receive_fabric(state: &mut SessionState, task: TaskId, look: Arc<Snapshot>) -> Vec<Effect> {
    if state.loading != LoadState::Under(task) || state.known.look.is_some() {
        return Vec::new();
    }
    state.known.look = Some(look.clone());
    refresh_screens(state);
    vec![state.begin("sorting switches by rank", RankTask::new(look)).1]
}

fn receive_snapshot(state: &mut SessionState, look: Arc<Snapshot>) -> Vec<Effect> {
    state.set_loading(LoadState::Done);
    // After a change, notes that were reported before are not repeated, as the result of the change matters
    // more.
    let follows = state.known.changes.rereading;
    let notes = look.observation.notes.iter().map(ToString::to_string);
    let new = |text: &String| !(follows && state.messages.iter().any(|message| message.text == *text));
    let notes: Vec<String> = notes.filter(new).collect();
    if !(follows && notes.is_empty()) {
        let (at_ms, severity) = (state.now_ms, Severity::Warning);
        notes.into_iter().for_each(|text| state.messages.push(LogMessage::new(at_ms, severity, text)));
        state.seen = state.messages.total_count();
    }
    if look.observation.is_partial() {
        state.log_message(
            Severity::Warning,
            "the snapshot is partial: part of the fabric did not answer (M shows the log)",
        );
    }
    replace_snapshot(state, look)
}

fn receive_path_index(state: &mut SessionState, preview: Arc<Mutex<Preview>>) -> Vec<Effect> {
    // No other thread has the preview yet, so the lock is free.
    state.known.paths = preview.lock().ok().map(|preview| preview.paths().clone());
    state.known.preview = Some(preview);
    refresh_screens(state);
    let mut effects = count_lost_paths(state);
    effects.extend(sweep_cycle::rejudge(state));
    effects
}
