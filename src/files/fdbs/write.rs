//! Writes routes with hops and whether they are the shortest, as OpenSM does for ibdm.

use std::io::{self, Write};

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Lft, Lid, NodeId, NodeKind, PortId, PortNum, Tables};

use super::super::opensm::{ENTRIES_LEFT_OUT, switches_in_dump_order};
use super::hop_matrix::HopMatrix;

/// The target of a LID, as hop counts see it.
#[derive(Clone, Copy)]
enum LidTarget {
    Switch(u32),
    /// A port behind a switch, one hop from it.
    Behind {
        switch: u32,
        port: PortNum,
    },
    /// The LID has no owner, or its owner is not cabled to a switch.
    Unknown,
}

/// Writes the routes of all switches that have a table. OpenSM's hops are those of a plain breadth-first search. For a
/// detour OpenSM names a better port (`No 2 hop path possible via port 7!`); here it is the lowest port of a shortest
/// path.
pub fn write(fabric: &Fabric, tables: &Tables, out: &mut dyn Write) -> io::Result<Notes> {
    let mut notes = Notes::new();
    let routed =
        tables.nodes.values().filter_map(|node| node.lft.as_ref()?.routed_lids().last()).map(|(lid, _)| lid);
    let top = routed.chain(fabric.top_lid()).max().map_or(0, Lid::value);
    let targets: Vec<LidTarget> = (0..=u32::from(top))
        .map(|lid| lid_target(fabric, Lid::new(lid).and_then(|l| fabric.port_by_lid(l))))
        .collect();
    let hops = HopMatrix::new(fabric);
    for id in switches_in_dump_order(fabric) {
        match tables.lft(id) {
            Some(lft) => write_switch(fabric, id, lft, &targets, &hops, out)?,
            None => notes.add_partial(ENTRIES_LEFT_OUT, NotePlace::default(), || {
                format!("switch {} has no table; it is not in the file", fabric.node(id).guid())
            }),
        }
    }
    Ok(notes)
}

fn lid_target(fabric: &Fabric, owner: Option<PortId>) -> LidTarget {
    let Some(owner) = owner else { return LidTarget::Unknown };
    let port = fabric.port(owner);
    if fabric.node(port.node).facts.kind == NodeKind::Switch {
        return LidTarget::Switch(port.node.0);
    }
    match port.peer.map(|peer| fabric.port(peer)) {
        Some(peer) if fabric.node(peer.node).facts.kind == NodeKind::Switch => {
            LidTarget::Behind { switch: peer.node.0, port: peer.number }
        }
        _ => LidTarget::Unknown,
    }
}

fn write_switch(
    fabric: &Fabric,
    id: NodeId,
    lft: &Lft,
    targets: &[LidTarget],
    hops: &HopMatrix,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "dump_ucast_routes: Switch {}", fabric.node(id).guid())?;
    writeln!(out, "LID    : Port : Hops : Optimal")?;
    for (at, target) in targets.iter().enumerate().skip(1) {
        let Some(port) = Lid::new(at as u32).and_then(|lid| lft.get(lid)) else {
            writeln!(out, "0x{at:04X} : UNREACHABLE")?;
            continue;
        };
        write!(out, "0x{at:04X} : {:03}  : ", port.value())?;
        write_hops(id.0, port.value(), *target, hops, out)?;
    }
    Ok(())
}

fn write_hops(
    from: u32,
    port: u8,
    target: LidTarget,
    hops: &HopMatrix,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (switch, last, at_home) = match target {
        LidTarget::Switch(switch) => (switch, 0, 0),
        LidTarget::Behind { switch, port } => (switch, 1, port.value()),
        LidTarget::Unknown => return writeln!(out, "HOPS UNKNOWN"),
    };
    // OpenSM assumes the last hop to a host at the switch itself, whatever the port.
    let here = last == 1 && from == switch;
    let taken = if here { Some(0) } else { hops.distance_through_port(from, port, switch) };
    let (Some(taken), Some(best)) = (taken, hops.distance(from, switch)) else {
        return writeln!(out, "HOPS UNKNOWN");
    };
    let (taken, best) = (u16::from(taken) + last, u16::from(best) + last);
    if taken == best {
        return writeln!(out, "{taken:02}   : yes");
    }
    let better = if from == switch { Some(at_home) } else { hops.best_port(from, switch) };
    writeln!(out, "{taken:02}   : No {best} hop path possible via port {}!", better.unwrap_or(255))
}
