//! Messages about changes: results, and events while the operator was away.

use crate::catalogue::severity::Severity;
use crate::console::features::lanes::slow_lanes;
use crate::console::model::state::SessionState;
use crate::operations::changes::change_row::{ChangeRow, time_of_day};
use crate::operations::changes::changer::ChangeOverview;
use fabdeck_change::ChangePhase;

/// Reports what differs from the reading before. The first reading reports pending changes, and changes that
/// ended while the user was away.
pub fn report_changes(state: &mut SessionState, before: Option<ChangeOverview>) {
    let Some(now) = state.known.changes.last.clone() else { return };
    for row in now.rows.iter().rev() {
        let was = before.as_ref().and_then(|before| before.rows.iter().find(|other| other.id == row.id));
        let ours = state.known.changes.begun.contains(&row.id);
        let here = now.here.contains(&row.id);
        match was {
            Some(was) if was.state == row.state => {
                report_foreign_writes(state, was, row);
                continue;
            }
            // A change of another user on another fabric has no message; the list shows it.
            _ if !here && !ours => continue,
            Some(_) => report_new_state(state, row),
            None if ours => report_new_state(state, row),
            None if row.state.is_pending() => report_open_change(state, row),
            None if before.is_some() => report_new_state(state, row),
            None => continue,
        }
        state.known.changes.reported.insert(row.id.clone());
    }
    for id in &now.ended_since {
        if let Some(row) = now.rows.iter().find(|row| row.id == *id)
            && state.known.changes.reported.insert(id.clone())
        {
            let (severity, text) = ended_words(row);
            state.known.changes.record_ended(row);
            state.log_message(severity, text);
        }
    }
    for text in now.unread {
        if state.known.changes.reported.insert(text.clone()) {
            state.log_message(Severity::Warning, text);
        }
    }
}

/// Reports foreign writes over a pending change, and problems of its guard, once each.
fn report_foreign_writes(state: &mut SessionState, was: &ChangeRow, row: &ChangeRow) {
    let (before, now) = ([&was.drift, &was.trouble], [&row.drift, &row.trouble]);
    for text in
        before.into_iter().zip(now).filter(|(was, now)| was != now).filter_map(|(_, now)| now.as_ref())
    {
        state.log_message(Severity::Warning, format!("change {}: {text}", row.number));
    }
}

/// Reports an open change that the first reading found.
fn report_open_change(state: &mut SessionState, row: &ChangeRow) {
    let (number, user, what) = (row.number, &row.user, row.state_title());
    let text = format!("change {number} of {user} is {what} ({})", key_hint(state));
    state.log_message(Severity::Warning, text);
}

/// The hint about keys, `y confirms, u rolls back`, if this session may use them.
fn key_hint(state: &SessionState) -> String {
    if super::change_actions::can_ask(state).is_err() {
        return "9 shows it".to_owned();
    }
    let key = |id: &str| {
        let key = state.keymap.find_action(id).and_then(|action| action.first_key(&state.keymap));
        key.map_or_else(|| format!(":{id}"), |key| key.to_string())
    };
    format!("{} confirms, {} rolls back", key("confirm"), key("rollback"))
}

/// Reports a new state of a change. Its tables have changed too, so a new snapshot may be needed.
fn report_new_state(state: &mut SessionState, row: &ChangeRow) {
    let number = row.number;
    let why = row.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    let asked = state.known.changes.sent_back.contains(&row.id);
    let (severity, text) = match row.state {
        ChangePhase::Applying => (Severity::Info, format!("change {number} is being applied")),
        ChangePhase::Applied => {
            let until =
                row.deadline.as_deref().map_or_else(String::new, |at| format!(" at {}", time_of_day(at)));
            let keys = key_hint(state);
            (
                Severity::Warning,
                format!("change {number} is applied and is rolled back{until} by itself: {keys}"),
            )
        }
        ChangePhase::Confirmed => (Severity::Info, format!("change {number} is confirmed and stays")),
        ChangePhase::RollingBack => (Severity::Warning, format!("change {number} is being rolled back{why}")),
        ChangePhase::RolledBack if asked => (Severity::Info, format!("change {number} was rolled back")),
        // This session did not request the rollback, so the operator has to see its message first.
        ChangePhase::RolledBack => (Severity::Error, format!("change {number} was rolled back{why}")),
        ChangePhase::Incomplete => (Severity::Error, incomplete_words(row)),
        ChangePhase::Refused => {
            (Severity::Error, format!("change {number} was refused, nothing is written{why}"))
        }
    };
    if !asked {
        state.known.changes.record_ended(row);
    }
    let written =
        matches!(row.state, ChangePhase::Applied | ChangePhase::RolledBack | ChangePhase::Incomplete);
    if written || row.state == ChangePhase::Confirmed {
        state.known.problems.add_event(state.now_ms, Severity::Info, text.clone());
    }
    // A warning about traffic does not cover what became of a change.
    state.log_answer(severity, text);
    // What was written can be what an earlier change wrote.
    if written || row.state == ChangePhase::Confirmed {
        state.known.changes.comparing.schedule_now();
    }
    if written {
        slow_lanes::invalidate_tables(&mut state.known);
    }
    state.known.changes.look_wanted |= written && state.known.changes.is_here(row);
}

/// Text with the first parts that could not be rolled back; the screen Changes has all of them.
fn incomplete_words(row: &ChangeRow) -> String {
    const MAX_NAMED: usize = 2;
    let first: Vec<String> =
        row.left.iter().take(MAX_NAMED).map(|left| format!("{}: {}", left.what, left.why)).collect();
    let more = match row.left.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!("; and {more} more (9 shows them)"),
    };
    let number = row.number;
    format!("change {number} was not rolled back completely, a person is needed: {}{more}", first.join("; "))
}

fn ended_words(row: &ChangeRow) -> (Severity, String) {
    let (number, title) = (row.number, row.state.title());
    let at = row.ended.as_deref().map_or_else(String::new, |at| format!(" at {}", time_of_day(at)));
    let why = row.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    match row.state {
        ChangePhase::Incomplete => (Severity::Error, incomplete_words(row)),
        ChangePhase::Confirmed => {
            (Severity::Info, format!("change {number} was confirmed{at} while you were away"))
        }
        _ => (Severity::Warning, format!("change {number} was {title}{at} while you were away{why}")),
    }
}
