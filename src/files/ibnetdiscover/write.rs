//! Writes a fabric in the format of ibnetdiscover.

use std::fmt::Write;

use crate::FileError;
use crate::topology_text::{clean_name, guid_key, is_down, node_id, note_down, record_word};
use crate::writer_output::WriterOutput;
use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Guid, Lid, LinkSpeed, LinkWidth, NodeId, NodeKind, Port, PortNum};

/// The text that ibnetdiscover prints for this fabric, nodes in canonical order. A time is written only if given, so
/// that equal fabrics give equal files. Unknown values are left out, or printed as the tool does.
pub fn write(fabric: &Fabric, time: Option<&str>) -> Result<WriterOutput, Box<FileError>> {
    if fabric.is_empty() {
        let what = "a fabric without nodes cannot be written";
        return Err(FileError::new(
            "FD-2120",
            NotePlace::file(super::read::ID),
            what,
            "name a source that has nodes",
        ));
    }
    let mut written = WriterOutput::default();
    let text = &mut written.text;
    text.reserve(fabric.ports().len() * 90 + fabric.nodes().len() * 200);
    text.push_str("#\n# Topology file");
    if let Some(time) = time {
        text.push_str(": generated on ");
        text.push_str(&clean_name(time));
    }
    text.push_str("\n#\n");
    for (id, node) in fabric.nodes() {
        if node.facts.answered {
            // Writing to a String cannot fail.
            let _ = write_node(text, fabric, id);
        }
    }
    note_left_out(&mut written.notes, fabric);
    note_down(&mut written.notes, super::read::ID, fabric);
    Ok(written)
}

fn write_node(text: &mut String, fabric: &Fabric, id: NodeId) -> std::fmt::Result {
    let facts = &fabric.node(id).facts;
    text.push('\n');
    if let Some(vendor) = facts.vendor_id {
        writeln!(text, "vendid={vendor:#x}")?;
    }
    if let Some(device) = facts.device_id {
        writeln!(text, "devid={device:#x}")?;
    }
    if let Some(system) = facts.system_image_guid.filter(|guid| guid.0 != 0) {
        writeln!(text, "sysimgguid={:#x}", system.0)?;
    }
    write!(text, "{}={:#x}", guid_key(facts.kind), facts.guid.0)?;
    let management = fabric.port_of(id, PortNum::MANAGEMENT).map(|port| &fabric.port(port).facts);
    if facts.kind == NodeKind::Switch
        && let Some(guid) = management.and_then(|port| port.guid)
    {
        write!(text, "({:x})", guid.0)?;
    }
    let last_cable = fabric.ports_of(id).filter(|(_, port)| port.peer.is_some()).map(|(_, port)| port.number);
    let port_count = facts.port_count.max(last_cable.max().map_or(0, PortNum::value));
    let name = clean_name(&facts.description);
    let word = record_word(facts.kind);
    write!(text, "\n{word}\t{port_count} \"{}\"\t\t# \"{name}\"", node_id(facts.kind, facts.guid))?;
    if facts.kind == NodeKind::Switch {
        text.push_str(match facts.enhanced_port0 {
            Some(true) => " enhanced",
            Some(false) => " base",
            None => "",
        });
        let (lid, lmc) = management.map_or((None, Default::default()), |port| (port.lid, port.lmc));
        write!(text, " port 0 lid {} lmc {lmc}", LidOrZero(lid))?;
    }
    text.push('\n');
    for (_, port) in fabric.ports_of(id).filter(|(id, _)| !is_down(fabric, *id)) {
        write_port(text, fabric, facts.kind, port)?;
    }
    Ok(())
}

fn write_port(text: &mut String, fabric: &Fabric, kind: NodeKind, port: &Port) -> std::fmt::Result {
    let Some(peer_id) = port.peer else { return Ok(()) };
    let peer = fabric.port(peer_id);
    let far = &fabric.node(peer.node).facts;
    write!(text, "[{}]", port.number)?;
    if kind != NodeKind::Switch
        && let Some(guid) = port.facts.guid
    {
        write!(text, "({:x}) ", guid.0)?;
    }
    write!(text, "\t\"{}\"[{}]", node_id(far.kind, far.guid), peer.number)?;
    if far.kind != NodeKind::Switch
        && let Some(Guid(guid)) = peer.facts.guid
    {
        // The tool writes a blank before the parenthesis only for adapters.
        let blank = if kind == NodeKind::Switch { "" } else { " " };
        write!(text, "{blank}({guid:x}) ")?;
    }
    text.push_str("\t\t# ");
    if kind != NodeKind::Switch {
        write!(text, "lid {} lmc {} ", LidOrZero(port.facts.lid), port.facts.lmc)?;
    }
    let far_lid = fabric.address_of(peer_id).map(|(lid, _)| lid);
    let width = port.facts.width.map_or("??", LinkWidth::word);
    let speed = port.facts.speed.map_or("???", LinkSpeed::word);
    writeln!(text, "\"{}\" lid {} {width}{speed}", clean_name(&far.description), LidOrZero(far_lid))
}

/// A LID, 0 if unknown.
struct LidOrZero(Option<Lid>);

impl std::fmt::Display for LidOrZero {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.map_or(0, Lid::value))
    }
}

fn note_left_out(notes: &mut Notes, fabric: &Fabric) {
    for (id, node) in fabric.nodes() {
        let answered = |peer: fabdeck_fabric::PortId| fabric.node(fabric.port(peer).node).facts.answered;
        let named =
            fabric.ports_of(id).any(|(id, port)| port.peer.is_some_and(answered) && !is_down(fabric, id));
        if !node.facts.answered && !named {
            notes.add_partial("FN-232", NotePlace::file(super::read::ID), || {
                format!(
                    "{} did not answer and no node that answered has a cable to it: left out",
                    node.guid()
                )
            });
        }
    }
}
