//! The palette: runs a line that begins with the word of an action, and completes lines.

use super::actions::{ACTIONS, Action};
use super::effect::Effect;
use super::messages::Severity;
use super::names;
use super::prompt::{Offer, Purpose};
use super::running_jobs;
use super::state::State;
use fabdeck_routing::ENGINES;

/// The completions of a line.
pub fn offers(state: &State, purpose: Purpose, typed: &str) -> Vec<Offer> {
    match purpose {
        Purpose::From | Purpose::To => names::nodes(state, typed),
        Purpose::Command => match typed.trim_start().split_once(char::is_whitespace) {
            None => completions(typed).into_iter().map(|action| of_action(state, action)).collect(),
            Some((word, rest)) => of_argument(state, word, rest),
        },
        Purpose::Filter | Purpose::PlanFile | Purpose::ApplyFile | Purpose::Search => Vec::new(),
    }
}

/// The completion for an action; where it cannot run now, with the reason.
fn of_action(state: &State, action: &Action) -> Offer {
    let why = (action.ready)(state).err();
    let blocked = why.is_some();
    let about = why.map_or_else(|| action.title.to_owned(), |why| format!("not now: {why}"));
    Offer { text: action.id.to_owned(), argument: action.argument, about, blocked }
}

/// The completions for the argument of an action.
fn of_argument(state: &State, word: &str, rest: &str) -> Vec<Offer> {
    let Some(action) = super::actions::action(word) else { return Vec::new() };
    let before = |offer: Offer| Offer { text: format!("{word} {}", offer.text), ..offer };
    let offers = match action.argument {
        "[ELEMENT]" => names::elements(state, rest),
        "[NODE[PORT]]" => names::cables(state, rest),
        "[FROM [TO]]" => names::ends(state, rest),
        "[FIELD]" => fields(state, rest),
        "[ENGINE,...]" => engines(rest),
        "[FILE|slurm|usual]" => jobs(state, rest),
        _ => Vec::new(),
    };
    offers.into_iter().map(before).collect()
}

fn engines(rest: &str) -> Vec<Offer> {
    let (done, last) =
        rest.rsplit_once(',').map_or(("", rest), |(_, last)| rest.split_at(rest.len() - last.len()));
    let fits = ENGINES.iter().filter(|engine| engine.id.starts_with(last.trim()));
    fits.map(|engine| Offer::new(format!("{done}{}", engine.id), engine.title)).collect()
}

/// Maximum length of a path that is offered; a longer one leaves no room for the description.
const SHORT: usize = 32;

/// The completions for the source of job lists. The current source is labelled; of files, only the current
/// one is offered.
fn jobs(state: &State, rest: &str) -> Vec<Offer> {
    let now = running_jobs::in_force(state);
    let known = [("slurm", "ask Slurm, by squeue".to_owned()), ("usual", running_jobs::usual_words(state))];
    let of_file = known.iter().all(|(word, _)| *word != now) && now.len() <= SHORT;
    let of_file = of_file.then(|| (now.as_str(), "a list".to_owned()));
    let offers = of_file.into_iter().chain(known);
    let fits = offers.filter(|(word, _)| word.starts_with(rest.trim()));
    let about = |word: &str, about| if word == now { format!("in force: {about}") } else { about };
    fits.map(|(word, words)| Offer::new(word.to_owned(), about(word, words))).collect()
}

/// The completions for the columns of the visible list.
fn fields(state: &State, rest: &str) -> Vec<Offer> {
    let Some(listing) = state.current().listing(&state.known) else { return Vec::new() };
    let columns = (0..listing.column_count()).map(|at| listing.column(at));
    let fits = columns.filter(|column| column.id.starts_with(rest.trim()));
    fits.map(|column| Offer::new(column.id.to_string(), column.about.as_ref())).collect()
}

/// The actions that match the text, the best first.
fn completions(typed: &str) -> Vec<&'static Action> {
    let word = typed.split_whitespace().next().unwrap_or_default().to_lowercase();
    let begins = |action: &&Action| action.id.starts_with(&word);
    let first = ACTIONS.iter().filter(begins);
    let rest = ACTIONS.iter().filter(|action| !begins(action) && fits(action, &word));
    first.chain(rest).collect()
}

/// Whether the id and the title of an action contain the letters in this order.
fn fits(action: &Action, word: &str) -> bool {
    let text = format!("{} {}", action.id, action.title).to_lowercase();
    let mut signs = text.chars();
    word.chars().all(|wanted| signs.any(|sign| sign == wanted))
}

/// Runs a line of the palette.
pub fn run(state: &mut State, line: &str) -> Vec<Effect> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // An abbreviation counts if it begins the word of exactly one action.
    let only = || {
        let mut begun = ACTIONS.iter().filter(|action| !word.is_empty() && action.id.starts_with(word));
        begun.next().filter(|_| begun.next().is_none())
    };
    match super::actions::action(word).or_else(only) {
        Some(action) => super::update::carry_out(state, action, rest.trim()),
        None if word.is_empty() => Vec::new(),
        None => {
            let like = completions(line).first().map(|action| format!("; did you mean '{}'", action.id));
            let like = like.unwrap_or_default();
            state.say(Severity::Error, format!("there is no action '{word}'{like}; ? lists them"));
            Vec::new()
        }
    }
}
