//! The position in time, as text and as a bar.

use super::derivation::Derivation;
use super::event_rows::EventKind;
use super::playback::{Playback, PlaybackPosition};
use crate::catalogue::summary::count_words;
use crate::console::model::fabric_model::Model;
use crate::operations::replay::event_words::event_words;

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
        "{} {}  moment {} of {}",
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

/// The text about the events at the cursor, and whether one is trouble.
pub fn moment_words(known: &Model) -> (String, bool) {
    let (Some(playback), Some(look)) = (&known.playback, &known.look) else { return Default::default() };
    let timeline = playback.timeline();
    match &playback.position {
        PlaybackPosition::Gap { from, to } => {
            let words = format!(
                "nothing was recorded from {} to {}",
                timeline.clock_text(*from),
                timeline.clock_text(*to)
            );
            return (words, true);
        }
        PlaybackPosition::Damage(damage) => return (damage.clone(), true),
        PlaybackPosition::Moment => {}
    }
    let here = playback.entries().filter(|happened| happened.place == playback.place());
    let events: Vec<_> = here.map(|happened| event_words(look, &happened.event)).collect();
    let trouble = events.iter().any(|(.., trouble)| *trouble);
    let words: Vec<String> = events.into_iter().map(|(label, text, _)| format!("{label}: {text}")).collect();
    match words.is_empty() {
        true => ("no event at this moment".to_owned(), false),
        false => (words.join("; "), trouble),
    }
}

/// The content of a column of the time bar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimeMark {
    /// Nothing was recorded.
    #[default]
    Gap,
    Recorded,
    Damaged,
}

/// The time bar: for each column its content and its worst event; and the column of the cursor.
pub fn time_bar(playback: &Playback, width: usize) -> (Vec<(TimeMark, Option<EventKind>)>, usize) {
    let timeline = playback.timeline();
    let count = timeline.times.len();
    let mut columns = vec![(TimeMark::Gap, None::<EventKind>); width];
    if width == 0 || count == 0 {
        return (columns, 0);
    }
    // Time by which a clock was set back takes no columns.
    let mut elapsed = vec![0i64; count];
    for at in 1..count {
        let step = timeline.times[at].saturating_sub(timeline.times[at - 1]).max(0);
        elapsed[at] = elapsed[at - 1].saturating_add(step);
    }
    let whole = i128::from(elapsed[count - 1].max(1));
    let column = |at: usize| (i128::from(elapsed[at]) * (width as i128 - 1) / whole) as usize;
    for at in 0..count {
        let (from, to) = (column(at), column((at + 1).min(count - 1)));
        let gap = at + 1 < count && timeline.has_gap_before(at + 1);
        let to = if gap { from } else { to };
        let damaged = playback.cursor.store().damage(at).is_some();
        for (mark, _) in &mut columns[from..=to.max(from)] {
            *mark = match (damaged, *mark) {
                (true, _) | (_, TimeMark::Damaged) => TimeMark::Damaged,
                _ => TimeMark::Recorded,
            };
        }
    }
    let bookmarks = playback.bookmarks.iter().map(|place| (*place, EventKind::Bookmark));
    let happened =
        playback.entries().map(|happened| (happened.place, EventKind::from_event(&happened.event)));
    for (place, kind) in happened.chain(bookmarks) {
        let (_, worst) = &mut columns[column(place.min(count - 1))];
        *worst = Some(worst.map_or(kind, |worst| worst.min(kind)));
    }
    (columns, column(playback.place().min(count - 1)))
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
        (false, true) => format!("{found} derived from counters up to moment {done}"),
        (false, false) => {
            format!("{found} derived from counters so far ({}%, Esc stops)", done * 100 / count.max(1))
        }
    }
}
