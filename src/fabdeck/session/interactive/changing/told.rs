//! Messages about changes: results, and events while the operator was away.

use super::changer::Changes;
use crate::session::interactive::actions::action;
use crate::session::interactive::messages::Severity;
use crate::session::interactive::slow_lanes;
use crate::session::interactive::state::State;
use crate::session::{ChangeRow, time_of_day};
use fabdeck_change::Phase;

/// Reports what differs from the reading before. The first reading reports pending changes, and changes that
/// ended while the user was away.
pub fn tell(state: &mut State, before: Option<Changes>) {
    let Some(now) = state.known.changes.last.clone() else { return };
    for row in now.rows.iter().rev() {
        let was = before.as_ref().and_then(|before| before.rows.iter().find(|other| other.id == row.id));
        let ours = state.known.changes.begun.contains(&row.id);
        let here = now.here.contains(&row.id);
        match was {
            Some(was) if was.state == row.state => {
                meddled(state, was, row);
                continue;
            }
            // A change of another user on another fabric has no message; the list shows it.
            _ if !here && !ours => continue,
            Some(_) => turned(state, row),
            None if ours => turned(state, row),
            None if row.state.is_pending() => found(state, row),
            None if before.is_some() => turned(state, row),
            None => continue,
        }
        state.known.changes.told.insert(row.id.clone());
    }
    for id in &now.ended_since {
        if let Some(row) = now.rows.iter().find(|row| row.id == *id)
            && state.known.changes.told.insert(id.clone())
        {
            let (severity, text) = ended_away(row);
            state.known.changes.keep_ended(row);
            state.say(severity, text);
        }
    }
    for text in now.unread {
        if state.known.changes.told.insert(text.clone()) {
            state.say(Severity::Warning, text);
        }
    }
}

/// Reports foreign writes over a pending change, and problems of its guard, once each.
fn meddled(state: &mut State, was: &ChangeRow, row: &ChangeRow) {
    let (before, now) = ([&was.drift, &was.trouble], [&row.drift, &row.trouble]);
    for text in
        before.into_iter().zip(now).filter(|(was, now)| was != now).filter_map(|(_, now)| now.as_ref())
    {
        state.say(Severity::Warning, format!("change {}: {text}", row.number));
    }
}

/// Reports an open change that the first reading found.
fn found(state: &mut State, row: &ChangeRow) {
    let (number, user, what) = (row.number, &row.user, row.state_title());
    let text = format!("change {number} of {user} is {what} ({})", keys(state));
    state.say(Severity::Warning, text);
}

/// The hint about keys, `y confirms, u rolls back`, if this session may use them.
fn keys(state: &State) -> String {
    if super::can_ask(state).is_err() {
        return "8 shows it".to_owned();
    }
    let key = |id: &str| {
        let key = action(id).and_then(|action| action.first_key(&state.keymap));
        key.map_or_else(|| format!(":{id}"), |key| key.to_string())
    };
    format!("{} confirms, {} rolls back", key("confirm"), key("rollback"))
}

/// Reports a new state of a change. Its tables have changed too, so a new snapshot may be needed.
fn turned(state: &mut State, row: &ChangeRow) {
    let number = row.number;
    let why = row.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    let asked = state.known.changes.sent_back.contains(&row.id);
    let (severity, text) = match row.state {
        Phase::Applying => (Severity::Said, format!("change {number} is being applied")),
        Phase::Applied => {
            let until =
                row.deadline.as_deref().map_or_else(String::new, |at| format!(" at {}", time_of_day(at)));
            let keys = keys(state);
            (Severity::Warning, format!("change {number} is applied and goes back{until} by itself: {keys}"))
        }
        Phase::Confirmed => (Severity::Said, format!("change {number} is confirmed and stays")),
        Phase::RollingBack => (Severity::Warning, format!("change {number} is being rolled back{why}")),
        Phase::RolledBack if asked => (Severity::Said, format!("change {number} was rolled back")),
        // This session did not request the rollback, so the operator has to see its message first.
        Phase::RolledBack => (Severity::Error, format!("change {number} was rolled back{why}")),
        Phase::Incomplete => (Severity::Error, incomplete(row)),
        Phase::Refused => (Severity::Error, format!("change {number} was refused, nothing is written{why}")),
    };
    if !asked {
        state.known.changes.keep_ended(row);
    }
    state.say(severity, text);
    if row.state == Phase::Confirmed {
        state.known.changes.comparing.soon();
    }
    let written = matches!(row.state, Phase::Applied | Phase::RolledBack | Phase::Incomplete);
    if written {
        slow_lanes::changed(&mut state.known);
    }
    state.known.changes.look_wanted |= written && state.known.changes.is_here(row);
}

/// Text with the first parts that could not be rolled back; the screen Changes has all of them.
fn incomplete(row: &ChangeRow) -> String {
    const NAMED: usize = 2;
    let first: Vec<String> =
        row.left.iter().take(NAMED).map(|left| format!("{}: {}", left.what, left.why)).collect();
    let more = match row.left.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more (8 shows them)"),
    };
    let number = row.number;
    format!("change {number} was not rolled back as a whole, a person is needed: {}{more}", first.join("; "))
}

fn ended_away(row: &ChangeRow) -> (Severity, String) {
    let (number, title) = (row.number, row.state.title());
    let at = row.ended.as_deref().map_or_else(String::new, |at| format!(" at {}", time_of_day(at)));
    let why = row.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    match row.state {
        Phase::Incomplete => (Severity::Error, incomplete(row)),
        Phase::Confirmed => {
            (Severity::Said, format!("change {number} was confirmed{at} while you were away"))
        }
        _ => (Severity::Warning, format!("change {number} was {title}{at} while you were away{why}")),
    }
}
