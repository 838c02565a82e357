//! Builds a fabric from the lines. The two lines of a cable must agree, and the kind of a node may be wrong in the
//! file.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use fabdeck_fabric::observe::{Notes, SubnetManager};
use fabdeck_fabric::{
    FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, NodeFacts, NodeKey, NodeKind, PortFacts, PortNum,
    PortState,
};

use super::super::FileError;
use super::super::content::{MergedNodes, TopologyFile};
use super::super::limit::check_node_count;
use super::super::opensm::{UNKNOWN_LID, bad_line, bad_port, parse_hex, printable_excerpt};
use super::super::text::Input;
use super::super::topology_text::note_duplicates;
use super::cable_record::{CableRecord, EndFields};

/// A cable that only one of its ends lists.
const ONE_SIDED: &str = "FN-321";
/// A cable that contradicts another one.
const CROSSED: &str = "FN-322";
/// Two lines that describe one node or port differently.
const CONFLICTING_LINES: &str = "FN-323";
/// A switch that the file calls a channel adapter.
const RELABELLED: &str = "FN-324";
/// A speed, width or state in unknown words.
const UNKNOWN_WORD: &str = "FN-325";
/// A port number above the number of ports.
const PORT_BEYOND_COUNT: &str = "FN-326";
/// More than one node at the subnet manager's LID.
const SEVERAL_MANAGERS: &str = "FN-327";

/// Fewest ports of a switch: no adapter has as many.
const SWITCH_PORTS: u8 = 8;

struct NodeDraft {
    kind: NodeKind,
    facts: NodeFacts,
    /// Whether the node has lines of its own.
    listed: bool,
    line: u64,
    ports: BTreeMap<u8, DraftPort>,
}

#[derive(Default)]
struct DraftPort {
    guid: Guid,
    lid: Option<Lid>,
    width: Option<LinkWidth>,
    speed: Option<LinkSpeed>,
    state: Option<PortState>,
}

type DraftPortKey = (u32, u8);

pub(super) struct TopologyBuilder<'a> {
    input: Input<'a>,
    nodes: Vec<NodeDraft>,
    by_guid: FxHashMap<Guid, u32>,
    cables: Vec<(DraftPortKey, DraftPortKey, u64)>,
    managers: Vec<Guid>,
    time: Option<String>,
    merged: BTreeMap<Guid, [String; 2]>,
    notes: Notes,
}

impl<'a> TopologyBuilder<'a> {
    pub(super) fn new(input: Input<'a>) -> Self {
        let (nodes, cables, managers) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            input,
            nodes,
            by_guid: FxHashMap::default(),
            cables,
            managers,
            time: None,
            merged: BTreeMap::new(),
            notes: Notes::new(),
        }
    }

    pub(super) fn notes(&mut self) -> &mut Notes {
        &mut self.notes
    }

    /// The first time in the file counts.
    pub(super) fn set_time(&mut self, time: Option<&str>) {
        self.time = self.time.take().or_else(|| time.map(str::to_owned));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cables.is_empty()
    }

    pub(super) fn add_record(&mut self, record: &CableRecord<'_>, line: u64) -> Result<(), Box<FileError>> {
        let near = self.add_end(&record.ends[0], true, line)?;
        let far = self.add_end(&record.ends[1], false, line)?;
        let width = self.note_unknown_word(record.width, LinkWidth::from_word(record.width), "width", line);
        let state = self.note_unknown_word(record.state, parse_state(record.state), "state", line);
        let speed =
            record.speed.and_then(|word| self.note_unknown_word(word, parse_speed(word), "speed", line));
        // Width, speed and state belong to the near port.
        if let Some(port) = self.nodes[near.0 as usize].ports.get_mut(&near.1) {
            port.width = port.width.or(width);
            port.state = port.state.or(state);
            port.speed = port.speed.or(speed);
        }
        self.cables.push((near, far, line));
        Ok(())
    }

    fn note_unknown_word<T>(&mut self, word: &str, value: Option<T>, what: &str, line: u64) -> Option<T> {
        if value.is_none() && !word.is_empty() {
            self.notes.add(UNKNOWN_WORD, self.input.line_place(line), || {
                format!("the {what} '{}' is not a known word: read as unknown", printable_excerpt(word))
            });
        }
        value
    }

    fn add_end(
        &mut self,
        end: &EndFields<'_>,
        near: bool,
        line: u64,
    ) -> Result<DraftPortKey, Box<FileError>> {
        if !(1..=PortNum::MAX).contains(&end.number) {
            return Err(bad_port(&format!("{:02X}", end.number), self.input.line_place(line)));
        }
        if end.node_guid == Guid(0) {
            return Err(bad_line(
                self.input.line_place(line),
                "NodeGUID:0000000000000000",
                "the GUID of a node",
            ));
        }
        let facts = node_facts(end, near);
        let node = match self.by_guid.get(&end.node_guid) {
            Some(known) => *known,
            None => {
                let node = self.nodes.len() as u32;
                self.by_guid.insert(end.node_guid, node);
                let (kind, ports) = (facts.kind, BTreeMap::new());
                self.nodes.push(NodeDraft { kind, facts: facts.clone(), listed: near, line, ports });
                check_node_count(self.nodes.len(), || self.input.line_place(line))?;
                node
            }
        };
        let lid = self.read_lid(end, line);
        let draft = &mut self.nodes[node as usize];
        let same = NodeFacts { answered: draft.facts.answered, kind: draft.facts.kind, ..facts.clone() };
        if draft.facts.description != same.description {
            let names = [draft.facts.description.clone(), same.description.clone()];
            self.merged.entry(end.node_guid).or_insert(names);
        }
        if draft.facts != same {
            self.notes.add(CONFLICTING_LINES, self.input.line_place(line), || {
                let name = &draft.facts.description;
                format!("node {} ('{name}') is described in two ways; the first one counts", end.node_guid)
            });
        }
        draft.listed |= near;
        if facts.kind == NodeKind::Switch {
            draft.kind = NodeKind::Switch;
        }
        if end.port_count != 0 && end.number > end.port_count {
            self.notes.add(PORT_BEYOND_COUNT, self.input.line_place(line), || {
                format!("port {} of {}, which has {} ports", end.number, end.node_guid, end.port_count)
            });
        }
        let fresh = || DraftPort { guid: end.port_guid, lid, ..DraftPort::default() };
        let port = draft.ports.entry(end.number).or_insert_with(fresh);
        if (port.guid, port.lid) != (end.port_guid, lid) {
            self.notes.add(CONFLICTING_LINES, self.input.line_place(line), || {
                let number = end.number;
                format!("port {number} of {} has two GUIDs or LIDs; the first counts", end.node_guid)
            });
        }
        if end.subnet_manager && !self.managers.contains(&end.port_guid) && self.managers.len() < 2 {
            self.managers.push(end.port_guid);
        }
        Ok((node, end.number))
    }

    fn read_lid(&mut self, end: &EndFields<'_>, line: u64) -> Option<Lid> {
        let value = parse_hex(end.lid).and_then(|value| u32::try_from(value).ok());
        let lid = value.and_then(Lid::new);
        if lid.is_none() {
            self.notes.add(UNKNOWN_LID, self.input.line_place(line), || {
                format!(
                    "{} has the LID '{}', which is no unicast LID: read as unknown",
                    end.node_guid,
                    printable_excerpt(end.lid)
                )
            });
        }
        lid
    }

    pub(super) fn finish(mut self) -> TopologyFile {
        self.relabel_switches();
        let twins = self.pair_cables();
        let subnet_manager = self.subnet_manager();
        let mut builder = FabricBuilder::new();
        let mut keys: Vec<NodeKey> = Vec::with_capacity(self.nodes.len());
        for draft in &self.nodes {
            let mut facts = draft.facts.clone();
            facts.kind = draft.kind;
            // In a file that lists each cable once, a node without lines of its own may have answered.
            facts.answered = draft.listed || !twins;
            let key = builder.add_node(facts).unwrap_or_else(|known| known);
            add_ports(&mut builder, key, draft);
            keys.push(key);
        }
        for (near, far, line) in &self.cables {
            let end = |(node, number): DraftPortKey| (keys[node as usize], PortNum(number));
            if builder.connect(end(*near), end(*far)).is_err() {
                let (facts, port) = (&self.nodes[near.0 as usize].facts, near.1);
                let node = facts.guid;
                let names = [facts.description.clone(), facts.description.clone()];
                self.merged.entry(node).or_insert(names);
                self.notes.add_partial(CROSSED, self.input.line_place(*line), || {
                    format!(
                        "the cable at port {port} of {node} is left out: one of its two ports has another cable in an earlier line"
                    )
                });
            }
        }
        let fabric = builder.finish();
        note_duplicates(&mut self.notes, self.input.name, &fabric);
        let merged = self.merged.into_iter().map(|(guid, names)| MergedNodes { guid, names }).collect();
        TopologyFile {
            fabric,
            merged,
            time: self.time,
            subnet_manager,
            notes: self.notes,
            ..TopologyFile::default()
        }
    }

    /// Corrects old files, which call switches `CA`. A node is a switch if it has many ports, or several ports with
    /// one GUID and LID.
    fn relabel_switches(&mut self) {
        for draft in self.nodes.iter_mut() {
            let mut known = draft.ports.values().map(|port| (port.guid, port.lid));
            let first = known.next();
            let shared = draft.ports.len() > 1 && known.all(|port| Some(port) == first && port.1.is_some());
            let shows = shared || draft.facts.port_count >= SWITCH_PORTS;
            if draft.kind == NodeKind::ChannelAdapter && shows {
                draft.kind = NodeKind::Switch;
            }
            if draft.kind == NodeKind::Switch && draft.facts.kind != NodeKind::Switch {
                let (guid, name) = (draft.facts.guid, &draft.facts.description);
                self.notes.add(RELABELLED, self.input.line_place(draft.line), || {
                    format!("{guid} ('{name}') is listed as CA, but its ports or another line show a switch")
                });
            }
        }
    }

    /// Whether the file lists cables from both ends; notes cables listed from one end only.
    fn pair_cables(&mut self) -> bool {
        let reported: FxHashSet<(DraftPortKey, DraftPortKey)> =
            self.cables.iter().map(|(a, b, _)| (*a, *b)).collect();
        let twin = |(near, far, _): &&(DraftPortKey, DraftPortKey, u64)| reported.contains(&(*far, *near));
        // ibdiagnet lists each cable once.
        if !self.cables.iter().any(|cable| twin(&cable)) {
            return false;
        }
        for (near, _, line) in self.cables.iter().filter(|cable| !twin(cable)) {
            let (node, port) = (self.nodes[near.0 as usize].facts.guid, near.1);
            self.notes.add_partial(ONE_SIDED, self.input.line_place(*line), || {
                format!(
                    "the cable at port {port} of {node} has no line of its other end: the file may be cut"
                )
            });
        }
        true
    }

    fn subnet_manager(&mut self) -> Option<SubnetManager> {
        match self.managers.as_slice() {
            [guid] => Some(SubnetManager { guid: *guid, state: Some("MASTER".to_owned()), priority: None }),
            [] => None,
            [one, two, ..] => {
                let (one, two) = (*one, *two);
                self.notes.add(
                    SEVERAL_MANAGERS,
                    fabdeck_fabric::observe::NotePlace::file(self.input.name),
                    || {
                        format!(
                            "{one} and {two} are both marked as the subnet manager, as is so before it has assigned LIDs; which one it is stays unknown"
                        )
                    },
                );
                None
            }
        }
    }
}

fn add_ports(builder: &mut FabricBuilder, key: NodeKey, draft: &NodeDraft) {
    for (number, port) in &draft.ports {
        let guid = (port.guid != Guid(0)).then_some(port.guid);
        let mut facts =
            PortFacts { state: port.state, width: port.width, speed: port.speed, ..PortFacts::default() };
        if draft.kind == NodeKind::Switch {
            let own = builder.port(key, PortNum::MANAGEMENT);
            own.guid = own.guid.or(guid);
            own.lid = own.lid.or(port.lid);
        } else {
            (facts.guid, facts.lid) = (guid, port.lid);
        }
        *builder.port(key, PortNum(*number)) = facts;
    }
}

fn node_facts(end: &EndFields<'_>, near: bool) -> NodeFacts {
    let kind = match end.kind {
        "SW" => NodeKind::Switch,
        "Rt" | "RT" => NodeKind::Router,
        _ => NodeKind::ChannelAdapter,
    };
    let mut facts = NodeFacts::new(kind, end.node_guid, end.port_count, end.name);
    facts.vendor_id = Some(end.vendor_id);
    // OpenSM prints the far end's 16 bits as the upper half of 32.
    let shifted = !near && end.device_id > 0xFFFF;
    facts.device_id = Some(if shifted { end.device_id >> 16 } else { end.device_id });
    // 0 means no image; taken literally it would join all such nodes into one system.
    facts.system_image_guid = (end.system_image_guid != Guid(0)).then_some(end.system_image_guid);
    facts.revision = Some(end.revision);
    facts
}

fn parse_state(word: &str) -> Option<PortState> {
    match word {
        "ACT" => Some(PortState::Active),
        "ARM" => Some(PortState::Armed),
        "INI" => Some(PortState::Init),
        "DWN" => Some(PortState::Down),
        _ => None,
    }
}

/// Gb/s of one lane.
pub(super) const SPEEDS: &[(LinkSpeed, &str)] = &[
    (LinkSpeed::Sdr, "2.5"),
    (LinkSpeed::Ddr, "5"),
    (LinkSpeed::Qdr, "10"),
    (LinkSpeed::Fdr10, "FDR10"),
    (LinkSpeed::Fdr, "14"),
    (LinkSpeed::Edr, "25"),
    (LinkSpeed::Hdr, "50"),
    (LinkSpeed::Ndr, "100"),
    (LinkSpeed::Xdr, "200"),
];

pub(super) fn parse_speed(word: &str) -> Option<LinkSpeed> {
    SPEEDS.iter().find(|(_, known)| *known == word).map(|(speed, _)| *speed)
}
