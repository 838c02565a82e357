//! The line behind `:`: a word of the action table, with what belongs to it.

use super::actions::{ACTIONS, Action};
use super::effect::Effect;
use super::messages::Severity;
use super::state::State;

/// The actions whose words fit what was typed, the best first.
pub fn completions(typed: &str) -> Vec<&'static Action> {
    let word = typed.split_whitespace().next().unwrap_or_default().to_lowercase();
    let begins = |action: &&Action| action.id.starts_with(&word);
    let first = ACTIONS.iter().filter(begins);
    let rest = ACTIONS.iter().filter(|action| !begins(action) && fits(action, &word));
    first.chain(rest).collect()
}

/// Whether the letters come in this order.
fn fits(action: &Action, word: &str) -> bool {
    let text = format!("{} {}", action.id, action.title).to_lowercase();
    let mut signs = text.chars();
    word.chars().all(|wanted| signs.any(|sign| sign == wanted))
}

/// Carries out a line.
pub fn run(state: &mut State, line: &str, picked: Option<usize>) -> Vec<Effect> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let exact = ACTIONS.iter().find(|action| action.id == word);
    let found = picked.and_then(|at| completions(line).get(at).copied()).or(exact);
    let only = || {
        let all = completions(line);
        if all.len() == 1 { all.first().copied() } else { None }
    };
    match found.or_else(only) {
        Some(action) => super::update::carry_out(state, action, rest.trim()),
        None if word.is_empty() => Vec::new(),
        None => {
            state.say(Severity::Error, format!("there is no action '{word}'; ? lists them"));
            Vec::new()
        }
    }
}
