//! The details of one element, line by line, for the pane beside a list.

use super::screens::ScreenId;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::{FabricSummary, count_words};
use crate::console::features::links::link_errors::error_lines;
use crate::console::features::links::wire_lines::wire_lines;
use crate::console::features::map::health::NOT_ANSWERING;
use crate::console::features::panes::pins::{detail_element, detail_row, is_pinned};
use crate::console::features::whatif::engine_page::{engine_lines, loss_lines};
use crate::console::features::whatif::screen::WhatifPane;
use crate::console::features::whatif::victims_page::victims_page;
use crate::console::model::detail_page::{DetailLine, DetailPage, PortDetail, number_label, value_text};
use crate::console::model::fabric_model::{Model, TABLES_BEING_READ};
use crate::console::model::state::SessionState;
use crate::operations::health::short_port_name::short_port_name;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{AdaptiveStatement, ElementId, LabelOrigin, LinkId, NodeId, Port, PortId, PortNum};

/// An element whose details are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementDetail(pub ElementId);

impl ElementDetail {
    pub fn title(self, look: &Snapshot) -> String {
        match self.0 {
            ElementId::Node(id) => look.name(id).to_owned(),
            ElementId::Port(id) => look.labelled_port_name(id),
            ElementId::Link(id) => look.labelled_link_name(id),
        }
    }

    /// The title where there is little room: the adapter of a host is left out where it has one.
    fn short_title(self, look: &Snapshot) -> String {
        match self.0 {
            ElementId::Node(id) => look.host_name(id).into_owned(),
            ElementId::Port(id) => short_port_name(look, id),
            ElementId::Link(id) => {
                let link = look.fabric().link(id);
                format!("{} - {}", short_port_name(look, link.a), short_port_name(look, link.b))
            }
        }
    }

    pub fn lines(self, known: &Model) -> Vec<DetailLine> {
        let Some(look) = &known.look else { return Vec::new() };
        let mut lines = match self.0 {
            ElementId::Node(id) => node_lines(look, known, id),
            ElementId::Port(id) => port_lines(look, id).into_iter().chain(sending_lines(known, id)).collect(),
            ElementId::Link(id) => link_lines(look, known, id),
        };
        if known.is_failed(self.0) {
            lines.insert(0, ("marked", "failed".to_owned()));
        }
        lines
    }

    /// The details of the row or element at the cursor, or else of the fabric.
    pub fn detail_page(state: &SessionState) -> Option<DetailPage> {
        if let Some(page) = victims_page(state) {
            return Some(page);
        }
        if let Some(hot) = crate::console::features::hotspots::detail::hot_detail(state) {
            return Some(hot);
        }
        let row = state.current().table().row();
        if let Some(page) = row.and_then(|row| state.current().row_page(row, &state.known)) {
            return Some(page);
        }
        let look = state.snapshot()?;
        let Some(what) = state.current().current(&state.known) else {
            let title = "The fabric".to_owned();
            return Some(DetailPage { title, pairs: Self::fabric_lines(look), ports: Vec::new() });
        };
        let detail = Self(what);
        let (pairs, ports) = (detail.lines(&state.known), detail.ports(&state.known));
        Some(DetailPage { title: detail.title(look), pairs, ports })
    }

    /// What the pane beside a list shows: of the engine, the row or the element at the cursor, or of the fabric.
    pub fn beside_page(state: &SessionState) -> Option<DetailPage> {
        let plain = |title: String, pairs: Vec<DetailLine>| DetailPage { title, pairs, ports: Vec::new() };
        let look = state.snapshot()?;
        if let Some((title, pairs)) = Self::engine_detail(state) {
            return Some(plain(title, pairs));
        }
        if let Some(page) = detail_row(state).and_then(|row| state.current().row_page(row, &state.known)) {
            return Some(DetailPage { ports: Vec::new(), ..page });
        }
        Some(match detail_element(state) {
            None if is_pinned(state) => {
                plain(String::new(), vec![("", "the list does not have the pinned row now".to_owned())])
            }
            None => plain("The fabric".to_owned(), state.known.numbers.clone()),
            Some(what) => {
                let detail = Self(what);
                let (pairs, ports) = (detail.lines(&state.known), detail.ports(&state.known));
                DetailPage { title: detail.short_title(look), pairs, ports }
            }
        })
    }

    /// The details of the engine at the cursor of What-if: its title, the lost pairs, and its proposal.
    pub fn engine_detail(state: &SessionState) -> Option<(String, Vec<DetailLine>)> {
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
    pub fn fabric_lines(look: &Snapshot) -> Vec<DetailLine> {
        let numbers = FabricSummary::from_snapshot(look).numbers();
        // Aggregation nodes are no hosts, here as in the header.
        let aggregation = look.fabric().aggregation_count();
        let line = |key: &'static str, number: Option<usize>| match key {
            "hosts" => (number_label(key), value_text(number.map(|hosts| hosts.saturating_sub(aggregation)))),
            _ => (number_label(key), value_text(number)),
        };
        let mut lines: Vec<DetailLine> =
            numbers.iter().map(|number| line(number.key, number.number)).collect();
        if let (true, Some(at)) = (aggregation > 0, numbers.iter().position(|number| number.key == "hosts")) {
            lines.insert(at + 1, ("aggregation nodes", digits_in_groups(aggregation)));
        }
        lines
    }

    /// The ports of a node that have a peer or trouble; those in trouble come first.
    pub fn ports(self, known: &Model) -> Vec<PortDetail> {
        let (ElementId::Node(id), Some(look)) = (self.0, &known.look) else { return Vec::new() };
        let line = |(id, port): (PortId, &Port)| {
            let trouble = known.port_trouble(id);
            let facts = &port.facts;
            let state = facts.state.map_or("", |state| state.word());
            let rate = [facts.width.map(|width| width.word()), facts.speed.map(|speed| speed.word())];
            let line = PortDetail {
                number: match look.label(id) {
                    Some(label) => format!("{} ({})", port.number, label.shown()),
                    None => port.number.to_string(),
                },
                state: if trouble.is_empty() { state } else { trouble },
                trouble: !trouble.is_empty(),
                rate: rate.into_iter().flatten().collect::<Vec<_>>().join(" "),
                peer: port.peer.map_or_else(String::new, |peer| look.port_name(peer)),
            };
            (port.peer.is_some() || line.trouble).then_some(line)
        };
        let mut ports: Vec<PortDetail> = look.fabric().ports_of(id).filter_map(line).collect();
        ports.sort_by_key(|port| !port.trouble);
        ports
    }
}

fn node_lines(look: &Snapshot, known: &Model, id: NodeId) -> Vec<DetailLine> {
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
        ("LID", value_text(lid.map(|lid| lid.value()))),
        ("ports", format!("{} of {} with a peer", linked, value_text(look.port_count(id)))),
    ];
    // Lists and titles leave out the adapter of a host that has one.
    let name = look.name(id);
    if look.host_name(id).len() < name.len() {
        lines.insert(1, ("name", name.to_owned()));
    }
    lines.extend(look.names.place(id).map(|place| ("place", place.text())));
    let degraded = fabric
        .ports_of(id)
        .filter(|(_, port)| port.link.is_some_and(|link| look.is_degraded(link) == Some(true)))
        .map(|(_, port)| port.number.to_string());
    let degraded: Vec<String> = degraded.collect();
    if !degraded.is_empty() {
        const MAX_NAMED: usize = 4;
        let more = degraded.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let named = degraded[..degraded.len().min(MAX_NAMED)].join(", ");
        let ports = if degraded.len() == 1 { "port" } else { "ports" };
        lines.push((
            "degraded",
            format!("{}: {ports} {named}{more}", count_words(degraded.len(), "link", "links")),
        ));
    }
    if about.is_switch() {
        let table = match look.observation.tables.lft(id) {
            Some(lft) => count_words(
                lft.bytes().iter().filter(|port| **port != fabdeck_fabric::NO_PATH).count(),
                "LID",
                "LIDs",
            ),
            None if known.no_tables_reason() == Some(TABLES_BEING_READ) => "being read".to_owned(),
            None => "not read".to_owned(),
        };
        lines.push(("table", table));
        lines.extend(adaptive_line(look, id));
    }
    if !about.facts.answered {
        lines.push(("state", format!("{NOT_ANSWERING}: it stopped answering, or only its peer reports it")));
    }
    lines
}

/// How a switch routes adaptively; `None` where it does not have that, or no source states it.
fn adaptive_line(look: &Snapshot, id: NodeId) -> Option<DetailLine> {
    let adaptive = look.observation.tables.nodes.get(&id)?.adaptive.as_ref()?;
    if adaptive.statement == AdaptiveStatement::Absent {
        return None;
    }
    let mut words = vec![adaptive.state_word().to_owned()];
    words.extend(adaptive.table_word().map(|word| format!("its tables: {word}")));
    if let Some(settings) = adaptive.settings() {
        let also = [
            (settings.fast_recovery, "SHIELD"),
            (settings.hash_forwarding, "HBF"),
            (settings.failure_notices, "pFRN"),
        ];
        words.extend(also.into_iter().filter(|(is_on, _)| *is_on).map(|(_, name)| name.to_owned()));
    }
    Some(("adaptive", words.join(", ")))
}

fn port_lines(look: &Snapshot, id: PortId) -> Vec<DetailLine> {
    let port = look.fabric().port(id);
    let facts = &port.facts;
    let peer = port.peer.map(|peer| look.labelled_port_name(peer));
    let mut lines = vec![
        ("peer", peer.unwrap_or_else(|| "none".to_owned())),
        ("state", value_text(facts.state.map(|state| state.word()))),
        ("width", value_text(facts.width.map(|width| width.word()))),
        ("speed", value_text(facts.speed.map(|speed| speed.word()))),
    ];
    if let Some(lid) = facts.lid {
        lines.push(("LID", lid.value().to_string()));
    }
    lines.extend(label_line(look, id));
    if let Some(true) = port.link.and_then(|link| look.is_degraded(link)) {
        lines.push(("degraded", possible_rate(look, id)));
    }
    lines
}

/// The label of a port, with its origin.
fn label_line(look: &Snapshot, id: PortId) -> Option<DetailLine> {
    let missing = look.missing_label_word(id);
    let Some(label) = look.label(id) else {
        return missing.map(|missing| ("label", format!("not known, device: {missing}")));
    };
    let origin = match label.origin {
        LabelOrigin::Sheet => "by the sheet",
        LabelOrigin::Device => "by the device",
        LabelOrigin::File => "by a file",
        LabelOrigin::Rule => "a guess by the rule of the model",
    };
    let missing = missing.filter(|_| label.is_guess()).map(|word| format!(", device: {word}"));
    Some(("label", format!("{}, {origin}{}", label.shown(), missing.unwrap_or_default())))
}

/// The width and speed that both ends support.
fn possible_rate(look: &Snapshot, id: PortId) -> String {
    let port = look.fabric().port(id);
    let peer = port.peer.map(|peer| &look.fabric().port(peer).facts);
    let width =
        port.facts.width_supported.zip(peer.and_then(|peer| peer.width_supported)).map(|(a, b)| a.min(b));
    let speed =
        port.facts.speed_supported.zip(peer.and_then(|peer| peer.speed_supported)).map(|(a, b)| a.min(b));
    format!(
        "both ends could do {} {}",
        value_text(width.map(|width| width.word())),
        value_text(speed.map(|speed| speed.word()))
    )
}

fn link_lines(look: &Snapshot, known: &Model, id: LinkId) -> Vec<DetailLine> {
    let link = look.fabric().link(id);
    let mut lines = vec![("from", look.labelled_port_name(link.a)), ("to", look.labelled_port_name(link.b))];
    let of_link = |line: &DetailLine| !["peer", "LID", "label"].contains(&line.0);
    lines.extend(port_lines(look, link.a).into_iter().filter(of_link));
    lines.extend(plane_lines(look, id));
    if let Some([there, back]) = known.paths.as_ref().and_then(|paths| paths.load_of(id)) {
        lines.push((
            "paths",
            format!("{} one way, {} the other", digits_in_groups(there), digits_in_groups(back)),
        ));
    }
    lines.extend(direction_lines(look, known, id));
    lines.extend(wire_lines(look, known, id));
    lines.extend(error_lines(look, known, id));
    lines
}

/// The planes of a cable, and which of them are down.
fn plane_lines(look: &Snapshot, id: LinkId) -> Vec<DetailLine> {
    let Some(planes) = look.link_planes(id) else { return Vec::new() };
    let list = |planes: &[u8]| planes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = vec![("planes up", planes.words())];
    lines.extend((!planes.down.is_empty()).then(|| ("planes down", list(&planes.down))));
    lines.extend(
        (!planes.unknown.is_empty()).then(|| ("not known", format!("planes {}", list(&planes.unknown)))),
    );
    lines
}

/// Wait and load of both directions of a cable, during a watch.
fn direction_lines(look: &Snapshot, known: &Model, id: LinkId) -> Vec<DetailLine> {
    let Some(reading) = &known.watch.reading else { return Vec::new() };
    let link = look.fabric().link(id);
    let rows = [link.a, link.b].map(|port| reading.port_row_of(ElementId::Port(port)));
    let percent = |share: Option<u16>| match share {
        Some(0) => "none".to_owned(),
        Some(share) => format!("{share} %"),
        None => "not known".to_owned(),
    };
    let both =
        |[there, back]: [Option<u16>; 2]| format!("{} one way, {} the other", percent(there), percent(back));
    let wait =
        rows.map(|row| row.and_then(|row| row.time_waited).map(|share| (share * 100.0).round() as u16));
    vec![("wait", both(wait)), ("load", both(rows.map(|row| row.and_then(|row| row.used))))]
}

/// Wait and load of what a port sends, during a watch.
fn sending_lines(known: &Model, id: PortId) -> Vec<DetailLine> {
    let row = known.watch.reading.as_ref().and_then(|reading| reading.port_row_of(ElementId::Port(id)));
    let Some(row) = row else { return Vec::new() };
    let percent = |share: Option<u16>| match share {
        Some(0) => "none".to_owned(),
        Some(share) => format!("{share} %"),
        None => "not known".to_owned(),
    };
    let wait = row.time_waited.map(|share| (share * 100.0).round() as u16);
    let text = |share: Option<u16>, of: &str| match share {
        Some(1..) => format!("{} {of}", percent(share)),
        _ => percent(share),
    };
    vec![("wait", text(wait, "of the time")), ("load", text(row.used, "of its link"))]
}

/// Number of rows of the open engine page.
pub fn rows_of_page(state: &SessionState) -> usize {
    let Some(engine) = state.screens.whatif.page else { return 0 };
    let lines = engine_lines(&state.known, engine);
    crate::operations::check::certificate_text::wrap_pairs(&lines, state.areas().body.width.into()).1.len()
}

/// On the page of an engine: its last visible row, and its number of rows.
pub fn visible_page(state: &SessionState) -> Option<(usize, usize)> {
    state.screens.whatif.page.filter(|_| state.screen == ScreenId::Whatif)?;
    let rows = rows_of_page(state);
    let height = usize::from(state.areas().body.height.saturating_sub(1));
    Some(((state.screens.whatif.top + height).min(rows), rows))
}
