//! The comparison of two counter readings, and its texts.

use super::{Look, counted, digits_in_groups, rate_in_millions};
use fabdeck_fabric::PortId;
use fabdeck_fabric::counters::{
    Contributor, Evidence, HotSpots, Oversubscribed, Rates, Role, Thresholds, Trouble, Waiting, Why,
    hot_spots, tell_apart, troubles,
};

/// The verdict over one interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Watched {
    /// Seconds between the two readings.
    pub seconds: f64,
    /// Number of ports that both readings have.
    pub ports: usize,
    pub verdict: HotSpots,
    /// Switch ports that lead to adapters and whose waiting is known, in ascending order.
    pub told: Vec<PortId>,
    /// Links with errors, link-downs or reduced speed or width since the first reading. Degraded links come
    /// last.
    pub troubles: Vec<Trouble>,
    /// Ports whose counters were cleared between the readings.
    pub cleared: Vec<PortId>,
}

impl Watched {
    /// Judges an interval. `since_first` has the rates since the first reading: errors are too rare to judge
    /// from a few seconds.
    pub fn new(
        look: &Look,
        (rates, seconds): (&Rates, f64),
        since_first: Rates,
        thresholds: &Thresholds,
    ) -> Self {
        let fabric = look.fabric();
        let mut troubles = troubles(fabric, &since_first.over_an_hour(), thresholds);
        // Degraded links come last: a fabric with many of them would hide the links with errors.
        troubles.sort_by_key(|trouble| trouble.why == Why::Degraded);
        let mut verdict = hot_spots(fabric, rates, thresholds);
        // Assumed tables and adaptive routing do not determine the paths of packets, so they prove no roles.
        if look.assumed.is_none() && look.observation.adaptive.is_none() {
            tell_apart(fabric, &look.observation.tables, rates, &mut verdict);
        }
        let adapter_behind = |port: &PortId| {
            let is_switch = |port: PortId| fabric.node(fabric.port(port).node).is_switch();
            is_switch(*port) && fabric.peer(*port).is_some_and(|peer| !is_switch(peer))
        };
        let told = rates.ports.iter().filter(|port| port.congestion().is_some()).map(|port| port.port);
        let told = told.filter(adapter_behind).collect();
        Self {
            seconds,
            ports: rates.ports.len(),
            verdict,
            told,
            troubles,
            cleared: rates.cleared().collect(),
        }
    }

    /// Whether the interval has a finding.
    pub fn findings(&self) -> bool {
        !self.verdict.is_quiet() || !self.troubles.is_empty()
    }

    /// Adapters that wait during a hot-spot and send to it, or may do so.
    pub fn contributors(&self) -> impl Iterator<Item = &Contributor> {
        self.verdict.held_up.iter().filter(|held| !self.is_victim(held))
    }

    /// Adapters that wait and do not send to a hot-spot. Without any hot-spot, every adapter that waits is a
    /// victim.
    pub fn victims(&self) -> impl Iterator<Item = &Contributor> {
        self.verdict.held_up.iter().filter(|held| self.is_victim(held))
    }

    fn is_victim(&self, held: &Contributor) -> bool {
        self.verdict.hot_spots.is_empty() || matches!(held.role, Role::Victim { .. })
    }
}

/// The role of a waiting adapter, in a word.
pub fn role_word(role: Role) -> &'static str {
    match role {
        Role::Contributor(_) => "contributor",
        Role::ContributorOrVictim => "contributor-or-victim",
        Role::Victim { .. } => "victim",
        Role::FairShare => "fair-share",
        Role::Unknown => "unknown",
    }
}

/// The verdict as label and text pairs; of each kind the `most` worst.
pub fn watched_lines(
    look: &Look,
    watched: &Watched,
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
    shorten(&mut lines, NARROW_LEAF, &verdict.oversubscribed, most, |leaf| leaf_words(look, leaf, limit));
    shorten(&mut lines, HOT, &verdict.hot_spots, most, |spot| hot_words(look, spot.adapter, &spot.at, limit));
    let alone = verdict.hot_spots.is_empty();
    let held = |held: &Contributor| held_words(look, &held.at, held.role, alone, limit);
    shorten(&mut lines, HELD, &verdict.held_up, most, held);
    let lesser = |at: &&Waiting| verdict.oversubscribed.iter().all(|leaf| leaf.at.port != at.port);
    let on_the_way: Vec<&Waiting> = verdict.on_the_way.iter().filter(lesser).collect();
    shorten(&mut lines, WAY, &on_the_way, most, |at| way_words(look, at, limit));
    if verdict.links_too_narrow() {
        lines.push(narrow_line(verdict.stands_still()));
    }
    shorten(&mut lines, LINK, &watched.troubles, most, |trouble| trouble_words(look, trouble, thresholds));
    for (label, ports, why) in [
        (
            "untold",
            &verdict.untold,
            "whose waiting is not known (not counted, stuck at its maximum, or silent)",
        ),
        ("cleared", &watched.cleared, "whose counters somebody cleared in between: what came before is lost"),
    ] {
        if !ports.is_empty() {
            lines.push((label, named(look, ports, most, why)));
        }
    }
    if !watched.findings() {
        lines.push(("verdict", quiet_words(thresholds)));
    }
    lines
}

/// Labels of the lines.
pub(super) const HOT: &str = "hot-spot";
pub(super) const HELD: &str = "held up";
pub(super) const WAY: &str = "on the way";
/// The line for waiting ports between switches, where no adapter is a hot-spot.
pub(super) fn narrow_line(stands_still: bool) -> (&'static str, String) {
    match stands_still {
        true => (STILL, STILL_WORDS.to_owned()),
        false => (NARROW, NARROW_WORDS.to_owned()),
    }
}

pub(super) const STILL: &str = "stands still";
const STILL_WORDS: &str = "ports between switches wait and send next to nothing: packets may wait for each other in a circle; \
     'check --switches --lanes one' looks for one";
pub(super) const NARROW: &str = "too narrow";
const NARROW_LEAF: &str = "oversubscribed";
pub(super) const LINK: &str = "link";
const NARROW_WORDS: &str =
    "links between switches wait and no adapter is a hot-spot: they carry less than is sent";

pub(super) fn quiet_words(thresholds: &Thresholds) -> String {
    format!("quiet: no port waits above {} ticks/s", digits_in_groups(thresholds.congestion))
}

pub(super) fn hot_words(look: &Look, adapter: PortId, at: &Waiting, limit: f64) -> String {
    let (adapter, port) = (look.port_name(adapter), look.port_told_apart(at.port));
    format!("{adapter}, which {port} leads to: {}", waits(at, limit))
}

/// `alone`: no adapter is a hot-spot.
pub(super) fn held_words(look: &Look, at: &Waiting, role: Role, alone: bool, limit: f64) -> String {
    format!("{}: {}; {}", look.port_told_apart(at.port), waits(at, limit), held_why(look, role, alone))
}

fn held_why(look: &Look, role: Role, alone: bool) -> String {
    let mbps = |bytes: f64| digits_in_groups(format_args!("{:.0}", bytes * 8.0 / 1e6));
    match (role, alone) {
        (Role::Contributor(Evidence::OthersFallShort { hot_spot, others, arrived }), _) => {
            let (hot_spot, others) = (look.port_name(hot_spot), mbps(others));
            format!(
                "contributor: the ways of all others carried {others} of the {} Mbit/s to {hot_spot}",
                mbps(arrived)
            )
        }
        (Role::Contributor(Evidence::NowhereElse { elsewhere, sent }), _) => {
            let (elsewhere, sent) = (mbps(elsewhere), mbps(sent));
            format!("contributor: others than hot-spots can have had {elsewhere} of its {sent} Mbit/s")
        }
        (Role::Victim { most, sent }, _) => {
            let (most, sent) = (mbps(most), mbps(sent));
            format!("victim: its way to a hot-spot carried {most} of its {sent} Mbit/s")
        }
        (Role::ContributorOrVictim, false) => "below a fair share: contributor or victim".to_owned(),
        (Role::ContributorOrVictim, true) => {
            "below a fair share, and no adapter is a hot-spot: victim".to_owned()
        }
        (Role::FairShare, _) => "which is a fair share".to_owned(),
        (Role::Unknown, _) => "contributor or victim is not known".to_owned(),
    }
}

pub(super) fn way_words(look: &Look, at: &Waiting, limit: f64) -> String {
    format!("{}: {}", look.port_told_apart(at.port), waits(at, limit))
}

/// The waiting port, and the number of hosts that share the links of its leaf to other switches.
fn leaf_words(look: &Look, leaf: &Oversubscribed, limit: f64) -> String {
    let hosts = counted(leaf.hosts, "host", "hosts");
    let uplinks = counted(leaf.uplinks, "link", "links");
    let name = look.told_apart(leaf.leaf);
    let share = format!("{hosts} on {name} share {uplinks} to other switches, {:.1} to 1", leaf.ratio);
    format!("{}; {share}", way_words(look, &leaf.at, limit))
}

/// The counter with its rate, the threshold, and the utilization of the link.
pub(super) fn waits(at: &Waiting, limit: f64) -> String {
    let bound = if at.at_least { "at least " } else { "" };
    let used = at.utilisation.map_or_else(
        || "its link's use is not known".to_owned(),
        |used| format!("{:.0} % of its link in use", used * 100.0),
    );
    let time =
        at.time_waited.map_or_else(String::new, |part| format!(", {bound}{} of the time", per_cent(part)));
    let (waits, limit) = (rate_in_millions(at.congestion), digits_in_groups(limit));
    format!("PortXmitWait {bound}{waits} ticks/s, above {limit}{time}; {used}")
}

/// A share as a percentage, with more digits for smaller values.
pub(super) fn per_cent(part: f64) -> String {
    match part * 100.0 {
        much if much >= 10.0 => format!("{much:.0} %"),
        some if some >= 0.1 => format!("{some:.1} %"),
        little => format!("{little:.3} %"),
    }
}

fn trouble_words(look: &Look, trouble: &Trouble, thresholds: &Thresholds) -> String {
    link_words(look, trouble, thresholds.of(trouble.why))
}

pub(super) fn link_words(look: &Look, trouble: &Trouble, limit: f64) -> String {
    let ends = look.fabric().link(trouble.link);
    let link = format!("{} to {}", look.port_told_apart(ends.a), look.port_told_apart(ends.b));
    let why = trouble_rate(look, trouble.why, limit);
    format!("{link}: {}", why.unwrap_or_else(|| "below the speed or width that both ends can do".to_owned()))
}

/// The rate of errors or link-downs, the port that counted them, and the threshold; `None` for a degraded
/// link.
pub(super) fn trouble_rate(look: &Look, why: Why, limit: f64) -> Option<String> {
    let (at, per_hour, at_least, what) = match why {
        Why::Errored { at, per_hour, at_least } => (at, per_hour, at_least, "errors"),
        Why::Flaps { at, per_hour, at_least } => (at, per_hour, at_least, "times down"),
        Why::Degraded => return None,
    };
    let bound = if at_least { "at least " } else { "" };
    let at = look.port_told_apart(at);
    let (count, limit) = (digits_in_groups(format_args!("{per_hour:.1}")), digits_in_groups(limit));
    Some(format!("{bound}{count} {what} in an hour or less, counted at {at}; the threshold is {limit}"))
}

pub(super) fn shorten<T>(
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

fn named(look: &Look, ports: &[PortId], most: usize, why: &str) -> String {
    let names: Vec<String> = ports.iter().take(most).map(|port| look.port_told_apart(*port)).collect();
    let more = if ports.len() > most { format!(" and {} more", ports.len() - most) } else { String::new() };
    format!("{} {why}: {}{more}", counted(ports.len(), "port", "ports"), names.join(", "))
}
