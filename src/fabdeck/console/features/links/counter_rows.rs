//! The counters of a cable as rows: each with the values and the rates of both ends.
//!
//! ```text
//! COUNTER               rack2-leaf[7]   PER HOUR    spine-1[3]   PER HOUR  threshold
//! Symbol errors                12,194      3,600             0          0             grows
//! Link errors, all             12,195      3,600             1          1      10 /h  over
//! ```

use super::link_errors::{CounterForms, error_counters, values_in_snapshot, values_in_sweep};
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::health::card_text::short_number;
use crate::console::features::watch::watch_state::JudgedSweeps;
use crate::console::model::fabric_model::Model;
use crate::operations::watch::port_values::PortQuantity;
use fabdeck_fabric::counters::{Thresholds, growth_between, link_error_growth};
use fabdeck_fabric::observe::{Counter, CounterValues, digits_in_groups};
use fabdeck_fabric::{ElementId, LinkId, PortId};

/// A counter with its values at both ends.
#[derive(Clone, PartialEq, Debug)]
pub struct CounterRow {
    pub title: String,
    pub ends: [CableCount; 2],
    /// The value from which on the rate is a problem, or that no threshold judges it.
    pub threshold: String,
    pub is_over: bool,
    /// What the values say, in few words; empty where they say nothing.
    pub verdict: String,
    pub history: CounterHistory,
}

/// What the history keeps of a counter.
#[derive(Clone, PartialEq, Debug)]
pub enum CounterHistory {
    Quantity(PortQuantity),
    /// The growth of an error counter, by its 64-bit form.
    Errors(Counter),
}

/// The threshold of a counter that no threshold judges, and of one that only the sum of all link errors counts.
const NO_THRESHOLD: &str = "no threshold";
const IN_THE_SUM: &str = "in the sum";

/// The value of one end, and its growth.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CableCount {
    pub value: String,
    pub rate: String,
    /// Whether the value is above zero.
    pub counted: bool,
}

/// The samples of a port: the latest, and the baseline of error rates.
struct EndSamples<'s> {
    port: PortId,
    now: Option<&'s CounterValues>,
    first: Option<&'s CounterValues>,
}

/// The counters of both ends: data and waiting first, then errors that were counted, then the others.
pub fn counter_rows(look: &Snapshot, known: &Model, link: LinkId) -> Vec<CounterRow> {
    let judged = known.watch.judged.as_ref();
    let judged_sweeps = judged.map(|judged| [&*judged.after, &*judged.first]);
    let sweep = |port, at: usize| values_in_sweep(look, judged_sweeps?[at], port);
    let ends = [look.fabric().link(link).a, look.fabric().link(link).b].map(|port| EndSamples {
        port,
        now: sweep(port, 0).or_else(|| values_in_snapshot(look, port)),
        first: sweep(port, 1),
    });
    if ends.iter().all(|end| end.now.is_none()) {
        return Vec::new();
    }
    let since = |judged: &JudgedSweeps| judged.after.began.saturating_sub(judged.first.began).as_secs_f64();
    // Less than an hour counts as one, as for the problems of Health.
    let hours = judged.map_or(0.0, since).max(3600.0) / 3600.0;
    let mut rows = vec![data_row(known, &ends), wait_row(known, &ends), all_errors_row(known, &ends, hours)];
    let forms = error_counters(ends.iter().filter_map(|end| end.now));
    let mut errors: Vec<CounterRow> =
        forms.iter().map(|forms| error_row(known, &ends, forms, hours)).collect();
    errors.sort_by_key(|row| row.ends.iter().all(|cell| !cell.counted));
    rows.extend(errors);
    rows
}

/// The data that each end has sent.
fn data_row(known: &Model, ends: &[EndSamples<'_>; 2]) -> CounterRow {
    let cell = |end: &EndSamples<'_>| {
        let words =
            end.now.and_then(|now| now.figure(&Counter::PortXmitData, &Counter::PortXmitDataExtended));
        let value = words.map_or_else(unknown, |words| bytes_words(words.value.saturating_mul(4)));
        let rate = port_row(known, end.port).and_then(|row| row.sent_mbps);
        let rate = rate.map_or_else(unknown, |mbps| format!("{} Gb/s", short_number(mbps as f64 / 1000.0)));
        CableCount { value, rate, counted: words.is_some_and(|words| words.value > 0) }
    };
    let load = ends.iter().filter_map(|end| port_row(known, end.port)?.used).max();
    CounterRow {
        title: "Data sent".to_owned(),
        ends: ends.each_ref().map(cell),
        threshold: NO_THRESHOLD.to_owned(),
        is_over: false,
        verdict: load.map_or_else(String::new, |load| format!("load {load} %")),
        history: CounterHistory::Quantity(PortQuantity::Sent),
    }
}

/// How long packets wait to be sent.
fn wait_row(known: &Model, ends: &[EndSamples<'_>; 2]) -> CounterRow {
    let cell = |end: &EndSamples<'_>| {
        let ticks = end.now.and_then(|now| now.figure(&Counter::PortXmitWait, &Counter::PortXmitWaitExt));
        let share = port_row(known, end.port).and_then(|row| row.time_waited);
        CableCount {
            value: ticks.map_or_else(unknown, |ticks| format!("{} ticks", short_number(ticks.value as f64))),
            rate: share.map_or_else(unknown, |share| format!("{:.0} %", (share * 100.0).min(100.0))),
            counted: share.is_some_and(|share| share > 0.0),
        }
    };
    let limit = known.watch.settings.thresholds.congestion;
    let waiting = |end: &EndSamples<'_>| port_row(known, end.port).and_then(|row| row.waiting);
    let is_over = ends.iter().filter_map(waiting).any(|ticks| ticks as f64 >= limit);
    CounterRow {
        title: "Wait to send".to_owned(),
        ends: ends.each_ref().map(cell),
        threshold: format!("{} ticks/s", short_number(limit)),
        is_over,
        verdict: (if is_over { "over" } else { "" }).to_owned(),
        history: CounterHistory::Quantity(PortQuantity::Wait),
    }
}

/// The sum of the errors that tell of a bad cable or a full buffer: the threshold is one of their sum.
fn all_errors_row(known: &Model, ends: &[EndSamples<'_>; 2], hours: f64) -> CounterRow {
    let limit = known.watch.settings.thresholds.errors_per_hour;
    let cell = |end: &EndSamples<'_>| {
        let forms = Counter::link_error_counters();
        let values = forms.filter_map(|(narrow, wide)| Some(end.now?.figure(narrow, wide)?.value));
        let all = values.reduce(u64::saturating_add);
        let growth = || link_error_growth(end.first?, end.now?).lower_bound();
        CableCount {
            value: all.map_or_else(unknown, digits_in_groups),
            rate: rate_words(growth(), hours),
            counted: all.is_some_and(|all| all > 0),
        }
    };
    let per_hour = |end: &EndSamples<'_>| port_row(known, end.port).and_then(|row| row.errors_per_hour);
    let is_over = ends.iter().filter_map(per_hour).any(|errors| errors as f64 >= limit);
    let growth = |end: &EndSamples<'_>| link_error_growth(end.first?, end.now?).lower_bound();
    let verdict = growth_verdict(&ends.each_ref().map(cell), &ends.each_ref().map(growth), is_over);
    CounterRow {
        title: "Link errors, all".to_owned(),
        ends: ends.each_ref().map(cell),
        threshold: format!("{} /h", short_number(limit)),
        is_over,
        verdict,
        history: CounterHistory::Quantity(PortQuantity::Errors),
    }
}

fn error_row(
    known: &Model,
    ends: &[EndSamples<'_>; 2],
    (narrow, wide): &CounterForms,
    hours: f64,
) -> CounterRow {
    let growth = |end: &EndSamples<'_>| growth_between(narrow, wide, end.first?, end.now?).lower_bound();
    let cell = |end: &EndSamples<'_>| {
        let figure = end.now.and_then(|now| now.figure(narrow, wide));
        let least = |saturated| if saturated { ">=" } else { "" };
        CableCount {
            value: figure.map_or_else(unknown, |figure| {
                format!("{}{}", least(figure.saturated), digits_in_groups(figure.value))
            }),
            rate: rate_words(growth(end), hours),
            counted: figure.is_some_and(|figure| figure.value > 0),
        }
    };
    let limit = own_limit(&known.watch.settings.thresholds, narrow);
    let often = |end: &EndSamples<'_>| growth(end).map(|count| count as f64 / hours);
    let is_over = limit.is_some_and(|limit| ends.iter().filter_map(often).any(|count| count >= limit));
    let verdict = growth_verdict(&ends.each_ref().map(cell), &ends.each_ref().map(growth), is_over);
    CounterRow {
        title: counter_title(narrow).to_owned(),
        ends: ends.each_ref().map(cell),
        threshold: match limit {
            Some(limit) => format!("{} /h", short_number(limit)),
            None if is_in_sum(narrow) => IN_THE_SUM.to_owned(),
            None => NO_THRESHOLD.to_owned(),
        },
        is_over,
        verdict,
        history: CounterHistory::Errors(wide.clone()),
    }
}

/// The threshold that a counter has for itself: how often a link may go down, and how many packets a port may drop, as the
/// problems of Health judge both.
fn own_limit(thresholds: &Thresholds, narrow: &Counter) -> Option<f64> {
    match narrow {
        Counter::LinkDownedCounter | Counter::LinkDownedCounterExt => Some(thresholds.flaps_per_hour),
        Counter::PortXmitDiscards | Counter::PortXmitDiscardsExt => Some(thresholds.errors_per_hour),
        _ => None,
    }
}

/// Whether the threshold of all link errors counts this counter.
fn is_in_sum(counter: &Counter) -> bool {
    Counter::link_error_counters().any(|(narrow, wide)| counter == narrow || counter == wide)
}

/// What a counter of errors says: that it is over its threshold, grows, or was counted before the watch began.
fn growth_verdict(values: &[CableCount; 2], growth: &[Option<u64>; 2], is_over: bool) -> String {
    let counted = values.iter().any(|value| value.counted);
    let words = match (counted, growth.iter().flatten().max()) {
        _ if is_over => "over",
        (true, Some(0)) => "not growing",
        (_, Some(1..)) => "grows",
        _ => "",
    };
    words.to_owned()
}

fn port_row(known: &Model, port: PortId) -> Option<&crate::operations::watch::hot_ports::HotPort> {
    known.watch.reading.as_ref()?.port_row_of(ElementId::Port(port))
}

/// From this number on, a rate has no room for all of its digits.
const LARGE_RATE: f64 = 999_999.5;
/// The same of a growth, which is no rate and says so.
const LARGE_GROWTH: f64 = 99_999.5;

/// Growth since the baseline of error rates, which is the number that Health names and thresholds judge: an hour, or once
/// there is an hour. Before, what was counted since the first reading.
fn rate_words(since: Option<u64>, hours: f64) -> String {
    match since {
        None => unknown(),
        Some(0) => "0".to_owned(),
        Some(count) if hours <= 1.0 => match count as f64 {
            LARGE_GROWTH.. => format!("{} new", short_number(count as f64)),
            _ => format!("{} new", digits_in_groups(count)),
        },
        Some(count) => {
            let rate = count as f64 / hours;
            match rate {
                ..9.95 | LARGE_RATE.. => format!("{} /h", short_number(rate)),
                _ => format!("{} /h", digits_in_groups(rate.round() as u64)),
            }
        }
    }
}

fn unknown() -> String {
    "?".to_owned()
}

/// An amount in powers of 1000.
fn bytes_words(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.95 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1000.0, unit + 1);
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", UNITS[unit])
}

/// A counter in words; the name that tools print where it has none.
fn counter_title(counter: &Counter) -> &str {
    let name = counter.name();
    match name.strip_suffix("Ext").unwrap_or(name) {
        "SymbolErrorCounter" => "Symbol errors",
        "LinkErrorRecoveryCounter" => "Link recovered",
        "LinkDownedCounter" => "Link went down",
        "PortRcvErrors" => "Receive errors",
        "PortRcvRemotePhysicalErrors" => "Remote physical errors",
        "PortRcvSwitchRelayErrors" => "Switch relay errors",
        "PortXmitDiscards" => "Sent but dropped",
        "PortXmitConstraintErrors" => "Send constraint errors",
        "PortRcvConstraintErrors" => "Receive constraint errors",
        "LocalLinkIntegrityErrors" => "Local integrity errors",
        "ExcessiveBufferOverrunErrors" => "Buffer overruns",
        "QP1Dropped" => "Dropped at QP1",
        "VL15Dropped" => "Dropped on VL15",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_says_its_unit() {
        let counts = [None, Some(0), Some(9), Some(768_086), Some(24_000_000)];
        let rates = counts.map(|since| rate_words(since, 2.0));
        assert_eq!(rates, ["?", "0", "4.5 /h", "384,043 /h", "12M /h"]);
        // Within the first hour there is no rate an hour.
        let counts = [Some(0), Some(12_113), Some(24_000_000)].map(|since| rate_words(since, 1.0));
        assert_eq!(counts, ["0", "12,113 new", "24M new"]);
    }

    #[test]
    fn a_verdict_tells_old_errors_from_new_ones() {
        let count = |counted| CableCount { counted, ..CableCount::default() };
        let verdict = |counted, growth, is_over| {
            growth_verdict(&[count(counted), count(false)], &[growth, Some(0)], is_over)
        };
        assert_eq!(verdict(true, Some(0), false), "not growing");
        assert_eq!(verdict(true, Some(7), false), "grows");
        assert_eq!(verdict(true, Some(7), true), "over");
        assert_eq!(verdict(false, Some(0), false), "");
        let unknown = growth_verdict(&[count(true), count(true)], &[None, None], false);
        assert_eq!(unknown, "", "without two readings nothing is said");
    }

    #[test]
    fn amounts_have_powers_of_1000() {
        assert_eq!(
            [0, 999, 1000, 128_200_000_000, u64::MAX].map(bytes_words),
            ["0 B", "999 B", "1.0 kB", "128.2 GB", "18446.7 PB"]
        );
    }
}
