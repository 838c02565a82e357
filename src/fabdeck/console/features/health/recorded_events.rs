//! The events of a recording up to the moment on the screens, for the list and the charts.

use std::collections::VecDeque;
use std::sync::Arc;

use super::health_model::{HealthEvent, MAX_EVENTS, OperatorMark, RecordedEvents, RecordedKey};
use crate::catalogue::severity::Severity;
use crate::console::features::timeline::playback::Playback;
use crate::console::model::fabric_model::Model;
use crate::operations::replay::event_words::event_words;
use fabdeck_files::capture::{TimelineEntry, TimelineEvent};

/// Takes over the events of the moment that is shown; `None` without a recording.
pub fn follow_recording(known: &mut Model) {
    let at_ms = known.watch.reading.as_ref().map_or(known.watch.since_ms, |reading| reading.at_ms);
    let key = |playback: &Playback| -> Option<RecordedKey> {
        Some((Arc::as_ptr(playback.timeline()) as usize, playback.changed, playback.shown?, at_ms))
    };
    let Some(of) = known.playback.as_ref().and_then(key) else {
        known.problems.recorded = None;
        return;
    };
    if known.problems.recorded.as_ref().is_none_or(|recorded| recorded.of != of) {
        let (events, count) = events_until(known, of.2, at_ms);
        known.problems.recorded = Some(RecordedEvents { of, events, count });
    }
}

/// The latest events up to a moment, at times of the session, and the number of all of them.
fn events_until(known: &Model, shown: usize, at_ms: u64) -> (VecDeque<HealthEvent>, usize) {
    let (Some(playback), Some(look)) = (&known.playback, &known.look) else { return Default::default() };
    let Some(now) = playback.timeline().times.get(shown) else { return Default::default() };
    let latest = i64::try_from(at_ms).unwrap_or(i64::MAX);
    let event = |entry: &TimelineEntry| {
        let (label, text, trouble) = event_words(look, &entry.event);
        HealthEvent {
            at_ms: latest.saturating_sub(now.saturating_sub(entry.time)),
            severity: if trouble { Severity::Warning } else { Severity::Info },
            text: format!("{label}: {text}"),
            mark: match entry.event {
                TimelineEvent::Note(_) | TimelineEvent::Annotation(_) => Some(OperatorMark::Note),
                TimelineEvent::Action(_) | TimelineEvent::Acknowledgement(_) => Some(OperatorMark::Action),
                _ => None,
            },
        }
    };
    let bookmark = |place: &usize| HealthEvent {
        at_ms: i64::try_from(playback.at_ms(*place)).unwrap_or(i64::MAX),
        severity: Severity::Info,
        text: "bookmark".to_owned(),
        mark: Some(OperatorMark::Bookmark),
    };
    let bookmarks = playback.bookmarks.range(..=shown).map(bookmark);
    let mut entries: Vec<&TimelineEntry> = playback.entries().filter(|entry| entry.place <= shown).collect();
    entries.sort_by_key(|entry| (entry.place, entry.time));
    let mut events: Vec<HealthEvent> = entries.into_iter().map(event).chain(bookmarks).collect();
    events.sort_by_key(|event| event.at_ms);
    let (count, skipped) = (events.len(), events.len().saturating_sub(MAX_EVENTS));
    (events.into_iter().skip(skipped).collect(), count)
}
