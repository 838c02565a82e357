//! What came above a threshold from one verdict to the next, and what is below it again. A live watch announces it, and a
//! recording is gone through for it, so that both tell the same.

use std::collections::BTreeSet;

use crate::counters::{HotSpot, Trouble, Why};
use crate::fabric::{Fabric, LinkId, PortId};
use crate::observe::End;
use crate::session::Look;
use crate::session::hotspots::{HOT, LINK};

/// What is above a threshold: ports that are hot-spots, and links with errors or that flap, by their first end. GUIDs stay
/// when something appears and ports have other numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Above {
    hot: BTreeSet<End>,
    bad: BTreeSet<(End, bool)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Turn {
    Hot(HotSpot),
    Cooled(End),
    Bad(Trouble),
    Mended { link: End, flaps: bool },
}

fn end(fabric: &Fabric, port: PortId) -> End {
    let port = fabric.port(port);
    (fabric.node(port.node).guid(), port.number)
}

/// A link that counts errors may begin to go down too.
fn kind(fabric: &Fabric, bad: &Trouble) -> (End, bool) {
    (end(fabric, fabric.link(bad.link).a), matches!(bad.why, Why::Flaps { .. }))
}

/// Links that got worse since somebody watches.
fn worse(troubles: &[Trouble]) -> impl Iterator<Item = &Trouble> {
    troubles.iter().filter(|trouble| trouble.why != Why::Degraded)
}

impl Above {
    pub fn of(fabric: &Fabric, hot: &[HotSpot], troubles: &[Trouble]) -> Self {
        Self {
            hot: hot.iter().map(|hot| end(fabric, hot.at.port)).collect(),
            bad: worse(troubles).map(|bad| kind(fabric, bad)).collect(),
        }
    }
}

/// What is otherwise in a verdict than it was before: what is new as the verdict has it, the worst first.
pub fn turns(fabric: &Fabric, hot: &[HotSpot], troubles: &[Trouble], before: &Above) -> Vec<Turn> {
    let now = Above::of(fabric, hot, troubles);
    let new = hot.iter().filter(|hot| !before.hot.contains(&end(fabric, hot.at.port)));
    let bad = worse(troubles).filter(|bad| !before.bad.contains(&kind(fabric, bad)));
    let mended = before.bad.difference(&now.bad).map(|(link, flaps)| (*link, *flaps));
    (new.copied().map(Turn::Hot))
        .chain(before.hot.difference(&now.hot).copied().map(Turn::Cooled))
        .chain(bad.copied().map(Turn::Bad))
        .chain(mended.map(|(link, flaps)| Turn::Mended { link, flaps }))
        .collect()
}

/// What ended, in words.
pub fn over_words(look: &Look, turn: &Turn) -> Option<String> {
    match turn {
        Turn::Hot(_) | Turn::Bad(_) => None,
        Turn::Cooled(port) => Some(format!("no {HOT} any more: {}", led_to(look, *port))),
        Turn::Mended { link, flaps } => {
            let what = if *flaps { "goes down no more often" } else { "has no more errors" };
            Some(format!("{LINK} {} {what} than the threshold allows", link_name(look, *link)))
        }
    }
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
