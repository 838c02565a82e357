//! Keys in a dialog. Esc and `q` always leave everything unchanged: from the details they go back to the question. Only Enter on the second button acts, and
//! the focus never begins there.

use super::dialogue::{Dialogue, DialogueFocus, DialogueQuestion};
use super::{change_actions, change_requests, dialogue_size, mode_actions};
use crate::catalogue::severity::Severity;
use crate::catalogue::summary::count_words;
use crate::console::event_loop::overlays;
use crate::console::event_loop::run_action::run_action;
use crate::console::model::action::OverlayScope;
use crate::console::model::effect::Effect;
use crate::console::model::key::{Key, KeyName};
use crate::console::model::overlay::Overlay;
use crate::console::model::state::SessionState;
use fabdeck_change::GuardRequest;

pub fn handle_key(state: &mut SessionState, key: Key) -> Vec<Effect> {
    let height = dialogue_size::dialogue_height(state);
    let bound = state.keymap.overlay_action(key, OverlayScope::Lines);
    let Some(Overlay::Dialogue(dialogue)) = &mut state.layer else { return Vec::new() };
    let plain = !key.ctrl && !key.alt;
    match key.press {
        KeyName::Enter if plain && dialogue.details => {
            dialogue.toggle_details();
        }
        KeyName::Enter if plain => return press_button(state),
        // A risk is acknowledged only where it is in sight.
        KeyName::Char(' ') if plain && dialogue.details => overlays::scroll_overlay(state, height as isize),
        KeyName::Char(' ') if plain => {
            if !dialogue.toggle() {
                let text =
                    "Space acknowledges the risk at the cursor: tab goes there; Enter presses a button";
                state.log_message(Severity::Info, text);
            }
        }
        KeyName::Char('d') if plain => {
            dialogue.toggle_details();
        }
        KeyName::Char('c') if plain => return copy_command(state),
        KeyName::Char('5') if plain && dialogue.has_window() => return mode_actions::switch_mode(state),
        KeyName::Char('s') if plain && dialogue.has_window() => mode_actions::change_unanswered(state),
        KeyName::Tab | KeyName::Right if plain => move_focus(state, true),
        KeyName::BackTab | KeyName::Left if plain => move_focus(state, false),
        KeyName::Char('l') if plain => move_focus(state, true),
        KeyName::Char('h') if plain => move_focus(state, false),
        KeyName::Char('+' | '=') if plain => change_window(state, true),
        KeyName::Char('-') if plain => change_window(state, false),
        KeyName::Up => overlays::scroll_overlay(state, -1),
        KeyName::Down => overlays::scroll_overlay(state, 1),
        KeyName::Char('k') if plain => overlays::scroll_overlay(state, -1),
        KeyName::Char('j') if plain => overlays::scroll_overlay(state, 1),
        KeyName::PageUp => overlays::scroll_overlay(state, -(height as isize)),
        KeyName::PageDown => overlays::scroll_overlay(state, height as isize),
        KeyName::Home => overlays::scroll_overlay(state, isize::MIN),
        KeyName::End => overlays::scroll_overlay(state, isize::MAX),
        KeyName::Esc if dialogue.details => {
            dialogue.toggle_details();
        }
        KeyName::Esc => state.layer = None,
        _ => match bound {
            // Another key for `out` or `back` goes out by one level too.
            Some(action) if matches!(action.id, "out" | "back") && dialogue.details => {
                dialogue.toggle_details();
            }
            Some(action) if matches!(action.id, "out" | "back") => state.layer = None,
            Some(action) => return run_action(state, action, ""),
            None => state.log_message(
                Severity::Info,
                format!("{key} does nothing here: Tab and Enter answer, Esc cancels"),
            ),
        },
    }
    Vec::new()
}

/// Moves the focus, and scrolls to the risk with the focus.
fn move_focus(state: &mut SessionState, forward: bool) {
    let room = dialogue_size::dialogue_room(state);
    let Some(Overlay::Dialogue(dialogue)) = &mut state.layer else { return };
    dialogue.move_focus(forward);
    if let Some((first, last)) = dialogue.focused_rows(&state.known, room) {
        let top = dialogue.scroll.top.max((last + 1).saturating_sub(room.height));
        dialogue.scroll.top = top.min(first);
    }
}

fn change_window(state: &mut SessionState, longer: bool) {
    let Some(Overlay::Dialogue(dialogue)) = &mut state.layer else { return };
    // Without a time to shorten, minus closes the dialog, as it steps out on every screen.
    if !dialogue.change_window(longer) && !longer {
        state.layer = None;
    }
}

fn press_button(state: &mut SessionState) -> Vec<Effect> {
    let is_replanned = state.known.changes.offering.is_some();
    let Some(Overlay::Dialogue(dialogue)) = &mut state.layer else { return Vec::new() };
    match dialogue.focus() {
        DialogueFocus::Act if is_replanned && dialogue.has_window() => {
            let text = "nothing is applied: the plan is being made the other way; Esc cancels";
            state.log_message(Severity::Warning, text);
            Vec::new()
        }
        DialogueFocus::Finding(_) => {
            let text = "Space acknowledges this risk, or reverses that; tab goes on";
            state.log_message(Severity::Info, text);
            Vec::new()
        }
        DialogueFocus::Stay => {
            let words = dialogue.stay_words();
            state.layer = None;
            words.into_iter().for_each(|words| state.log_message(Severity::Info, words));
            Vec::new()
        }
        DialogueFocus::RollBack => roll_back(state),
        DialogueFocus::Extend => extend(state),
        DialogueFocus::Act => match dialogue.unacknowledged_count() {
            0 => run_question(state),
            some => {
                let some = count_words(some, "risk is", "risks are");
                let text = format!(
                    "nothing is applied: {some} not acknowledged; Tab goes there, Space acknowledges it"
                );
                state.log_message(Severity::Warning, text);
                Vec::new()
            }
        },
    }
}

/// Presses a button that was clicked. A dialog that asks something else by now is left as it is.
pub fn click_button(state: &mut SessionState, title: &str, word: &str) -> Vec<Effect> {
    let Some(Overlay::Dialogue(dialogue)) = &mut state.layer else { return Vec::new() };
    let button = dialogue.buttons().into_iter().find(|(_, label)| *label == word);
    let Some((focus, _)) = button.filter(|_| dialogue.title(&state.known.changes) == title) else {
        return Vec::new();
    };
    dialogue.focus_on(focus);
    press_button(state)
}

/// Acknowledges a risk that was clicked, or reverses that.
pub fn click_risk(state: &mut SessionState, title: &str, place: usize) -> Vec<Effect> {
    let Some(Overlay::Dialogue(dialogue)) = &mut state.layer else { return Vec::new() };
    let is_same = dialogue.title(&state.known.changes) == title;
    if is_same && dialogue.focus_on(DialogueFocus::Finding(place)) {
        dialogue.toggle();
    }
    Vec::new()
}

/// Rolls back the change that the dialog asks about.
fn roll_back(state: &mut SessionState) -> Vec<Effect> {
    let Some(Overlay::Dialogue(dialogue)) = state.layer.take() else { return Vec::new() };
    let Some(id) = dialogue.change_id() else { return Vec::new() };
    // Only the process knows the user.
    let request = GuardRequest::RollBack { user: String::new(), anyway: false };
    change_requests::ask_guard(state, id.to_owned(), request)
}

/// Extends the change that the dialog asks about. The question stays.
fn extend(state: &mut SessionState) -> Vec<Effect> {
    let Some(Overlay::Dialogue(dialogue)) = &mut state.layer else { return Vec::new() };
    dialogue.focus_on_stay();
    let Some(id) = dialogue.change_id().map(str::to_owned) else { return Vec::new() };
    change_actions::extend_change(state, id, change_actions::EXTENSION_S)
}

/// Copies the command that applies the same plan, with what is acknowledged so far.
fn copy_command(state: &mut SessionState) -> Vec<Effect> {
    let line = match &state.layer {
        Some(Overlay::Dialogue(dialogue)) => dialogue.command_line(),
        _ => None,
    };
    let Some(line) = line else {
        state.log_message(Severity::Info, "c: no command line answers this question");
        return Vec::new();
    };
    state.log_message(Severity::Info, format!("copied: {line}"));
    vec![Effect::Copy(line)]
}

fn run_question(state: &mut SessionState) -> Vec<Effect> {
    let Some(Overlay::Dialogue(dialogue)) = state.layer.take() else { return Vec::new() };
    let Dialogue { question, .. } = *dialogue;
    // Only the process knows the user.
    let user = String::new;
    match question {
        DialogueQuestion::Apply(apply) => change_requests::begin_change(state, *apply),
        DialogueQuestion::Confirm { id } => {
            change_requests::ask_guard(state, id, GuardRequest::Confirm { user: user() })
        }
        DialogueQuestion::GoOn { id } => {
            change_requests::ask_guard(state, id, GuardRequest::GoOn { user: user() })
        }
        DialogueQuestion::RollBack { id, lost } => change_requests::ask_guard(
            state,
            id,
            GuardRequest::RollBack { user: user(), anyway: lost.is_some() },
        ),
        DialogueQuestion::Leave { .. } => {
            state.leaving = true;
            vec![Effect::Leave]
        }
    }
}
