//! Keys while the input line is open: characters are text, and other keys have their usual actions.

use super::goto_keys;
use super::run_action::run_action;
use crate::catalogue::severity::Severity;
use crate::console::features::completion;
use crate::console::features::completion::open_prompt;
use crate::console::features::health::acknowledging::enter_note;
use crate::console::features::paths::path_navigation;
use crate::console::features::row_selection::set_filter;
use crate::console::features::whatif::plan_file::write_plan;
use crate::console::model::action::OverlayScope;
use crate::console::model::effect::Effect;
use crate::console::model::key::{Key, KeyName};
use crate::console::model::overlay::Overlay;
use crate::console::model::prompt::{Prompt, Purpose};
use crate::console::model::state::SessionState;

pub fn insert_paste(state: &mut SessionState, text: &str) -> Vec<Effect> {
    if let Some(prompt) = &mut state.prompt {
        text.chars().for_each(|sign| prompt.insert(sign));
        return update_prompt(state);
    }
    Vec::new()
}

pub fn handle_prompt_key(state: &mut SessionState, key: Key) -> Vec<Effect> {
    let bound = state.keymap.overlay_action(key, OverlayScope::Lines);
    let is_goto = state.prompt.as_ref().is_some_and(|prompt| prompt.purpose == Purpose::Command);
    if key == Key::ctrl('p') && is_goto {
        return if goto_keys::recall_line(state) { update_prompt(state) } else { Vec::new() };
    }
    if key == Key::ctrl('o') && is_goto {
        return goto_keys::open_other_place(state);
    }
    state.goto.recalled = None;
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    // Moving the cursor in a suggestion turns it into text that can be edited.
    if key.typed_char().is_none() {
        prompt.suggested = false;
    }
    match key.press {
        KeyName::Esc => return abandon_prompt(state),
        KeyName::Enter => return run_prompt(state),
        KeyName::Backspace if !prompt.backspace() => return abandon_prompt(state),
        KeyName::Backspace => {}
        KeyName::Delete => prompt.delete(),
        KeyName::Left => prompt.move_cursor(-1),
        KeyName::Right => prompt.move_cursor(1),
        KeyName::Home => prompt.cursor = 0,
        KeyName::End => prompt.move_to_end(),
        KeyName::Char('u') if key.ctrl => prompt.clear(),
        KeyName::Up if prompt.can_recall() => prompt.replace(prompt.before.clone()),
        KeyName::Up | KeyName::Down if is_goto => {
            return goto_keys::pick_row(state, key.press == KeyName::Down);
        }
        KeyName::Up => return pick_completion(state, false),
        KeyName::Down => return pick_completion(state, true),
        KeyName::BackTab if is_goto => return goto_keys::pick_group(state, false),
        KeyName::BackTab => return pick_completion(state, false),
        KeyName::Tab => return complete_prompt(state),
        _ => match (key.typed_char(), bound) {
            (Some(sign), _) => prompt.insert(sign),
            (None, Some(action)) => return run_action(state, action, ""),
            (None, None) => return Vec::new(),
        },
    }
    update_prompt(state)
}

/// Completes the line as far as all completions agree; when it already is, selects the next completion.
fn complete_prompt(state: &mut SessionState) -> Vec<Effect> {
    if state.prompt.as_ref().is_some_and(|prompt| prompt.purpose == Purpose::Command) {
        let Some(more) = goto_keys::completed_line(state) else { return goto_keys::pick_group(state, true) };
        state.prompt.iter_mut().for_each(|prompt| prompt.replace(more.clone()));
        return update_prompt(state);
    }
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    match (prompt.picked, prompt.common_completion()) {
        (None, Some(more)) => {
            prompt.replace(more);
            update_prompt(state)
        }
        _ => pick_completion(state, true),
    }
}

/// Selects the next or the previous completion.
fn pick_completion(state: &mut SessionState, down: bool) -> Vec<Effect> {
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    let count = prompt.offers.len();
    if count > 0 {
        let step = if down { 1 } else { count - 1 };
        let first = if down { 0 } else { count - 1 };
        prompt.picked = Some(prompt.picked.map_or(first, |at| (at + step) % count));
    }
    Vec::new()
}

/// Updates the completions of the line, and applies a filter or search at once.
fn update_prompt(state: &mut SessionState) -> Vec<Effect> {
    let Some(mut prompt) = state.prompt.take() else { return Vec::new() };
    prompt.offers = completion::complete_line(state, prompt.purpose, &prompt.text);
    prompt.picked = prompt.picked.filter(|at| *at < prompt.offers.len());
    let (purpose, text) = (prompt.purpose, prompt.text.clone());
    state.prompt = Some(prompt);
    apply_narrowing(state, purpose, text);
    Vec::new()
}

/// Applies the text of a filter or search.
fn apply_narrowing(state: &mut SessionState, purpose: Purpose, text: String) {
    match (purpose, &mut state.layer) {
        (Purpose::Filter, _) => set_filter(state, text),
        (Purpose::Search, Some(Overlay::Help(help))) => {
            help.search = text;
            help.scroll.top = 0;
        }
        _ => {}
    }
}

/// Closes the line, and restores the filter or search before it.
pub fn abandon_prompt(state: &mut SessionState) -> Vec<Effect> {
    if let Some(prompt) = state.prompt.take() {
        apply_narrowing(state, prompt.purpose, prompt.before);
    }
    Vec::new()
}

fn run_prompt(state: &mut SessionState) -> Vec<Effect> {
    if state.prompt.as_ref().is_some_and(|prompt| prompt.purpose == Purpose::Command) {
        return goto_keys::press_enter(state);
    }
    let Some(Prompt { purpose, text, picked, offers, .. }) = state.prompt.take() else { return Vec::new() };
    let picked = picked.and_then(|at| offers.into_iter().nth(at));
    // A completion that needs more text stays in the line.
    if let Some(offer) = picked.as_ref().filter(|offer| offer.needs_argument()) {
        open_prompt(state, purpose, offer.line_start());
        return Vec::new();
    }
    let text = picked.map_or(text, |offer| offer.text);
    match purpose {
        // The line that goes to anything was entered above.
        Purpose::Search | Purpose::Command => Vec::new(),
        Purpose::Filter => {
            if let Some(problem) = state.current().table().problem.clone() {
                state.log_message(Severity::Error, problem);
            }
            Vec::new()
        }
        Purpose::From | Purpose::To => {
            path_navigation::enter_end(state, purpose, text.trim());
            Vec::new()
        }
        Purpose::PlanFile if text.trim().is_empty() => {
            state.log_message(Severity::Error, "no plan was written: name a file that does not exist yet");
            Vec::new()
        }
        Purpose::PlanFile => write_plan(state, text.trim()),
        Purpose::Acknowledge | Purpose::TakeBack => enter_note(state, purpose, &text),
        Purpose::ApplyFile => crate::console::features::changes::apply_actions::apply_file(state, &text),
    }
}
