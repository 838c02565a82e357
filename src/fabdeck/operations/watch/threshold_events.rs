//! Threshold events between two verdicts: a rate rises above a threshold or falls below it, or links between switches
//! become too narrow or stand still. A live watch reports them, and the scan of a recording derives them, so both
//! agree.

use std::collections::BTreeSet;

use super::interval_verdict::{HOT_LABEL, LINK_LABEL, NARROW_LABEL, STALLED_LABEL, waiting_port_words};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::counters::{CongestedPort, HotSpot, HotSpots, LinkProblem, LinkProblemKind};
use fabdeck_fabric::observe::PortIdentity;
use fabdeck_fabric::{Fabric, LinkId, PortId};

/// The rates above a threshold: hot-spot ports, and links with errors or flaps, by their first end. Ends are
/// GUIDs, which stay when port ids change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ThresholdState {
    hot: BTreeSet<PortIdentity>,
    /// Those of `hot` that the verdict does not have, because their link went down or has just come back.
    held: BTreeSet<PortIdentity>,
    bad: BTreeSet<(PortIdentity, bool)>,
    way: Option<Bottleneck>,
}

/// The state of waiting ports between switches, where no adapter is a hot-spot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bottleneck {
    /// The ports send almost nothing.
    Stalled,
    TooNarrow,
}

impl Bottleneck {
    fn from_verdict(verdict: &HotSpots) -> Option<Self> {
        match (verdict.is_stalled(), verdict.has_narrow_links()) {
            (true, _) => Some(Self::Stalled),
            (false, true) => Some(Self::TooNarrow),
            (false, false) => None,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Stalled => STALLED_LABEL,
            Self::TooNarrow => NARROW_LABEL,
        }
    }

    fn ended_text(self) -> &'static str {
        match self {
            Self::Stalled => "ports between switches are no longer stalled",
            Self::TooNarrow => "links between switches no longer wait without a hot-spot",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ThresholdEvent {
    Hot(HotSpot),
    Cooled(PortIdentity),
    Bad(LinkProblem),
    Mended {
        link: PortIdentity,
        flaps: bool,
    },
    /// The number of waiting ports, and the worst of them.
    Stuck {
        way: Bottleneck,
        ports: usize,
        worst: CongestedPort,
    },
    Free(Bottleneck),
}

fn port_end(fabric: &Fabric, port: PortId) -> PortIdentity {
    let port = fabric.port(port);
    (fabric.node(port.node).guid(), port.number)
}

/// The key of a trouble. It includes the kind, because a link with errors may also begin to go down.
fn link_key(fabric: &Fabric, bad: &LinkProblem) -> (PortIdentity, bool) {
    (port_end(fabric, fabric.link(bad.link).a), matches!(bad.why, LinkProblemKind::Flaps { .. }))
}

/// Links that became worse during the watch.
fn worse_troubles(troubles: &[LinkProblem]) -> impl Iterator<Item = &LinkProblem> {
    troubles.iter().filter(|trouble| trouble.why != LinkProblemKind::Degraded)
}

impl ThresholdState {
    pub fn from_verdict(fabric: &Fabric, verdict: &HotSpots, troubles: &[LinkProblem]) -> Self {
        Self {
            hot: verdict.hot_spots.iter().map(|hot| port_end(fabric, hot.at.port)).collect(),
            held: BTreeSet::new(),
            bad: worse_troubles(troubles).map(|bad| link_key(fabric, bad)).collect(),
            way: Bottleneck::from_verdict(verdict),
        }
    }

    /// The state after a verdict. While a link on the path to a hot-spot is down, nothing arrives there for a moment: the
    /// hot-spot stays the same one, for one interval without it. Which links are on the path depends on tables that the
    /// same flap may have changed, so a flap of any link counts.
    pub fn after(fabric: &Fabric, verdict: &HotSpots, troubles: &[LinkProblem], before: &Self) -> Self {
        let mut now = Self::from_verdict(fabric, verdict, troubles);
        let any_flaps = troubles.iter().any(|trouble| matches!(trouble.why, LinkProblemKind::Flaps { .. }));
        let flaps = |port: &PortIdentity| {
            let known = fabric.node_by_guid(port.0).and_then(|node| fabric.port_of(node, port.1));
            any_flaps || known.is_none_or(|port| fabric.port(port).link.is_none())
        };
        let gone = before.hot.difference(&now.hot).filter(|port| !before.held.contains(*port));
        now.held = gone.filter(|port| flaps(port)).copied().collect();
        now.hot.extend(now.held.iter().copied());
        now
    }
}

/// The events between an earlier state and that of this verdict; new rates are in the order of the verdict, the worst
/// first.
pub fn threshold_events(
    fabric: &Fabric,
    verdict: &HotSpots,
    troubles: &[LinkProblem],
    before: &ThresholdState,
    now: &ThresholdState,
) -> Vec<ThresholdEvent> {
    let new = verdict.hot_spots.iter().filter(|hot| !before.hot.contains(&port_end(fabric, hot.at.port)));
    let bad = worse_troubles(troubles).filter(|bad| !before.bad.contains(&link_key(fabric, bad)));
    let mended = before.bad.difference(&now.bad).map(|(link, flaps)| (*link, *flaps));
    let stuck = now.way.filter(|way| before.way != Some(*way)).zip(verdict.congested_ports.first());
    let stuck = stuck.map(|(way, worst)| ThresholdEvent::Stuck {
        way,
        ports: verdict.congested_ports.len(),
        worst: *worst,
    });
    let free = before.way.filter(|way| now.way != Some(*way)).map(ThresholdEvent::Free);
    (new.copied().map(ThresholdEvent::Hot))
        .chain(free)
        .chain(stuck)
        .chain(before.hot.difference(&now.hot).copied().map(ThresholdEvent::Cooled))
        .chain(bad.copied().map(ThresholdEvent::Bad))
        .chain(mended.map(|(link, flaps)| ThresholdEvent::Mended { link, flaps }))
        .collect()
}

/// The text for an event that ended.
pub fn ended_words(look: &Snapshot, turn: &ThresholdEvent) -> Option<String> {
    match turn {
        ThresholdEvent::Hot(_) | ThresholdEvent::Bad(_) | ThresholdEvent::Stuck { .. } => None,
        ThresholdEvent::Free(way) => Some(way.ended_text().to_owned()),
        ThresholdEvent::Cooled(port) => Some(format!("{HOT_LABEL} ended: {}", peer_name(look, *port))),
        ThresholdEvent::Mended { link, flaps } => {
            let what = if *flaps { "goes down less often" } else { "has fewer errors" };
            Some(format!("{LINK_LABEL} {} {what} than the threshold", link_name(look, *link)))
        }
    }
}

/// The label and text for waiting ports between switches.
pub fn bottleneck_words(
    look: &Snapshot,
    turn: &ThresholdEvent,
    limit: f64,
) -> Option<(&'static str, String)> {
    let ThresholdEvent::Stuck { way, ports, worst } = turn else { return None };
    let ports = count_words(*ports, "port between switches waits", "ports between switches wait");
    let worst = waiting_port_words(look, worst, limit);
    Some((way.label(), format!("{ports} and no adapter is a hot-spot; the worst is {worst}")))
}

fn peer_name(look: &Snapshot, (guid, number): PortIdentity) -> String {
    let name = super::fabric_events::end_name(look, (guid, number));
    let fabric = look.fabric();
    let port = fabric.node_by_guid(guid).and_then(|node| fabric.port_of(node, number));
    match port.and_then(|port| fabric.peer(port)) {
        Some(peer) => format!("{}, which {name} leads to", look.port_name(peer)),
        None => name,
    }
}

fn link_name(look: &Snapshot, (guid, number): PortIdentity) -> String {
    let fabric = look.fabric();
    let port = fabric.node_by_guid(guid).and_then(|node| fabric.port_of(node, number));
    let link: Option<LinkId> = port.and_then(|port| fabric.port(port).link);
    match link.map(|link| fabric.link(link)) {
        Some(ends) => format!("{} to {}", look.port_name(ends.a), look.port_name(ends.b)),
        None => super::fabric_events::end_name(look, (guid, number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::counters::HotSpots;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    /// A flap of its link leaves a hot-spot the same one; without a flap, or after two intervals, it is over.
    #[test]
    fn a_hot_spot_outlives_a_flap_of_its_link() {
        let fabric = generate(&"demo".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let (port, link) = fabric.ports().find_map(|(id, port)| Some((id, port.link?))).unwrap();
        let at =
            CongestedPort { port, congestion: 1.0, at_least: false, time_waited: None, utilisation: None };
        let spot = HotSpots { hot_spots: vec![HotSpot { at, adapter: port }], ..HotSpots::default() };
        let none = HotSpots::default();
        let flap =
            [LinkProblem { link, why: LinkProblemKind::Flaps { at: port, per_hour: 1.0, at_least: false } }];
        let hot = ThresholdState::after(&fabric, &spot, &[], &ThresholdState::default());
        let cooled = |before: &ThresholdState, troubles: &[LinkProblem]| {
            let now = ThresholdState::after(&fabric, &none, troubles, before);
            let events = threshold_events(&fabric, &none, troubles, before, &now);
            (events.iter().any(|event| matches!(event, ThresholdEvent::Cooled(_))), now)
        };
        assert!(cooled(&hot, &[]).0, "without a flap it ends at once");
        let (ended, held) = cooled(&hot, &flap);
        assert!(!ended, "its link flapped");
        let again = ThresholdState::after(&fabric, &spot, &flap, &held);
        let events = threshold_events(&fabric, &spot, &flap, &held, &again);
        assert!(!events.iter().any(|event| matches!(event, ThresholdEvent::Hot(_))), "it is the same one");
        assert!(cooled(&held, &flap).0, "it is over after two intervals without it");
        let elsewhere = fabric.links().map(|(id, _)| id).find(|id| *id != link).unwrap();
        let why = LinkProblemKind::Flaps { at: fabric.link(elsewhere).a, per_hour: 1.0, at_least: false };
        assert!(!cooled(&hot, &[LinkProblem { link: elsewhere, why }]).0, "a link on the path flapped");
    }
}
