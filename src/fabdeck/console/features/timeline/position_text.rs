//! The position in time, as text and as a bar.

use super::derivation::Derivation;
use super::playback::{Playback, PlaybackPosition};
use crate::catalogue::summary::count_words;
use crate::console::model::fabric_model::Model;

/// The text for the header: `02:13:40 paused`.
pub fn replay_word(known: &Model) -> Option<String> {
    let playback = known.playback.as_ref().filter(|playback| !playback.timeline().times.is_empty())?;
    let clock = playback.timeline().clock_text(playback.time());
    Some(format!("{clock} {}", position_word(playback)))
}

fn position_word(playback: &Playback) -> String {
    match (&playback.position, playback.is_playing()) {
        (PlaybackPosition::Gap { .. }, false) => "gap".to_owned(),
        (PlaybackPosition::Damage(_), false) => "damaged".to_owned(),
        (_, true) => match playback.speed.factor() {
            Some(times) => format!("plays {times}x"),
            None => "plays".to_owned(),
        },
        (PlaybackPosition::Moment, false) => "paused".to_owned(),
    }
}

/// The text for the head of the Timeline: the full time, and the number of the moment.
pub fn clock_words(playback: &Playback) -> String {
    let timeline = playback.timeline();
    let time = playback.time();
    format!(
        "{} {}  sample {} of {}",
        timeline.date_text(time),
        timeline.exact_clock_text(time),
        playback.place() + 1,
        timeline.times.len()
    )
}

pub fn position_words(playback: &Playback) -> String {
    let speed = playback.speed.word();
    let stands = match (&playback.position, playback.is_playing()) {
        (_, true) => return format!("plays {speed}"),
        (PlaybackPosition::Moment, false) => "paused",
        (PlaybackPosition::Gap { .. }, false) => "in a gap",
        (PlaybackPosition::Damage(_), false) => "cannot be read",
    };
    format!("{stands}, speed {speed}")
}

/// Text with the numbers of events, gaps, damaged moments and bookmarks.
pub fn recording_words(playback: &Playback) -> String {
    let timeline = playback.timeline();
    let gaps = (1..timeline.times.len()).filter(|at| timeline.has_gap_before(*at)).count();
    let track = playback.cursor.store();
    let damaged = (0..timeline.times.len()).filter(|at| track.damage(*at).is_some()).count();
    let derived = playback.derivation.as_ref();
    let found = derived.map_or(0, |derived| derived.found);
    let mut words = count_words(playback.entries().count() - found, "event", "events");
    if let Some(derived) = derived {
        words.push_str(&format!(", {}", derived_words(derived, timeline.times.len())));
    }
    if gaps > 0 {
        words.push_str(&format!(", {}", count_words(gaps, "gap", "gaps")));
    }
    if damaged > 0 {
        words.push_str(&format!(", {damaged} cannot be read"));
    }
    if !playback.bookmarks.is_empty() {
        words.push_str(&format!(", {}", count_words(playback.bookmarks.len(), "bookmark", "bookmarks")));
    }
    words
}

/// The progress and the result of the event scan.
fn derived_words(derivation: &Derivation, count: usize) -> String {
    let Derivation { found, done, stopped, .. } = derivation;
    match (*done >= count, stopped) {
        (true, _) => format!("{found} derived from counters"),
        (false, true) => format!("{found} derived from counters up to sample {done}"),
        (false, false) => {
            format!("{found} derived from counters so far ({}%, Esc stops)", done * 100 / count.max(1))
        }
    }
}
