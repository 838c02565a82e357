//! The completions of the input line, and its opening.

use super::name_completion;
use crate::console::features::jobs::job_words;
use crate::console::model::action::Action;
use crate::console::model::prompt::{Completion, Prompt, Purpose};
use crate::console::model::state::SessionState;
use fabdeck_routing::{ENGINES, NAMED_ENGINES};

/// The completions of a line.
pub fn complete_line(state: &SessionState, purpose: Purpose, typed: &str) -> Vec<Completion> {
    match purpose {
        Purpose::From | Purpose::To => name_completion::complete_nodes(state, typed),
        // A `>` narrows the line to actions.
        Purpose::Command => match typed.trim_start_matches(['>', ' ']).split_once(char::is_whitespace) {
            None => matching_actions(state, typed.trim_start_matches(['>', ' ']))
                .into_iter()
                .map(|action| complete_action(state, action))
                .collect(),
            Some((word, rest)) => complete_argument(state, word, rest),
        },
        Purpose::Filter
        | Purpose::PlanFile
        | Purpose::ApplyFile
        | Purpose::Acknowledge
        | Purpose::TakeBack
        | Purpose::Search => Vec::new(),
    }
}

/// The completion for an action; where it cannot run now, with the reason.
pub(crate) fn complete_action(state: &SessionState, action: &Action) -> Completion {
    let why = (action.ready)(state).err();
    let blocked = why.is_some();
    let about = why.map_or_else(|| action.title.to_owned(), |why| format!("not now: {why}"));
    Completion { text: action.id.to_owned(), argument: action.argument, about, blocked }
}

/// The completions for the argument of an action.
pub(crate) fn complete_argument(state: &SessionState, word: &str, rest: &str) -> Vec<Completion> {
    let Some(action) = state.keymap.find_action(word) else { return Vec::new() };
    let before = |offer: Completion| Completion { text: format!("{word} {}", offer.text), ..offer };
    let offers = match action.argument {
        "[ELEMENT]" => name_completion::complete_elements(state, rest),
        "[NODE[PORT]]" => name_completion::complete_cables(state, rest),
        "[FROM [TO]]" => name_completion::complete_ends(state, rest),
        "[THEME]" => complete_themes(state, rest),
        "[FIELD]" => complete_fields(state, rest),
        "[ENGINE,...]" => complete_engines(rest),
        "[FILE|slurm|usual]" => complete_jobs(state, rest),
        _ => Vec::new(),
    };
    offers.into_iter().map(before).collect()
}

/// Completions for the last name in a list of engines that commas separate.
pub(crate) fn complete_engines(rest: &str) -> Vec<Completion> {
    let (done, last) =
        rest.rsplit_once(',').map_or(("", rest), |(_, last)| rest.split_at(rest.len() - last.len()));
    let fits = ENGINES.iter().chain(NAMED_ENGINES).filter(|engine| engine.id.starts_with(last.trim()));
    fits.map(|engine| Completion::new(format!("{done}{}", engine.id), engine.title)).collect()
}

/// Maximum length of a path that is offered; a longer one leaves no room for the description.
pub(crate) const MAX_PATH_WIDTH: usize = 32;

/// The completions for the source of job lists. The current source is labelled; of files, only the current
/// one is offered.
pub(crate) fn complete_jobs(state: &SessionState, rest: &str) -> Vec<Completion> {
    let now = job_words::source_argument(state);
    let known =
        [("slurm", "ask Slurm, by squeue".to_owned()), ("usual", job_words::default_source_words(state))];
    let of_file = known.iter().all(|(word, _)| *word != now) && now.len() <= MAX_PATH_WIDTH;
    let of_file = of_file.then(|| (now.as_str(), "a list".to_owned()));
    let offers = of_file.into_iter().chain(known);
    let fits = offers.filter(|(word, _)| word.starts_with(rest.trim()));
    let about = |word: &str, about| if word == now { format!("in force: {about}") } else { about };
    fits.map(|(word, words)| Completion::new(word.to_owned(), about(word, words))).collect()
}

/// The completions for the names of themes.
pub(crate) fn complete_themes(state: &SessionState, rest: &str) -> Vec<Completion> {
    let fits = state.themes.iter().filter(|theme| theme.starts_with(rest.trim()));
    let about = |theme: &String| match state.theme.as_ref() == Some(theme) {
        true => "chosen",
        false => "",
    };
    fits.map(|theme| Completion::new(theme.clone(), about(theme))).collect()
}

/// The completions for the columns of the visible list.
pub(crate) fn complete_fields(state: &SessionState, rest: &str) -> Vec<Completion> {
    let Some(listing) = state.current().listing(&state.known) else { return Vec::new() };
    let columns = (0..listing.column_count()).map(|at| listing.column(at));
    let fits = columns.filter(|column| column.id.starts_with(rest.trim()));
    fits.map(|column| Completion::new(column.id.to_string(), column.about.as_ref())).collect()
}

/// The actions that match the text, the best first.
pub(crate) fn matching_actions(state: &SessionState, typed: &str) -> Vec<&'static Action> {
    let word = typed.split_whitespace().next().unwrap_or_default().to_lowercase();
    let begins = |action: &&Action| action.id.starts_with(&word);
    let first = state.keymap.actions().filter(begins);
    let rest = state.keymap.actions().filter(|action| !begins(action) && has_letters(action, &word));
    first.chain(rest).collect()
}

/// Whether the id and the title of an action contain the letters in this order.
pub(crate) fn has_letters(action: &Action, word: &str) -> bool {
    let text = format!("{} {}", action.id, action.title).to_lowercase();
    let mut signs = text.chars();
    word.chars().all(|wanted| signs.any(|sign| sign == wanted))
}

/// Opens an empty line for a value that exists.
pub fn open_prompt_over(state: &mut SessionState, purpose: Purpose, before: impl Into<String>) {
    state.prompt = Some(Prompt::with_suggestion(purpose, before));
}

/// Opens the input line.
pub fn open_prompt(state: &mut SessionState, purpose: Purpose, text: impl Into<String>) {
    let mut prompt = Prompt::new(purpose, text);
    prompt.offers = complete_line(state, purpose, &prompt.text);
    state.prompt = Some(prompt);
}
