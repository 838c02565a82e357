//! What can be said of one element, line by line: for the pane beside a list.

use super::screen::ScreenId;
use super::whatif::{WhatifPane, engine_lines, loss_lines};
use crate::fabric::{LinkId, NodeId, PortId, PortNum, Resolved};
use crate::session::interactive::State;
use crate::session::interactive::known::{BEING_READ, Known};
use crate::session::{Look, Summary, counted};

/// An element somebody wants to know about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detail(pub Resolved);

/// A label and what it says.
pub type Line = (&'static str, String);

impl Detail {
    pub fn title(self, look: &Look) -> String {
        match self.0 {
            Resolved::Node(id) => look.name(id).to_owned(),
            Resolved::Port(id) => look.port_name(id),
            Resolved::Link(id) => {
                let link = look.fabric().link(id);
                format!("{} - {}", look.port_name(link.a), look.port_name(link.b))
            }
        }
    }

    pub fn lines(self, known: &Known) -> Vec<Line> {
        let Some(look) = &known.look else { return Vec::new() };
        let mut lines = match self.0 {
            Resolved::Node(id) => node(look, known, id),
            Resolved::Port(id) => port(look, id),
            Resolved::Link(id) => link(look, known, id),
        };
        if known.failed(self.0) {
            lines.insert(0, ("marked", "failed".to_owned()));
        }
        lines
    }

    /// What the cursor is on, or else the fabric: its title, and a pair for all that is known of it.
    pub fn whole(state: &State) -> Option<(String, Vec<(String, String)>)> {
        let look = state.look()?;
        let owned = |(label, text): Line| (label.to_owned(), text);
        let Some(what) = state.current().current(&state.known) else {
            return Some(("The fabric".to_owned(), Self::of_fabric(look).into_iter().map(owned).collect()));
        };
        let detail = Self(what);
        let ports = detail.neighbours(look).into_iter().map(|(port, peer)| (format!("port {port}"), peer));
        Some((detail.title(look), detail.lines(&state.known).into_iter().map(owned).chain(ports).collect()))
    }

    /// Of the engine under the cursor of What-if: its heading, what it proposes, and what it has to make good.
    pub fn of_engine(state: &State) -> Option<(String, Vec<Line>)> {
        let whatif = &state.screens.whatif;
        let here = state.screen == ScreenId::Whatif && whatif.pane == WhatifPane::Engines;
        let engine = whatif.engine().filter(|_| here)?;
        let lines = engine_lines(&state.known, engine);
        Some((
            format!("{}: {}", engine.id, engine.title),
            loss_lines(&state.known).into_iter().chain(lines).collect(),
        ))
    }

    /// The numbers of the fabric, for a pane with nothing selected.
    pub fn of_fabric(look: &Look) -> Vec<Line> {
        let numbers = Summary::of(look).numbers();
        numbers.into_iter().map(|(label, value)| (label, said(value))).collect()
    }

    /// The ports of a node with what is at their other end.
    pub fn neighbours(self, look: &Look) -> Vec<(String, String)> {
        let Resolved::Node(id) = self.0 else { return Vec::new() };
        let fabric = look.fabric();
        let linked = fabric.ports_of(id).filter_map(|(_, port)| Some((port.number, port.peer?)));
        linked.map(|(number, peer)| (number.to_string(), look.port_name(peer))).collect()
    }
}

fn said(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "not told".to_owned(), |value| value.to_string())
}

fn node(look: &Look, known: &Known, id: NodeId) -> Vec<Line> {
    let fabric = look.fabric();
    let about = fabric.node(id);
    let port0 = fabric.port_of(id, PortNum::MANAGEMENT);
    let lid = match about.is_switch() {
        true => port0.and_then(|port| fabric.port(port).facts.lid),
        false => fabric.ports_of(id).find_map(|(_, port)| port.facts.lid),
    };
    let linked = fabric.ports_of(id).filter(|(_, port)| port.peer.is_some()).count();
    let mut lines = vec![
        ("kind", about.facts.kind.word().to_owned()),
        ("GUID", about.guid().to_string()),
        ("LID", said(lid.map(|lid| lid.value()))),
        ("ports", format!("{} of {} with a peer", linked, said(look.port_count(id)))),
    ];
    let degraded = fabric
        .ports_of(id)
        .filter_map(|(_, port)| port.link)
        .filter(|link| look.degraded(*link) == Some(true));
    let degraded = degraded.count();
    if degraded > 0 {
        lines.push(("degraded", counted(degraded, "link", "links")));
    }
    if about.is_switch() {
        let table = match look.observation.tables.lft(id) {
            Some(lft) => {
                format!("{} LIDs", lft.bytes().iter().filter(|port| **port != crate::fabric::NO_PATH).count())
            }
            None if known.no_tables() == Some(BEING_READ) => "being read".to_owned(),
            None => "not read".to_owned(),
        };
        lines.push(("table", table));
    }
    if !about.facts.answered {
        lines.push(("answered", "no: it is known by its peer only".to_owned()));
    }
    lines
}

fn port(look: &Look, id: PortId) -> Vec<Line> {
    let port = look.fabric().port(id);
    let facts = &port.facts;
    let peer = port.peer.map(|peer| look.port_name(peer));
    let mut lines = vec![
        ("peer", peer.unwrap_or_else(|| "none".to_owned())),
        ("state", said(facts.state.map(|state| state.word()))),
        ("width", said(facts.width.map(|width| width.word()))),
        ("speed", said(facts.speed.map(|speed| speed.word()))),
    ];
    if let Some(lid) = facts.lid {
        lines.push(("LID", lid.value().to_string()));
    }
    if let Some(true) = port.link.and_then(|link| look.degraded(link)) {
        lines.push(("degraded", possible(look, id)));
    }
    lines
}

/// What both ends could do.
fn possible(look: &Look, id: PortId) -> String {
    let port = look.fabric().port(id);
    let peer = port.peer.map(|peer| &look.fabric().port(peer).facts);
    let width =
        port.facts.width_supported.zip(peer.and_then(|peer| peer.width_supported)).map(|(a, b)| a.min(b));
    let speed =
        port.facts.speed_supported.zip(peer.and_then(|peer| peer.speed_supported)).map(|(a, b)| a.min(b));
    format!(
        "both ends could do {} {}",
        said(width.map(|width| width.word())),
        said(speed.map(|speed| speed.word()))
    )
}

fn link(look: &Look, known: &Known, id: LinkId) -> Vec<Line> {
    let link = look.fabric().link(id);
    let mut lines = vec![("from", look.port_name(link.a)), ("to", look.port_name(link.b))];
    lines.extend(port(look, link.a).into_iter().filter(|(label, _)| *label != "peer" && *label != "LID"));
    if let Some([there, back]) = known.paths.as_ref().and_then(|paths| paths.load_of(id)) {
        lines.push(("paths", format!("{there} one way, {back} the other")));
    }
    lines
}

/// How many rows the page of the engine takes that is open.
pub fn rows_of_page(state: &State) -> usize {
    let Some(engine) = state.screens.whatif.page else { return 0 };
    let lines = engine_lines(&state.known, engine);
    crate::session::paired(&lines, state.areas().body.width.into()).1.len()
}
