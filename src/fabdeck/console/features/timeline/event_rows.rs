//! The list of the Timeline: events, gaps, damage and bookmarks, in the order of time.

use super::playback::Playback;
use crate::catalogue::field::Field;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::operations::replay::event_words::event_words;
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
            TimelineEvent::Action(_) => Self::Action,
            TimelineEvent::Derived(derived) if derived.began => Self::Began,
            TimelineEvent::Derived(_) => Self::Over,
            TimelineEvent::Changed | TimelineEvent::Later(_) | TimelineEvent::LeftOut(_) => Self::Changed,
            TimelineEvent::SetBack(_) => Self::Clock,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventRow {
    /// The moment that Enter shows.
    pub place: usize,
    pub at: i64,
    pub time: String,
    pub kind: EventKind,
    pub label: &'static str,
    /// The origin of the event.
    pub by: &'static str,
    pub text: String,
    /// The command line that does the same.
    pub command: Option<String>,
}

/// The origins of events: the recorder, the operator, or the counters from which they are derived.
const BY_RECORDER: &str = "recorder";
const BY_OPERATOR: &str = "operator";
pub const BY_COUNTERS: &str = "counters";

/// All rows, by moment and time; rows of the same time begin with the worst.
pub fn event_rows(playback: &Playback, look: &Snapshot) -> Vec<EventRow> {
    let timeline = playback.timeline();
    let row = |place: usize, time: i64, kind: EventKind, label: &'static str, text: String| EventRow {
        place,
        at: time,
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
                TimelineEvent::Note(_) => (BY_OPERATOR, None),
                TimelineEvent::Action(acted) => (BY_OPERATOR, acted.command.clone()),
                TimelineEvent::Derived(_) => (BY_COUNTERS, None),
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
        let text = "set in this session".to_owned();
        let row = row(*place, timeline.times[*place], EventKind::Bookmark, "bookmark", text);
        rows.push(EventRow { by: BY_OPERATOR, ..row });
    }
    rows.sort_by_key(|row| (row.place, row.at, row.kind));
    rows
}

type RowField = Field<EventRow, ()>;

pub const EVENTS: View<EventRow, ()> =
    View::new(EVENT_FIELDS, "there is no event and no bookmark: m sets one").optional(&["kind"]);

static EVENT_FIELDS: &[RowField] = &[
    RowField::new("time", "TIME", FieldKind::Text, "time by the recorder's clock", |(), row| {
        Value::text(&row.time)
    })
    .keyword(),
    RowField::new("kind", "KIND", FieldKind::Text, "kind of the event", |(), row| row.label.into()),
    RowField::new(
        "by",
        "BY",
        FieldKind::Text,
        "origin: the recorder, the operator, or counters from which it is derived",
        |(), row| row.by.into(),
    ),
    RowField::new("what", "WHAT", FieldKind::Text, "text of the event", |(), row| Value::text(&row.text)),
    RowField::new("moment", "MOMENT", FieldKind::Number, "number of its moment, from 1", |(), row| {
        Value::count(row.place + 1)
    })
    .identifier(),
];
