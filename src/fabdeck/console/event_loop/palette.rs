//! The palette: runs a line that begins with the word of an action, and completes lines.

use super::actions::{ACTIONS, Action};
use super::name_completion;
use crate::console::features::jobs::running_jobs;
use crate::console::model::effect::Effect;
use crate::console::model::messages::Severity;
use crate::console::model::prompt::{Completion, Purpose};
use crate::console::model::state::SessionState;
use fabdeck_routing::ENGINES;

/// The completions of a line.
pub fn complete_line(state: &SessionState, purpose: Purpose, typed: &str) -> Vec<Completion> {
    match purpose {
        Purpose::From | Purpose::To => name_completion::complete_nodes(state, typed),
        Purpose::Command => match typed.trim_start().split_once(char::is_whitespace) {
            None => {
                matching_actions(typed).into_iter().map(|action| complete_action(state, action)).collect()
            }
            Some((word, rest)) => complete_argument(state, word, rest),
        },
        Purpose::Filter | Purpose::PlanFile | Purpose::ApplyFile | Purpose::Search => Vec::new(),
    }
}

/// The completion for an action; where it cannot run now, with the reason.
fn complete_action(state: &SessionState, action: &Action) -> Completion {
    let why = (action.ready)(state).err();
    let blocked = why.is_some();
    let about = why.map_or_else(|| action.title.to_owned(), |why| format!("not now: {why}"));
    Completion { text: action.id.to_owned(), argument: action.argument, about, blocked }
}

/// The completions for the argument of an action.
fn complete_argument(state: &SessionState, word: &str, rest: &str) -> Vec<Completion> {
    let Some(action) = super::actions::action(word) else { return Vec::new() };
    let before = |offer: Completion| Completion { text: format!("{word} {}", offer.text), ..offer };
    let offers = match action.argument {
        "[ELEMENT]" => name_completion::complete_elements(state, rest),
        "[NODE[PORT]]" => name_completion::complete_cables(state, rest),
        "[FROM [TO]]" => name_completion::complete_ends(state, rest),
        "[FIELD]" => complete_fields(state, rest),
        "[ENGINE,...]" => complete_engines(rest),
        "[FILE|slurm|usual]" => complete_jobs(state, rest),
        _ => Vec::new(),
    };
    offers.into_iter().map(before).collect()
}

fn complete_engines(rest: &str) -> Vec<Completion> {
    let (done, last) =
        rest.rsplit_once(',').map_or(("", rest), |(_, last)| rest.split_at(rest.len() - last.len()));
    let fits = ENGINES.iter().filter(|engine| engine.id.starts_with(last.trim()));
    fits.map(|engine| Completion::new(format!("{done}{}", engine.id), engine.title)).collect()
}

/// Maximum length of a path that is offered; a longer one leaves no room for the description.
const MAX_PATH_WIDTH: usize = 32;

/// The completions for the source of job lists. The current source is labelled; of files, only the current
/// one is offered.
fn complete_jobs(state: &SessionState, rest: &str) -> Vec<Completion> {
    let now = running_jobs::source_argument(state);
    let known =
        [("slurm", "ask Slurm, by squeue".to_owned()), ("usual", running_jobs::default_source_words(state))];
    let of_file = known.iter().all(|(word, _)| *word != now) && now.len() <= MAX_PATH_WIDTH;
    let of_file = of_file.then(|| (now.as_str(), "a list".to_owned()));
    let offers = of_file.into_iter().chain(known);
    let fits = offers.filter(|(word, _)| word.starts_with(rest.trim()));
    let about = |word: &str, about| if word == now { format!("in force: {about}") } else { about };
    fits.map(|(word, words)| Completion::new(word.to_owned(), about(word, words))).collect()
}

/// The completions for the columns of the visible list.
fn complete_fields(state: &SessionState, rest: &str) -> Vec<Completion> {
    let Some(listing) = state.current().listing(&state.known) else { return Vec::new() };
    let columns = (0..listing.column_count()).map(|at| listing.column(at));
    let fits = columns.filter(|column| column.id.starts_with(rest.trim()));
    fits.map(|column| Completion::new(column.id.to_string(), column.about.as_ref())).collect()
}

/// The actions that match the text, the best first.
fn matching_actions(typed: &str) -> Vec<&'static Action> {
    let word = typed.split_whitespace().next().unwrap_or_default().to_lowercase();
    let begins = |action: &&Action| action.id.starts_with(&word);
    let first = ACTIONS.iter().filter(begins);
    let rest = ACTIONS.iter().filter(|action| !begins(action) && has_letters(action, &word));
    first.chain(rest).collect()
}

/// Whether the id and the title of an action contain the letters in this order.
fn has_letters(action: &Action, word: &str) -> bool {
    let text = format!("{} {}", action.id, action.title).to_lowercase();
    let mut signs = text.chars();
    word.chars().all(|wanted| signs.any(|sign| sign == wanted))
}

/// Runs a line of the palette.
pub fn run_line(state: &mut SessionState, line: &str) -> Vec<Effect> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // An abbreviation counts if it begins the word of exactly one action.
    let only = || {
        let mut begun = ACTIONS.iter().filter(|action| !word.is_empty() && action.id.starts_with(word));
        begun.next().filter(|_| begun.next().is_none())
    };
    match super::actions::action(word).or_else(only) {
        Some(action) => super::update::run_action(state, action, rest.trim()),
        None if word.is_empty() => Vec::new(),
        None => {
            let like = matching_actions(line).first().map(|action| format!("; did you mean '{}'", action.id));
            let like = like.unwrap_or_default();
            state.log_message(Severity::Error, format!("there is no action '{word}'{like}; ? lists them"));
            Vec::new()
        }
    }
}
