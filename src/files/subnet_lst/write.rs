//! Writes the list as OpenSM does, including its form of the far end's vendor and device, which ibdm expects.

use std::io::{self, Write};

use fabdeck_fabric::observe::{NotePlace, Notes, SubnetManager};
use fabdeck_fabric::{Fabric, Guid, NodeId, NodeKind, Port, PortState};

use super::super::opensm::{dump_key, port_guid};
use super::super::topology_text::{clean_name, is_down, note_down};
use super::topology_builder::SPEEDS;

/// An unknown state, written as active.
const ASSUMED_STATE: &str = "FN-328";
/// An unknown number or GUID, written as 0.
const ASSUMED_NUMBER: &str = "FN-329";
/// A node without lines of its own.
const UNSEEN_NODE: &str = "FN-330";

/// Writes a line for each end of each cable of all nodes that answered. Cables that are down are left out, as OpenSM
/// does. Values that the format requires and the fabric lacks are made up, with notes: an unknown state becomes
/// active, an unknown number 0.
pub fn write(fabric: &Fabric, manager: Option<&SubnetManager>, out: &mut dyn Write) -> io::Result<Notes> {
    let mut notes = Notes::new();
    let mut order: Vec<NodeId> =
        fabric.nodes().filter(|(_, node)| node.facts.answered).map(|(id, _)| id).collect();
    order.sort_by_key(|id| dump_key(fabric.node(*id).guid()));
    for id in order {
        for (_, port) in fabric.ports_of(id).filter(|(id, _)| !is_down(fabric, *id)) {
            let Some(peer) = port.peer.map(|peer| fabric.port(peer)) else { continue };
            write_end(fabric, port, manager, true, out)?;
            write_end(fabric, peer, manager, false, out)?;
            writeln!(out, "PHY={} LOG={} SPD={}", width_word(port), state_word(port), speed_word(port))?;
            note_assumed(fabric, port, &mut notes);
        }
    }
    note_unseen_nodes(fabric, &mut notes);
    note_down(&mut notes, super::ID, fabric);
    Ok(notes)
}

fn note_assumed(fabric: &Fabric, port: &Port, notes: &mut Notes) {
    let facts = &fabric.node(port.node).facts;
    if port.facts.state.is_none() {
        notes.add(ASSUMED_STATE, NotePlace::file(super::ID), || {
            format!("the state of port {} of {} is unknown: written as ACT", port.number, facts.guid)
        });
    }
    let facts_known = [
        ("revision", facts.revision.is_some()),
        ("vendor", facts.vendor_id.is_some()),
        ("device", facts.device_id.is_some()),
        ("system image", facts.system_image_guid.is_some()),
        ("port GUID", port_guid(fabric, port.node, port.number).is_some()),
    ];
    for (what, _) in facts_known.iter().filter(|(_, is_known)| !is_known) {
        notes.add(ASSUMED_NUMBER, NotePlace::file(super::ID), || {
            format!("the {what} of {} is unknown: written as 0", facts.guid)
        });
    }
}

fn note_unseen_nodes(fabric: &Fabric, notes: &mut Notes) {
    for (_, node) in fabric.nodes().filter(|(_, node)| !node.facts.answered) {
        notes.add_partial(UNSEEN_NODE, NotePlace::file(super::ID), || {
            format!("{} did not answer: its own lines are left out", node.guid())
        });
    }
}

fn write_end(
    fabric: &Fabric,
    port: &Port,
    manager: Option<&SubnetManager>,
    near: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let facts = &fabric.node(port.node).facts;
    let kind = match facts.kind {
        NodeKind::Switch => "SW",
        NodeKind::ChannelAdapter => "CA",
        NodeKind::Router => "Rt",
    };
    let guid = port_guid(fabric, port.node, port.number).unwrap_or(Guid(0));
    let managing = manager.is_some_and(|manager| manager.guid == guid || manager.guid == facts.guid);
    let lid = fabric.port_of(port.node, port.number).and_then(|id| fabric.address_of(id));
    write!(
        out,
        "{{ {kind}{} Ports:{:02X} SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} ",
        if managing { "-SM" } else { "" },
        facts.port_count,
        facts.system_image_guid.unwrap_or(Guid(0)).0,
        facts.guid.0,
        guid.0,
    )?;
    let (vendor, device) = (facts.vendor_id.unwrap_or(0), facts.device_id.unwrap_or(0));
    if near {
        write!(out, "VenID:{vendor:06X} DevID:{device:04X} ")?;
    } else {
        write!(out, "VenID:{vendor:08X} DevID:{:04X} ", device << 16)?;
    }
    write!(
        out,
        "Rev:{:08X} {{{}}} LID:{:04X} PN:{:02X} }} ",
        facts.revision.unwrap_or(0),
        clean_name(&facts.description),
        lid.map_or(0, |(lid, _)| lid.value()),
        port.number.value(),
    )
}

fn width_word(port: &Port) -> &'static str {
    port.facts.width.map_or("??", |width| width.word())
}

fn state_word(port: &Port) -> &'static str {
    match port.facts.state {
        Some(PortState::Down) => "DWN",
        Some(PortState::Init) => "INI",
        Some(PortState::Armed) => "ARM",
        Some(PortState::Active) | None => "ACT",
    }
}

fn speed_word(port: &Port) -> &'static str {
    let known = |speed| SPEEDS.iter().find(|(known, _)| *known == speed).map(|(_, word)| *word);
    port.facts.speed.and_then(known).unwrap_or("??")
}
