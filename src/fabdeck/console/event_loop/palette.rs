//! The palette: runs a line that begins with the word of an action.

use crate::catalogue::severity::Severity;
use crate::console::features::completion::matching_actions;
use crate::console::features::goto::goto_rows::named_action;
use crate::console::model::action::Action;
use crate::console::model::effect::Effect;
use crate::console::model::state::SessionState;

/// The action that the first word of a line names.
pub fn line_action(state: &SessionState, line: &str) -> Option<&'static Action> {
    named_action(state, line.split_whitespace().next()?)
}

/// Runs a line of the palette.
pub fn run_line(state: &mut SessionState, line: &str) -> Vec<Effect> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match named_action(state, word) {
        Some(action) => super::run_action::run_action(state, action, rest.trim()),
        None if word.is_empty() => Vec::new(),
        None => {
            let like =
                matching_actions(state, line).first().map(|action| format!("; did you mean '{}'", action.id));
            let like = like.unwrap_or_default();
            state.log_message(Severity::Error, format!("there is no action '{word}'{like}; ? lists them"));
            Vec::new()
        }
    }
}
