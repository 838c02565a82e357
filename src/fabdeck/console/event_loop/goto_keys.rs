//! Keys of the line that goes to anything, besides those that edit the line, and what Enter does.

use super::palette;
use super::run_action::run_action;
use crate::catalogue::severity::Severity;
use crate::console::features::completion::open_prompt;
use crate::console::features::goto::goto_rows::{GotoKind, split_line};
use crate::console::features::goto::goto_state::{GotoRow, GotoTarget};
use crate::console::features::goto::jump::{go_to_other_place, go_to_place, has_other_place, remember};
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;

/// Moves the cursor of the list.
pub fn pick_row(state: &mut SessionState, down: bool) -> Vec<Effect> {
    state.goto.pick_next(down);
    Vec::new()
}

/// Goes to the next group of rows. In the argument of an action there is one group: the next row.
pub fn pick_group(state: &mut SessionState, forward: bool) -> Vec<Effect> {
    let completes = |row: &GotoRow| matches!(row.target, GotoTarget::Completion { .. });
    match state.goto.rows.iter().any(completes) {
        true => state.goto.pick_next(forward),
        false => state.goto.pick_group(forward),
    }
    Vec::new()
}

/// The line that Tab makes of this one: an argument, or the word of an action, as far as all of them agree.
pub fn completed_line(state: &SessionState) -> Option<String> {
    let prompt = state.prompt.as_ref()?;
    let (_, line) = split_line(&prompt.text);
    let has_argument = line.contains(char::is_whitespace);
    let more = prompt.common_completion().filter(|_| !state.goto.is_chosen)?;
    // Only for an argument do names count that have the text elsewhere than at their beginning.
    (has_argument || (!line.is_empty() && more.starts_with(line))).then_some(more)
}

/// Shows the line that was entered before.
pub fn recall_line(state: &mut SessionState) -> bool {
    let line = state.goto.recall_line();
    match (line, &mut state.prompt) {
        (Some(line), Some(prompt)) => {
            prompt.replace(line);
            true
        }
        _ => false,
    }
}

/// Takes the row of the cursor, or runs the line.
pub fn press_enter(state: &mut SessionState) -> Vec<Effect> {
    let Some(prompt) = state.prompt.take() else { return Vec::new() };
    let Some(row) = state.goto.picked_row().cloned() else { return run_line(state, &prompt.text) };
    if let GotoTarget::More(group) = row.target {
        state.goto.expanded = Some(group);
        state.prompt = Some(prompt);
        return Vec::new();
    }
    state.goto.remember_line(&prompt.text);
    match &row.target {
        GotoTarget::Completion { line, needs_more: true } => {
            open_prompt(state, Purpose::Command, line.clone());
            Vec::new()
        }
        GotoTarget::Completion { line, .. } | GotoTarget::Line(line) => run_named(state, line),
        GotoTarget::Action { id, argument } => take_action(state, id, argument),
        target => {
            remember(state, target.clone(), &row.text);
            go_to_place(state, target)
        }
    }
}

/// Opens the row of the cursor in its other place. The line stays open for a row without one.
pub fn open_other_place(state: &mut SessionState) -> Vec<Effect> {
    let Some(row) = state.goto.picked_row().cloned() else { return Vec::new() };
    if !has_other_place(state, &row.target) {
        state.log_message(Severity::Info, "this row has one place: enter goes there");
        return Vec::new();
    }
    if let Some(prompt) = state.prompt.take() {
        state.goto.remember_line(&prompt.text);
    }
    remember(state, row.target.clone(), &row.text);
    go_to_other_place(state, &row.target);
    Vec::new()
}

/// Runs an action, or asks for the argument that it needs.
fn take_action(state: &mut SessionState, id: &str, argument: &str) -> Vec<Effect> {
    let Some(action) = state.keymap.find_action(id) else { return Vec::new() };
    let needs_argument = !(action.argument.is_empty() || action.argument.starts_with('['));
    if argument.is_empty() && needs_argument && (action.ready)(state).is_ok() {
        open_prompt(state, Purpose::Command, format!("{id} "));
        return Vec::new();
    }
    let line = format!("{id} {argument}").trim_end().to_owned();
    remember(state, GotoTarget::Line(line.clone()), &line);
    let effects = run_action(state, action, argument);
    // The row asked what happens if it fails: What-if has the answer.
    if id == "mark" && !argument.is_empty() && !state.known.marks.is_empty() {
        open_screen(state, ScreenId::Whatif);
    }
    effects
}

/// Runs a line that begins with the word of an action.
fn run_named(state: &mut SessionState, line: &str) -> Vec<Effect> {
    let line = line.trim();
    if palette::line_action(state, line).is_some() {
        remember(state, GotoTarget::Line(line.to_owned()), line);
    }
    palette::run_line(state, line)
}

/// Whether the names of the snapshot are still being indexed.
fn is_indexing(state: &SessionState) -> bool {
    state.goto.index.is_none() && state.known.look.is_some()
}

fn run_line(state: &mut SessionState, text: &str) -> Vec<Effect> {
    state.goto.remember_line(text);
    let (kind, line) = split_line(text);
    match kind {
        None if is_indexing(state) && !line.is_empty() && palette::line_action(state, line).is_none() => {
            open_prompt(state, Purpose::Command, text);
            state.log_message(Severity::Info, "the names are being indexed: enter goes there in a moment");
            Vec::new()
        }
        None | Some(GotoKind::Actions) => run_named(state, line),
        Some(_) if line.is_empty() => Vec::new(),
        Some(_) => {
            state.log_message(Severity::Warning, format!("nothing matches '{}'", text.trim()));
            Vec::new()
        }
    }
}
