//! The list of the Timeline: events, gaps, damage and bookmarks, in the order of time.

use std::borrow::Cow;

use super::playback::Playback;
use super::words::happened_words;
use crate::session::{Column, Kind, Listing, Look, Value};
use fabdeck_fabric::observe::News;
use fabdeck_files::capture::Told;

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
    pub fn of(told: &Told) -> Self {
        match told {
            Told::News(news) if news.is_trouble() => Self::Trouble,
            Told::News(News::Trap { .. } | News::JobsChanged { .. } | News::JobsSilent { .. }) => {
                Self::Changed
            }
            Told::News(_) => Self::Better,
            Told::Note(_) => Self::Note,
            Told::Action(_) => Self::Action,
            Told::Derived(derived) if derived.began => Self::Began,
            Told::Derived(_) => Self::Over,
            Told::Changed | Told::Later(_) | Told::LeftOut(_) => Self::Changed,
            Told::SetBack(_) => Self::Clock,
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
const RECORDER: &str = "recorder";
const OPERATOR: &str = "operator";
pub const COUNTERS: &str = "counters";

/// All rows, by moment and time; rows of the same time begin with the worst.
pub fn rows(playback: &Playback, look: &Look) -> Vec<EventRow> {
    let timeline = playback.timeline();
    let row = |place: usize, time: i64, kind: EventKind, label: &'static str, text: String| EventRow {
        place,
        at: time,
        time: timeline.exact_clock(time),
        kind,
        label,
        by: RECORDER,
        text,
        command: None,
    };
    let mut rows: Vec<EventRow> = (playback.happened())
        .map(|happened| {
            let (label, text, _) = happened_words(look, &happened.told);
            let (by, command) = match &happened.told {
                Told::Note(_) => (OPERATOR, None),
                Told::Action(acted) => (OPERATOR, acted.command.clone()),
                Told::Derived(_) => (COUNTERS, None),
                _ => (RECORDER, None),
            };
            let row = row(happened.place, happened.time, EventKind::of(&happened.told), label, text);
            EventRow { by, command, ..row }
        })
        .collect();
    let count = timeline.times.len();
    for place in (1..count).filter(|place| timeline.gap_before(*place)) {
        let (from, to) = (timeline.times[place - 1], timeline.times[place]);
        let seconds = to.saturating_sub(from) / 1000;
        let text = format!("nothing was recorded for {seconds} s, up to {}", timeline.clock(to));
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
        rows.push(EventRow { by: OPERATOR, ..row });
    }
    rows.sort_by_key(|row| (row.place, row.at, row.kind));
    rows
}

/// The rows with their fields.
#[derive(Debug)]
pub struct Events<'r>(pub &'r [EventRow]);

type Get = (Column, for<'r> fn(&'r EventRow) -> Value<'r>);

static FIELDS: [Get; 5] = [
    (column("time", "TIME", Kind::Text, "when, by the recorder's clock"), |row| row.time.as_str().into()),
    (column("kind", "KIND", Kind::Text, "what sort of thing happened"), |row| row.label.into()),
    (
        column(
            "by",
            "BY",
            Kind::Text,
            "who says so: the recorder, the operator, or counters, of which it is derived",
        ),
        |row| row.by.into(),
    ),
    (column("what", "WHAT", Kind::Text, "what happened"), |row| row.text.as_str().into()),
    (column("moment", "MOMENT", Kind::Number, "with which moment it is seen, from 1 on"), |row| {
        Value::count(row.place + 1)
    }),
];

const fn column(id: &'static str, title: &'static str, kind: Kind, about: &'static str) -> Column {
    Column::new(Cow::Borrowed(id), Cow::Borrowed(title), kind, Cow::Borrowed(about))
}

impl Listing for Events<'_> {
    fn column_count(&self) -> usize {
        FIELDS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &FIELDS[at].0
    }

    fn row_count(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        (FIELDS[column].1)(&self.0[row])
    }

    fn when_empty(&self) -> &str {
        "nothing happened that a recorder notices, and there is no bookmark: m sets one"
    }
}
