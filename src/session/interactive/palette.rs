//! The line behind `:`: a word of the action table, with what belongs to it; and what lines can be completed to.

use super::actions::{ACTIONS, Action};
use super::effect::Effect;
use super::messages::Severity;
use super::prompt::{Offer, Purpose};
use super::state::State;
use crate::fabric::Resolved;
use crate::routing::ENGINES;

/// How many names are offered at most.
const NAMES: usize = 50;

/// What a line could be completed to.
pub fn offers(state: &State, purpose: Purpose, typed: &str) -> Vec<Offer> {
    match purpose {
        Purpose::From | Purpose::To => named(state, typed, |what, name| match (what, state.look()) {
            // A name that several bear would be refused.
            (Resolved::Node(id), Some(look)) => look.names.unique(look.fabric(), id),
            _ => name.to_owned(),
        }),
        Purpose::Command => match typed.trim_start().split_once(char::is_whitespace) {
            None => completions(typed).into_iter().map(of_action).collect(),
            Some((word, rest)) => of_argument(state, word, rest),
        },
        Purpose::Filter | Purpose::PlanFile => Vec::new(),
    }
}

fn of_action(action: &Action) -> Offer {
    Offer { text: action.id.to_owned(), argument: action.argument, about: action.title.to_owned() }
}

/// What may follow a word.
fn of_argument(state: &State, word: &str, rest: &str) -> Vec<Offer> {
    let Some(action) = super::actions::action(word) else { return Vec::new() };
    let before = |offer: Offer| Offer { text: format!("{word} {}", offer.text), ..offer };
    match action.argument {
        "ELEMENT" => {
            let element = |what, _: &str| state.known.element(what).unwrap_or_default();
            let name = rest.split_once(':').map_or(rest, |(_, name)| name);
            named(state, name, element).into_iter().map(before).collect()
        }
        "ENGINE,..." => {
            let (done, last) =
                rest.rsplit_once(',').map_or(("", rest), |(_, last)| rest.split_at(rest.len() - last.len()));
            let fits = ENGINES.iter().filter(|engine| engine.id.starts_with(last.trim()));
            let offer = |text: String, about: &str| Offer { text, argument: "", about: about.to_owned() };
            fits.map(|engine| before(offer(format!("{done}{}", engine.id), engine.title))).collect()
        }
        _ => Vec::new(),
    }
}

/// Nodes by name: those that begin with it first.
fn named(state: &State, typed: &str, text: impl Fn(Resolved, &str) -> String) -> Vec<Offer> {
    let Some(look) = state.look() else { return Vec::new() };
    let typed = typed.trim().to_lowercase();
    if typed.is_empty() {
        return Vec::new();
    }
    let (mut begin, mut hold) = (Vec::new(), Vec::new());
    for (id, node) in look.fabric().nodes() {
        let name = look.name(id);
        match name.to_lowercase().find(&typed) {
            Some(0) if begin.len() < NAMES => begin.push((id, name, node)),
            Some(1..) if hold.len() < NAMES => hold.push((id, name, node)),
            _ => {}
        }
    }
    let offer = |(id, name, node): (_, &str, &crate::fabric::Node)| Offer {
        text: text(Resolved::Node(id), name),
        argument: "",
        about: format!("{} {name}", node.facts.kind.word()),
    };
    begin.into_iter().chain(hold).take(NAMES).map(offer).collect()
}

/// The actions whose words fit what was typed, the best first.
fn completions(typed: &str) -> Vec<&'static Action> {
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
pub fn run(state: &mut State, line: &str) -> Vec<Effect> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // What was typed is the beginning of one word, and of one alone.
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
