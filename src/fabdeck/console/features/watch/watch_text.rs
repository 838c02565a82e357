//! Texts about the watch.

use super::watch_state::WatchState;
use crate::catalogue::quantity_words::length_words;
use crate::catalogue::summary::count_words;
use crate::console::model::fabric_model::Model;
use crate::operations::replay::replay_frame::NoBaseline;
use crate::operations::watch::interval_verdict::quiet_words;
use fabdeck_fabric::counters::HotSpots;
use fabdeck_fabric::observe::digits_in_groups;

/// The text for the header; `None` where the source cannot be watched.
pub fn header_word(watch: &WatchState) -> Option<String> {
    match (watch.can_watch(), watch.paused) {
        (false, _) => None,
        (true, true) => Some("paused".to_owned()),
        (true, false) => {
            let failing = if watch.trouble.is_some() { " failing" } else { "" };
            Some(format!("live {}{failing}", spaced_interval(watch.settings.interval_ms)))
        }
    }
}

/// The interval in the notation of the configuration and `--interval`: `5s`, `500ms`.
pub fn interval_words(ms: u64) -> String {
    if ms.is_multiple_of(1000) { format!("{}s", ms / 1000) } else { format!("{ms}ms") }
}

/// The interval as screens write it: `5 s`, `500 ms`.
pub fn spaced_interval(ms: u64) -> String {
    if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") }
}

/// The text for an empty list of verdicts.
pub fn empty_words(known: &Model) -> String {
    const ONE: &str = "this source has only one reading of counters; to compare two files, use \
                       hotspots --before FILE --after FILE --seconds N";
    let watch = &known.watch;
    match () {
        () if watch.live.is_none() => "the source is still being read".to_owned(),
        () if watch.recorded && watch.reading.is_none() => no_baseline_words(watch.alone).to_owned(),
        () if watch.live == Some(false) && !watch.recorded => ONE.to_owned(),
        () if watch.settings.interval_ms == 0 && !watch.recorded => {
            "counters are not watched: interval under [watch] in the configuration is 0s".to_owned()
        }
        () if watch.paused && watch.reading.is_none() => "paused: W resumes".to_owned(),
        () if let Some(trouble) = &watch.trouble
            && watch.reading.is_none() =>
        {
            format!("the counters could not be read: {trouble}; they are read again")
        }
        () if watch.sweeps == 0 => "first sweep is being read".to_owned(),
        () if watch.reading.is_none() => {
            let interval = spaced_interval(watch.settings.interval_ms);
            format!("the first sweep was read; the second, {interval} later, gives a verdict")
        }
        () => {
            let untold =
                watch.reading.as_ref().map_or(0, |reading| reading.watched.verdict.unknown_ports.len());
            let quiet = match untold {
                0 => quiet_words(&watch.settings.thresholds),
                some => format!(
                    "{}; of the others none waits above {} ticks/s",
                    count_words(some, "port whose waiting is not known", "ports whose waiting is not known",),
                    digits_in_groups(watch.settings.thresholds.congestion)
                ),
            };
            format!("{quiet}; {}", since_words(known))
        }
    }
}

/// Reason why a moment of a recording has no verdict.
fn no_baseline_words(alone: Option<NoBaseline>) -> &'static str {
    match alone {
        Some(NoBaseline::First) => "this is the first moment: a verdict needs two, ] steps on",
        Some(NoBaseline::Gap) => {
            "nothing was recorded right before this moment: a verdict needs two, ] steps on"
        }
        Some(NoBaseline::Damage) => "the moment before cannot be read: a verdict needs two, ] steps on",
        None => "the moment is being read",
    }
}

/// The line above the list: a summary of the verdict.
pub fn head_words(known: &Model) -> String {
    let watch = &known.watch;
    let Some(reading) = &watch.reading else { return String::new() };
    let verdict = &reading.watched.verdict;
    let (hot, held, way) =
        (verdict.hot_spots.len(), verdict.congested_adapters.len(), verdict.congested_ports.len());
    let bad = reading.in_trouble;
    let parts = [
        (hot, count_words(hot, "hot-spot", "hot-spots")),
        (held, count_words(held, "host waits", "hosts wait")),
        (way, format!("{way} {}", bottleneck_word(verdict))),
        (bad, format!("{bad} with link errors")),
        (verdict.unknown_ports.len(), format!("{} unknown", verdict.unknown_ports.len())),
    ];
    let parts: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    let parts = if parts.is_empty() { "quiet".to_owned() } else { parts.join(", ") };
    format!("{parts}; {}", since_words(known))
}

fn bottleneck_word(verdict: &HotSpots) -> &'static str {
    match (verdict.is_stalled(), verdict.has_narrow_links()) {
        (true, _) => "stalled",
        (false, true) => "too narrow",
        (false, false) => "on the path",
    }
}

fn since_words(known: &Model) -> String {
    let watch = &known.watch;
    if watch.has_earlier_verdict() {
        return "from before the source was read again".to_owned();
    }
    let count = usize::try_from(watch.sweeps).unwrap_or(usize::MAX);
    let sweeps = count_words(count, "sweep", "sweeps");
    let latest = watch.reading.as_ref().map_or(watch.since_ms, |reading| reading.at_ms);
    format!("{sweeps} in {}", length_words(latest.saturating_sub(watch.since_ms)))
}
