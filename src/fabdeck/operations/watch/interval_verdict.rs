//! The comparison of two counter readings, and its texts.

use super::role_words::congested_adapter_words;
use crate::catalogue::quantity_words::length_words;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::catalogue::value::rate_in_millions;
use fabdeck_fabric::PortId;
use fabdeck_fabric::counters::{
    CongestedAdapter, CongestedPort, CongestionRole, FlowHistory, HotSpots, LinkProblem, LinkProblemKind,
    OversubscribedUplink, Rates, Thresholds, find_hot_spots, link_problems,
};
use fabdeck_fabric::observe::digits_in_groups;

/// The verdict over one interval.
#[derive(Clone, PartialEq, Debug)]
pub struct IntervalVerdict {
    /// Seconds between the two readings.
    pub seconds: f64,
    /// Seconds since the reading from which errors count.
    pub watched_seconds: f64,
    /// Number of ports that both readings have.
    pub ports: usize,
    pub verdict: HotSpots,
    /// Switch ports that lead to adapters and whose waiting is known, in ascending order.
    pub told: Vec<PortId>,
    /// Links with errors, link-downs or reduced speed or width since the first reading. Degraded links come
    /// last.
    pub troubles: Vec<LinkProblem>,
    /// Ports whose counters were cleared between the readings.
    pub cleared: Vec<PortId>,
    /// A hot-spot for which no port waits this share of the time is brief.
    pub brief_wait: f64,
    /// What the next interval needs to know of flows.
    pub flows: FlowHistory,
}

impl IntervalVerdict {
    /// Judges an interval by itself. `since_first` has the rates since the first reading, over an hour at least: errors
    /// are too rare to judge from a few seconds.
    pub fn new(
        look: &Snapshot,
        rates: &Rates,
        seconds: f64,
        since_first: &Rates,
        thresholds: &Thresholds,
    ) -> Self {
        Self::after(&FlowHistory::default(), look, rates, seconds, since_first, thresholds)
    }

    /// Judges an interval with what the intervals right before it say of flows.
    pub fn after(
        earlier: &FlowHistory,
        look: &Snapshot,
        rates: &Rates,
        seconds: f64,
        since_first: &Rates,
        thresholds: &Thresholds,
    ) -> Self {
        let fabric = look.fabric();
        let mut troubles = link_problems(fabric, since_first, thresholds);
        // Degraded links come last: a fabric with many of them would hide the links with errors.
        troubles.sort_by_key(|trouble| trouble.why == LinkProblemKind::Degraded);
        let mut verdict = find_hot_spots(fabric, rates, thresholds);
        // Assumed tables and adaptive routing do not determine the paths of packets, so they prove no roles.
        let flows = match look.assumed.is_none() && look.observation.adaptive.is_none() {
            true => earlier.classify(fabric, &look.observation.tables, rates, &mut verdict),
            false => FlowHistory::default(),
        };
        let adapter_behind = |port: &PortId| {
            let is_switch = |port: PortId| fabric.node(fabric.port(port).node).is_switch();
            is_switch(*port) && fabric.peer(*port).is_some_and(|peer| !is_switch(peer))
        };
        let told = rates.ports.iter().filter(|port| port.congestion().is_some()).map(|port| port.port);
        let told = told.filter(adapter_behind).collect();
        Self {
            seconds,
            watched_seconds: since_first.span,
            ports: rates.ports.len(),
            verdict,
            told,
            troubles,
            cleared: rates.cleared_ports().collect(),
            brief_wait: thresholds.brief_wait,
            flows,
        }
    }

    /// The time in which errors were counted, in words: what was watched, or an hour of it.
    pub fn error_span(&self) -> String {
        error_span_words(self.watched_seconds)
    }

    /// Whether the interval has a finding.
    pub fn has_findings(&self) -> bool {
        !self.verdict.is_quiet() || !self.troubles.is_empty()
    }

    /// Adapters that wait during a hot-spot and send to it, or may do so.
    pub fn contributors(&self) -> impl Iterator<Item = &CongestedAdapter> {
        self.verdict.congested_adapters.iter().filter(|held| !self.is_victim(held))
    }

    /// Adapters that wait and do not send to a hot-spot. Without any hot-spot, every adapter that waits is a
    /// victim.
    pub fn victims(&self) -> impl Iterator<Item = &CongestedAdapter> {
        self.verdict.congested_adapters.iter().filter(|held| self.is_victim(held))
    }

    fn is_victim(&self, held: &CongestedAdapter) -> bool {
        self.verdict.hot_spots.is_empty() || matches!(held.role, CongestionRole::Victim { .. })
    }
}

/// The verdict as label and text pairs; of each kind the `most` worst.
pub fn verdict_lines(
    look: &Snapshot,
    watched: &IntervalVerdict,
    thresholds: &Thresholds,
    most: usize,
) -> Vec<(&'static str, String)> {
    let verdict = &watched.verdict;
    let mut lines = vec![(
        "ports",
        format!("{} in both readings, {:.1} seconds apart", digits_in_groups(watched.ports), watched.seconds),
    )];
    let limit = thresholds.congestion;
    // Oversubscribed leaves come first, because their ports wait far longer than those at a hot-spot.
    shorten_list(&mut lines, NARROW_LEAF_LABEL, &verdict.oversubscribed, most, |leaf| {
        leaf_words(look, leaf, limit)
    });
    shorten_list(&mut lines, HOT_LABEL, &verdict.hot_spots, most, |spot| {
        hot_words(look, spot.adapter, &spot.at, limit)
    });
    let alone = verdict.hot_spots.is_empty();
    let held = |held: &CongestedAdapter| congested_adapter_words(look, held, alone, limit);
    shorten_list(&mut lines, WAITS_LABEL, &verdict.congested_adapters, most, held);
    let lesser = |at: &&CongestedPort| verdict.oversubscribed.iter().all(|leaf| leaf.at.port != at.port);
    let on_the_path: Vec<&CongestedPort> = verdict.congested_ports.iter().filter(lesser).collect();
    shorten_list(&mut lines, ON_PATH_LABEL, &on_the_path, most, |at| waiting_port_words(look, at, limit));
    if verdict.has_narrow_links() {
        lines.push(narrow_line(verdict.is_stalled()));
    }
    let span = watched.error_span();
    shorten_list(&mut lines, LINK_LABEL, &watched.troubles, most, |trouble| {
        trouble_words(look, trouble, thresholds, &span)
    });
    for (label, ports, why) in [
        (
            "not known",
            &verdict.unknown_ports,
            "whose waiting is not known (not counted, stuck at its maximum, or silent)",
        ),
        (
            "cleared",
            &watched.cleared,
            "whose counters were cleared between the readings: their earlier values are lost",
        ),
    ] {
        if !ports.is_empty() {
            lines.push((label, port_names(look, ports, most, why)));
        }
    }
    if !watched.has_findings() {
        lines.push(("verdict", quiet_words(thresholds)));
    }
    lines
}

/// Labels of the lines.
pub(crate) const HOT_LABEL: &str = "hot-spot";
pub(crate) const WAITS_LABEL: &str = "waits";
pub(crate) const ON_PATH_LABEL: &str = "on the path";
/// The line for waiting ports between switches, where no adapter is a hot-spot.
pub(crate) fn narrow_line(stalled: bool) -> (&'static str, String) {
    match stalled {
        true => (STALLED_LABEL, STALLED_WORDS.to_owned()),
        false => (NARROW_LABEL, NARROW_WORDS.to_owned()),
    }
}

pub(crate) const STALLED_LABEL: &str = "stalled";
const STALLED_WORDS: &str = "ports between switches wait and send next to nothing: there may be a credit loop; \
     'check --switches --lanes one' searches for one";
pub(crate) const NARROW_LABEL: &str = "too narrow";
const NARROW_LEAF_LABEL: &str = "oversubscribed";
pub(crate) const LINK_LABEL: &str = "link";
const NARROW_WORDS: &str =
    "links between switches wait and no adapter is a hot-spot: they carry less than is sent";

pub(crate) fn quiet_words(thresholds: &Thresholds) -> String {
    format!("quiet: no port waits above {} ticks/s", digits_in_groups(thresholds.congestion))
}

pub(crate) fn hot_words(look: &Snapshot, adapter: PortId, at: &CongestedPort, limit: f64) -> String {
    let (adapter, port) = (look.port_name(adapter), look.labelled_port_name(at.port));
    format!("{adapter}, which {port} leads to: {}", waiting_words(at, limit))
}

pub(crate) fn waiting_port_words(look: &Snapshot, at: &CongestedPort, limit: f64) -> String {
    format!("{}: {}", look.labelled_port_name(at.port), waiting_words(at, limit))
}

/// The waiting port, and the number of hosts that share the links of its leaf to other switches.
fn leaf_words(look: &Snapshot, leaf: &OversubscribedUplink, limit: f64) -> String {
    let hosts = count_words(leaf.hosts, "host", "hosts");
    let uplinks = count_words(leaf.uplinks, "link", "links");
    let name = look.unique_name(leaf.leaf);
    let share = format!("{hosts} on {name} share {uplinks} to other switches, {:.1} to 1", leaf.ratio);
    format!("{}; {share}", waiting_port_words(look, &leaf.at, limit))
}

/// The counter with its rate, the threshold, and the utilization of the link.
pub(crate) fn waiting_words(at: &CongestedPort, limit: f64) -> String {
    let bound = if at.at_least { "at least " } else { "" };
    let used = at.utilisation.map_or_else(
        || "the load of its link is not known".to_owned(),
        |used| format!("{:.0} % of its link in use", used * 100.0),
    );
    let time =
        at.time_waited.map_or_else(String::new, |part| format!(", {bound}{} of the time", per_cent(part)));
    let (waits, limit) = (rate_in_millions(at.congestion), digits_in_groups(limit));
    format!("PortXmitWait {bound}{waits} ticks/s, above {limit}{time}; {used}")
}

/// A share as a percentage, with more digits for smaller values.
pub(crate) fn per_cent(part: f64) -> String {
    match part * 100.0 {
        much if much >= 10.0 => format!("{much:.0} %"),
        some if some >= 0.1 => format!("{some:.1} %"),
        little => format!("{little:.3} %"),
    }
}

/// The time in which errors were counted, in words: these seconds, or an hour of them.
pub(crate) fn error_span_words(seconds: f64) -> String {
    match seconds {
        seconds if seconds > 0.0 && seconds < 3600.0 => length_words((seconds * 1000.0).round() as u64),
        _ => "an hour".to_owned(),
    }
}

fn trouble_words(look: &Snapshot, trouble: &LinkProblem, thresholds: &Thresholds, span: &str) -> String {
    link_words(look, trouble, thresholds.limit_for(trouble.why), span)
}

/// What a link counted in a span of time, which [`error_span_words`] gives.
pub(crate) fn link_words(look: &Snapshot, trouble: &LinkProblem, limit: f64, span: &str) -> String {
    let ends = look.fabric().link(trouble.link);
    let link = format!("{} to {}", look.labelled_port_name(ends.a), look.unique_port_name(ends.b));
    let why = trouble_rate(look, trouble.why, limit, span);
    format!("{link}: {}", why.unwrap_or_else(|| "below the speed or width that both ends can do".to_owned()))
}

/// The rate of errors or link-downs, the port that counted them, and the threshold; `None` for a degraded
/// link.
pub(crate) fn trouble_rate(look: &Snapshot, why: LinkProblemKind, limit: f64, span: &str) -> Option<String> {
    let (at, what) = match why {
        LinkProblemKind::Errored { at, per_hour, at_least } => (at, error_words(per_hour, at_least)),
        LinkProblemKind::Discards { at, per_hour, at_least } => (at, discard_words(per_hour, at_least)),
        LinkProblemKind::Flaps { at, per_hour, at_least } => (at, flap_words(per_hour, at_least)),
        LinkProblemKind::Degraded => return None,
    };
    let (at, limit) = (look.labelled_port_name(at), digits_in_groups(limit));
    Some(format!("{what} in {span}, counted at {at}; the threshold is {limit}"))
}

/// The number of link errors in an hour, in the words of cards, events and the Timeline.
pub(crate) fn error_words(per_hour: f64, at_least: bool) -> String {
    number_words(per_hour, at_least, "error", "errors")
}

/// The number of discarded packets in an hour, in the same words.
pub(crate) fn discard_words(per_hour: f64, at_least: bool) -> String {
    number_words(per_hour, at_least, "discard", "discards")
}

fn number_words(per_hour: f64, at_least: bool, one: &str, many: &str) -> String {
    let bound = if at_least { "at least " } else { "" };
    let word = if per_hour.round() == 1.0 { one } else { many };
    format!("{bound}{} {word}", digits_in_groups(format_args!("{per_hour:.0}")))
}

/// How often a link went down in an hour, in the same words.
pub(crate) fn flap_words(per_hour: f64, at_least: bool) -> String {
    let bound = if at_least { "at least " } else { "" };
    match per_hour.round() as u64 {
        0 | 1 => format!("flapped {bound}once"),
        2 => format!("flapped {bound}twice"),
        times => format!("flapped {bound}{} times", digits_in_groups(times)),
    }
}

pub(crate) fn shorten_list<T>(
    lines: &mut Vec<(&'static str, String)>,
    label: &'static str,
    all: &[T],
    most: usize,
    words: impl Fn(&T) -> String,
) {
    lines.extend(all.iter().take(most).map(|one| (label, words(one))));
    if all.len() > most {
        lines.push((label, format!("and {} more (--top)", digits_in_groups(all.len() - most))));
    }
}

fn port_names(look: &Snapshot, ports: &[PortId], most: usize, why: &str) -> String {
    let names: Vec<String> = ports.iter().take(most).map(|port| look.labelled_port_name(*port)).collect();
    let more = if ports.len() > most { format!(" and {} more", ports.len() - most) } else { String::new() };
    format!("{} {why}: {}{more}", count_words(ports.len(), "port", "ports"), names.join(", "))
}
