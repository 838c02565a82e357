//! The problems of the fabric in a session: the ranked list, what it rests on, and the events of the watch.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::loop_finding::LoopSearch;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::tasks::{TaskId, Tasks};
use crate::operations::health::acknowledgements::AcknowledgedCapture;
use crate::operations::health::problem::ProblemKind;
use crate::operations::health::ranked_problems::{RankedProblems, RankingRequest};
use crate::operations::health::table_certificate::{CertificateInForce, uncertified_reason};
use crate::operations::jobs::job_comparison::JobComparison;
use crate::operations::jobs::job_request::JobInput;
use fabdeck_fabric::{ElementId, JobMap};
use fabdeck_files::capture_format::AcknowledgementRecord;

/// The time that the charts show.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum ChartWindow {
    Minute,
    #[default]
    FiveMinutes,
    Quarter,
    Hour,
    SixHours,
    Day,
}

impl ChartWindow {
    pub const ALL: [Self; 6] =
        [Self::Minute, Self::FiveMinutes, Self::Quarter, Self::Hour, Self::SixHours, Self::Day];

    pub fn length_ms(self) -> u64 {
        const MINUTE: u64 = 60_000;
        MINUTE
            * match self {
                Self::Minute => 1,
                Self::FiveMinutes => 5,
                Self::Quarter => 15,
                Self::Hour => 60,
                Self::SixHours => 360,
                Self::Day => 1440,
            }
    }

    pub fn words(self) -> &'static str {
        match self {
            Self::Minute => "1 min",
            Self::FiveMinutes => "5 min",
            Self::Quarter => "15 min",
            Self::Hour => "1 h",
            Self::SixHours => "6 h",
            Self::Day => "24 h",
        }
    }

    /// The shortest window that has room for this length, or the longest one.
    pub fn fitting(length_ms: u64) -> Self {
        Self::ALL.into_iter().find(|window| window.length_ms() >= length_ms).unwrap_or(Self::Day)
    }

    /// The next longer or shorter window; `None` at the end of the list.
    pub fn next(self, longer: bool) -> Option<Self> {
        let at = Self::ALL.iter().position(|window| *window == self)?;
        Self::ALL.get(if longer { at + 1 } else { at.checked_sub(1)? }).copied()
    }
}

/// What an operator left in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperatorMark {
    Note,
    Action,
    Bookmark,
}

/// An event of the watch, at a time of the session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HealthEvent {
    pub at_ms: i64,
    pub severity: Severity,
    pub text: String,
    /// `None` where the watch found it.
    pub mark: Option<OperatorMark>,
}

/// Events with the same text, one after the other: the latest of them, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventGroup<'e> {
    pub latest: &'e HealthEvent,
    pub count: usize,
}

/// The recording, the number of its changes, the moment of the events, and the time of its reading.
pub(super) type RecordedKey = (usize, u64, usize, u64);

/// The events of a recording, and what they were made of.
#[derive(Clone, Debug)]
pub(super) struct RecordedEvents {
    pub(super) of: RecordedKey,
    pub events: VecDeque<HealthEvent>,
    /// Number of all events up to the moment.
    pub(super) count: usize,
}

/// Most events that are kept.
pub(super) const MAX_EVENTS: usize = 200;

/// A value that a background task computes from a snapshot, and from the jobs in `input`.
#[derive(Debug)]
pub(super) struct DerivedValue<T> {
    pub(super) look: Arc<Snapshot>,
    pub(super) input: Option<Arc<JobInput>>,
    pub(super) value: Arc<T>,
}

/// The task that computes such a value, and what it began with.
#[derive(Debug)]
pub(super) struct PendingValue {
    pub(super) task: TaskId,
    pub(super) look: Arc<Snapshot>,
    pub(super) input: Option<Arc<JobInput>>,
}

/// A problem to acknowledge, or an acknowledgement to take back.
#[derive(Clone, Debug)]
pub struct AcknowledgementRequest {
    pub(super) look: Arc<Snapshot>,
    pub(super) ranked: Arc<RankedProblems>,
    pub(super) problem: String,
    /// Whether an acknowledgement is taken back.
    pub(super) is_removal: bool,
    /// Whether the problem is acknowledged already, and gets another note.
    pub(super) changes_note: bool,
    pub(super) note: Option<String>,
    /// The capture that is replayed.
    pub(super) capture: Option<AcknowledgedCapture>,
}

/// The problems of the fabric in a session.
#[derive(Debug, Default)]
pub struct HealthModel {
    /// The ranked problems; `None` until they are ranked first.
    pub ranked: Option<Arc<RankedProblems>>,
    /// What was ranked; the next field is the task in progress with its request.
    pub(super) of: Option<RankingRequest>,
    pub(super) pending: Option<(TaskId, RankingRequest)>,
    pub(super) certificate: Option<DerivedValue<CertificateInForce>>,
    pub(super) certifying: Option<PendingValue>,
    pub(super) jobs: Option<DerivedValue<JobComparison>>,
    pub(super) placing: Option<PendingValue>,
    /// What the last search for a credit loop found.
    pub loop_search: Option<LoopSearch>,
    pub acknowledging: Option<TaskId>,
    /// The acknowledgements to write, one after the other; `acknowledging` writes the first one.
    pub(super) waiting_acknowledgements: VecDeque<AcknowledgementRequest>,
    /// The problem that the open line is about.
    pub(super) asked: Option<String>,
    pub(super) acknowledgements: u64,
    /// The acknowledgements of a source that is no capture: none.
    pub(super) unrecorded: Arc<Vec<AcknowledgementRecord>>,
    pub window: ChartWindow,
    /// Time of the first reading with each problem, `None` for those of the first one.
    pub(super) first_seen: BTreeMap<String, Option<u64>>,
    /// Time of the last reading that was ranked. A snapshot that is read again after a change has none of its own at first.
    last_reading_ms: Option<u64>,
    /// Whether a reading was compared with tables that were checked: only problems after that are new.
    has_compared: bool,
    events: VecDeque<HealthEvent>,
    /// Number of all events of the watch, also of those that are no longer kept.
    happened: usize,
    /// The events of a recording, which are shown instead.
    pub(super) recorded: Option<RecordedEvents>,
}

impl HealthModel {
    /// Whether an acknowledgement is being written.
    pub fn is_acknowledging(&self, tasks: &Tasks) -> bool {
        self.acknowledging.is_some_and(|task| tasks.get(task).is_some())
    }

    /// What differs from the plan of the cabling, in order; nothing until the problems of this snapshot are ranked.
    pub fn miscabled(&self, look: &Arc<Snapshot>) -> Vec<ElementId> {
        let is_own = self.of.as_ref().is_some_and(|of| Arc::ptr_eq(&of.look, look));
        let ranked = self.ranked.as_ref().filter(|_| is_own);
        let problems = ranked.iter().flat_map(|ranked| &ranked.problems);
        let wrong = problems.filter(|problem| problem.kind == ProblemKind::Miscabled);
        let mut elements: Vec<ElementId> =
            wrong.flat_map(|problem| problem.elements.iter().copied()).collect();
        elements.sort_unstable();
        elements.dedup();
        elements
    }

    /// The running jobs on the ports of this snapshot, where they are known.
    pub fn placed_jobs(&self, look: &Arc<Snapshot>) -> Option<&JobMap> {
        let placed = self.jobs.as_ref().filter(|placed| Arc::ptr_eq(&placed.look, look))?;
        Some(&placed.value.jobs)
    }

    /// The task that places the running jobs on the ports of this snapshot.
    pub fn placing_task(&self, look: &Arc<Snapshot>) -> Option<TaskId> {
        self.placing.as_ref().filter(|under| Arc::ptr_eq(&under.look, look)).map(|under| under.task)
    }

    /// The running jobs with their paths, where they are known for this snapshot.
    pub fn compared_jobs(&self, look: &Arc<Snapshot>) -> Option<Arc<JobComparison>> {
        self.jobs.as_ref().filter(|placed| Arc::ptr_eq(&placed.look, look)).map(|placed| placed.value.clone())
    }

    /// Adds an event of the watch.
    pub fn add_event(&mut self, at_ms: u64, severity: Severity, text: impl Into<String>) {
        let at_ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
        self.push_event(HealthEvent { at_ms, severity, text: text.into(), mark: None });
    }

    /// Adds what the operator left in time.
    pub fn add_mark(&mut self, at_ms: u64, mark: OperatorMark, text: impl Into<String>) {
        let at_ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
        self.push_event(HealthEvent { at_ms, severity: Severity::Info, text: text.into(), mark: Some(mark) });
    }

    /// Whether what the operator left is among the events.
    pub fn has_mark(&self, at_ms: u64, mark: OperatorMark, text: &str) -> bool {
        let at_ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
        let same =
            |event: &HealthEvent| event.at_ms == at_ms && event.mark == Some(mark) && event.text == text;
        self.events.iter().any(same)
    }

    /// Removes the bookmark at a time; returns whether there was one.
    pub fn remove_bookmark(&mut self, at_ms: u64) -> bool {
        let at_ms = i64::try_from(at_ms).unwrap_or(i64::MAX);
        let count = self.events.len();
        self.events.retain(|event| event.at_ms != at_ms || event.mark != Some(OperatorMark::Bookmark));
        // The number of events counts changes of the list, so it grows here too.
        self.happened += count - self.events.len();
        self.events.len() < count
    }

    /// Adds an event at its time.
    fn push_event(&mut self, event: HealthEvent) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.happened += 1;
        let place = self.events.partition_point(|other| other.at_ms <= event.at_ms);
        self.events.insert(place, event);
    }

    /// The events, the latest last.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = &HealthEvent> + ExactSizeIterator {
        self.recorded.as_ref().map_or(&self.events, |recorded| &recorded.events).iter()
    }

    /// The events, the latest first; those that are alike are one. What the operator left stands alone.
    pub fn event_groups(&self) -> Vec<EventGroup<'_>> {
        let mut groups: Vec<EventGroup<'_>> = Vec::new();
        for event in self.events().rev() {
            match groups.last_mut() {
                Some(group)
                    if group.latest.text == event.text && group.latest.mark.or(event.mark).is_none() =>
                {
                    group.count += 1;
                }
                _ => groups.push(EventGroup { latest: event, count: 1 }),
            }
        }
        groups
    }

    /// Number of all events, also of those that are no longer kept.
    pub fn event_count(&self) -> usize {
        self.recorded.as_ref().map_or(self.happened, |recorded| recorded.count)
    }

    /// The time from which the ages of events count: that of the last reading, or of a later event.
    pub fn latest_ms(&self) -> i64 {
        let reading = self.ranked.as_ref().and_then(|ranked| ranked.at_ms);
        let reading = reading.map_or(i64::MIN, |at_ms| i64::try_from(at_ms).unwrap_or(i64::MAX));
        self.events().next_back().map_or(reading, |event| event.at_ms.max(reading))
    }

    /// Time of the first reading with a problem; `None` where the first reading of all had it.
    pub fn first_ms(&self, id: &str) -> Option<u64> {
        self.first_seen.get(id).copied().flatten()
    }

    /// Time of the last reading that was ranked.
    pub fn last_reading_ms(&self) -> Option<u64> {
        self.last_reading_ms
    }

    /// Milliseconds since the first reading with a problem; `None` where the first reading of all had it.
    pub fn age_ms(&self, id: &str) -> Option<u64> {
        Some(self.last_reading_ms?.saturating_sub(self.first_ms(id)?))
    }

    /// The ids of problems that an earlier reading had.
    pub(super) fn known_before(&self, at_ms: u64) -> BTreeSet<String> {
        let earlier = self.first_seen.iter().filter(|(_, first)| first.is_none_or(|first| first < at_ms));
        earlier.map(|(id, _)| id.clone()).collect()
    }

    /// Whether the tables were checked; an error has the reason why they cannot be.
    pub fn tables_checked(&self) -> Result<bool, String> {
        match self.certificate.as_ref().map(|certificate| &*certificate.value) {
            Some(Err(why)) => Err(why.clone()),
            Some(Ok(Some(certificate))) => match uncertified_reason(certificate) {
                Some(why) => Err(why),
                None => Ok(true),
            },
            Some(Ok(None)) | None => Ok(false),
        }
    }

    /// Whether the tables are being checked.
    pub fn is_checking(&self) -> bool {
        self.certifying.is_some()
    }

    /// Takes over a ranking. Problems that are new since the ranking before have begun with this reading.
    pub(super) fn set_ranked(&mut self, ranked: RankedProblems, of: RankingRequest) {
        // Only against a reading that was judged as far is a problem new.
        let is_comparable =
            |before: &RankingRequest| before.reading.is_some() && before.certificate.is_some();
        self.last_reading_ms = ranked.at_ms.or(self.last_reading_ms);
        let since = self.last_reading_ms.filter(|_| self.has_compared);
        let mut before = std::mem::take(&mut self.first_seen);
        let seen = |id: &String| before.get(id).copied().unwrap_or(since);
        let now: BTreeMap<_, _> =
            ranked.problems.iter().map(|problem| (problem.id.clone(), seen(&problem.id))).collect();
        // A ranking that lacks a reading, as after the fabric is read again, does not end a problem.
        self.first_seen = match is_comparable(&of) {
            true => now,
            false => {
                before.extend(now);
                before
            }
        };
        self.has_compared |= is_comparable(&of);
        (self.ranked, self.of) = (Some(Arc::new(ranked)), Some(of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alike_events_are_one_with_a_count() {
        let mut model = HealthModel::default();
        for (at_ms, text) in [(1, "tables read"), (2, "link down"), (3, "tables read"), (4, "tables read")] {
            model.add_event(at_ms, Severity::Info, text);
        }
        for at_ms in [5, 6] {
            model.add_mark(at_ms, OperatorMark::Note, "tables read");
        }
        let groups = model.event_groups();
        let groups: Vec<(i64, usize)> =
            groups.iter().map(|group| (group.latest.at_ms, group.count)).collect();
        assert_eq!(groups, [(6, 1), (5, 1), (4, 2), (2, 1), (1, 1)]);
    }
}
