//! Keys in a dialog. Esc and `q` always leave everything unchanged. Only Enter on the second button acts, and
//! the focus never begins there.

use std::time::Duration;

use super::changer::Acceptance;
use super::dialogue::{Dialogue, Question, Stop};
use super::flow;
use crate::session::counted;
use crate::session::interactive::actions::Over;
use crate::session::interactive::effect::Effect;
use crate::session::interactive::key::{Key, Press};
use crate::session::interactive::layer::Layer;
use crate::session::interactive::layered;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::state::State;
use crate::session::interactive::update::carry_out;
use fabdeck_change::{Ask, Unanswered};

pub fn pressed(state: &mut State, key: Key) -> Vec<Effect> {
    let height = layered::dialogue_height(state);
    let bound = state.keymap.over(key, Over::Lines);
    let Some(Layer::Dialogue(dialogue)) = &mut state.layer else { return Vec::new() };
    let plain = !key.ctrl && !key.alt;
    match key.press {
        Press::Enter if plain => return entered(state),
        Press::Char(' ') if plain => {
            if !dialogue.toggle() {
                state.say(
                    Severity::Said,
                    "Space takes in the finding that Tab went to; Enter presses a button",
                );
            }
        }
        Press::Tab | Press::Right if plain => go(state, true),
        Press::BackTab | Press::Left if plain => go(state, false),
        Press::Char('l') if plain => go(state, true),
        Press::Char('h') if plain => go(state, false),
        Press::Char('+' | '=') if plain => stretch(state, true),
        Press::Char('-') if plain => stretch(state, false),
        Press::Up => layered::scroll(state, -1),
        Press::Down => layered::scroll(state, 1),
        Press::Char('k') if plain => layered::scroll(state, -1),
        Press::Char('j') if plain => layered::scroll(state, 1),
        Press::PageUp => layered::scroll(state, -(height as isize)),
        Press::PageDown => layered::scroll(state, height as isize),
        Press::Home => layered::scroll(state, isize::MIN),
        Press::End => layered::scroll(state, isize::MAX),
        Press::Esc => state.layer = None,
        _ => match bound {
            // Another key for `out` or `quit` closes the dialog too; leaving the session takes a second
            // press.
            Some(action) if matches!(action.id, "out" | "quit") => state.layer = None,
            Some(action) => return carry_out(state, action, ""),
            None => state
                .say(Severity::Said, format!("{key} does nothing here: Tab and Enter answer, Esc cancels")),
        },
    }
    Vec::new()
}

/// Moves the focus, and scrolls to the finding with the focus.
fn go(state: &mut State, forward: bool) {
    let room = layered::dialogue_room(state);
    let height = layered::dialogue_height(state);
    let Some(Layer::Dialogue(dialogue)) = &mut state.layer else { return };
    dialogue.go(forward);
    if let Some((first, last)) = dialogue.focused_rows(&state.known.changes, room) {
        let top = dialogue.scroll.top.max((last + 1).saturating_sub(height));
        dialogue.scroll.top = top.min(first);
    }
}

fn stretch(state: &mut State, longer: bool) {
    let Some(Layer::Dialogue(dialogue)) = &mut state.layer else { return };
    // Without a window to shorten, minus closes the dialog, as it steps out on every screen.
    if !dialogue.stretch(longer) && !longer {
        state.layer = None;
    }
}

fn entered(state: &mut State) -> Vec<Effect> {
    let Some(Layer::Dialogue(dialogue)) = &mut state.layer else { return Vec::new() };
    match dialogue.focus() {
        Stop::Finding(_) => {
            dialogue.toggle();
            Vec::new()
        }
        Stop::Stay => {
            state.layer = None;
            Vec::new()
        }
        Stop::Act => match dialogue.untaken() {
            0 => act(state),
            some => {
                let some = counted(some, "finding is", "findings are");
                let text =
                    format!("nothing is applied: {some} not taken in; Tab goes there, Space takes it in");
                state.say(Severity::Warning, text);
                Vec::new()
            }
        },
    }
}

fn act(state: &mut State) -> Vec<Effect> {
    let Some(Layer::Dialogue(dialogue)) = state.layer.take() else { return Vec::new() };
    let Dialogue { question, .. } = *dialogue;
    // Only the process knows the user.
    let user = String::new;
    match question {
        Question::Apply { offer, window_s, line, .. } => {
            // Several findings may have one name.
            let mut accepted: Vec<String> = offer.findings.iter().map(|(name, _)| name.clone()).collect();
            accepted.sort();
            accepted.dedup();
            let acceptance =
                Acceptance { accepted, window: Duration::from_secs(window_s), unanswered: Unanswered::Stop };
            flow::begin(state, offer, acceptance, line)
        }
        Question::Confirm { id } => flow::ask(state, id, Ask::Confirm { user: user() }),
        Question::GoOn { id } => flow::ask(state, id, Ask::GoOn { user: user() }),
        Question::RollBack { id, lost } => {
            flow::ask(state, id, Ask::RollBack { user: user(), anyway: lost.is_some() })
        }
        Question::Leave { .. } => {
            state.leaving = true;
            vec![Effect::Leave]
        }
    }
}
