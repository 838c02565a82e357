//! Runs an action, or says why it cannot run now.

use crate::catalogue::severity::Severity;
use crate::console::features::timeline::operator_log;
use crate::console::model::action::{Action, KeyScope, OverlayScope};
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

/// Runs an action, or reports why it cannot run now.
pub fn run_action(state: &mut SessionState, action: &'static Action, argument: &str) -> Vec<Effect> {
    // A palette command for the screen below closes the overlay.
    if action.over == OverlayScope::Nothing {
        state.layer = None;
    }
    if let KeyScope::On(screen) = action.place {
        state.screen = screen;
    }
    if let Err(why) = (action.ready)(state) {
        state.log_message(Severity::Warning, format!("{}: {why}", action.id));
        return Vec::new();
    }
    state.unsaved.warned &= matches!(action.id, "back" | "quit");
    // Only the key twice in a row copies the line that opens the view.
    if action.id != "copy-line" {
        state.copied_view = None;
    }
    let before = action.line.map(|_| state.known.marks.clone());
    let mut effects = (action.act)(state, argument);
    effects.extend(before.into_iter().flat_map(|before| operator_log::log_marks(state, &before)));
    if let Some(line) = action.line.and_then(|line| line(state)) {
        state.last_line = Some(line);
    }
    effects
}
