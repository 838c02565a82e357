//! Actions that open Paths: for the two ends of a path, or for the destinations over a cable.

use crate::catalogue::severity::Severity;
use crate::console::features::completion::open_prompt as begin_line;
use crate::console::features::screen_change::open_screen;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::element_search::find_element;
use crate::console::model::line_words::split_words;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;
use fabdeck_fabric::ElementId;

pub fn show_path(state: &mut SessionState, argument: &str) -> Vec<Effect> {
    let mut ends = split_words(argument).into_iter().map(|(_, word)| word).filter(|word| !word.is_empty());
    let under = || state.current().current(&state.known).and_then(|what| state.known.element(what));
    let Some(begin) = ends.next().or_else(under) else {
        state.log_message(
            Severity::Info,
            "put the cursor on a switch, a host or a port to begin a path there",
        );
        return Vec::new();
    };
    let end = ends.next();
    if let Some(more) = ends.next() {
        let problem = format!(
            "trace takes two names, and '{more}' is a third: quotes keep a name with blanks together"
        );
        state.log_message(Severity::Error, problem);
        return Vec::new();
    }
    open_screen(state, ScreenId::Paths);
    state.screens.paths.set_end(Purpose::From, begin, &state.known);
    match end {
        Some(end) => state.screens.paths.set_end(Purpose::To, end, &state.known),
        None if state.screens.paths.problem.is_none() => begin_line(state, Purpose::To, ""),
        None => {}
    }
    if let Some(problem) = state.screens.paths.problem.clone() {
        state.log_message(Severity::Error, problem);
    }
    Vec::new()
}

pub fn show_users(state: &mut SessionState, argument: &str) -> Vec<Effect> {
    let all = match argument.is_empty() {
        true => state.target_elements(),
        false => find_element(state, argument).into_iter().collect(),
    };
    let fabric = state.snapshot().map(|look| look.fabric());
    let link = match all.as_slice() {
        [ElementId::Link(link)] => Some(*link),
        [ElementId::Port(port)] => fabric.and_then(|fabric| fabric.port(*port).link),
        _ => None,
    };
    match link {
        Some(link) => {
            open_screen(state, ScreenId::Paths);
            state.screens.paths.show_users(link, &state.known);
        }
        None if all.len() > 1 => {
            state.log_message(
                Severity::Info,
                "the users of one cable are shown at a time: select one row only",
            );
        }
        // An error for an unknown name was reported before.
        None if !argument.is_empty() => {
            if let Some(what) = all.first().and_then(|what| state.known.element(*what)) {
                let problem = match all.first() {
                    Some(ElementId::Port(_)) => format!("{what} has no cable: name a port that has one"),
                    _ => format!("{what} is no cable: name one by a port that has it, NODE[PORT]"),
                };
                state.log_message(Severity::Error, problem);
            }
        }
        None => state.log_message(Severity::Info, "put the cursor on a cable, or on a port that has one"),
    }
    Vec::new()
}

/// Follows the path to another LID of the destination.
pub fn step_lid(state: &mut SessionState, forward: bool) -> Vec<Effect> {
    if let Err(why) = state.screens.paths.step_lid(&state.known, forward) {
        state.log_message(Severity::Info, why);
    }
    Vec::new()
}

/// Asks for an end of the path. The end that is there stays where nothing is typed; behind the beginning, the end is asked for.
pub fn ask_end(state: &mut SessionState, purpose: Purpose) {
    state.screens.paths.asks_both = purpose == Purpose::From;
    let now = state.screens.paths.end(purpose).unwrap_or_default().to_owned();
    begin_line(state, purpose, now);
}

/// Takes over an end that was typed, and asks for what is missing: keys go to a line until both ends are known.
pub fn enter_end(state: &mut SessionState, purpose: Purpose, text: &str) {
    let asks_both = std::mem::take(&mut state.screens.paths.asks_both);
    if !text.is_empty() {
        state.screens.paths.set_end(purpose, text.to_owned(), &state.known);
    } else if state.screens.paths.end(purpose).is_none() {
        return;
    }
    let paths = &state.screens.paths;
    if paths.is_end_unknown(purpose, &state.known) {
        let problem = paths.problem.clone().unwrap_or_else(|| format!("'{text}' is no port"));
        state.log_message(Severity::Error, problem);
        ask_end(state, purpose);
        state.screens.paths.asks_both = asks_both;
        return;
    }
    if purpose == Purpose::From && (asks_both || paths.to.is_none()) {
        return ask_end(state, Purpose::To);
    }
    if let Some(problem) = paths.problem.clone() {
        state.log_message(Severity::Error, problem);
    }
}
