//! The actions on existing changes and on links.

use super::changer::{Planned, Writing};
use super::dialogue::{Dialogue, Question};
use super::flow::{self, Wanted};
use super::wanting;
use crate::session::interactive::actions::named;
use crate::session::interactive::effect::Effect;
use crate::session::interactive::layer::Layer;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::screens::ScreenId;
use crate::session::interactive::state::{State, quoted};
use crate::session::{ChangeRow, Service, service_element};
use fabdeck_change::{ALL_LEFT, Ask, Phase};
use fabdeck_fabric::{Element, Resolved};

/// Default extension of a change, in seconds.
const LONGER_S: u64 = 600;
/// Maximum extension in seconds; a change waits for a day at most.
const LONGEST_S: u64 = 86_400;

/// Checks that this session may write to its fabric.
pub fn can_write(state: &State) -> Result<(), String> {
    match &state.writing {
        Writing::Never(why) => Err(why.clone()),
        Writing::NotAsked => Err(
            "this session is read-only: start fabdeck with --allow-write, on a fabric that the configuration names"
                .to_owned(),
        ),
        Writing::Asked | Writing::Simulated | Writing::Own => Ok(()),
    }
}

/// Checks that the guards of this fabric can be asked. A read-only session may decide about a change, because
/// beginning the change needed permission. The commands require no more either.
pub fn can_ask(state: &State) -> Result<(), String> {
    match &state.writing {
        Writing::Never(why) => Err(why.clone()),
        _ => Ok(()),
    }
}

/// Checks that there is a change to decide about.
pub fn can_decide(state: &State) -> Result<(), String> {
    can_ask(state)?;
    target(state, "").map(drop)
}

/// Checks that a change waits to be confirmed, or waits for hosts.
pub fn can_confirm(state: &State) -> Result<(), String> {
    can_ask(state)?;
    let row = target(state, "")?;
    if row.waits { Ok(()) } else { waits(&row) }
}

/// Checks that a change waits to be confirmed.
pub fn can_keep(state: &State) -> Result<(), String> {
    can_ask(state)?;
    waits(&target(state, "")?)
}

fn waits(row: &ChangeRow) -> Result<(), String> {
    match row.state {
        Phase::Applied => Ok(()),
        Phase::Incomplete => Err(format!(
            "change {} was not rolled back as a whole: all that can be done with it is to roll it back again",
            row.number
        )),
        state => Err(format!("change {} is {}: it does not wait yet", row.number, state.title())),
    }
}

/// Finds the change with this number or id, or else the one at the cursor, or else the pending one.
pub fn target(state: &State, named: &str) -> Result<ChangeRow, String> {
    let changes = &state.known.changes;
    if !named.is_empty() {
        let same = |row: &&ChangeRow| row.id == named || row.number.to_string() == named;
        let found = changes.rows().iter().find(same);
        return still_open(found.ok_or_else(|| format!("there is no change '{named}' (8 lists them)"))?);
    }
    let mut pending = changes.pending();
    let (first, second) = (pending.next(), pending.next());
    let under = state.screens.changes.change().filter(|_| state.screen == ScreenId::Changes);
    let row = match (under, first, second) {
        (Some(row), ..) => row,
        (None, Some(row), None) => row,
        (None, None, _) => return Err("no change is pending".to_owned()),
        (None, Some(_), Some(_)) => {
            return Err(
                "several changes are pending: put the cursor on one of them on Changes (8)".to_owned()
            );
        }
    };
    still_open(row)
}

/// An incomplete change can be rolled back again.
fn still_open(row: &ChangeRow) -> Result<ChangeRow, String> {
    let state = row.state.title();
    let over = || format!("change {} is {state}: there is nothing left to decide", row.number);
    (row.state.is_pending() || row.state == Phase::Incomplete).then(|| row.clone()).ok_or_else(over)
}

fn meant(state: &mut State, what: &str, named: &str) -> Option<ChangeRow> {
    target(state, named.trim()).map_err(|why| state.say(Severity::Warning, format!("{what}: {why}"))).ok()
}

/// Finds a change that waits to be confirmed; reports the state of any other change.
fn waiting(state: &mut State, what: &str, named: &str) -> Option<ChangeRow> {
    let row = meant(state, what, named)?;
    waits(&row).map_err(|why| state.say(Severity::Warning, format!("{what}: {why}"))).ok()?;
    Some(row)
}

/// Asks whether to keep a change, or to continue without the hosts that it waits for.
pub fn confirm(state: &mut State, named: &str) -> Vec<Effect> {
    if let Some(row) = target(state, named.trim()).ok().filter(|row| row.waits) {
        open(state, Question::GoOn { id: row.id });
    } else if let Some(row) = waiting(state, "confirm", named) {
        open(state, Question::Confirm { id: row.id });
    }
    Vec::new()
}

/// Asks whether to roll back a change now.
pub fn roll_back(state: &mut State, named: &str) -> Vec<Effect> {
    if let Some(row) = meant(state, "rollback", named) {
        let lost = left_to_a_person(&row);
        open(state, Question::RollBack { id: row.id, lost });
    }
    Vec::new()
}

/// The reason why a guard rolled nothing back: that would have lost paths. Without `anyway`, it would refuse
/// again.
fn left_to_a_person(row: &ChangeRow) -> Option<String> {
    let left = row.left.first().filter(|left| row.state == Phase::Incomplete && left.what == ALL_LEFT);
    left.map(|left| left.why.clone())
}

pub(super) fn open(state: &mut State, question: Question) {
    state.layer = Some(Layer::Dialogue(Box::new(Dialogue::new(question))));
}

/// Asks before leaving, where a change to a simulator in this process would end with it.
pub fn ends_with_session(state: &mut State) -> bool {
    let pending = state.known.changes.pending().next().map(|row| row.number);
    let Some(number) = pending.filter(|_| state.writing == Writing::Own) else { return false };
    open(state, Question::Leave { number });
    true
}

/// Extends a change. Extending harms nothing, so there is no question.
pub fn extend(state: &mut State, argument: &str) -> Vec<Effect> {
    let seconds = match argument.trim() {
        "" => Some(LONGER_S),
        text => seconds(text),
    };
    let Some(seconds) = seconds.filter(|seconds| (1..=LONGEST_S).contains(seconds)) else {
        state.say(Severity::Error, "extend takes a time, up to a day: extend 10m");
        return Vec::new();
    };
    let Some(row) = waiting(state, "extend", "") else { return Vec::new() };
    // Only the process knows the user.
    flow::ask(state, row.id, Ask::Extend { user: String::new(), seconds })
}

/// Parses a time: `90s`, `10m`, `2h`.
fn seconds(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let count: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        _ => return None,
    };
    count.checked_mul(seconds)
}

/// Takes a link out of service or brings it back: the named one, or the one at the cursor.
pub fn serve(state: &mut State, argument: &str, service: Service) -> Vec<Effect> {
    let element = match argument.is_empty() {
        false => match link_named(state, argument) {
            Some(element) => Some(element),
            None => return Vec::new(),
        },
        true => Some(state.meant()).filter(|meant| meant.len() == 1).and_then(|meant| meant.first().copied()),
    };
    serve_element(state, element, service)
}

/// Finds a link by name; a disabled link still has its former name.
fn link_named(state: &mut State, text: &str) -> Option<Resolved> {
    let look = state.known.look.clone()?;
    match service_element(&look, text.trim()) {
        Ok(element) => Some(element),
        // A quoted name, or a wrong one; the general search handles quotes and reports errors.
        Err(_) => named(state, text),
    }
}

fn serve_element(state: &mut State, element: Option<Resolved>, service: Service) -> Vec<Effect> {
    let word = match service {
        Service::Disable => "disable",
        Service::Enable => "enable",
    };
    let selected = state.selected().len();
    if let Err(why) = wanting::can_apply(state) {
        state.say(Severity::Warning, format!("{word}: {why}"));
        return Vec::new();
    }
    let (Some(look), Some(element)) = (state.known.look.clone(), element) else {
        let text = match selected {
            0 | 1 => format!("{word}: put the cursor on a cable or on a port of a switch"),
            some => format!("{word}: one link at a time, and {some} rows are selected"),
        };
        state.say(Severity::Said, text);
        return Vec::new();
    };
    let name = Element::of(look.fabric(), &look.names, element).to_string();
    let plan = format!("{word}.plan");
    let opted = if state.writing == Writing::Asked { "--allow-write " } else { "" };
    let line = format!(
        "{}; {}",
        state.line(&format!("{word} {} -o {plan}", quoted(&name))),
        state.line(&format!("{opted}apply {plan}"))
    );
    let wanted = Wanted { what: format!("{word} {name}"), line: Some(line) };
    wanting::begin(state, Planned::Service { look, element, service }, wanted)
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(
            ["90s", "10m", "2h", "5", "m", "-1m", "1d", "ü"].map(seconds),
            [Some(90), Some(600), Some(7200), None, None, None, None, None]
        );
    }
}
