//! Reads the output of ibnetdiscover in all its variants.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::FileError;
use crate::content::{MergedNodes, TopologyFile};
use crate::limit::check_node_count;
use crate::text::{Input, TextLine, parse_timestamp};
use crate::topology_text::{
    AttributeKey, CableClaim, Dialect, GuidText, LineFault, LineKind, PortLine, RecordLine, classify,
    detect_dialect, excerpt, is_whole_end, join_cables, note_duplicates, note_noise, note_tail,
    note_truncated, parse_port, parse_record, read_guid_noted, read_port_guid, trusted_part,
};
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{FabricBuilder, NodeFacts, NodeKey, NodeKind, PortFacts, PortNum};

pub const ID: &str = "ibnetdiscover";

/// Whether the beginning of a file has records whose ids contain GUIDs, and nothing of ibsim.
pub fn looks_like(head: &str) -> bool {
    detect_dialect(head) == Some(Dialect::Dump)
}

pub fn read(input: Input<'_>) -> Result<TopologyFile, Box<FileError>> {
    let mut reader = DumpReader::new(input.name);
    for line in input.lines_with_end(|line| is_whole_end(input, line)) {
        let line = line?;
        reader.read_line(&line)?;
        check_node_count(reader.builder.len(), || input.line_place(line.number))?;
    }
    reader.finish()
}

/// The lines before a record: `vendid=`, `devid=`, `sysimgguid=`, `switchguid=`.
#[derive(Default)]
struct RecordHead {
    /// Line of the first such entry; `None` if there is none.
    line: Option<u64>,
    vendor: Option<u32>,
    device: Option<u32>,
    system: Option<GuidText>,
    node: Option<GuidText>,
    port: Option<GuidText>,
}

struct DumpReader<'a> {
    file: &'a str,
    builder: FabricBuilder,
    claims: Vec<CableClaim>,
    notes: Notes,
    head: RecordHead,
    owner: Option<NodeKey>,
    /// Line of the last record, while no port line follows it.
    bare: Option<u64>,
    time: Option<String>,
    /// Nodes with a second record, with both descriptions.
    repeated: FxHashMap<NodeKey, [String; 2]>,
}

impl<'a> DumpReader<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            builder: FabricBuilder::new(),
            claims: Vec::new(),
            notes: Notes::new(),
            head: RecordHead::default(),
            owner: None,
            bare: None,
            time: None,
            repeated: FxHashMap::default(),
        }
    }

    fn place(&self, line: u64) -> NotePlace {
        NotePlace::line(self.file, line)
    }

    fn read_line(&mut self, line: &TextLine<'_>) -> Result<(), Box<FileError>> {
        if !line.unended {
            return self
                .read_content(&line.text, line.number, false)
                .map_err(|fault| fault.with_place(self.place(line.number)));
        }
        let outcome = self.read_content(trusted_part(&line.text), line.number, true);
        let place = self.place(line.number);
        note_truncated(&mut self.notes, place, outcome.is_err());
        Ok(())
    }

    fn read_content(&mut self, text: &str, number: u64, cut: bool) -> Result<(), LineFault> {
        match classify(text) {
            LineKind::Blank | LineKind::Heading => {}
            LineKind::Comment(text) => self.read_comment(text, cut),
            LineKind::Key { key, value, .. } if !key.is_ibsim_only() => {
                if !cut {
                    self.read_key(key, value, number)?;
                }
            }
            LineKind::Record(keyword, rest) => {
                let record = parse_record(keyword, rest, cut)?;
                self.begin_record(&record, number)?;
            }
            LineKind::Port(rest) => self.read_port(rest, number, cut)?,
            LineKind::ToolError => {
                let place = self.place(number);
                self.notes.add_partial("FN-202", place, || {
                    format!(
                        "'{}' is an error message of the tool: a device did not answer",
                        excerpt(text.trim())
                    )
                });
            }
            _ if cut => {}
            _ => note_noise(&mut self.notes, NotePlace::line(self.file, number), text),
        }
        Ok(())
    }

    fn read_comment(&mut self, text: &str, cut: bool) {
        let time = text.trim().strip_prefix("Topology file: generated on ").or_else(|| parse_timestamp(text));
        if let Some(time) = time
            && self.time.is_none()
            && !cut
        {
            self.time = Some(time.trim().to_owned());
        }
    }

    fn read_key(&mut self, key: AttributeKey, value: &str, number: u64) -> Result<(), LineFault> {
        if self.head.line.is_none() {
            self.head.line = Some(number);
        }
        let end = value.find(|c: char| c.is_whitespace() || c == '(' || c == '#').unwrap_or(value.len());
        let (plain, rest) = value.split_at(end);
        match key {
            AttributeKey::Vendor => self.head.vendor = parse_device_number(plain)?,
            AttributeKey::Device => self.head.device = parse_device_number(plain)?,
            AttributeKey::SystemImage => self.head.system = self.read_guid(plain, number),
            AttributeKey::Guid(_) => {
                // A second GUID without a record in between: the record of the first node is missing.
                if self.head.node.is_some() {
                    return Err(self.record_missing());
                }
                self.head.node = self.read_guid(plain, number);
                let inner = rest.strip_prefix('(').and_then(|rest| rest.split_once(')'));
                self.head.port = inner.and_then(|(inner, _)| self.read_guid(inner, number));
            }
            _ => {}
        }
        Ok(())
    }

    fn record_missing(&self) -> LineFault {
        let line = self.head.line.unwrap_or(0);
        let what = format!("the node whose vendid, devid and GUID begin at line {line} has no record");
        LineFault::new("FD-2106", what, "its Switch, Ca or Rt line is missing; take the dump again")
    }

    fn read_guid(&mut self, text: &str, number: u64) -> Option<GuidText> {
        read_guid_noted(&mut self.notes, || NotePlace::line(self.file, number), text)
    }

    /// Splits a node's id into kind and GUID.
    fn parse_identity(&mut self, id: &str, number: u64) -> Result<(NodeKind, GuidText), LineFault> {
        let kind = match id.as_bytes() {
            [b'S' | b's', b'-', ..] => NodeKind::Switch,
            [b'H' | b'h', b'-', ..] => NodeKind::ChannelAdapter,
            [b'R' | b'r', b'-', ..] => NodeKind::Router,
            _ => return Err(bad_id(id)),
        };
        let guid = self.read_guid(&id[2..], number).ok_or_else(|| bad_id(id))?;
        Ok((kind, guid))
    }

    fn begin_record(&mut self, record: &RecordLine<'_>, number: u64) -> Result<(), LineFault> {
        let (kind, guid) = self.parse_identity(record.id, number)?;
        if kind != record.kind {
            let what = format!("a {} record with the id \"{}\"", record.kind.word(), excerpt(record.id));
            return Err(LineFault::new("FD-2102", what, "S- names switches, H- adapters, R- routers"));
        }
        let head = std::mem::take(&mut self.head);
        let file = self.file;
        note_tail(&mut self.notes, || NotePlace::line(file, number), &record.tail, None);
        if let Some(other) = head.node.filter(|node| node.guid != guid.guid) {
            let place = self.place(number);
            self.notes.add("FN-210", place, || {
                format!(
                    "the lines before the record of {} name {}: the GUID in the record is used",
                    guid.guid, other.guid
                )
            });
        }
        let facts = NodeFacts {
            vendor_id: head.vendor,
            device_id: head.device,
            system_image_guid: head.system.map(|system| system.guid),
            enhanced_port0: record.tail.enhanced_port0,
            ..NodeFacts::new(kind, guid.guid, record.port_count, record.name.unwrap_or(""))
        };
        let key = self.add_node(facts, number);
        self.owner = Some(key);
        self.bare = Some(number);
        if kind == NodeKind::Switch {
            let port: &mut PortFacts = self.builder.port(key, PortNum::MANAGEMENT);
            port.guid = port.guid.or(head.port.map(|port| port.guid));
            port.lid = port.lid.or(record.tail.lid.and_then(|lid| lid.known_lid()));
            port.lmc = record.tail.lmc.unwrap_or(port.lmc);
        }
        Ok(())
    }

    fn add_node(&mut self, facts: NodeFacts, number: u64) -> NodeKey {
        let known = match self.builder.add_node(facts.clone()) {
            Ok(key) => return key,
            Err(known) => known,
        };
        let node = self.builder.node_mut(known);
        if !node.answered {
            // A peer named the node before its record.
            *node = facts;
            return known;
        }
        node.port_count = node.port_count.max(facts.port_count);
        node.vendor_id = node.vendor_id.or(facts.vendor_id);
        node.device_id = node.device_id.or(facts.device_id);
        node.system_image_guid = node.system_image_guid.or(facts.system_image_guid);
        node.enhanced_port0 = node.enhanced_port0.or(facts.enhanced_port0);
        let (guid, first, second) = (node.guid, node.description.clone(), facts.description);
        self.repeated.entry(known).or_insert_with(|| [first.clone(), second.clone()]);
        self.notes.add("FN-209", NotePlace::line(self.file, number), || {
            format!("a second record of {guid} ('{first}', here '{second}'): both are read as one node")
        });
        known
    }

    fn read_port(&mut self, rest: &str, number: u64, cut: bool) -> Result<(), LineFault> {
        if self.head.line.is_some() {
            return Err(self.record_missing());
        }
        let Some(owner) = self.owner else {
            let place = self.place(number);
            self.notes.add_partial("FN-215", place, || {
                "ports before the first record: the beginning of the dump is missing".to_owned()
            });
            return Ok(());
        };
        let (kind, port_count) = {
            let node = self.builder.node(owner);
            (node.kind, node.port_count)
        };
        let line = parse_port(kind, rest, cut)?;
        if line.port.value() > port_count {
            let what = format!("port {} of a node with {port_count} ports", line.port);
            return Err(LineFault::new(
                "FD-2104",
                what,
                "the number of ports in the record or this port is wrong",
            ));
        }
        let Some(peer_port) = line.peer_port else {
            let what = "a port line without the number of the peer's port";
            return Err(LineFault::new("FD-2103", what, "write a cable as: [1] \"S-0123456789abcdef\"[2]"));
        };
        let file = self.file;
        note_tail(&mut self.notes, || NotePlace::line(file, number), &line.tail, line.own_lid);
        let place = || NotePlace::line(file, number);
        let own_guid =
            line.label.and_then(|label| read_port_guid(&mut self.notes, place, label, kind, line.port));
        let far = self.peer_node(&line, number)?;
        let far_kind = self.builder.node(far).kind;
        let far_guid = line
            .peer_label
            .and_then(|label| read_port_guid(&mut self.notes, place, label, far_kind, peer_port));
        let facts = self.builder.port(owner, line.port);
        facts.guid = facts.guid.or(own_guid);
        facts.lid = facts.lid.or(line.own_lid.and_then(|lid| lid.known_lid()));
        facts.lmc = line.own_lmc.unwrap_or(facts.lmc);
        facts.width = facts.width.or(line.tail.width_in_use());
        facts.speed = facts.speed.or(line.tail.speed_in_use());
        facts.lanes_supported = facts.lanes_supported.or(line.tail.lanes_supported());
        let far_lid = line.tail.lid.and_then(|lid| lid.known_lid());
        let (near, far) = ((owner, line.port), (far, peer_port));
        self.bare = None;
        self.claims.push(CableClaim { near, far, line: number, far_lid, far_guid });
        Ok(())
    }

    /// The node at the other end; it counts as one that did not answer until its record comes.
    fn peer_node(&mut self, line: &PortLine<'_>, number: u64) -> Result<NodeKey, LineFault> {
        let (kind, guid) = self.parse_identity(line.peer, number)?;
        if let Some(key) = self.builder.find(kind, guid.guid) {
            return Ok(key);
        }
        let facts = NodeFacts::known_from_peer(kind, guid.guid, line.name.unwrap_or(""));
        Ok(self.builder.add_node(facts).unwrap_or_else(|known| known))
    }

    fn finish(mut self) -> Result<TopologyFile, Box<FileError>> {
        if let Some(line) = self.head.line {
            let place = self.place(line);
            self.notes.add_partial("FN-227", place, || {
                format!("truncated at line {line}: the record of the last node is missing")
            });
        }
        if let Some(line) = self.bare {
            let place = self.place(line);
            self.notes.add_partial("FN-219", place, || {
                "the last node has no cables: the dump may end too early".to_owned()
            });
        }
        if self.builder.is_empty() {
            let what = "no node in the file";
            let hint = "a topology has records that begin with Switch, Ca, Hca or Rt";
            return Err(FileError::new("FD-2101", NotePlace::file(self.file), what, hint));
        }
        join_cables(&mut self.builder, &self.claims, &mut self.notes, self.file)?;
        let merged = self.find_merged();
        drop(self.claims);
        let fabric = self.builder.finish();
        note_duplicates(&mut self.notes, self.file, &fabric);
        Ok(TopologyFile { fabric, time: self.time, merged, notes: self.notes, ..TopologyFile::default() })
    }

    /// Nodes whose two records belong to two nodes: these have two names, or two cables at one port. A dump that is in
    /// the file twice has neither.
    fn find_merged(&mut self) -> Vec<MergedNodes> {
        let mut cabled = FxHashMap::default();
        let claims = self.claims.iter().filter(|claim| self.repeated.contains_key(&claim.near.0));
        let two: FxHashSet<NodeKey> = claims
            .filter(|claim| *cabled.entry(claim.near).or_insert(claim.far) != claim.far)
            .map(|claim| claim.near.0)
            .collect();
        let mut merged: Vec<MergedNodes> = std::mem::take(&mut self.repeated)
            .into_iter()
            .filter(|(node, [first, second])| first != second || two.contains(node))
            .map(|(node, names)| MergedNodes { guid: self.builder.node(node).guid, names })
            .collect();
        merged.sort_unstable_by_key(|merged| merged.guid);
        merged
    }
}

fn parse_device_number(text: &str) -> Result<Option<u32>, LineFault> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    if digits.is_empty() {
        return Ok(None);
    }
    let is_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    let number = if is_hex { u32::from_str_radix(digits, 16).ok() } else { None };
    number.map(Some).ok_or_else(|| {
        let what = format!("'{}' is no vendor or device number", excerpt(text));
        LineFault::new("FD-2105", what, "write it in hexadecimal, as vendid=0x2c9")
    })
}

fn bad_id(id: &str) -> LineFault {
    let what = format!("\"{}\" is no node of a dump", excerpt(id));
    LineFault::new(
        "FD-2103",
        what,
        "nodes are S-, H- or R- and a GUID; only ibsim net files have other names",
    )
}
