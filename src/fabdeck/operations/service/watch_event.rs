//! The events of a watched fabric: what changed, and the problems that began, grew and ended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::change_attestation::AttestedChanges;
use super::watch_service::WatchedSweep;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::event_store::stored_batch::{OpenChange, OpenProblem, StoredEvent};
use crate::operations::event_store::stored_state::StoredState;
use crate::operations::event_store::watch_event::{EventSeverity, WatchEvent};
use crate::operations::health::problem::{FabricProblem, ProblemSeverity};
use crate::operations::policy::policy_notice::PolicyNotice;
use crate::operations::watch::fabric_events::{fabric_event_elements, fabric_event_text, fabric_event_word};
use fabdeck_change::AttestationVerdict;
use fabdeck_fabric::Element;
use fabdeck_fabric::observe::FabricEvent;

/// Most elements that an event names.
const MAX_ELEMENTS: usize = 20;

/// Receives events.
pub trait EventSink {
    fn receive(&mut self, event: &WatchEvent);
    /// Waits for what is still under way, at the end of the watch.
    fn finish(&mut self) {}
    /// What the user has to know of the output, since this was asked last.
    fn take_messages(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Derives events from sweeps. A problem that comes back within the recovery window is the same one, so that a link that
/// flaps is reported once.
#[derive(Debug)]
pub struct WatchEventDeriver {
    recovery_ms: i64,
    next: u64,
    problems: BTreeMap<String, OpenProblem>,
    changes: BTreeMap<String, OpenChange>,
    /// Confirmed changes that were reported as overwritten.
    overwritten: BTreeSet<String>,
    is_readable: bool,
}

/// An event before it has its number and time.
struct EventDraft {
    kind: &'static str,
    severity: EventSeverity,
    text: String,
    subject: String,
    elements: Vec<String>,
}

impl EventDraft {
    fn new(kind: &'static str, severity: EventSeverity, text: String) -> Self {
        Self { kind, severity, text, subject: String::new(), elements: Vec::new() }
    }

    fn about(self, subject: &str) -> Self {
        Self { subject: subject.to_owned(), ..self }
    }
}

impl WatchEventDeriver {
    /// `recovery`: time for which a problem has to be absent until it counts as ended.
    pub fn new(recovery: Duration) -> Self {
        let recovery_ms = i64::try_from(recovery.as_millis()).unwrap_or(i64::MAX);
        let (problems, changes) = (BTreeMap::new(), BTreeMap::new());
        Self { recovery_ms, next: 1, problems, changes, overwritten: BTreeSet::new(), is_readable: true }
    }

    /// Continues after the events that are stored: numbers go on, and what was reported as open is.
    pub fn resume(&mut self, stored: &StoredState) {
        self.next = stored.event + 1;
        self.problems = stored.problems.clone();
        self.changes = stored.changes.clone();
        self.overwritten = stored.overwritten.clone();
        self.is_readable = !stored.is_unreadable;
    }

    /// An event with the state that it leaves behind.
    pub fn to_stored(&self, event: &WatchEvent) -> StoredEvent {
        let has_kind = |kinds: &[&str]| kinds.contains(&event.kind.as_str());
        let problem =
            self.problems.get(&event.subject).filter(|_| has_kind(&["problem-began", "problem-grew"]));
        let change = self.changes.get(&event.subject);
        let change = change.filter(|_| has_kind(&["change-pending", "change-overdue"]));
        StoredEvent { event: event.clone(), problem: problem.cloned(), change: change.cloned() }
    }

    /// The events of a sweep: first what changed, then the problems that it made. `missed` has the changes that no sweep
    /// saw.
    pub fn derive(&mut self, watched: &WatchedSweep<'_>, missed: &[FabricEvent]) -> Vec<WatchEvent> {
        let mut drafts = Vec::new();
        if !std::mem::replace(&mut self.is_readable, true) {
            let text = "the fabric can be read again".to_owned();
            drafts.push(EventDraft::new("fabric-readable", EventSeverity::Info, text));
        }
        let look = watched.snapshot;
        for event in missed.iter().chain(&watched.interval.news) {
            let severity = if event.is_trouble() { EventSeverity::Warning } else { EventSeverity::Info };
            let draft = EventDraft::new(fabric_event_word(event), severity, fabric_event_text(look, event));
            drafts.push(EventDraft { elements: fabric_event_elements(look, event), ..draft });
        }
        let element = |id| Element::from_id(look.fabric(), &look.names, id).to_string();
        let problems: Vec<&FabricProblem> = watched.report.open_problems().collect();
        for problem in &problems {
            if let Some(draft) = self.begin_or_grow(problem) {
                let elements = problem.elements.iter().take(MAX_ELEMENTS).map(|id| element(*id)).collect();
                drafts.push(EventDraft { elements, ..draft });
            }
        }
        drafts.extend(self.end_absent(&problems, watched.time_ms));
        drafts.extend(self.follow_changes(&watched.report.changes.rows));
        self.number(drafts, watched.time_ms)
    }

    /// The events of what a policy did after a sweep.
    pub fn derive_policy(&mut self, notices: Vec<PolicyNotice>, time_ms: i64) -> Vec<WatchEvent> {
        let draft = |notice: PolicyNotice| {
            let PolicyNotice { kind, severity, text, subject, elements } = notice;
            EventDraft { kind, severity, text, subject, elements }
        };
        self.number(notices.into_iter().map(draft).collect(), time_ms)
    }

    /// The events of confirmed changes that the fabric does not hold any more, and of those that it holds again. One of which
    /// that is not known is left as it was.
    pub fn derive_attestation(&mut self, found: &AttestedChanges, time_ms: i64) -> Vec<WatchEvent> {
        let mut drafts = Vec::new();
        for (id, change) in found {
            let text = format!("change {} {}", change.number, change.words);
            let draft = match change.verdict {
                AttestationVerdict::NotKnown => None,
                AttestationVerdict::NoLongerStands => self
                    .overwritten
                    .insert(id.clone())
                    .then(|| EventDraft::new("change-overwritten", EventSeverity::Warning, text)),
                AttestationVerdict::Stands | AttestationVerdict::Superseded => self
                    .overwritten
                    .remove(id)
                    .then(|| EventDraft::new("change-stands", EventSeverity::Info, text)),
            };
            drafts.extend(draft.map(|draft| draft.about(id)));
        }
        self.number(drafts, time_ms)
    }

    /// The event of a fabric that cannot be read. Problems that were open stay so.
    pub fn derive_failure(&mut self, why: &str, time_ms: i64) -> Vec<WatchEvent> {
        if !std::mem::replace(&mut self.is_readable, false) {
            return Vec::new();
        }
        let text = format!("the fabric cannot be read: {why}");
        self.number(vec![EventDraft::new("fabric-unreadable", EventSeverity::Critical, text)], time_ms)
    }

    fn number(&mut self, drafts: Vec<EventDraft>, time_ms: i64) -> Vec<WatchEvent> {
        let number = |draft: EventDraft| {
            let EventDraft { kind, severity, text, subject, elements } = draft;
            let number = self.next;
            self.next += 1;
            WatchEvent { number, time_ms, kind: kind.to_owned(), severity, text, subject, elements }
        };
        drafts.into_iter().map(number).collect()
    }

    /// The event of a problem that is new, or that became critical, or hits twice as many hosts as when it was last
    /// reported.
    fn begin_or_grow(&mut self, problem: &FabricProblem) -> Option<EventDraft> {
        let hosts = problem.hits.hosts.len();
        let severity = match problem.severity {
            ProblemSeverity::Critical => EventSeverity::Critical,
            ProblemSeverity::Warning => EventSeverity::Warning,
        };
        let (kind, text) = match self.problems.get_mut(&problem.id) {
            None => ("problem-began", problem.title.clone()),
            Some(open) => {
                open.absent_ms = None;
                let grew = problem.severity < open.severity || hosts >= 2 * open.hosts.max(1);
                if !grew {
                    return None;
                }
                ("problem-grew", format!("{}, before: {}", problem.title, open.title))
            }
        };
        let open =
            OpenProblem { severity: problem.severity, title: problem.title.clone(), hosts, absent_ms: None };
        self.problems.insert(problem.id.clone(), open);
        Some(EventDraft::new(kind, severity, text).about(&problem.id))
    }

    /// The events of problems that are absent for the recovery window.
    fn end_absent(&mut self, found: &[&FabricProblem], time_ms: i64) -> Vec<EventDraft> {
        let mut ended = Vec::new();
        for (id, open) in &mut self.problems {
            if found.iter().any(|problem| problem.id == *id) {
                continue;
            }
            let since = *open.absent_ms.get_or_insert(time_ms);
            if time_ms.saturating_sub(since) >= self.recovery_ms {
                ended.push(id.clone());
            }
        }
        let end = |id: String| {
            let title = self.problems.remove(&id).map(|open| open.title).unwrap_or_default();
            EventDraft::new("problem-ended", EventSeverity::Info, title).about(&id)
        };
        ended.into_iter().map(end).collect()
    }

    /// The events of changes: pending, beyond the deadline, decided.
    fn follow_changes(&mut self, rows: &[ChangeRow]) -> Vec<EventDraft> {
        let mut drafts = Vec::new();
        for row in rows {
            let text = format!("change {} is {}: {}", row.number, row.state_title(), row.begun_words());
            let known = self.changes.get(&row.id);
            if known.is_none() {
                drafts.push(
                    EventDraft::new("change-pending", EventSeverity::Info, text.clone()).about(&row.id),
                );
            }
            if row.overdue && !known.is_some_and(|known| known.overdue) {
                drafts.push(EventDraft::new("change-overdue", EventSeverity::Critical, text).about(&row.id));
            }
            self.changes.insert(row.id.clone(), OpenChange { number: row.number, overdue: row.overdue });
        }
        self.changes.retain(|id, change| {
            let is_open = rows.iter().any(|row| row.id == *id);
            if !is_open {
                let text = format!("change {} waits no longer; `fabdeck changes` has its end", change.number);
                drafts.push(EventDraft::new("change-decided", EventSeverity::Info, text).about(id));
            }
            is_open
        });
        drafts
    }
}
