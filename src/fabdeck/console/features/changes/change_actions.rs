//! The actions on existing changes and on links.

use super::changes_model::ApplyRequest;
use super::dialogue::{Dialogue, DialogueQuestion};
use super::{apply_actions, change_requests};
use crate::catalogue::severity::Severity;
use crate::catalogue::shell_words::quote_for_shell;
use crate::console::features::plan_commands::apply_line;
use crate::console::features::screens::ScreenId;
use crate::console::model::effect::Effect;
use crate::console::model::element_search::find_element;
use crate::console::model::overlay::Overlay;
use crate::console::model::state::SessionState;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::changes::changer::{PlanSource, WriteAccess};
use crate::operations::plans::link_service::{LinkService, find_service_element};
use fabdeck_change::{ChangePhase, EVERYTHING_LEFT, GuardRequest};
use fabdeck_fabric::{Element, ElementId};

/// Default extension of a change, in seconds.
pub(super) const EXTENSION_S: u64 = 600;
/// Maximum extension in seconds; a change waits for a day at most.
const MAX_EXTENSION_S: u64 = 86_400;

/// Checks that this session may write to its fabric.
pub fn can_write(state: &SessionState) -> Result<(), String> {
    match &state.writing {
        WriteAccess::Never(why) => Err(why.clone()),
        WriteAccess::NotAsked => Err(
            "this session is read-only: start fabdeck with --allow-write, on a fabric that the configuration names"
                .to_owned(),
        ),
        WriteAccess::Asked | WriteAccess::Simulated | WriteAccess::Own => Ok(()),
    }
}

/// Checks that the guards of this fabric can be asked. A read-only session may decide about a change, because
/// beginning the change needed permission. The commands require no more either.
pub fn can_ask(state: &SessionState) -> Result<(), String> {
    match &state.writing {
        WriteAccess::Never(why) => Err(why.clone()),
        _ => Ok(()),
    }
}

/// Checks that there is a change to decide about, or a confirmed one to undo.
pub fn can_undo(state: &SessionState) -> Result<(), String> {
    can_ask(state)?;
    if find_confirmed(state, "").is_some() {
        return apply_actions::can_apply(state);
    }
    find_change(state, "").map(drop)
}

/// Checks that a change waits to be confirmed, or waits for hosts.
pub fn can_confirm(state: &SessionState) -> Result<(), String> {
    can_ask(state)?;
    let row = find_change(state, "")?;
    if row.waits { Ok(()) } else { check_waiting(&row) }
}

/// Checks that a change waits to be confirmed.
pub fn can_extend(state: &SessionState) -> Result<(), String> {
    can_ask(state)?;
    check_waiting(&find_change(state, "")?)
}

fn check_waiting(row: &ChangeRow) -> Result<(), String> {
    match row.state {
        ChangePhase::Applied => Ok(()),
        ChangePhase::Incomplete => Err(format!(
            "change {} was not rolled back completely: it can only be rolled back again",
            row.number
        )),
        state => Err(format!("change {} is {}: it does not wait for a decision", row.number, state.title())),
    }
}

/// Finds the change with this number or id, or else the one at the cursor, or else the pending one.
pub fn find_change(state: &SessionState, named: &str) -> Result<ChangeRow, String> {
    let changes = &state.known.changes;
    if !named.is_empty() {
        let same = |row: &&ChangeRow| row.id == named || row.number.to_string() == named;
        let found = changes.rows().iter().find(same);
        return check_open(found.ok_or_else(|| format!("there is no change '{named}' (9 lists them)"))?);
    }
    let mut pending = changes.pending_rows();
    let (first, second) = (pending.next(), pending.next());
    let under = state.screens.changes.change().filter(|_| state.screen == ScreenId::Changes);
    let row = match (under, first, second) {
        (Some(row), ..) => row,
        (None, Some(row), None) => row,
        (None, None, _) => {
            let confirmed = changes.rows().iter().rfind(|row| row.state == ChangePhase::Confirmed);
            let undo = confirmed.map(|row| format!("; Changes (9) undoes change {}", row.number));
            return Err(format!("no change is pending{}", undo.unwrap_or_default()));
        }
        (None, Some(_), Some(_)) => {
            return Err("several changes are pending: put the cursor on one of them on Changes".to_owned());
        }
    };
    check_open(row)
}

/// An incomplete change can be rolled back again.
fn check_open(row: &ChangeRow) -> Result<ChangeRow, String> {
    let state = row.state.title();
    let over = || format!("change {} is {state}: no decision is left", row.number);
    (row.state.is_pending() || row.state == ChangePhase::Incomplete).then(|| row.clone()).ok_or_else(over)
}

fn change_or_refusal(state: &mut SessionState, what: &str, named: &str) -> Option<ChangeRow> {
    find_change(state, named.trim())
        .map_err(|why| state.log_message(Severity::Warning, format!("{what}: {why}")))
        .ok()
}

/// Finds a change that waits to be confirmed; reports the state of any other change.
fn waiting_change_or_refusal(state: &mut SessionState, what: &str, named: &str) -> Option<ChangeRow> {
    let row = change_or_refusal(state, what, named)?;
    check_waiting(&row).map_err(|why| state.log_message(Severity::Warning, format!("{what}: {why}"))).ok()?;
    Some(row)
}

/// Asks whether to keep a change, or to continue without the hosts that it waits for.
pub fn confirm(state: &mut SessionState, named: &str) -> Vec<Effect> {
    if let Some(row) = find_change(state, named.trim()).ok().filter(|row| row.waits) {
        open_dialogue(state, DialogueQuestion::GoOn { id: row.id });
    } else if let Some(row) = waiting_change_or_refusal(state, "confirm", named) {
        open_dialogue(state, DialogueQuestion::Confirm { id: row.id });
    }
    Vec::new()
}

/// The confirmed change with this number or id, or else the one at the cursor of Changes. On Lanes, it is the last one that
/// moved flows, unless a change is pending.
fn find_confirmed(state: &SessionState, named: &str) -> Option<ChangeRow> {
    let changes = &state.known.changes;
    let is_named = |row: &&ChangeRow| row.id == named || row.number.to_string() == named;
    let row = match state.screen {
        _ if !named.is_empty() => changes.rows_here().find(is_named),
        ScreenId::Changes => state.screens.changes.change(),
        ScreenId::Lanes if changes.pending_rows().next().is_none() => {
            let confirmed = |row: &&ChangeRow| row.state == ChangePhase::Confirmed;
            changes.rows_here().filter(confirmed).find(|row| !row.moves.is_empty())
        }
        _ => None,
    };
    row.filter(|row| row.state == ChangePhase::Confirmed).cloned()
}

/// Offers the plan of the way back of a confirmed change.
fn plan_undo(state: &mut SessionState, row: &ChangeRow) -> Vec<Effect> {
    if let Err(why) = apply_actions::can_apply(state) {
        state.log_message(Severity::Warning, format!("rollback: {why}"));
        return Vec::new();
    }
    const FILE: &str = "undo.plan";
    let (id, number) = (row.id.clone(), row.number);
    // No other process has the changes of a simulator in this process.
    let line = (state.writing != WriteAccess::Own).then(|| {
        format!("{}; {}", state.command_line(&format!("undo {id} -o {FILE}")), apply_line(state, FILE))
    });
    let wanted = ApplyRequest::fixed(format!("the undo of change {number}"), line);
    apply_actions::begin_offer(state, PlanSource::Undo { id, number }, wanted)
}

/// Asks whether to roll back a change now, or offers the way back of a confirmed one.
pub fn roll_back(state: &mut SessionState, named: &str) -> Vec<Effect> {
    if let Some(row) = find_confirmed(state, named.trim()) {
        return plan_undo(state, &row);
    }
    if let Some(row) = change_or_refusal(state, "rollback", named) {
        let lost = loss_reason(&row);
        open_dialogue(state, DialogueQuestion::RollBack { id: row.id, lost });
    }
    Vec::new()
}

/// The reason why a guard rolled nothing back: that would have lost paths. Without `anyway`, it would refuse
/// again.
fn loss_reason(row: &ChangeRow) -> Option<String> {
    let left =
        row.left.first().filter(|left| row.state == ChangePhase::Incomplete && left.what == EVERYTHING_LEFT);
    left.map(|left| left.why.clone())
}

pub(super) fn open_dialogue(state: &mut SessionState, question: DialogueQuestion) {
    state.layer = Some(Overlay::Dialogue(Box::new(Dialogue::new(question))));
}

/// Asks before leaving, where a change to a simulator in this process would end with it.
pub fn ask_if_change_ends(state: &mut SessionState) -> bool {
    let pending = state.known.changes.pending_rows().next().map(|row| row.number);
    let Some(number) = pending.filter(|_| state.writing == WriteAccess::Own) else { return false };
    open_dialogue(state, DialogueQuestion::Leave { number });
    true
}

/// Extends a change. Extending harms nothing, so there is no question.
pub fn extend(state: &mut SessionState, argument: &str) -> Vec<Effect> {
    let seconds = match argument.trim() {
        "" => Some(EXTENSION_S),
        text => parse_seconds(text),
    };
    let Some(seconds) = seconds.filter(|seconds| (1..=MAX_EXTENSION_S).contains(seconds)) else {
        state.log_message(Severity::Error, "extend takes a time, up to a day: extend 10m");
        return Vec::new();
    };
    let Some(row) = waiting_change_or_refusal(state, "extend", "") else { return Vec::new() };
    extend_change(state, row.id, seconds)
}

pub(super) fn extend_change(state: &mut SessionState, id: String, seconds: u64) -> Vec<Effect> {
    // Only the process knows the user.
    change_requests::ask_guard(state, id, GuardRequest::Extend { user: String::new(), seconds })
}

/// Parses a time: `90s`, `10m`, `2h`.
fn parse_seconds(text: &str) -> Option<u64> {
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
pub fn set_link_service(state: &mut SessionState, argument: &str, service: LinkService) -> Vec<Effect> {
    let element = match argument.is_empty() {
        false => match find_link(state, argument) {
            Some(element) => Some(element),
            None => return Vec::new(),
        },
        true => Some(state.target_elements())
            .filter(|meant| meant.len() == 1)
            .and_then(|meant| meant.first().copied()),
    };
    set_element_service(state, element, service)
}

/// Finds a link by name; a disabled link still has its former name.
fn find_link(state: &mut SessionState, text: &str) -> Option<ElementId> {
    let look = state.known.look.clone()?;
    match find_service_element(&look, text.trim()) {
        Ok(element) => Some(element),
        // A quoted name, or a wrong one; the general search handles quotes and reports errors.
        Err(_) => find_element(state, text),
    }
}

fn set_element_service(
    state: &mut SessionState,
    element: Option<ElementId>,
    service: LinkService,
) -> Vec<Effect> {
    let word = match service {
        LinkService::Disable => "disable",
        LinkService::Enable => "enable",
    };
    let selected = state.selected().len();
    if let Err(why) = apply_actions::can_apply(state) {
        state.log_message(Severity::Warning, format!("{word}: {why}"));
        return Vec::new();
    }
    let (Some(look), Some(element)) = (state.known.look.clone(), element) else {
        let text = match selected {
            0 | 1 => format!("{word}: put the cursor on a cable or on a port of a switch"),
            some => format!("{word}: one link at a time, and {some} rows are selected"),
        };
        state.log_message(Severity::Info, text);
        return Vec::new();
    };
    let name = Element::from_id(look.fabric(), &look.names, element).to_string();
    let plan = format!("{word}.plan");
    let opted = if state.writing == WriteAccess::Asked { "--allow-write " } else { "" };
    let line = format!(
        "{}; {}",
        state.command_line(&format!("{word} {} -o {plan}", quote_for_shell(&name))),
        state.command_line(&format!("{opted}apply {plan}"))
    );
    let wanted = ApplyRequest::fixed(format!("{word} {name}"), Some(line));
    apply_actions::begin_offer(state, PlanSource::Service { look, element, service }, wanted)
}

#[cfg(test)]
mod tests {
    use super::parse_seconds;

    #[test]
    fn times_have_a_unit() {
        assert_eq!(
            ["90s", "10m", "2h", "5", "m", "-1m", "1d", "ü"].map(parse_seconds),
            [Some(90), Some(600), Some(7200), None, None, None, None, None]
        );
    }
}
