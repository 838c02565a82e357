//! The preconditions of actions. An error has the reason that the operator sees.

use crate::console::features::awaited::{awaited_words, progress_words};
use crate::console::features::timeline::paused_watch;
use crate::console::model::overlay::Overlay;
use crate::console::model::state::{LoadState, SessionState};

/// Checks that there are moments to step through.
pub fn has_past(state: &SessionState) -> Result<(), String> {
    match &state.known.playback {
        Some(playback) if playback.is_returning() => Err(paused_watch::RETURNING_MESSAGE.to_owned()),
        Some(playback) if !playback.timeline().times.is_empty() => Ok(()),
        Some(_) => Err("the recording is still being read".to_owned()),
        None if state.known.watch.can_watch() => {
            Err("the screens are live: Space on the Timeline (0) pauses them, then [ steps back".to_owned())
        }
        None => {
            Err("this source has no recording: --source FILE.fdcap plays one of 'fabdeck record'".to_owned())
        }
    }
}

/// Checks that a watch can pause, which needs at least one sweep.
pub fn can_pause(state: &SessionState) -> Result<(), String> {
    match () {
        () if !state.known.watch.can_watch() => has_past(state),
        () if state.known.watch.sweeps == 0 => Err("no sweep was read yet".to_owned()),
        () => Ok(()),
    }
}

pub fn has_fabric(state: &SessionState) -> Result<(), String> {
    match (&state.known.look, &state.loading) {
        (Some(_), _) => Ok(()),
        (None, LoadState::Failed(_)) => Err("the source could not be read; r reads it again".to_owned()),
        (None, LoadState::Under(task)) => {
            Err(format!("the source is still being read{}", progress_words(state, *task)))
        }
        (None, _) => Err("the source is still being read".to_owned()),
    }
}

/// Checks that the snapshot is complete. Actions that compare with the tables in force need them.
pub fn has_whole_snapshot(state: &SessionState) -> Result<(), String> {
    has_fabric(state)?;
    match state.loading {
        LoadState::Under(task) => {
            Err(format!("the tables are still being read{}", progress_words(state, task)))
        }
        LoadState::Failed(_) if !state.known.tables => {
            Err("the tables were not read completely; r reads them again".to_owned())
        }
        _ => Ok(()),
    }
}

pub fn has_paths(state: &SessionState) -> Result<(), String> {
    has_whole_snapshot(state)?;
    match (&state.known.paths, state.known.tables) {
        (Some(_), _) => Ok(()),
        (None, true) if let Some(why) = &state.known.unindexed => {
            Err(format!("the paths cannot be indexed: {why}"))
        }
        (None, true) => Err(match awaited_words(state) {
            Some(awaited) => format!("not before {awaited}"),
            None => "the paths are still being indexed".to_owned(),
        }),
        (None, false) => Err("the source has no forwarding tables".to_owned()),
    }
}

pub fn has_list(state: &SessionState) -> Result<(), String> {
    if matches!(state.layer, Some(Overlay::Help(_))) {
        return Ok(());
    }
    match state.current().listing(&state.known) {
        Some(_) => Ok(()),
        None => Err("there is no list here".to_owned()),
    }
}

pub fn can_write_plan(state: &SessionState) -> Result<(), String> {
    has_whole_snapshot(state)?;
    let Some(engine) = state.screens.whatif.engine() else {
        return Err("put the cursor on an engine".to_owned());
    };
    match state.known.proposal(engine) {
        Some(_) => Ok(()),
        None => Err(state.known.no_proposal_words(engine)),
    }
}
