//! What two readings of counters come to, put together, and in words.

use super::{Look, counted};
use crate::counters::{
    Contributor, HotSpot, HotSpots, Rates, Role, Thresholds, Trouble, Waiting, Why, hot_spots, troubles,
};
use crate::fabric::PortId;

/// The verdict over one interval.
#[derive(Clone, PartialEq, Debug)]
pub struct Watched {
    /// Seconds between the two readings.
    pub seconds: f64,
    /// Ports that both readings have.
    pub ports: usize,
    pub verdict: HotSpots,
    /// Links with something wrong since the first of all readings, those that only run below what they can at the end.
    pub troubles: Vec<Trouble>,
    /// Ports whose counters somebody cleared in between.
    pub cleared: Vec<PortId>,
}

impl Watched {
    /// `since_first` is what ports did since the first of all readings: errors are too rare to tell from a few seconds.
    pub fn new(
        look: &Look,
        (rates, seconds): (&Rates, f64),
        since_first: Rates,
        thresholds: &Thresholds,
    ) -> Self {
        let fabric = look.fabric();
        let mut troubles = troubles(fabric, &since_first.over_an_hour(), thresholds);
        // Where every cable runs below what it can, those that get worse would drown.
        troubles.sort_by_key(|trouble| trouble.why == Why::Degraded);
        Self {
            seconds,
            ports: rates.ports.len(),
            verdict: hot_spots(fabric, rates, thresholds),
            troubles,
            cleared: rates.cleared().collect(),
        }
    }

    /// Whether there is something that somebody should look at.
    pub fn findings(&self) -> bool {
        !self.verdict.is_quiet() || !self.troubles.is_empty()
    }

    /// Adapters that wait while a hot-spot is there: they send to it, or stand behind who does.
    pub fn contributors(&self) -> &[Contributor] {
        if self.verdict.hot_spots.is_empty() { &[] } else { &self.verdict.held_up }
    }

    /// Adapters that wait although no adapter is a hot-spot: the way is too narrow for them.
    pub fn victims(&self) -> &[Contributor] {
        if self.verdict.hot_spots.is_empty() { &self.verdict.held_up } else { &[] }
    }
}

/// The role of an adapter that waits, in a word.
pub fn role_word(role: Role) -> &'static str {
    match role {
        Role::ContributorOrVictim => "contributor-or-victim",
        Role::FairShare => "fair-share",
        Role::Unknown => "unknown",
    }
}

/// A label and what it says, line by line; of each kind the worst `most`.
pub fn watched_lines(
    look: &Look,
    watched: &Watched,
    thresholds: &Thresholds,
    most: usize,
) -> Vec<(&'static str, String)> {
    let verdict = &watched.verdict;
    let mut lines =
        vec![("ports", format!("{} in both readings, {:.1} seconds apart", watched.ports, watched.seconds))];
    let waits = |at: &Waiting| waits(at, thresholds);
    let hot = |spot: &HotSpot| {
        format!(
            "{}, which {} leads to: {}",
            look.port_name(spot.adapter),
            look.port_name(spot.at.port),
            waits(&spot.at)
        )
    };
    shorten(&mut lines, "hot-spot", &verdict.hot_spots, most, hot);
    let held = |held: &Contributor| {
        let who = match (held.role, verdict.hot_spots.is_empty()) {
            (Role::ContributorOrVictim, false) => "below a fair share: contributor or victim",
            (Role::ContributorOrVictim, true) => "below a fair share, and no adapter is a hot-spot: victim",
            (Role::FairShare, _) => "which is a fair share",
            (Role::Unknown, _) => "contributor or victim is not known",
        };
        format!("{}: {}; {who}", look.port_name(held.at.port), waits(&held.at))
    };
    shorten(&mut lines, "held up", &verdict.held_up, most, held);
    let way = |at: &Waiting| format!("{}: {}", look.port_name(at.port), waits(at));
    shorten(&mut lines, "on the way", &verdict.on_the_way, most, way);
    if verdict.links_too_narrow() {
        lines.push((
            "too narrow",
            "links between switches wait and no adapter is a hot-spot: they carry less than is sent"
                .to_owned(),
        ));
    }
    shorten(&mut lines, "link", &watched.troubles, most, |trouble| trouble_words(look, trouble, thresholds));
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
        lines.push(("verdict", format!("quiet: no port waits above {} ticks/s", thresholds.congestion)));
    }
    lines
}

/// Which counter, its rate, the threshold, and how much of the link is in use.
fn waits(at: &Waiting, thresholds: &Thresholds) -> String {
    let bound = if at.at_least { "at least " } else { "" };
    let used = at.utilisation.map_or_else(
        || "its link's use is not known".to_owned(),
        |used| format!("{:.0} % of its link in use", used * 100.0),
    );
    format!("PortXmitWait {bound}{:.0} ticks/s, above {}; {used}", at.congestion, thresholds.congestion)
}

fn trouble_words(look: &Look, trouble: &Trouble, thresholds: &Thresholds) -> String {
    let ends = look.fabric().link(trouble.link);
    let link = format!("{} to {}", look.port_name(ends.a), look.port_name(ends.b));
    let rate = |at: PortId, per_hour: f64, at_least: bool, (what, threshold): (&str, f64)| {
        let bound = if at_least { "at least " } else { "" };
        let at = look.port_name(at);
        format!("{link}: {bound}{per_hour:.1} {what} an hour counted at {at}, the threshold is {threshold}")
    };
    match trouble.why {
        Why::Errored { at, per_hour, at_least } => {
            rate(at, per_hour, at_least, ("errors", thresholds.errors_per_hour))
        }
        Why::Flaps { at, per_hour, at_least } => {
            rate(at, per_hour, at_least, ("times down", thresholds.flaps_per_hour))
        }
        Why::Degraded => format!("{link}: below the speed or width that both ends can do"),
    }
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
        lines.push((label, format!("and {} more (--top)", all.len() - most)));
    }
}

fn named(look: &Look, ports: &[PortId], most: usize, why: &str) -> String {
    let names: Vec<String> = ports.iter().take(most).map(|port| look.port_name(*port)).collect();
    let more = if ports.len() > most { format!(" and {} more", ports.len() - most) } else { String::new() };
    format!("{} {why}: {}{more}", counted(ports.len(), "port", "ports"), names.join(", "))
}
