//! Writes the dump of OpenSM, which OpenSM's `file` routing engine loads.

use std::io::{self, Write};

use fabdeck_fabric::observe::{NotePlace, Notes};
use fabdeck_fabric::{Fabric, Lft, Lid, NodeId, PortNum, Tables};

use super::super::opensm::{ENTRIES_LEFT_OUT, kind_label, port_guid, switch_lid, switches_in_dump_order};
use super::super::topology_text::clean_name;

/// Writes the tables of all switches that have one. Entries that OpenSM would not print are left out with a note.
/// OpenSM does not check LIDs when it loads the file, so none may exceed the subnet's highest.
pub fn write(fabric: &Fabric, tables: &Tables, out: &mut dyn Write) -> io::Result<Notes> {
    let mut notes = Notes::new();
    let order = switches_in_dump_order(fabric);
    // A fabric without LIDs has no highest one; the tables' highest LID counts then.
    let routed = || {
        tables.nodes.values().filter_map(|node| node.lft.as_ref()?.routed_lids().last()).map(|(lid, _)| lid)
    };
    let top = fabric.top_lid().or_else(|| routed().max()).map_or(0, Lid::value);
    let owners = owner_comments(fabric, top);
    for id in order {
        let Some(lft) = tables.lft(id) else {
            notes.add_partial(ENTRIES_LEFT_OUT, NotePlace::default(), || {
                format!("switch {} has no table; it is not in the file", fabric.node(id).guid())
            });
            continue;
        };
        write_switch(fabric, id, lft, top, &owners, out, &mut notes)?;
    }
    Ok(notes)
}

fn write_switch(
    fabric: &Fabric,
    id: NodeId,
    lft: &Lft,
    top: u16,
    owners: &[String],
    out: &mut dyn Write,
    notes: &mut Notes,
) -> io::Result<()> {
    let facts = &fabric.node(id).facts;
    let (lid, name) = (switch_lid(fabric, id), clean_name(&facts.description));
    writeln!(out, "Unicast lids [0-{top}] of switch Lid {lid} guid {} ('{name}'):", facts.guid)?;
    for (lid, port) in lft.routed_lids() {
        if lid.value() > top || is_beyond(port, facts.port_count) {
            notes.add(ENTRIES_LEFT_OUT, NotePlace::default(), || {
                format!(
                    "switch {}: this fabric has no LID {lid}, or no port {port} at the switch",
                    facts.guid
                )
            });
            continue;
        }
        let owner = owners.get(lid.index()).map_or("unknown node and type", String::as_str);
        writeln!(out, "0x{:04x} {:03} # {owner}", lid.value(), port.value())?;
    }
    writeln!(out, "{top} lids dumped")
}

/// Whether the switch lacks a port. A node that did not answer has no port count.
fn is_beyond(port: PortNum, count: u8) -> bool {
    count != 0 && port.value() > count
}

/// The comments of all LIDs, which are the same for all switches.
fn owner_comments(fabric: &Fabric, top: u16) -> Vec<String> {
    (0..=u32::from(top)).map(|lid| owner_comment(fabric, Lid::new(lid))).collect()
}

fn owner_comment(fabric: &Fabric, lid: Option<Lid>) -> String {
    let port = lid.and_then(|lid| fabric.port_by_lid(lid)).map(|port| fabric.port(port));
    let known = port.and_then(|port| Some((port, port_guid(fabric, port.node, port.number)?)));
    match known {
        Some((port, guid)) => {
            let facts = &fabric.node(port.node).facts;
            format!("{} portguid {guid}: '{}'", kind_label(facts.kind), clean_name(&facts.description))
        }
        None => "unknown node and type".to_owned(),
    }
}
