//! The events of a recording in words.

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::replay::changed_words::CHANGED_LABEL;
use crate::operations::watch::fabric_events::{fabric_event_label, fabric_event_text, fabric_event_word};
use fabdeck_files::capture::TimelineEvent;
use fabdeck_files::capture_format::{AcknowledgementRecord, Annotation};

/// The label and text of an event, and whether it is trouble.
pub fn event_words(look: &Snapshot, event: &TimelineEvent) -> (&'static str, String, bool) {
    match event {
        TimelineEvent::News(news) => {
            (fabric_event_label(fabric_event_word(news)), fabric_event_text(look, news), news.is_trouble())
        }
        TimelineEvent::Note(text) => ("note", text.split_whitespace().collect::<Vec<_>>().join(" "), false),
        TimelineEvent::Annotation(Annotation { text: Some(text), by, .. }) => {
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let by = if by.is_empty() { String::new() } else { format!(" (by {by})") };
            ("note", format!("{words}{by}"), false)
        }
        TimelineEvent::Annotation(Annotation { by, .. }) => ("bookmark", format!("set by {by}"), false),
        TimelineEvent::Action(acted) => ("action", acted.what.clone(), false),
        TimelineEvent::Acknowledgement(record) => ("action", acknowledgement_words(record), false),
        TimelineEvent::Derived(derived) => (derived.label, derived.text.clone(), derived.began),
        TimelineEvent::Changed => {
            (CHANGED_LABEL, "the fabric, its tables or its names; not compared yet".to_owned(), false)
        }
        TimelineEvent::Later(word) => {
            ("later", format!("'{word}' is an event of a later version of fabdeck"), false)
        }
        TimelineEvent::LeftOut(count) => {
            let many = count_words(*count, "note, action or event", "notes, actions and events");
            ("left out", format!("{many} of this moment were not recorded: the list is full"), false)
        }
        TimelineEvent::SetBack(ms) => {
            ("clock", format!("the recorder's clock was set back by {}.{:03} s", ms / 1000, ms % 1000), false)
        }
    }
}

/// An acknowledgement of a problem, or that it is taken back, in words.
pub fn acknowledgement_words(record: &AcknowledgementRecord) -> String {
    let AcknowledgementRecord { problem, by, note, removed, .. } = record;
    let what = if *removed { "no longer acknowledged" } else { "acknowledged" };
    let note = note.as_deref().map(|note| note.split_whitespace().collect::<Vec<_>>().join(" "));
    let note = note.map(|note| format!(": {note}")).unwrap_or_default();
    format!("{what} {problem} (by {by}){note}")
}
