//! Keys while the input line is open: characters are text, and other keys have their usual actions.

use super::actions::Over;
use super::effect::Effect;
use super::key::{Key, Press};
use super::layer::Layer;
use super::messages::Severity;
use super::palette;
use super::prompt::{Prompt, Purpose};
use super::selecting::set_filter;
use super::state::State;
use super::update::carry_out;

pub fn pasted(state: &mut State, text: &str) -> Vec<Effect> {
    if let Some(prompt) = &mut state.prompt {
        text.chars().for_each(|sign| prompt.insert(sign));
        return typed(state);
    }
    Vec::new()
}

pub fn in_prompt(state: &mut State, key: Key) -> Vec<Effect> {
    let bound = state.keymap.over(key, Over::Lines);
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    // Moving the cursor in a suggestion turns it into text that can be edited.
    if key.typed().is_none() {
        prompt.suggested = false;
    }
    match key.press {
        Press::Esc => return abandoned(state),
        Press::Enter => return entered(state),
        Press::Backspace if !prompt.backspace() => return abandoned(state),
        Press::Backspace => {}
        Press::Delete => prompt.delete(),
        Press::Left => prompt.step(-1),
        Press::Right => prompt.step(1),
        Press::Home => prompt.cursor = 0,
        Press::End => prompt.to_end(),
        Press::Char('u') if key.ctrl => prompt.clear(),
        Press::Up if prompt.can_recall() => prompt.replace(prompt.before.clone()),
        Press::Up => return pick(state, false),
        Press::Down => return pick(state, true),
        Press::BackTab => return pick(state, false),
        Press::Tab => return complete(state),
        _ => match (key.typed(), bound) {
            (Some(sign), _) => prompt.insert(sign),
            (None, Some(action)) => return carry_out(state, action, ""),
            (None, None) => return Vec::new(),
        },
    }
    typed(state)
}

/// Completes the line as far as all completions agree; when it already is, selects the next completion.
fn complete(state: &mut State) -> Vec<Effect> {
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    match (prompt.picked, prompt.common()) {
        (None, Some(more)) => {
            prompt.replace(more);
            typed(state)
        }
        _ => pick(state, true),
    }
}

/// Selects the next or the previous completion.
fn pick(state: &mut State, down: bool) -> Vec<Effect> {
    let Some(prompt) = &mut state.prompt else { return Vec::new() };
    let count = prompt.offers.len();
    if count > 0 {
        let step = if down { 1 } else { count - 1 };
        let first = if down { 0 } else { count - 1 };
        prompt.picked = Some(prompt.picked.map_or(first, |at| (at + step) % count));
    }
    Vec::new()
}

/// Opens an empty line for a value that exists.
pub fn ask_again(state: &mut State, purpose: Purpose, before: impl Into<String>) {
    state.prompt = Some(Prompt::again(purpose, before));
}

/// Opens the input line.
pub fn ask(state: &mut State, purpose: Purpose, text: impl Into<String>) {
    let mut prompt = Prompt::new(purpose, text);
    prompt.offers = palette::offers(state, purpose, &prompt.text);
    state.prompt = Some(prompt);
}

/// Updates the completions of the line, and applies a filter or search at once.
fn typed(state: &mut State) -> Vec<Effect> {
    let Some(mut prompt) = state.prompt.take() else { return Vec::new() };
    prompt.offers = palette::offers(state, prompt.purpose, &prompt.text);
    prompt.picked = prompt.picked.filter(|at| *at < prompt.offers.len());
    let (purpose, text) = (prompt.purpose, prompt.text.clone());
    state.prompt = Some(prompt);
    narrow(state, purpose, text);
    Vec::new()
}

/// Applies the text of a filter or search.
fn narrow(state: &mut State, purpose: Purpose, text: String) {
    match (purpose, &mut state.layer) {
        (Purpose::Filter, _) => set_filter(state, text),
        (Purpose::Search, Some(Layer::Help(help))) => {
            help.search = text;
            help.scroll.top = 0;
        }
        _ => {}
    }
}

/// Closes the line, and restores the filter or search before it.
pub fn abandoned(state: &mut State) -> Vec<Effect> {
    if let Some(prompt) = state.prompt.take() {
        narrow(state, prompt.purpose, prompt.before);
    }
    Vec::new()
}

fn entered(state: &mut State) -> Vec<Effect> {
    let Some(Prompt { purpose, text, picked, offers, .. }) = state.prompt.take() else { return Vec::new() };
    let picked = picked.and_then(|at| offers.into_iter().nth(at));
    // A completion that needs more text stays in the line.
    if let Some(offer) = picked.as_ref().filter(|offer| offer.goes_on()) {
        ask(state, purpose, offer.begun());
        return Vec::new();
    }
    let text = picked.map_or(text, |offer| offer.text);
    match purpose {
        Purpose::Search => Vec::new(),
        Purpose::Filter => {
            if let Some(problem) = state.current().table().problem.clone() {
                state.say(Severity::Error, problem);
            }
            Vec::new()
        }
        Purpose::Command => palette::run(state, &text),
        Purpose::From | Purpose::To if text.trim().is_empty() => Vec::new(),
        Purpose::From | Purpose::To => {
            state.screens.paths.set(purpose, text.trim().to_owned(), &state.known);
            match state.screens.paths.problem.clone() {
                Some(problem) => state.say(Severity::Error, problem),
                None if state.screens.paths.to.is_none() => ask(state, Purpose::To, ""),
                None => {}
            }
            Vec::new()
        }
        Purpose::PlanFile if text.trim().is_empty() => {
            state.say(
                Severity::Error,
                "no plan was written: it needs the name of a file that is not there yet",
            );
            Vec::new()
        }
        Purpose::PlanFile => super::saving::write_plan(state, text.trim()),
        Purpose::ApplyFile => super::changing::apply_file(state, &text),
    }
}
