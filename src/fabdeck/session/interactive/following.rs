//! Actions that open Paths: for the two ends of a path, or for the destinations over a cable.

use super::actions::named;
use super::effect::Effect;
use super::messages::Severity;
use super::prompt::Purpose;
use super::screens::ScreenId;
use super::state::State;
use super::typing::ask as begin_line;
use super::walking::lead_to;
use super::words::words;
use fabdeck_fabric::Resolved;

pub fn trace(state: &mut State, argument: &str) -> Vec<Effect> {
    let mut ends = words(argument).into_iter().map(|(_, word)| word).filter(|word| !word.is_empty());
    let under = || state.current().current(&state.known).and_then(|what| state.known.element(what));
    let Some(begin) = ends.next().or_else(under) else {
        state.say(Severity::Said, "put the cursor on a switch, a host or a port to begin a path there");
        return Vec::new();
    };
    let end = ends.next();
    if let Some(more) = ends.next() {
        let problem = format!(
            "trace takes two names, and '{more}' is a third: quotes keep a name with blanks together"
        );
        state.say(Severity::Error, problem);
        return Vec::new();
    }
    lead_to(state, ScreenId::Paths);
    state.screens.paths.set(Purpose::From, begin, &state.known);
    match end {
        Some(end) => state.screens.paths.set(Purpose::To, end, &state.known),
        None if state.screens.paths.problem.is_none() => begin_line(state, Purpose::To, ""),
        None => {}
    }
    if let Some(problem) = state.screens.paths.problem.clone() {
        state.say(Severity::Error, problem);
    }
    Vec::new()
}

pub fn users(state: &mut State, argument: &str) -> Vec<Effect> {
    let all = match argument.is_empty() {
        true => state.meant(),
        false => named(state, argument).into_iter().collect(),
    };
    let fabric = state.look().map(|look| look.fabric());
    let link = match all.as_slice() {
        [Resolved::Link(link)] => Some(*link),
        [Resolved::Port(port)] => fabric.and_then(|fabric| fabric.port(*port).link),
        _ => None,
    };
    match link {
        Some(link) => {
            lead_to(state, ScreenId::Paths);
            state.screens.paths.show_users(link, &state.known);
        }
        None if all.len() > 1 => {
            state.say(Severity::Said, "the users of one cable are shown at a time: select one row only");
        }
        // An error for an unknown name was reported before.
        None if !argument.is_empty() => {
            if let Some(what) = all.first().and_then(|what| state.known.element(*what)) {
                let problem = match all.first() {
                    Some(Resolved::Port(_)) => format!("{what} has no cable: name a port that has one"),
                    _ => format!("{what} is no cable: name one by a port that has it, NODE[PORT]"),
                };
                state.say(Severity::Error, problem);
            }
        }
        None => state.say(Severity::Said, "put the cursor on a cable, or on a port that has one"),
    }
    Vec::new()
}
