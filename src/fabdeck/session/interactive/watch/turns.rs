//! Threshold events between two verdicts: a rate rises above a threshold or falls below it, or links between switches
//! become too narrow or stand still. A live watch reports them, and the scan of a recording derives them, so both
//! agree.

use std::collections::BTreeSet;

use crate::session::hotspots::{HOT, LINK, NARROW, STILL, way_words};
use crate::session::{Look, counted};
use fabdeck_fabric::counters::{HotSpot, HotSpots, Trouble, Waiting, Why};
use fabdeck_fabric::observe::End;
use fabdeck_fabric::{Fabric, LinkId, PortId};

/// The rates above a threshold: hot-spot ports, and links with errors or flaps, by their first end. Ends are
/// GUIDs, which stay when port ids change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Above {
    hot: BTreeSet<End>,
    bad: BTreeSet<(End, bool)>,
    way: Option<Way>,
}

/// The state of waiting ports between switches, where no adapter is a hot-spot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// The ports send almost nothing.
    StandsStill,
    TooNarrow,
}

impl Way {
    fn of(verdict: &HotSpots) -> Option<Self> {
        match (verdict.stands_still(), verdict.links_too_narrow()) {
            (true, _) => Some(Self::StandsStill),
            (false, true) => Some(Self::TooNarrow),
            (false, false) => None,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::StandsStill => STILL,
            Self::TooNarrow => NARROW,
        }
    }

    fn over(self) -> &'static str {
        match self {
            Self::StandsStill => "no longer do ports between switches only wait and send next to nothing",
            Self::TooNarrow => "no longer do links between switches wait without a hot-spot",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Turn {
    Hot(HotSpot),
    Cooled(End),
    Bad(Trouble),
    Mended {
        link: End,
        flaps: bool,
    },
    /// The number of waiting ports, and the worst of them.
    Stuck {
        way: Way,
        ports: usize,
        worst: Waiting,
    },
    Free(Way),
}

fn end(fabric: &Fabric, port: PortId) -> End {
    let port = fabric.port(port);
    (fabric.node(port.node).guid(), port.number)
}

/// The key of a trouble. It includes the kind, because a link with errors may also begin to go down.
fn kind(fabric: &Fabric, bad: &Trouble) -> (End, bool) {
    (end(fabric, fabric.link(bad.link).a), matches!(bad.why, Why::Flaps { .. }))
}

/// Links that became worse during the watch.
fn worse(troubles: &[Trouble]) -> impl Iterator<Item = &Trouble> {
    troubles.iter().filter(|trouble| trouble.why != Why::Degraded)
}

impl Above {
    pub fn of(fabric: &Fabric, verdict: &HotSpots, troubles: &[Trouble]) -> Self {
        Self {
            hot: verdict.hot_spots.iter().map(|hot| end(fabric, hot.at.port)).collect(),
            bad: worse(troubles).map(|bad| kind(fabric, bad)).collect(),
            way: Way::of(verdict),
        }
    }
}

/// The events between an earlier verdict and this one; new rates are in the order of the verdict, the worst
/// first.
pub fn turns(fabric: &Fabric, verdict: &HotSpots, troubles: &[Trouble], before: &Above) -> Vec<Turn> {
    let now = Above::of(fabric, verdict, troubles);
    let new = verdict.hot_spots.iter().filter(|hot| !before.hot.contains(&end(fabric, hot.at.port)));
    let bad = worse(troubles).filter(|bad| !before.bad.contains(&kind(fabric, bad)));
    let mended = before.bad.difference(&now.bad).map(|(link, flaps)| (*link, *flaps));
    let stuck = now.way.filter(|way| before.way != Some(*way)).zip(verdict.on_the_way.first());
    let stuck = stuck.map(|(way, worst)| Turn::Stuck { way, ports: verdict.on_the_way.len(), worst: *worst });
    let free = before.way.filter(|way| now.way != Some(*way)).map(Turn::Free);
    (new.copied().map(Turn::Hot))
        .chain(free)
        .chain(stuck)
        .chain(before.hot.difference(&now.hot).copied().map(Turn::Cooled))
        .chain(bad.copied().map(Turn::Bad))
        .chain(mended.map(|(link, flaps)| Turn::Mended { link, flaps }))
        .collect()
}

/// The text for an event that ended.
pub fn over_words(look: &Look, turn: &Turn) -> Option<String> {
    match turn {
        Turn::Hot(_) | Turn::Bad(_) | Turn::Stuck { .. } => None,
        Turn::Free(way) => Some(way.over().to_owned()),
        Turn::Cooled(port) => Some(format!("no {HOT} any more: {}", led_to(look, *port))),
        Turn::Mended { link, flaps } => {
            let what = if *flaps { "goes down no more often" } else { "has no more errors" };
            Some(format!("{LINK} {} {what} than the threshold allows", link_name(look, *link)))
        }
    }
}

/// The label and text for waiting ports between switches.
pub fn stuck_words(look: &Look, turn: &Turn, limit: f64) -> Option<(&'static str, String)> {
    let Turn::Stuck { way, ports, worst } = turn else { return None };
    let ports = counted(*ports, "port between switches waits", "ports between switches wait");
    let worst = way_words(look, worst, limit);
    Some((way.label(), format!("{ports} and no adapter is a hot-spot; the worst is {worst}")))
}

fn led_to(look: &Look, (guid, number): End) -> String {
    let name = crate::session::end_name(look, (guid, number));
    let fabric = look.fabric();
    let port = fabric.node_by_guid(guid).and_then(|node| fabric.port_of(node, number));
    match port.and_then(|port| fabric.peer(port)) {
        Some(peer) => format!("{}, which {name} leads to", look.port_name(peer)),
        None => name,
    }
}

fn link_name(look: &Look, (guid, number): End) -> String {
    let fabric = look.fabric();
    let port = fabric.node_by_guid(guid).and_then(|node| fabric.port_of(node, number));
    let link: Option<LinkId> = port.and_then(|port| fabric.port(port).link);
    match link.map(|link| fabric.link(link)) {
        Some(ends) => format!("{} to {}", look.port_name(ends.a), look.port_name(ends.b)),
        None => crate::session::end_name(look, (guid, number)),
    }
}
