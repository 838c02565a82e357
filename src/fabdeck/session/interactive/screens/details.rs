//! The details of one element, line by line, for the pane beside a list.

use super::link_errors::error_lines;
use super::screen::ScreenId;
use super::whatif::{WhatifPane, engine_lines, loss_lines};
use crate::session::interactive::State;
use crate::session::interactive::ailing::NOT_ANSWERING;
use crate::session::interactive::known::{BEING_READ, Known};
use crate::session::{Look, Summary, counted, digits_in_groups};
use fabdeck_fabric::{LinkId, NodeId, Port, PortId, PortNum, Resolved};

/// An element whose details are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detail(pub Resolved);

/// A label and a text.
pub type Line = (&'static str, String);

/// A port of a node, and the peer of the port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortLine {
    pub number: String,
    /// The problem of the port, or else its state.
    pub state: &'static str,
    pub trouble: bool,
    /// Width and speed.
    pub rate: String,
    pub peer: String,
}

/// The details of one element, for a page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Whole {
    pub title: String,
    pub pairs: Vec<Line>,
    pub ports: Vec<PortLine>,
}

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

    /// The details of the element at the cursor, or else of the fabric.
    pub fn whole(state: &State) -> Option<Whole> {
        if let Some(hot) = super::hotspots::hot_detail(state) {
            return Some(hot);
        }
        if let Some(event) = super::timeline::event_detail(state) {
            return Some(event);
        }
        if let Some(change) = super::changes::change_detail(state) {
            return Some(change);
        }
        if let Some(lane) = super::lanes::lane_detail(state) {
            return Some(lane);
        }
        if let Some(job) = super::jobs::job_detail(state) {
            return Some(job);
        }
        let look = state.look()?;
        let Some(what) = state.current().current(&state.known) else {
            let title = "The fabric".to_owned();
            return Some(Whole { title, pairs: Self::of_fabric(look), ports: Vec::new() });
        };
        let detail = Self(what);
        let (pairs, ports) = (detail.lines(&state.known), detail.ports(&state.known));
        Some(Whole { title: detail.title(look), pairs, ports })
    }

    /// The details of the engine at the cursor of What-if: its title, the lost pairs, and its proposal.
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

    /// The summary of the fabric, for a pane without a selected element.
    pub fn of_fabric(look: &Look) -> Vec<Line> {
        let numbers = Summary::of(look).numbers();
        numbers.into_iter().map(|(key, value)| (label(key), said(value))).collect()
    }

    /// The ports of a node that have a peer or trouble; those in trouble come first.
    pub fn ports(self, known: &Known) -> Vec<PortLine> {
        let (Resolved::Node(id), Some(look)) = (self.0, &known.look) else { return Vec::new() };
        let line = |(id, port): (PortId, &Port)| {
            let trouble = known.port_trouble(id);
            let facts = &port.facts;
            let state = facts.state.map_or("", |state| state.word());
            let rate = [facts.width.map(|width| width.word()), facts.speed.map(|speed| speed.word())];
            let line = PortLine {
                number: port.number.to_string(),
                state: if trouble.is_empty() { state } else { trouble },
                trouble: !trouble.is_empty(),
                rate: rate.into_iter().flatten().collect::<Vec<_>>().join(" "),
                peer: port.peer.map_or_else(String::new, |peer| look.port_name(peer)),
            };
            (port.peer.is_some() || line.trouble).then_some(line)
        };
        let mut ports: Vec<PortLine> = look.fabric().ports_of(id).filter_map(line).collect();
        ports.sort_by_key(|port| !port.trouble);
        ports
    }
}

/// The label of a number of the fabric.
fn label(key: &'static str) -> &'static str {
    match key {
        "switch_links" => "between switches",
        "degraded_links" => "degraded",
        "down_links" => "down",
        "unanswered" => NOT_ANSWERING,
        "silent" => "asked in vain",
        key => key,
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
        .filter(|(_, port)| port.link.is_some_and(|link| look.degraded(link) == Some(true)))
        .map(|(_, port)| port.number.to_string());
    let degraded: Vec<String> = degraded.collect();
    if !degraded.is_empty() {
        const NAMED: usize = 4;
        let more = degraded.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = degraded[..degraded.len().min(NAMED)].join(", ");
        let ports = if degraded.len() == 1 { "port" } else { "ports" };
        lines.push((
            "degraded",
            format!("{}: {ports} {named}{more}", counted(degraded.len(), "link", "links")),
        ));
    }
    if about.is_switch() {
        let table = match look.observation.tables.lft(id) {
            Some(lft) => counted(
                lft.bytes().iter().filter(|port| **port != fabdeck_fabric::NO_PATH).count(),
                "LID",
                "LIDs",
            ),
            None if known.no_tables() == Some(BEING_READ) => "being read".to_owned(),
            None => "not read".to_owned(),
        };
        lines.push(("table", table));
    }
    if !about.facts.answered {
        lines.push(("state", format!("{NOT_ANSWERING}: it fell silent, or is known by its peer only")));
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

/// The width and speed that both ends support.
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
        lines.push((
            "paths",
            format!("{} one way, {} the other", digits_in_groups(there), digits_in_groups(back)),
        ));
    }
    lines.extend(error_lines(look, known, id));
    lines
}

/// Number of rows of the open engine page.
pub fn rows_of_page(state: &State) -> usize {
    let Some(engine) = state.screens.whatif.page else { return 0 };
    let lines = engine_lines(&state.known, engine);
    crate::session::paired(&lines, state.areas().body.width.into()).1.len()
}
