//! The table PKEY: the entries of P_Key tables, port by port.

use std::collections::{BTreeMap, BTreeSet};

use super::section::{CsvTables, SectionColumns};
use crate::FileError;
use crate::counters_text::parse_number;
use fabdeck_fabric::observe::{DeviceAnswer, Notes, PartitionTables, PortPartitions};
use fabdeck_fabric::{Guid, PartitionKey, PortNum};

/// The tables that this module reads.
pub(super) const TABLES: &[&str] = &["PKEY"];

/// Most entries of a table: block by block as live readings take them.
const MAX_PLACE: u64 = 32 * 32;

/// Reads the tables. What external ports of switches enforce is not in the file.
pub(super) fn read(tables: &CsvTables<'_>, notes: &mut Notes) -> Result<PartitionTables, Box<FileError>> {
    let Some(section) = tables.get_table("PKEY") else { return Ok(PartitionTables::default()) };
    let mut ports: BTreeMap<(Guid, PortNum), BTreeMap<u64, PartitionKey>> = BTreeMap::new();
    // A table of which a row cannot be read is not known: pairs would count as kept apart that are not.
    let mut unreadable: BTreeSet<(Guid, Option<PortNum>)> = BTreeSet::new();
    let pick = |columns: &SectionColumns| {
        ["LocalPortNum", "BlockNum", "Index", "PKey", "Membership"].map(|name| columns.find(&[name]))
    };
    section.read_nodes(notes, pick, |node, columns, row, notes| {
        let [port, block, index, key, membership] =
            columns.map(|column| column.and_then(|at| parse_number(row.cell(Some(at)))));
        let port = port.and_then(|port| u32::try_from(port).ok()).and_then(PortNum::new);
        let key = key.filter(|key| *key <= 0xFFFF);
        let Some((port, (key, membership))) = port.zip(key.zip(membership.filter(|full| *full <= 1))) else {
            row.note_unreadable("port, P_Key or membership", notes);
            unreadable.insert((node, port));
            return;
        };
        let held = ports.entry((node, port)).or_default();
        // Without columns of places the rows are in the order of the table.
        let place = block.unwrap_or(0).saturating_mul(32).saturating_add(index.unwrap_or(held.len() as u64));
        // An entry with the key 0 is empty.
        if key & 0x7FFF != 0 && place < MAX_PLACE {
            held.insert(place, PartitionKey::from_parts(key as u16, membership == 1));
        }
    })?;
    ports.retain(|(node, port), _| {
        !unreadable.contains(&(*node, Some(*port))) && !unreadable.contains(&(*node, None))
    });
    let known = |keys: BTreeMap<u64, PartitionKey>| PortPartitions {
        keys: DeviceAnswer::Known(keys.into_values().collect()),
        enforcement: None,
    };
    Ok(PartitionTables { ports: ports.into_iter().map(|(at, keys)| (at, known(keys))).collect() })
}
