//! The texts about a change, for commands and screens.

use jiff::{SignedDuration, Timestamp};

use super::change_facts::{pair_words, supposed_words};
use crate::catalogue::json_type::json_type;
use crate::operations::lanes::migrations::migration_words;
use fabdeck_change::{
    Attestation, AttestationVerdict, ChangePhase, ChangeState, ChangeStatus, JournalStep, Migration,
    RollbackRemainder, TransientLoss, UnfailedLoss, undone_number,
};
use fabdeck_fabric::observe::digits_in_groups;

json_type! {
    /// A change, as JSON reports it.
    #[derive(Clone, PartialEq, Eq, Debug, serde::Deserialize)]
    pub struct ChangeRow {
        pub id: String,
        pub number: u64,
        pub state: ChangePhase,
        pub time: String,
        pub user: String,
        pub deadline: Option<String>,
        pub source: String,
        pub via: String,
        pub engine: String,
        pub writes: u64,
        /// The elements that its plan takes as failed.
        #[serde(default)]
        pub failed: Vec<String>,
        /// The pairs without a path before, during and after the writes, as its plan counts them; none where that is not
        /// known.
        #[serde(default)]
        pub pairs: Option<TransientLoss>,
        /// Whether these pairs include those of switches.
        #[serde(default)]
        pub covers_switches: bool,
        /// Number of writes that the journal records as done.
        #[serde(default)]
        pub done: u64,
        /// Findings that the operator accepted by name.
        #[serde(default)]
        pub accepted: Vec<String>,
        /// Time at which the change ended.
        #[serde(default)]
        pub ended: Option<String>,
        pub why: Option<String>,
        pub left: Vec<RollbackRemainder>,
        /// Flows that hosts are asked to move, with the hosts that were expected to follow.
        #[serde(default)]
        pub moves: Vec<String>,
        /// Hosts whose agent did not confirm that it moved its flows.
        #[serde(default)]
        pub silent: Vec<String>,
        /// Whether the change waits for these hosts before it writes; the operator can continue without them or
        /// roll back.
        #[serde(default)]
        pub waits: bool,
        /// Current phase of an update in five phases, until it is applied.
        #[serde(default)]
        pub phase_of_five: Option<u8>,
        pub drift: Option<String>,
        /// What prevents the guard from working.
        #[serde(default)]
        pub trouble: Option<String>,
        /// What its journal records, the first record first: when, and what happened.
        #[serde(default)]
        pub steps: Vec<JournalStep>,
        /// Whether the deadline is over and the change was not rolled back.
        #[serde(default)]
        pub overdue: bool,
        /// Result of the comparison with the fabric, where a confirmed change was compared.
        #[serde(default)]
        pub comparison: Option<Attestation>,
        /// The same flows as the plan has them, for screens that count what is in force.
        #[serde(skip)]
        pub migrations: Vec<Migration>,
        /// The number of the change that undid this one, for lists; its plan says so.
        #[serde(skip)]
        pub undone_by: Option<u64>,
    }
}

/// Delay after the deadline from which a change counts as overdue. A guard starts the rollback within a
/// second of the deadline.
const OVERDUE_DELAY: SignedDuration = SignedDuration::from_secs(5);

/// The same of a rollback that began: large tables, or OpenSM, take this long.
const ROLLBACK_DELAY: SignedDuration = SignedDuration::from_secs(60);

/// Notes which changes were undone by a newer one of the list.
pub fn mark_undone(rows: &mut [ChangeRow]) {
    let undone = |row: &ChangeRow| {
        let stays = matches!(row.state, ChangePhase::Applied | ChangePhase::Confirmed);
        Some((undone_number(&row.engine).filter(|_| stays)?, row.number, row.source.clone()))
    };
    let undone: Vec<(u64, u64, String)> = rows.iter().filter_map(undone).collect();
    for row in rows {
        let by = undone.iter().find(|(number, _, source)| *number == row.number && *source == row.source);
        row.undone_by = by.map(|(_, by, _)| *by);
    }
}

impl ChangeRow {
    pub fn from_state(state: &ChangeState, drift: Option<String>, trouble: Option<String>) -> Self {
        let begun = &state.begun;
        Self {
            id: begun.id.clone(),
            number: begun.number,
            state: state.phase,
            time: begun.time.clone(),
            user: begun.user.clone(),
            deadline: state.deadline.clone().filter(|_| has_deadline(state.phase)),
            source: begun.source.clone(),
            via: begun.via.clone(),
            engine: begun.engine.clone(),
            writes: begun.writes.len() as u64,
            failed: begun.failed.iter().map(|failed| failed.element.clone()).collect(),
            pairs: begun.pairs.clone(),
            covers_switches: begun.covers_switches,
            done: state.written,
            accepted: begun.accepted.clone(),
            ended: state.ended.as_ref().map(|ended| ended.time.clone()),
            why: state.why.clone(),
            left: state.ended.as_ref().map(|ended| ended.left.clone()).unwrap_or_default(),
            moves: begun.migrations.iter().map(migration_words).collect(),
            silent: state.silent.clone(),
            waits: state.is_waiting(),
            phase_of_five: state.current_phase(),
            drift,
            trouble,
            steps: state.steps.clone(),
            overdue: false,
            comparison: None,
            migrations: begun.migrations.clone(),
            undone_by: None,
        }
    }

    /// Returns the change, judged at a time: sets whether it is overdue.
    pub fn judged_at(mut self, now: Timestamp) -> Self {
        let deadline = self.deadline.as_ref().and_then(|deadline| deadline.parse::<Timestamp>().ok());
        let delay = match self.state {
            ChangePhase::Applied => Some(OVERDUE_DELAY),
            ChangePhase::RollingBack => Some(ROLLBACK_DELAY),
            _ => None,
        };
        let late = deadline.zip(delay).is_some_and(|(at, delay)| now.duration_since(at) > delay);
        self.overdue = late;
        self
    }

    /// Whether the fabric still has what the change wrote, for a column; `None` where it was not compared.
    pub fn stands_words(&self) -> Option<&'static str> {
        let verdict = self.comparison.as_ref()?.verdict;
        let is_undone = self.undone_by.is_some() && verdict == AttestationVerdict::Superseded;
        Some(if is_undone { "undone" } else { verdict.column_text() })
    }

    /// The state as screens and tables show it.
    pub fn state_title(&self) -> &'static str {
        if self.overdue { "OVERDUE" } else { self.state.title() }
    }

    /// The pairs without a path on the fabric as it is, before, during and after the writes.
    pub fn actual_pairs(&self) -> Option<UnfailedLoss> {
        self.pairs.as_ref()?.actual(!self.failed.is_empty())
    }

    /// These pairs in words, and what the change is worth if the failed elements of its plan fail.
    pub fn pair_words(&self) -> Option<String> {
        let actual = self.actual_pairs().as_ref().map(pair_words);
        let supposed = supposed_words(self.pairs.as_ref()?, &self.failed).map(|words| format!("if {words}"));
        let words: Vec<String> = actual.into_iter().chain(supposed).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }

    /// What is written, and who began it: `updn: 480 writes, begun by alice at 13:59:58 UTC`.
    pub fn begun_words(&self) -> String {
        let writes = usize::try_from(self.writes).unwrap_or(usize::MAX);
        let writes = crate::catalogue::summary::count_words(writes, "write", "writes");
        format!("{}: {writes}, begun by {} at {}", self.engine, self.user, time_of_day(&self.time))
    }

    /// How many of its writes are in force.
    pub fn progress_words(&self) -> String {
        let [done, writes] = [self.done, self.writes].map(digits_in_groups);
        match (self.done, self.state) {
            (0, ChangePhase::RolledBack) => format!("none of {writes} is in force any more"),
            (all, _) if all == self.writes => format!("all {done} done"),
            _ => format!("{done} of {writes} done"),
        }
    }

    /// What happens next to a pending change without a decision.
    pub fn next_words(&self) -> String {
        let [done, writes] = [self.done, self.writes].map(digits_in_groups);
        let deadline = self.deadline.as_deref().map(time_of_day);
        match (self.state, deadline) {
            _ if self.waits => "nothing is written before all hosts have answered".to_owned(),
            (ChangePhase::Applied, Some(at)) if self.overdue => {
                format!("it should have been rolled back at {at}: its guard has not done it")
            }
            _ if self.overdue => "its guard neither writes nor answers".to_owned(),
            (ChangePhase::Applied, Some(at)) => {
                format!("rolled back by itself at {at}, unless it is confirmed")
            }
            _ => format!("{}: {done} of {writes} writes are done", self.state.title()),
        }
    }
}

impl ChangeRow {
    /// Returns the change with the guard's status, which is newer than the journal.
    pub fn with_status(self, status: &ChangeStatus) -> Self {
        Self {
            state: status.phase,
            done: status.done,
            deadline: status.deadline.clone().filter(|_| has_deadline(status.phase)),
            why: status.why.clone(),
            left: status.left.clone(),
            silent: status.silent.clone(),
            waits: status.waits,
            phase_of_five: status.phase_of_five,
            drift: status.drift.clone(),
            trouble: status.trouble.clone(),
            steps: if status.steps.is_empty() { self.steps } else { status.steps.clone() },
            ..self
        }
    }
}

/// Whether the tables of a change may stand in the fabric until its deadline, or beyond it.
fn has_deadline(phase: ChangePhase) -> bool {
    matches!(phase, ChangePhase::Applied | ChangePhase::RollingBack)
}

/// Text for hosts without an answer: `2 agents have not reported that they followed: node03, node07`.
pub fn silent_words(silent: &[String]) -> Option<String> {
    const MAX_NAMED: usize = 5;
    let first = silent.iter().take(MAX_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if silent.len() > MAX_NAMED { ", ..." } else { "" };
    let agents = crate::catalogue::summary::count_words(silent.len(), "agent has", "agents have");
    (!silent.is_empty()).then(|| format!("{agents} not reported that they followed: {first}{more}"))
}

/// The state of a change as label and text pairs.
pub fn change_words(status: &ChangeStatus, now: Timestamp) -> Vec<(&'static str, String)> {
    let mut lines = vec![("change", status.id.clone()), ("state", state_words(status, now))];
    if let Some(why) = &status.why {
        lines.push(("reason", why.clone()));
    }
    if let Some(drift) = &status.drift {
        lines.push(("drift", drift.clone()));
    }
    if let Some(trouble) = &status.trouble {
        lines.push(("trouble", trouble.clone()));
    }
    if let Some(silent) = silent_words(&status.silent) {
        lines.push(("agents", silent));
    }
    if status.waits {
        lines.push(("waits", waiting_words(&status.id)));
    }
    const MAX_SHOWN: usize = 5;
    lines.extend(
        status.left.iter().take(MAX_SHOWN).map(|left| ("left", format!("{}: {}", left.what, left.why))),
    );
    if status.left.len() > MAX_SHOWN {
        lines.push((
            "left",
            format!("{} more; 'fabdeck changes --json' has them", status.left.len() - MAX_SHOWN),
        ));
    }
    if status.phase == ChangePhase::Incomplete {
        lines.push(("retry", format!("fabdeck rollback {}", status.id)));
    }
    if status.phase == ChangePhase::Applied {
        let id = &status.id;
        lines.push(("confirm", format!("fabdeck confirm {id}")));
        lines.push((
            "or",
            format!("fabdeck rollback {id}; without either, it is rolled back at its deadline"),
        ));
    }
    lines
}

/// Text for a change that waits for hosts: what the operator can do.
pub fn waiting_words(id: &str) -> String {
    format!(
        "nothing is written before they answer; 'fabdeck confirm {id} --go-on' continues without them where that is safe, \
         'fabdeck rollback {id}' ends the change"
    )
}

/// Text for the current phase of five. The last phase has none, because the state of the change says it.
pub fn phase_of_five_words(phase: u8) -> Option<String> {
    let what = match phase {
        1 => "hosts are asked to leave the base LIDs",
        2 => "hosts drain, leave the base LIDs and confirm that",
        3 => "the tables of base LIDs change",
        4 => "hosts return to base LIDs and confirm that",
        _ => return None,
    };
    Some(format!("phase {phase} of 5: {what}"))
}

/// Progress of a change in one line.
pub fn change_progress(status: &ChangeStatus, now: Timestamp) -> String {
    let state = state_words(status, now);
    match status.phase {
        ChangePhase::Applied => format!("change {} {state}; Ctrl-C leaves it pending", status.id),
        _ => format!("change {} {state}", status.id),
    }
}

fn state_words(status: &ChangeStatus, now: Timestamp) -> String {
    let title = status.phase.title();
    match (status.phase, &status.deadline) {
        (ChangePhase::Applied, Some(deadline)) => format!("{title}; {}", deadline_words(deadline, now)),
        (ChangePhase::Applying | ChangePhase::RollingBack, _) => {
            let phase = status.phase_of_five.and_then(phase_of_five_words);
            let phase = phase.map_or_else(String::new, |words| format!("{words}; "));
            let [done, writes] = [status.done, status.writes].map(digits_in_groups);
            format!("{title}: {phase}{done} of {writes} writes")
        }
        _ => title.to_owned(),
    }
}

/// Time to the deadline: `9m 58s left, until 14:12:03 UTC`.
pub fn deadline_words(deadline: &str, now: Timestamp) -> String {
    let Ok(at) = deadline.parse::<Timestamp>() else { return format!("until {deadline}") };
    match at.duration_since(now).as_secs() {
        late if late < 0 => format!("{} past its deadline, {}", span_words(-late), time_of_day(deadline)),
        left => format!("{} left, until {}", span_words(left), time_of_day(deadline)),
    }
}

/// The time of day, `14:12:03 UTC`; a text that is no timestamp stays as it is.
pub fn time_of_day(time: &str) -> String {
    format_time(time, "%H:%M:%S UTC")
}

/// Date and time, `2026-11-22 14:12:03 UTC`, for times that may be on another day.
pub fn day_and_time(time: &str) -> String {
    format_time(time, "%Y-%m-%d %H:%M:%S UTC")
}

fn format_time(time: &str, format: &str) -> String {
    time.parse::<Timestamp>().map_or_else(|_| time.to_owned(), |at| at.strftime(format).to_string())
}

/// A duration: `9m 58s`, `10m`, `2h`.
pub fn span_words(seconds: i64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{rest}s"),
        (0, _) if rest == 0 => format!("{minutes}m"),
        (0, _) => format!("{minutes}m {rest}s"),
        _ if minutes == 0 => format!("{hours}h"),
        _ => format!("{hours}h {minutes}m"),
    }
}

/// Seconds to the deadline; 0 after it.
pub fn seconds_left(deadline: &str, now: Timestamp) -> Option<u64> {
    let at = deadline.parse::<Timestamp>().ok()?;
    u64::try_from(at.duration_since(now).as_secs().max(0)).ok()
}

/// A duration as a countdown: `9:41`, `1:00:00`.
pub fn countdown(seconds: u64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match hours {
        0 => format!("{minutes}:{rest:02}"),
        _ => format!("{hours}:{minutes:02}:{rest:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_ends_at_zero() {
        let now: Timestamp = "2026-11-22T14:00:00.900Z".parse().unwrap();
        assert_eq!(seconds_left("2026-11-22T14:09:59.900Z", now), Some(599));
        assert_eq!(seconds_left("2026-11-22T13:00:00Z", now), Some(0), "it is over");
        assert_eq!(seconds_left("soon", now), None);
        assert_eq!([0, 59, 60, 599, 3600].map(countdown), ["0:00", "0:59", "1:00", "9:59", "1:00:00"]);
    }

    #[test]
    fn a_change_is_overdue_once_its_guard_should_have_rolled_it_back() {
        let begun = fabdeck_change::BeginRecord::default();
        let mut state = ChangeState::new(begun);
        state.apply(&fabdeck_change::JournalRecord::Applied {
            time: "2026-11-22T14:00:00Z".into(),
            deadline: "2026-11-22T14:10:00Z".into(),
            ends: None,
        });
        let row = ChangeRow::from_state(&state, None, None);
        let at = |time: &str| row.clone().judged_at(time.parse().unwrap());
        assert!(!at("2026-11-22T14:09:59Z").overdue && !at("2026-11-22T14:10:04Z").overdue);
        assert!(at("2026-11-22T14:10:06Z").overdue);
        assert_eq!(at("2026-11-22T14:10:06Z").state_title(), "OVERDUE");
        // A rollback that takes a minute beyond the deadline, as on an unreachable fabric, is overdue as well.
        let row = ChangeRow { state: ChangePhase::RollingBack, ..row.clone() };
        let at = |time: &str| row.clone().judged_at(time.parse().unwrap());
        assert_eq!(at("2026-11-22T14:10:59Z").state_title(), "rolling back");
        assert_eq!(at("2026-11-22T14:11:01Z").state_title(), "OVERDUE");
        assert_eq!(
            deadline_words("2026-11-22T14:10:00Z", "2026-11-22T14:12:03Z".parse().unwrap()),
            "2m 3s past its deadline, 14:10:00 UTC"
        );
    }

    #[test]
    fn times_have_seconds() {
        let at = "2026-11-23T14:54:00.602601592Z";
        assert_eq!(
            (time_of_day(at), day_and_time(at)),
            ("14:54:00 UTC".into(), "2026-11-23 14:54:00 UTC".into())
        );
        assert_eq!((time_of_day("soon"), day_and_time("soon")), ("soon".into(), "soon".into()));
    }
}
