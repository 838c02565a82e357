//! The list as OpenSM writes it, its way with the far end's vendor and device included: ibdm reads it so.

use std::io::{self, Write};

use crate::fabric::{Fabric, Guid, NodeId, NodeKind, Port, PortState};
use crate::observe::SubnetManager;

use super::super::opensm::{dump_key, port_guid, printable};
use super::gather::SPEEDS;

/// Writes a line for each end of each cable of every node that answered. A port whose state nobody told counts as
/// active: OpenSM and ibdm leave out what is down, and a cable that a tool reported is not.
pub fn write(fabric: &Fabric, manager: Option<&SubnetManager>, out: &mut dyn Write) -> io::Result<()> {
    let mut order: Vec<NodeId> =
        fabric.nodes().filter(|(_, node)| node.facts.answered).map(|(id, _)| id).collect();
    order.sort_by_key(|id| dump_key(fabric.node(*id).guid()));
    for id in order {
        for (_, port) in fabric.ports_of(id) {
            let Some(peer) = port.peer.map(|peer| fabric.port(peer)) else { continue };
            write_end(fabric, port, manager, true, out)?;
            write_end(fabric, peer, manager, false, out)?;
            writeln!(out, "PHY={} LOG={} SPD={}", width(port), state(port), speed(port))?;
        }
    }
    Ok(())
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
        printable(&facts.description),
        lid.map_or(0, |(lid, _)| lid.value()),
        port.number.value(),
    )
}

fn width(port: &Port) -> &'static str {
    port.facts.width.map_or("??", |width| width.word())
}

fn state(port: &Port) -> &'static str {
    match port.facts.state {
        Some(PortState::Down) => "DWN",
        Some(PortState::Init) => "INI",
        Some(PortState::Armed) => "ARM",
        Some(PortState::Active) | None => "ACT",
    }
}

fn speed(port: &Port) -> &'static str {
    let known = |speed| SPEEDS.iter().find(|(known, _)| *known == speed).map(|(_, word)| *word);
    port.facts.speed.and_then(known).unwrap_or("??")
}
