//! The time of charts, which is the same on all screens: its window, and the cursor in it.

use super::timeline::playback::Playback;
use crate::catalogue::quantity_words::length_words;
use crate::console::features::health::health_model::ChartWindow;
use crate::console::model::fabric_model::Model;
use crate::operations::watch::fabric_history::{FabricHistory, TimeWindow};
use crate::operations::watch::history_clock::HistoryClock;

/// The history that charts show: of a recording all of it, as soon as it was read.
pub fn chart_history(known: &Model) -> &FabricHistory {
    known.playback.as_ref().and_then(Playback::whole_totals).unwrap_or(&known.watch.totals)
}

/// Time of the last reading in the charts; over a slow line, of the last step.
pub fn latest_ms(known: &Model) -> u64 {
    let latest = chart_history(known).latest().map_or(0, |(at_ms, _)| at_ms);
    if known.playback.is_some() { latest } else { known.line.chart_end_ms(latest) }
}

/// The cursor in time; `None` while charts end with the present, or with the end of a recording.
pub fn cursor_ms(known: &Model) -> Option<u64> {
    let at_ms = match &known.playback {
        Some(playback) if playback.timeline().times.is_empty() => None,
        Some(playback) => Some(playback.at_ms(playback.place())),
        None => known.chart_cursor,
    };
    at_ms.filter(|at_ms| *at_ms < latest_ms(known))
}

/// The window of charts whose plot has this number of columns. It ends with the last reading, or with an earlier time
/// where the cursor lies far back: then it moves by half its length, so that the cursor stays in its later half.
pub fn chart_window(known: &Model, columns: u16) -> TimeWindow {
    let length = window_length_ms(known);
    // A window that is a whole recording begins with its first moment.
    let step =
        if length < known.problems.window.length_ms() { 1 } else { length / u64::from(columns.max(1)) };
    TimeWindow::ending_at(window_end_ms(known), length, step)
}

/// The length of the window: that which was chosen, and of a shorter recording all of it.
pub fn window_length_ms(known: &Model) -> u64 {
    let chosen = known.problems.window.length_ms();
    let recording = known.playback.as_ref().filter(|playback| playback.live.is_none());
    let span = recording.map(Playback::span_ms).filter(|span| *span >= SHORTEST_WINDOW_MS);
    // A longer time than the one that fits was asked for.
    let span = span.filter(|span| ChartWindow::fitting(*span) == known.problems.window);
    span.map_or(chosen, |span| span.min(chosen))
}

/// A recording of two moments still has a window with room for both.
const SHORTEST_WINDOW_MS: u64 = 1000;

/// The same in words.
pub fn window_words(known: &Model) -> String {
    match window_length_ms(known) {
        length if length == known.problems.window.length_ms() => known.problems.window.words().to_owned(),
        length => length_words(length),
    }
}

/// The time that windows are made to end with, the same for charts of any width.
pub fn window_end_ms(known: &Model) -> u64 {
    let (latest, length) = (latest_ms(known), window_length_ms(known));
    let back = cursor_ms(known).map_or(0, |at_ms| latest.saturating_sub(at_ms));
    let half = (length / 2).max(1);
    let end = latest.saturating_sub(back / half * half);
    // Before the first reading there is nothing to show.
    end.max(first_ms(known).saturating_add(length)).min(latest)
}

/// Time of the first moment of a recording, or of the first reading of a watch.
fn first_ms(known: &Model) -> u64 {
    match &known.playback {
        Some(playback) => playback.at_ms(0),
        None => latest_ms(known).saturating_sub(chart_history(known).span_ms().unwrap_or(0)),
    }
}

/// Whether a window ends with the present of a live source.
pub fn ends_now(known: &Model, window: TimeWindow) -> bool {
    let latest = i64::try_from(latest_ms(known)).unwrap_or(i64::MAX);
    known.playback.is_none() && known.watch.live != Some(false) && window.to_ms >= latest
}

/// The place of the cursor in a window, as a share of its length.
pub fn cursor_share(known: &Model, window: TimeWindow) -> Option<f64> {
    window.share(i64::try_from(cursor_ms(known)?).ok()?)
}

/// What a clock shows: that of the recorder, or that of this machine. `None` where times are relative.
pub fn chart_clock(known: &Model) -> Option<HistoryClock> {
    match &known.playback {
        Some(playback) => playback.clock(),
        None => known.clock,
    }
}

/// A time of the charts in words: by the clock, or else before the last reading.
pub fn time_words(known: &Model, at_ms: i64) -> String {
    let by_clock = chart_clock(known).and_then(|clock| clock.clock_text(at_ms));
    by_clock.unwrap_or_else(|| {
        let latest = i64::try_from(latest_ms(known)).unwrap_or(i64::MAX);
        match u64::try_from(latest.saturating_sub(at_ms)) {
            Ok(before) if before > 0 => format!("-{}", length_words(before)),
            _ => "now".to_owned(),
        }
    })
}

/// How long a column of a window is: `60 ms`, `1.8 s`, `12 s`, `3 min 20 s`.
pub fn column_words(window: TimeWindow, columns: u16) -> String {
    let length = u64::try_from(window.to_ms.saturating_sub(window.from_ms)).unwrap_or(0);
    match length / u64::from(columns.max(1)) {
        ms @ ..1000 => format!("{ms} ms"),
        ms @ ..9_950 => format!("{:.1} s", ms as f64 / 1000.0),
        ms => length_words(ms + 500),
    }
}

/// The first round number from a value on.
pub fn round_top(value: f64, steps: &[f64]) -> f64 {
    let exponent = value.max(1e-3).log10().floor();
    let power = 10f64.powf(exponent);
    let rounds = steps.iter().map(|step| step * power).chain([10.0 * power]);
    rounds.into_iter().find(|round| *round >= value * 0.999).unwrap_or(value)
}

/// The round number at the top of a scale of traffic whose largest value is this.
pub fn round_load(most: f64) -> f64 {
    round_top(most.max(1.0), &[1.0, 2.0, 5.0])
}
