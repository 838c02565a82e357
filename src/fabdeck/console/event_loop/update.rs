//! Updates the state, one event at a time.

use super::event::{SessionEvent, SessionInput};
use super::mouse_input::handle_mouse;
use super::page_rows::rows_in_sight;
use super::run_action::run_action;
use super::{line_input, overlays, results};
use crate::catalogue::severity::Severity;
use crate::console::features::feature_table::features;
use crate::console::features::outputs::slow_line::take_measured_line;
use crate::console::features::screens::ScreenId;
use crate::console::features::snapshot_outcomes;
use crate::console::model::action::OverlayScope;
use crate::console::model::effect::Effect;
use crate::console::model::key::Key;
use crate::console::model::overlay::Overlay;
use crate::console::model::state::SessionState;

/// A second Ctrl-C within this time ends the session in any case.
const DOUBLE_PRESS_MS: u64 = 1000;

/// Applies an event to the state, and returns the effects.
pub fn update(state: &mut SessionState, event: SessionEvent) -> Vec<Effect> {
    state.now_ms = state.now_ms.max(event.at_ms);
    state.known.changes.now_ms = state.now_ms;
    let mut effects = match event.what {
        SessionInput::Key(key) => handle_key(state, key),
        SessionInput::Mouse(mouse) => handle_mouse(state, &mouse),
        SessionInput::Paste(text) => line_input::insert_paste(state, &text),
        SessionInput::Resized(size) => {
            state.size = size;
            Vec::new()
        }
        SessionInput::Tick => features().flat_map(|feature| (feature.tick)(state)).collect(),
        SessionInput::Progress { task, done, of } => {
            state.tasks.update_progress(task, done, of, state.now_ms);
            Vec::new()
        }
        SessionInput::Sighted { task, look } => snapshot_outcomes::receive_fabric(state, task, look),
        SessionInput::Finished { task, outcome } => results::receive_outcome(state, task, outcome),
        SessionInput::Message(text) => {
            state.log_message(Severity::Info, text);
            Vec::new()
        }
        SessionInput::LineSpeed { is_slow } => {
            take_measured_line(state, is_slow);
            Vec::new()
        }
        SessionInput::Resumed => vec![Effect::Redraw],
    };
    effects.extend(features().flat_map(|feature| (feature.follow)(state)).collect::<Vec<_>>());
    scroll_to_cursor(state);
    if state.screen == ScreenId::Changes && state.layer.is_none() {
        state.known.changes.mark_seen();
    }
    if matches!(state.layer, Some(Overlay::Log(_))) {
        state.messages.mark_read();
    }
    effects.append(&mut state.wanted);
    let messages = state.messages.take_unlogged();
    if !messages.is_empty() {
        effects.push(Effect::Log(messages));
    }
    effects
}

/// Time at which the session needs a tick, even without any other event.
pub fn next_wake_ms(state: &SessionState) -> Option<u64> {
    let wakes = features().filter_map(|feature| (feature.next_wake_ms)(state));
    wakes.chain(next_minute_ms(state)).min()
}

/// The time at which the clock of the header shows another minute.
fn next_minute_ms(state: &SessionState) -> Option<u64> {
    const MINUTE_MS: i64 = 60_000;
    let now_ms = i64::try_from(state.now_ms).ok()?;
    let past = state.known.clock?.unix_ms(now_ms).rem_euclid(MINUTE_MS);
    u64::try_from(now_ms + MINUTE_MS - past).ok()
}

fn scroll_to_cursor(state: &mut SessionState) {
    let page = rows_in_sight(state);
    let (screen, _) = state.current_mut();
    screen.table_mut().scroll_to_cursor(page);
}

/// Handles Ctrl-C, which ends the session in any state. Where that would end a change, the first Ctrl-C asks
/// as `q` does, and only a second one within [`DOUBLE_PRESS_MS`] ends it.
fn handle_interrupt(state: &mut SessionState) -> Vec<Effect> {
    let before = state.interrupted_ms.replace(state.now_ms);
    let again = before.is_some_and(|before| state.now_ms - before <= DOUBLE_PRESS_MS);
    if !again && crate::console::features::changes::change_actions::ask_if_change_ends(state) {
        state.prompt = None;
        return Vec::new();
    }
    state.leaving = true;
    vec![Effect::Interrupt]
}

fn handle_key(state: &mut SessionState, key: Key) -> Vec<Effect> {
    state.seen = state.messages.total_count();
    if key == Key::ctrl('c') {
        return handle_interrupt(state);
    }
    if state.prompt.is_some() {
        return line_input::handle_prompt_key(state, key);
    }
    if state.layer.is_some() {
        return handle_overlay_key(state, key);
    }
    match state.keymap.action(key, state.screen) {
        Some(action) => run_action(state, action, ""),
        None => match state.keymap.other_scope(key) {
            Some(place) => {
                state.log_message(
                    Severity::Info,
                    format!("{key} works on {place} only; ? lists the keys of this screen"),
                );
                Vec::new()
            }
            None => {
                state.log_message(Severity::Info, format!("{key} does nothing here; ? lists the keys"));
                Vec::new()
            }
        },
    }
}

/// Handles a key while an overlay is open: the overlay takes its own keys and refuses those of the screen
/// below, except those that act on the problem that a page shows.
fn handle_overlay_key(state: &mut SessionState, key: Key) -> Vec<Effect> {
    if matches!(state.layer, Some(Overlay::Dialogue(_))) {
        return crate::console::features::changes::dialogue_keys::handle_key(state, key);
    }
    if let Some(action) = state.keymap.overlay_action(key, OverlayScope::Layers) {
        return run_action(state, action, "");
    }
    match state.keymap.action(key, state.screen) {
        Some(action) if overlays::is_page_key(state, action) => run_action(state, action, ""),
        below => {
            overlays::refuse_key(state, key, below);
            Vec::new()
        }
    }
}
