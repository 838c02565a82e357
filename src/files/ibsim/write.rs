//! Writes a fabric as a net file for ibsim, and notes what ibsim 0.10 would change.

use std::borrow::Cow;
use std::fmt::Write;

use super::enabled::EnabledRates;
use crate::FileError;
use crate::topology_text::{NET_FILE_MARK, clean_name, guid_key, is_down, node_id, note_down, record_word};
use crate::writer_output::WriterOutput;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Lid, LinkSpeed, LinkWidth, NodeFacts, NodeId, NodeKind, Port, PortId, PortNum};

/// ibsim cuts longer descriptions.
const MAX_NAME_BYTES: usize = 63;
/// Default limits of ibsim.
const MAX_NODES: usize = 2_048;
const MAX_SWITCHES: usize = 256;
const MAX_PORTS: usize = 13_312;
const MAX_LINEAR_CAP: usize = 30_720;

/// Writes a net file. The ids of nodes are `S-`, `H-` or `R-` and their GUID, so names may be arbitrary and repeated.
pub fn write(fabric: &Fabric) -> Result<WriterOutput, Box<FileError>> {
    if !fabric.nodes().any(|(id, _)| is_played(fabric, id)) {
        let what = "a fabric without nodes cannot be written";
        return Err(FileError::new("FD-2120", file_place(), what, "name a source with nodes that answered"));
    }
    let mut writer = NetFileWriter { fabric, text: String::new(), notes: Notes::new(), device: 0 };
    writer.text.reserve(fabric.ports().len() * 90 + fabric.nodes().len() * 200);
    writer.text.push_str(NET_FILE_MARK);
    writer.text.push_str("\n#\n");
    for (id, node) in fabric.nodes() {
        if is_played(fabric, id) {
            // Writing to a String cannot fail.
            let _ = writer.write_node(id, &node.facts);
        } else {
            writer.notes.add_partial("FN-232", file_place(), || {
                format!("{} did not answer or has no ports: ibsim cannot simulate it; left out", node.guid())
            });
        }
    }
    note_down(&mut writer.notes, super::read::ID, fabric);
    writer.note_limits();
    Ok(WriterOutput { text: writer.text, notes: writer.notes })
}

fn file_place() -> NotePlace {
    NotePlace::file(super::read::ID)
}

/// Whether a node is written: ibsim stops at nodes without ports, and at links to missing nodes.
fn is_played(fabric: &Fabric, id: NodeId) -> bool {
    let facts = &fabric.node(id).facts;
    facts.answered && (facts.port_count > 0 || port_count(fabric, id) > 0)
}

fn port_count(fabric: &Fabric, id: NodeId) -> u8 {
    let last = fabric.ports_of(id).map(|(_, port)| port.number.value()).max();
    fabric.node(id).facts.port_count.max(last.unwrap_or(0))
}

struct NetFileWriter<'a> {
    fabric: &'a Fabric,
    text: String,
    notes: Notes,
    /// The last device id, which ibsim keeps for later nodes.
    device: u32,
}

impl NetFileWriter<'_> {
    fn write_node(&mut self, id: NodeId, facts: &NodeFacts) -> std::fmt::Result {
        self.text.push('\n');
        if let Some(vendor) = facts.vendor_id {
            writeln!(self.text, "vendid={vendor:#x}")?;
        }
        let device = facts.device_id.unwrap_or(0);
        if facts.device_id.is_some() || self.device != device {
            writeln!(self.text, "devid={device:#x}")?;
        }
        self.device = device;
        if let Some(system) = facts.system_image_guid.filter(|guid| guid.0 != 0) {
            writeln!(self.text, "sysimgguid={:#x}", system.0)?;
        }
        write!(self.text, "{}={:#x}", guid_key(facts.kind), facts.guid.0)?;
        if facts.kind == NodeKind::Switch {
            write!(self.text, "({:x})", facts.guid.0)?;
        }
        self.note_guids(id, facts);
        let name = self.node_name(facts);
        let (word, ports) = (record_word(facts.kind), port_count(self.fabric, id));
        write!(self.text, "\n{word}\t{ports} \"{}\"\t\t# \"{name}\"", node_id(facts.kind, facts.guid))?;
        if facts.kind == NodeKind::Switch {
            let kind = if facts.enhanced_port0 == Some(true) { "enhanced" } else { "base" };
            let management = self.fabric.port_of(id, PortNum::MANAGEMENT);
            let (lid, lmc) = management.map_or((None, Default::default()), |port| {
                let facts = &self.fabric.port(port).facts;
                (facts.lid, facts.lmc)
            });
            write!(self.text, " {kind} port 0 lid {} lmc {lmc}", lid.map_or(0, Lid::value))?;
        }
        self.text.push('\n');
        for (id, port) in self.fabric.ports_of(id).filter(|(id, _)| !is_down(self.fabric, *id)) {
            self.write_port(id, facts.kind, port)?;
        }
        Ok(())
    }

    fn write_port(&mut self, id: PortId, kind: NodeKind, port: &Port) -> std::fmt::Result {
        let Some(peer_id) = port.peer.filter(|peer| is_played(self.fabric, self.fabric.port(*peer).node))
        else {
            return Ok(());
        };
        let fabric = self.fabric;
        let peer = fabric.port(peer_id);
        let far = &fabric.node(peer.node).facts;
        write!(self.text, "[{}]", port.number)?;
        if kind != NodeKind::Switch
            && let Some(guid) = port.facts.guid
        {
            write!(self.text, "({:x}) ", guid.0)?;
        }
        write!(self.text, "\t\"{}\"[{}]", node_id(far.kind, far.guid), peer.number)?;
        let (width, speed) = self.common_rate(id, peer_id);
        if kind == NodeKind::Router {
            // ibsim ignores the rate on a router's line.
            let EnabledRates { widths, speeds, extended, .. } = EnabledRates::from_rate(width, speed);
            write!(self.text, " w={widths} s={speeds} e={extended}")?;
        }
        self.text.push_str("\t\t# ");
        if kind != NodeKind::Switch {
            write!(self.text, "lid {} lmc {} ", port.facts.lid.map_or(0, Lid::value), port.facts.lmc)?;
        }
        let name = plain_name(&far.description);
        // ibsim reads each `=` on the line as a setting of the port (`node=1` sets its extended speed).
        let name = if name.contains('=') { "" } else { &name };
        let far_lid = fabric.address_of(peer_id).map_or(0, |(lid, _)| lid.value());
        if speed == LinkSpeed::Fdr10 {
            self.note_fdr10(port);
        }
        writeln!(self.text, "\"{name}\" lid {far_lid} {width}{speed}")
    }

    /// The rate to write at both ends: the lower one, because ibsim stops at ends with nothing in common.
    fn common_rate(&mut self, a: PortId, b: PortId) -> (LinkWidth, LinkSpeed) {
        let is_router =
            |port: PortId| self.fabric.node(self.fabric.port(port).node).facts.kind == NodeKind::Router;
        let at_router = is_router(a) || is_router(b);
        let (a, b) = (&self.fabric.port(a).facts, &self.fabric.port(b).facts);
        let width = lesser(a.width, b.width, LinkWidth::lanes);
        let speed = lesser(a.speed, b.speed, |speed| speed as u32);
        if a.width != b.width || a.speed != b.speed {
            self.notes.add("FN-237", file_place(), || {
                "the ends of a cable differ in width or speed: both get the lower value, as in ibsim"
                    .to_owned()
            });
        }
        if width.is_none() || speed.is_none() {
            self.notes.add("FN-236", file_place(), || {
                "a width or speed is unknown: ibsim simulates 4x and SDR".to_owned()
            });
        }
        let speed = speed.unwrap_or(LinkSpeed::Sdr);
        if speed > LinkSpeed::Hdr {
            self.notes.add("FN-231", file_place(), || {
                format!("ibsim 0.10 does not know {speed}: written as HDR, its fastest speed")
            });
        }
        let mut played = speed.min(LinkSpeed::Hdr);
        if at_router && played == LinkSpeed::Fdr10 {
            played = LinkSpeed::Qdr;
            self.notes
                .add("FN-231", file_place(), || "ibsim has no FDR10 at routers: written as QDR".to_owned());
        }
        (width.unwrap_or(LinkWidth::X4), played)
    }

    /// ibnetdiscover checks only devices of one vendor for FDR10, and shows QDR otherwise.
    fn note_fdr10(&mut self, port: &Port) {
        const MELLANOX: u32 = 0x2c9;
        let facts = &self.fabric.node(port.node).facts;
        if facts.vendor_id != Some(MELLANOX) {
            self.notes.add("FN-239", file_place(), || {
                format!("{} has FDR10, but ibnetdiscover shows QDR where vendid is not 0x2c9", facts.guid)
            });
        }
    }

    /// The name in a node's record, which ibsim uses as the node's description.
    fn node_name<'n>(&mut self, facts: &'n NodeFacts) -> Cow<'n, str> {
        let plain = plain_name(&facts.description);
        let name = if plain.len() > MAX_NAME_BYTES {
            let end = (0..=MAX_NAME_BYTES).rev().find(|end| plain.is_char_boundary(*end)).unwrap_or(0);
            plain[..end].to_owned().into()
        } else {
            plain
        };
        let is_empty = name.is_empty();
        if is_empty || name != facts.description {
            self.notes.add("FN-235", file_place(), || {
                let is = if is_empty { "by its id".to_owned() } else { format!("'{name}'") };
                let of = &facts.description;
                format!("ibsim cannot use the name '{of}': the node is named {is}")
            });
        }
        name
    }

    fn note_guids(&mut self, id: NodeId, facts: &NodeFacts) {
        if self.fabric.node_by_guid(facts.guid) != Some(id) {
            self.notes.add("FN-233", file_place(), || {
                format!("two nodes have GUID {}: start ibsim with its option -I", facts.guid)
            });
        }
        let switch = facts.kind == NodeKind::Switch;
        for (_, port) in self.fabric.ports_of(id) {
            let offset = if switch { 0 } else { u64::from(port.number.value()) };
            let counted = facts.guid.0.wrapping_add(offset);
            if let Some(guid) = port.facts.guid.filter(|guid| guid.0 != counted) {
                let number = port.number;
                self.notes.add("FN-234", file_place(), || {
                    format!("port {number} of {} has GUID {guid}: ibsim gives it {counted:#x}", facts.guid)
                });
            }
        }
    }

    fn note_limits(&mut self) {
        let fabric = self.fabric;
        let ports =
            |id: NodeId| usize::from(port_count(fabric, id)) + usize::from(fabric.node(id).is_switch());
        let counts = [
            ("-N", fabric.nodes().len(), MAX_NODES),
            ("-S", fabric.switch_count(), MAX_SWITCHES),
            ("-P", fabric.nodes().map(|(id, _)| ports(id)).sum(), MAX_PORTS),
            ("-L", fabric.top_lid().map_or(0, |lid| lid.index() + 1), MAX_LINEAR_CAP),
        ];
        let options: Vec<String> = counts
            .iter()
            .filter(|(_, count, limit)| count > limit)
            .map(|(option, count, _)| format!("{option} {count}"))
            .collect();
        if !options.is_empty() {
            self.notes.add("FN-238", file_place(), || format!("start ibsim with {}", options.join(" ")));
        }
    }
}

/// The lower of two values; a value known at only one end counts for both.
fn lesser<T: Copy, K: Ord>(a: Option<T>, b: Option<T>, rank: impl Fn(T) -> K) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if rank(b) < rank(a) { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Replaces quotes, because ibsim ends a quoted name at the first one.
fn plain_name(name: &str) -> Cow<'_, str> {
    let name = clean_name(name);
    if name.contains('"') { name.replace('"', "'").into() } else { name }
}
