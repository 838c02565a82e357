//! The path that forwarding tables give from one port to another, hop by hop.

use std::collections::BTreeSet;

use super::hop_choices::HopChoices;
use super::hops::HOPS;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::operations::check::judgement::has_silent_peer;
use fabdeck_fabric::{
    Element, ElementError, ElementId, Guid, Lid, NodeId, NodeKind, PortId, PortNum, PortState, Routes,
    Tables, pick_lid,
};

/// An end of a path: a switch, or a port of an adapter or router.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceEndpoint {
    pub node: NodeId,
    /// `None` for a switch, which is a terminal itself.
    pub port: Option<PortId>,
}

/// A step of a path to the next node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceHop {
    pub node: NodeId,
    /// `None` where the path ends in this node, without an egress port.
    pub egress: Option<PortNum>,
    pub choices: HopChoices,
}

/// The outcome of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TraceOutcome {
    Arrived,
    /// The path returns to a switch that it already passed.
    Loop(NodeId),
    /// The switch has a table, and no entry for the LID.
    NoEntry(NodeId),
    /// The switch's entry for the LID is unknown.
    NoTable(NodeId),
    /// The port has no cable, or the node has no such port.
    NoCable(NodeId, PortNum),
    /// The port is up, and the node behind it did not answer.
    NoAnswer(NodeId, PortNum),
    /// One end of the cable at this port reports that it is down.
    Down(NodeId, PortNum),
    /// The path ends in a node that does not own the LID.
    Astray(NodeId),
}

impl TraceOutcome {
    /// A stable word for JSON; `None` when the path arrives.
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Arrived => None,
            Self::Loop(_) => Some("loop"),
            Self::NoEntry(_) => Some("no-entry"),
            Self::NoTable(_) => Some("no-table"),
            Self::NoCable(..) => Some("no-cable"),
            Self::NoAnswer(..) => Some("no-answer"),
            Self::Down(..) => Some("down"),
            Self::Astray(_) => Some("astray"),
        }
    }

    /// All words.
    pub const WORDS: &[&str] = &["loop", "no-entry", "no-table", "no-cable", "no-answer", "down", "astray"];
}

/// The choice among the destination's 2^LMC LIDs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LidChoice {
    /// The LID that the source picks by its path bits.
    Picked,
    /// The LID that comes this many after the picked one, the first after the last.
    AfterPicked(u16),
    One(u32),
}

/// A path, complete or up to the point where it ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    pub from: TraceEndpoint,
    pub to: TraceEndpoint,
    pub lid: Lid,
    pub hops: Vec<TraceHop>,
    pub ending: TraceOutcome,
}

/// Reason why no path can be traced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    #[error(transparent)]
    Element(#[from] ElementError),
    #[error("FD-6101: LID {0} belongs to no port of this fabric")]
    UnknownLid(u32),
    #[error("FD-6102: {0} is a link; a path runs between two ports")]
    NotAPort(String),
    #[error("FD-6103: LID {lid} is not one of '{name}', which owns {first} to {last}")]
    ForeignLid { lid: u32, name: String, first: u32, last: u32 },
    #[error(
        "FD-6104: the LID of '{0}' is not known, so no path to it can be traced; use a source with LIDs, or let fabdeck assume LIDs and routes: --assume ENGINE"
    )]
    NoLid(String),
    #[error("FD-6105: '{0}' has no port with a cable")]
    NoPort(String),
    #[error("FD-6106: '{name}' is a {kind}; write {element}")]
    OtherKind { name: String, kind: &'static str, element: String },
}

/// Parses an end of a path: an element, a name, a GUID or a LID. A name takes precedence over a LID.
pub fn parse_endpoint(look: &Snapshot, text: &str) -> Result<TraceEndpoint, TraceError> {
    let (fabric, names) = (look.fabric(), &look.names);
    let text = text.trim();
    if names.nodes_named(text).is_empty() {
        if let Some(lid) = lid_of(look, text) {
            let owner = Lid::new(lid).and_then(|lid| fabric.port_by_lid(lid));
            return endpoint_at_port(look, owner.ok_or(TraceError::UnknownLid(lid))?);
        }
        let names_port = ["port:", "link:"].iter().any(|kind| text.starts_with(kind));
        if names_port || text.parse::<Element>().is_ok() {
            return match Element::find(fabric, names, text).map_err(|error| other_kind(look, error))? {
                ElementId::Node(id) => endpoint_at_node(look, id),
                ElementId::Port(id) => endpoint_at_port(look, id),
                ElementId::Link(_) => Err(TraceError::NotAPort(text.to_owned())),
            };
        }
    }
    match names.find(fabric, text, None).as_slice() {
        // The GUID of a port names that port, not the first port of its node.
        [id] => match port_guid(text).and_then(|guid| fabric.port_by_guid(guid)) {
            Some(port) if fabric.port(port).node == *id && names.nodes_named(text).is_empty() => {
                endpoint_at_port(look, port)
            }
            _ => endpoint_at_node(look, *id),
        },
        [] => named_port(look, text),
        several => {
            let guids = several.iter().map(|id| fabric.node(*id).guid().to_string()).collect();
            Err(ElementError::Ambiguous { name: text.to_owned(), guids }.into())
        }
    }
}

/// The end at a port that a text names by its number or label, without the word `port:`.
fn named_port(look: &Snapshot, text: &str) -> Result<TraceEndpoint, TraceError> {
    use ElementError::{AmbiguousLabel, NoLabel, NoPort};
    let names = &look.names;
    match Element::find(look.fabric(), names, &format!("port:{text}")) {
        Ok(ElementId::Port(id)) => endpoint_at_port(look, id),
        Err(error @ (NoPort { .. } | NoLabel { .. } | AmbiguousLabel { .. })) => Err(error.into()),
        _ => {
            let like = names.similar_names(text).into_iter().map(str::to_owned).collect();
            Err(ElementError::Unknown { kind: "node", name: text.to_owned(), like }.into())
        }
    }
}

/// The error for a name that exists, but for another kind of node.
fn other_kind(look: &Snapshot, error: ElementError) -> TraceError {
    let ElementError::Unknown { kind: "switch" | "host" | "router", name, .. } = &error else {
        return error.into();
    };
    match look.names.find(look.fabric(), name, None).first() {
        Some(id) => TraceError::OtherKind {
            name: name.clone(),
            kind: look.fabric().node(*id).facts.kind.word(),
            element: Element::from_id(look.fabric(), &look.names, ElementId::Node(*id)).to_string(),
        },
        None => error.into(),
    }
}

/// Parses a LID. It has at most five digits, or four after `0x`, as tools print it; sixteen digits are a
/// GUID. A short GUID of a node or port takes precedence.
fn lid_of(look: &Snapshot, text: &str) -> Option<u32> {
    let (digits, marked) = text.strip_prefix("lid:").map_or((text, false), |digits| (digits, true));
    if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let short = (1..=4).contains(&hex.len()) && hex.bytes().all(|b| b.is_ascii_hexdigit());
        let free = marked || look.names.find(look.fabric(), text, None).is_empty();
        return (short && free).then(|| u32::from_str_radix(hex, 16).ok()).flatten();
    }
    (digits.len() <= 5).then(|| digits.parse().ok()).flatten()
}

/// Parses the GUID of a port, in the notations in which `Names::find` reads GUIDs.
fn port_guid(text: &str) -> Option<Guid> {
    let marked = text.starts_with("0x") || text.starts_with("0X") || text.len() == 16;
    marked.then(|| Guid::from_hex(text).ok()).flatten()
}

fn endpoint_at_port(look: &Snapshot, id: PortId) -> Result<TraceEndpoint, TraceError> {
    let node = look.fabric().port(id).node;
    let switch = look.fabric().node(node).is_switch();
    Ok(TraceEndpoint { node, port: (!switch).then_some(id) })
}

/// The end at a node. An adapter with several ports is represented by its first cabled port, which carries
/// traffic.
fn endpoint_at_node(look: &Snapshot, id: NodeId) -> Result<TraceEndpoint, TraceError> {
    let fabric = look.fabric();
    if fabric.node(id).is_switch() {
        return Ok(TraceEndpoint { node: id, port: None });
    }
    let cabled = fabric.ports_of(id).find(|(_, port)| port.peer.is_some());
    let (port, _) = cabled.ok_or_else(|| TraceError::NoPort(look.name(id).to_owned()))?;
    Ok(TraceEndpoint { node: id, port: Some(port) })
}

impl TraceEndpoint {
    /// The name of the end: `host0[1]`, or the name of a switch.
    pub fn name(&self, look: &Snapshot) -> String {
        self.port
            .map_or_else(|| look.unique_name(self.node).into_owned(), |port| look.labelled_port_name(port))
    }

    /// Number of other cabled ports of the same adapter.
    pub fn other_ports(&self, look: &Snapshot) -> usize {
        let cabled = look.fabric().ports_of(self.node).filter(|(_, port)| port.peer.is_some()).count();
        if self.port.is_some() { cabled.saturating_sub(1) } else { 0 }
    }

    /// The base LID of the end, with the number of its LIDs.
    pub fn address(&self, look: &Snapshot) -> Option<(Lid, u16)> {
        let fabric = look.fabric();
        let port = self.port.or_else(|| fabric.port_of(self.node, PortNum::MANAGEMENT))?;
        fabric.address_of(port).map(|(lid, lmc)| (lid, lmc.lid_count()))
    }

    /// The LID of the end that a source sends to, or the chosen one.
    pub fn lid(&self, look: &Snapshot, from: Self, choice: LidChoice) -> Result<Lid, TraceError> {
        self.lid_by_bits(look, from.port.map_or(0, |port| look.path_bits().get(port)), choice)
    }

    /// The chosen LID of the end. A source with `path_bits` picks one.
    fn lid_by_bits(&self, look: &Snapshot, path_bits: u8, choice: LidChoice) -> Result<Lid, TraceError> {
        let (base, count) = self.address(look).ok_or_else(|| TraceError::NoLid(self.name(look)))?;
        let first = u32::from(base.value());
        let last = first + u32::from(count) - 1;
        match choice {
            LidChoice::Picked => Ok(pick_lid(path_bits, base, count)),
            LidChoice::AfterPicked(step) => {
                Ok(pick_lid(path_bits.wrapping_add((step % count) as u8), base, count))
            }
            LidChoice::One(lid) => Lid::new(lid)
                .filter(|_| (first..=last).contains(&lid))
                .ok_or_else(|| TraceError::ForeignLid { lid, name: self.name(look), first, last }),
        }
    }
}

impl Trace {
    /// Follows `tables` from one end to the other.
    pub fn follow(
        look: &Snapshot,
        tables: &Tables,
        from: TraceEndpoint,
        to: TraceEndpoint,
        choice: LidChoice,
    ) -> Result<Self, TraceError> {
        let lid = to.lid(look, from, choice)?;
        Ok(Self::follow_entries(look, Entries::Read(tables), from, to, lid))
    }

    /// Follows computed routes that no switch has yet.
    pub fn follow_routes(
        look: &Snapshot,
        routes: &Routes,
        from: TraceEndpoint,
        to: TraceEndpoint,
        choice: LidChoice,
    ) -> Result<Self, TraceError> {
        let bits = from.port.map_or(0, |port| routes.path_bits(look.fabric()).get(port));
        let lid = to.lid_by_bits(look, bits, choice)?;
        Ok(Self::follow_entries(look, Entries::Computed(routes), from, to, lid))
    }

    fn follow_entries(
        look: &Snapshot,
        entries: Entries<'_>,
        from: TraceEndpoint,
        to: TraceEndpoint,
        lid: Lid,
    ) -> Self {
        let ingress = PortNum::MANAGEMENT;
        let mut walk = Walk { look, entries, to, lid, hops: Vec::new(), seen: BTreeSet::new(), ingress };
        let ending = walk.run(from);
        Self { from, to, lid, hops: walk.hops, ending }
    }

    pub fn has_arrived(&self) -> bool {
        self.ending == TraceOutcome::Arrived
    }

    /// What adaptive routing means for the path; `None` where it changes nothing, as far as the source states it.
    pub fn choice_words(&self) -> Option<String> {
        let count =
            |wanted: fn(&HopChoices) -> bool| self.hops.iter().filter(|hop| wanted(&hop.choices)).count();
        let open = count(|choices| matches!(choices, HopChoices::Ports(_)));
        let unknown = count(|choices| *choices == HopChoices::Unknown);
        let switches = |count| count_words(count, "switch", "switches");
        let known = format!("packets may leave by other ports at {}", switches(open));
        let hidden = format!("by which ports packets may leave is not known at {}", switches(unknown));
        match (open, unknown) {
            (0, 0) => None,
            (_, 0) => Some(format!("the path by static ports; {known}")),
            (0, _) => Some(format!("the path by static ports; {hidden}")),
            _ => Some(format!("the path by static ports; {known}; {hidden}")),
        }
    }

    /// Number of links on the path.
    pub fn link_count(&self) -> usize {
        self.hops.iter().filter(|hop| hop.egress.is_some()).count()
    }

    /// The outcome in a sentence.
    pub fn verdict(&self, look: &Snapshot) -> String {
        let lid = self.lid;
        let name = |node: NodeId| look.names.unique_name(look.fabric(), node);
        let port_of = |node: NodeId, number: PortNum| {
            let label = look.fabric().port_of(node, number).map(|port| look.label_suffix(port));
            format!("port {number}{} of {}", label.unwrap_or_default(), name(node))
        };
        match &self.ending {
            TraceOutcome::Arrived => {
                let links = count_words(self.link_count(), "link", "links");
                format!("{} (LID {lid}) is reached over {links}", self.to.name(look))
            }
            TraceOutcome::Loop(at) => format!("no path: LID {lid} returns to {}, a loop", name(*at)),
            TraceOutcome::NoEntry(at) => format!("no path: {} has no entry for LID {lid}", name(*at)),
            TraceOutcome::NoTable(at) => {
                format!("not known: the forwarding table of {} was not read", name(*at))
            }
            TraceOutcome::NoCable(at, port) => {
                format!("no path: {} leads to no cable", port_of(*at, *port))
            }
            TraceOutcome::NoAnswer(at, port) => {
                format!("not known: no answer from behind {}, which is up", port_of(*at, *port))
            }
            TraceOutcome::Down(at, port) => {
                format!("no path: the link at {} is down", port_of(*at, *port))
            }
            TraceOutcome::Astray(at) => {
                format!("no path: LID {lid} ends in {}, which does not own it", name(*at))
            }
        }
    }

    /// The hops as a table.
    pub fn listing<'l>(&self, look: &'l Snapshot) -> Box<dyn Listing + 'l> {
        let rows: Vec<_> = self.hops.iter().enumerate().map(|(at, hop)| (at + 1, *hop)).collect();
        Box::new(HOPS.rows(look, rows))
    }
}

/// The source of forwarding entries.
#[derive(Clone, Copy)]
enum Entries<'l> {
    Read(&'l Tables),
    Computed(&'l Routes),
}

/// What a switch has for a LID.
enum EntryAt {
    Port(PortNum),
    Missing,
    /// Its table was not read.
    Unknown,
}

impl Entries<'_> {
    /// The entry of a switch for a LID.
    fn get(self, at: NodeId, lid: Lid) -> EntryAt {
        match self {
            Self::Read(tables) => {
                let entry = tables.lft(at).and_then(|table| table.get(lid));
                match entry {
                    Some(port) => EntryAt::Port(port),
                    None if tables.lft(at).is_some() && tables.is_entry_known(at, lid) => EntryAt::Missing,
                    None => EntryAt::Unknown,
                }
            }
            Self::Computed(routes) => routes.get(at.0, lid).map_or(EntryAt::Missing, EntryAt::Port),
        }
    }
}

struct Walk<'l> {
    look: &'l Snapshot,
    entries: Entries<'l>,
    to: TraceEndpoint,
    lid: Lid,
    hops: Vec<TraceHop>,
    seen: BTreeSet<NodeId>,
    /// Where packets come into the switch.
    ingress: PortNum,
}

impl Walk<'_> {
    fn run(&mut self, from: TraceEndpoint) -> TraceOutcome {
        if from == self.to {
            return TraceOutcome::Arrived;
        }
        let fabric = self.look.fabric();
        let mut at = from.node;
        if let Some(port) = from.port {
            match self.cross(at, fabric.port(port).number) {
                Ok(node) => at = node,
                Err(ending) => return ending,
            }
        }
        // Each iteration ends the path or adds a switch to `seen`, so the loop ends.
        loop {
            match self.step(at) {
                Ok(node) => at = node,
                Err(ending) => return ending,
            }
        }
    }

    /// Crosses the cable at a port; returns the ending when the path ends at the far end.
    fn cross(&mut self, node: NodeId, egress: PortNum) -> Result<NodeId, TraceOutcome> {
        let fabric = self.look.fabric();
        let choices = match self.entries {
            Entries::Read(tables) => HopChoices::of(tables, node, (self.ingress, egress), self.lid),
            Entries::Computed(_) => HopChoices::default(),
        };
        self.hops.push(TraceHop { node, egress: Some(egress), choices });
        let here = fabric.port_of(node, egress).ok_or(TraceOutcome::NoCable(node, egress))?;
        let silent = self.look.observation.is_partial() && has_silent_peer(fabric, here);
        let nowhere = if silent { TraceOutcome::NoAnswer } else { TraceOutcome::NoCable };
        let peer = fabric.peer(here).ok_or(nowhere(node, egress))?;
        let down = |port: PortId| fabric.port(port).facts.state == Some(PortState::Down);
        if down(here) || down(peer) {
            return Err(TraceOutcome::Down(node, egress));
        }
        if self.to.port == Some(peer) {
            return Err(TraceOutcome::Arrived);
        }
        self.ingress = fabric.port(peer).number;
        let far = fabric.port(peer).node;
        if fabric.node(far).facts.kind == NodeKind::Switch { Ok(far) } else { Err(TraceOutcome::Astray(far)) }
    }

    /// Forwards the packet at one switch.
    fn step(&mut self, at: NodeId) -> Result<NodeId, TraceOutcome> {
        if self.to.port.is_none() && self.to.node == at {
            return Err(TraceOutcome::Arrived);
        }
        if !self.seen.insert(at) {
            return Err(TraceOutcome::Loop(at));
        }
        let ended = |walk: &mut Self, ending| {
            walk.hops.push(TraceHop { node: at, egress: None, choices: HopChoices::default() });
            Err(ending)
        };
        match self.entries.get(at, self.lid) {
            EntryAt::Unknown => ended(self, TraceOutcome::NoTable(at)),
            EntryAt::Missing => ended(self, TraceOutcome::NoEntry(at)),
            EntryAt::Port(PortNum::MANAGEMENT) => ended(self, TraceOutcome::Astray(at)),
            EntryAt::Port(egress) => self.cross(at, egress),
        }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        let exit = match &error {
            // The command is well-formed; the source lacks the information.
            TraceError::NoLid(_) | TraceError::NoPort(_) => Exit::Failed,
            _ => Exit::Usage,
        };
        Self::new(exit, error.to_string())
    }
}
