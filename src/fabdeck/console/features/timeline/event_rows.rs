//! The list of the Timeline: events, gaps, damage and bookmarks, in the order of time.

use super::playback::Playback;
use crate::catalogue::field::Field;
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::console::features::chart_time::time_words;
use crate::console::features::health::health_model::{HealthEvent, OperatorMark};
use crate::console::model::fabric_model::Model;
use crate::operations::replay::changed_words::CHANGED_LABEL;
use crate::operations::replay::event_words::event_words;
use crate::operations::watch::interval_verdict::{HOT_LABEL, LINK_LABEL, NARROW_LABEL, STALLED_LABEL};
use fabdeck_fabric::observe::FabricEvent;
use fabdeck_files::capture::TimelineEvent;

/// The kind of a row, or of a sign on the time bar; the worst comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EventKind {
    /// The fabric became worse.
    Trouble,
    /// A rate rose above a threshold.
    Began,
    Damage,
    Gap,
    /// The recorder's clock was set back.
    Clock,
    /// An element came back, or is new.
    Better,
    /// A rate fell below a threshold.
    Over,
    Changed,
    /// An action of the operator.
    Action,
    Note,
    Bookmark,
}

impl EventKind {
    pub fn from_event(event: &TimelineEvent) -> Self {
        match event {
            TimelineEvent::News(news) if news.is_trouble() => Self::Trouble,
            TimelineEvent::News(
                FabricEvent::Trap { .. } | FabricEvent::JobsChanged { .. } | FabricEvent::JobsSilent { .. },
            ) => Self::Changed,
            TimelineEvent::News(_) => Self::Better,
            TimelineEvent::Note(_) => Self::Note,
            TimelineEvent::Annotation(annotation) if annotation.is_bookmark() => Self::Bookmark,
            TimelineEvent::Annotation(_) => Self::Note,
            TimelineEvent::Action(_) | TimelineEvent::Acknowledgement(_) => Self::Action,
            TimelineEvent::Derived(derived) if derived.label == CHANGED_LABEL => Self::Changed,
            TimelineEvent::Derived(derived) if derived.began => Self::Began,
            TimelineEvent::Derived(_) => Self::Over,
            TimelineEvent::Changed | TimelineEvent::Later(_) | TimelineEvent::LeftOut(_) => Self::Changed,
            TimelineEvent::SetBack(_) => Self::Clock,
        }
    }
}

/// The lane of an event below the strips.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum EventLane {
    HotSpots,
    Cables,
    Changes,
    Operator,
}

impl EventLane {
    pub const ALL: [Self; 4] = [Self::HotSpots, Self::Cables, Self::Changes, Self::Operator];

    pub fn title(self) -> &'static str {
        match self {
            Self::HotSpots => "hot-spots",
            Self::Cables => "cables",
            Self::Changes => "changes",
            Self::Operator => "you",
        }
    }
}

/// Labels of events in the lane of hot-spots, and in the next constant of cables.
const HOT_LABELS: [&str; 3] = [HOT_LABEL, STALLED_LABEL, NARROW_LABEL];
const CABLE_LABELS: [&str; 10] =
    ["link down", "link up", LINK_LABEL, "recabled", "rate", "flapped", "errors", "silent", "answers", "new"];
const CHANGE_LABELS: [&str; 7] = ["manager", "tables", "groups", "lanes", "arbitration", "jobs", "trap"];

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventRow {
    /// The moment that Enter shows; `None` where the screens are live.
    pub place: Option<usize>,
    /// The time by the clock of the recorder, or by that of the session where the screens are live.
    pub at: i64,
    /// The time by the clock of the session.
    pub at_ms: i64,
    pub time: String,
    pub kind: EventKind,
    pub label: &'static str,
    /// The origin of the event.
    pub by: &'static str,
    pub text: String,
    /// The command line that does the same.
    pub command: Option<String>,
}

impl EventRow {
    /// The lane of the event; `None` where the strips themselves show it.
    pub fn lane(&self) -> Option<EventLane> {
        match self.kind {
            EventKind::Gap => None,
            EventKind::Action | EventKind::Note | EventKind::Bookmark => Some(EventLane::Operator),
            _ if HOT_LABELS.contains(&self.label) => Some(EventLane::HotSpots),
            _ if CABLE_LABELS.contains(&self.label) => Some(EventLane::Cables),
            _ => Some(EventLane::Changes),
        }
    }

    /// Whether something begins with the event that lasts until another event: 1 if it begins, -1 if it ends.
    pub fn condition_change(&self) -> i32 {
        match self.kind {
            EventKind::Began => 1,
            EventKind::Trouble if ["link down", "silent"].contains(&self.label) => 1,
            EventKind::Over => -1,
            EventKind::Better if ["link up", "answers"].contains(&self.label) => -1,
            _ => 0,
        }
    }
}

/// The origins of events: the watch, the recorder, the operator, or the counters from which they are derived.
const BY_WATCH: &str = "watch";
const BY_RECORDER: &str = "recorder";
const BY_OPERATOR: &str = "operator";
pub const BY_COUNTERS: &str = "counters";

/// All rows, by moment and time; rows of the same time begin with the worst.
pub fn event_rows(playback: &Playback, look: &Snapshot) -> Vec<EventRow> {
    let timeline = playback.timeline();
    let row = |place: usize, time: i64, kind: EventKind, label: &'static str, text: String| EventRow {
        place: Some(place),
        at: time,
        at_ms: session_ms(playback, place, time),
        time: timeline.exact_clock_text(time),
        kind,
        label,
        by: BY_RECORDER,
        text,
        command: None,
    };
    let mut rows: Vec<EventRow> = (playback.entries())
        .map(|happened| {
            let (label, text, _) = event_words(look, &happened.event);
            let (by, command) = match &happened.event {
                TimelineEvent::Note(_) | TimelineEvent::Annotation(_) | TimelineEvent::Acknowledgement(_) => {
                    (BY_OPERATOR, None)
                }
                TimelineEvent::Action(acted) => (BY_OPERATOR, acted.command.clone()),
                TimelineEvent::Derived(derived) if derived.label != CHANGED_LABEL => (BY_COUNTERS, None),
                _ => (BY_RECORDER, None),
            };
            let row = row(happened.place, happened.time, EventKind::from_event(&happened.event), label, text);
            EventRow { by, command, ..row }
        })
        .collect();
    let count = timeline.times.len();
    for place in (1..count).filter(|place| timeline.has_gap_before(*place)) {
        let (from, to) = (timeline.times[place - 1], timeline.times[place]);
        let seconds = to.saturating_sub(from) / 1000;
        let text = format!("nothing was recorded for {seconds} s, up to {}", timeline.clock_text(to));
        rows.push(row(place - 1, from, EventKind::Gap, "gap", text));
    }
    let track = playback.cursor.store();
    let mut before = None;
    for place in 0..count {
        let damage = track.damage(place);
        // All moments that are lost by the same damage have one row.
        if let Some(text) = damage.filter(|damage| Some(*damage) != before) {
            rows.push(row(place, timeline.times[place], EventKind::Damage, "damage", text.clone()));
        }
        before = damage;
    }
    for place in &playback.bookmarks {
        let time = playback.bookmark_time(*place);
        let row = row(*place, time, EventKind::Bookmark, "bookmark", "set by an operator".to_owned());
        rows.push(EventRow { by: BY_OPERATOR, ..row });
    }
    rows.sort_by_key(|row| (row.place, row.at, row.kind));
    rows
}

/// The time of an entry by the clock of the session. An entry lies at most a step behind its moment.
fn session_ms(playback: &Playback, place: usize, time: i64) -> i64 {
    let at_ms = i64::try_from(playback.at_ms(place)).unwrap_or(i64::MAX);
    let moment = playback.timeline().times.get(place).copied().unwrap_or(time);
    let longest = playback.timeline().longest_step;
    at_ms.saturating_add(time.saturating_sub(moment).clamp(-longest, longest))
}

/// The rows of the events of a watch.
pub fn live_rows(known: &Model) -> Vec<EventRow> {
    let row = |event: &HealthEvent| {
        let (kind, label, by) = match (event.mark, event.severity) {
            (Some(OperatorMark::Note), _) => (EventKind::Note, "note", BY_OPERATOR),
            (Some(OperatorMark::Action), _) => (EventKind::Action, "action", BY_OPERATOR),
            (Some(OperatorMark::Bookmark), _) => (EventKind::Bookmark, "bookmark", BY_OPERATOR),
            (None, severity) => {
                let label = label_of(&event.text);
                let is_news = !HOT_LABELS.contains(&label) && label != LINK_LABEL;
                let kind = match severity {
                    Severity::Info if CHANGE_LABELS.contains(&label) => EventKind::Changed,
                    Severity::Info if is_news => EventKind::Better,
                    Severity::Info => EventKind::Over,
                    Severity::Warning | Severity::Error if is_news => EventKind::Trouble,
                    Severity::Warning | Severity::Error => EventKind::Began,
                };
                (kind, label, BY_WATCH)
            }
        };
        let text = event.text.strip_prefix(label).and_then(|rest| rest.strip_prefix(": "));
        EventRow {
            place: None,
            at: event.at_ms,
            at_ms: event.at_ms,
            time: match known.clock {
                Some(_) => time_words(known, event.at_ms),
                None => format!("{} s", event.at_ms / 1000),
            },
            kind,
            label,
            by,
            text: text.unwrap_or(&event.text).to_owned(),
            command: None,
        }
    };
    known.problems.events().map(row).collect()
}

/// The label that the text of an event begins with.
fn label_of(text: &str) -> &'static str {
    match () {
        () if text.starts_with("ports between switches are no longer") => return STALLED_LABEL,
        () if text.starts_with("links between switches no longer") => return NARROW_LABEL,
        () => {}
    }
    let labels = HOT_LABELS.iter().chain(&CABLE_LABELS).chain(&CHANGE_LABELS);
    labels.copied().find(|label| text.starts_with(label)).unwrap_or("event")
}

type RowField = Field<EventRow, ()>;

pub const EVENTS: View<EventRow, ()> =
    View::new(EVENT_FIELDS, "there is no event and no bookmark: m sets one");

static EVENT_FIELDS: &[RowField] = &[
    RowField::new("time", "TIME", FieldKind::Text, "time by the recorder's clock", |(), row| {
        Value::text(&row.time)
    })
    .keyword(),
    RowField::new("kind", "KIND", FieldKind::Text, "kind of the event", |(), row| row.label.into()).shed(1),
    RowField::new(
        "by",
        "BY",
        FieldKind::Text,
        "origin: the watch or the recorder, the operator, or counters from which it is derived",
        |(), row| row.by.into(),
    ),
    RowField::new("what", "WHAT", FieldKind::Text, "text of the event", |(), row| Value::text(&row.text))
        .sentence(),
    RowField::new("moment", "SAMPLE", FieldKind::Number, "number of its sample, from 1", |(), row| {
        row.place.map(|place| place as u64 + 1).into()
    })
    .identifier()
    .when_known(),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_event_begins_with_its_label() {
        let texts = [
            ("hot-spot: node01", HOT_LABEL),
            ("link down: leaf1[3] to spine2[1]", "link down"),
            ("link rack2-leaf[3] has fewer errors than the threshold", LINK_LABEL),
            ("ports between switches are no longer stalled", STALLED_LABEL),
            ("tables: 3 entries differ", "tables"),
            ("the counters of leaf[1] were cleared", "event"),
        ];
        for (text, label) in texts {
            assert_eq!(label_of(text), label, "{text}");
        }
    }
}
