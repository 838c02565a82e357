//! Joins what switches state about adaptive routing with their tables of other files, and stores both at the nodes of a
//! fabric. Tables that contradict each other or the linear table are not used.

use std::collections::BTreeMap;
use std::sync::Arc;

use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{
    AdaptiveEntry, AdaptiveLft, AdaptiveStatement, AdaptiveSwitch, AdaptiveTableState, AdaptiveTables,
    Fabric, Guid, Lft, Lid, NodeId, NodeTables, PortSet, Tables,
};

use super::content::{AdaptiveFile, AdaptiveSection};

/// Tables of a switch that the fabric does not have.
const UNKNOWN_NODE: &str = "FN-341";
/// Private tables of which it is not known which packets use them.
const PRIVATE_TABLES: &str = "FN-445";

/// Memory that adaptive tables may take beyond what their entries account for.
const SPARE_BYTES: usize = 64 << 20;
/// Memory for each entry of a file.
const BYTES_PER_ENTRY: usize = 256;

/// Stores what switches state, and the tables of `.far` files. `private` has the number of private tables by files of
/// forwarding tables.
pub fn apply_adaptive(
    fabric: &Fabric,
    statements: &BTreeMap<Guid, AdaptiveStatement>,
    files: &[AdaptiveFile],
    private: &BTreeMap<Guid, u8>,
    tables: &mut Tables,
    notes: &mut Notes,
) {
    let mut sections: BTreeMap<Guid, &AdaptiveSection> = BTreeMap::new();
    let mut budget = SPARE_BYTES;
    for section in files.iter().flat_map(|file| &file.sections) {
        if switch_of(fabric, section.node).is_none() {
            notes.add(UNKNOWN_NODE, section.place.clone(), || {
                format!("{} is no node of this fabric; its tables are left out", section.node)
            });
            continue;
        }
        budget += section.entry_count() * BYTES_PER_ENTRY;
        sections.entry(section.node).or_insert(section);
    }
    let named = statements.keys().chain(sections.keys()).chain(private.keys());
    let mut nodes: Vec<Guid> = named.copied().collect();
    nodes.sort_unstable();
    nodes.dedup();
    for guid in nodes {
        let Some(node) = switch_of(fabric, guid) else { continue };
        let mut switch =
            AdaptiveSwitch::new(statements.get(&guid).copied().unwrap_or(AdaptiveStatement::NoAnswer));
        let section = sections.get(&guid).copied();
        let stated = statements.contains_key(&guid);
        let count = section.and_then(AdaptiveSection::table_count).max(private.get(&guid).copied());
        if !stated && section.is_none() && count.is_none_or(|count| count < 2) {
            continue;
        }
        if let (AdaptiveStatement::Stated(settings), Some(count)) = (&mut switch.statement, count) {
            settings.private_tables = Some(settings.private_tables.unwrap_or(0).max(count));
        }
        if let Some(section) = section.filter(|section| section.whole) {
            switch.tables = table_state(section, &switch, tables.node_mut(node), &mut budget, notes);
        }
        tables.node_mut(node).adaptive = Some(switch);
    }
}

fn switch_of(fabric: &Fabric, guid: Guid) -> Option<NodeId> {
    fabric.node_by_guid(guid).filter(|node| fabric.node(*node).is_switch())
}

/// The tables of a section, if they can be used.
fn table_state(
    section: &AdaptiveSection,
    switch: &AdaptiveSwitch,
    held: &mut NodeTables,
    budget: &mut usize,
    notes: &mut Notes,
) -> AdaptiveTableState {
    let stated = switch.settings().and_then(|settings| settings.private_tables).unwrap_or(0);
    let count = section.tables.len().max(usize::from(stated));
    if count > 1 {
        notes.add_partial(PRIVATE_TABLES, section.place.clone(), || {
            format!(
                "switch {} has {count} private tables (PLFT), and no file that is read states which packets use which: \
                 its adaptive tables are not used",
                section.node
            )
        });
        return AdaptiveTableState::NotRead;
    }
    let Some(needed) = section.memory_bytes().filter(|needed| *needed <= *budget) else {
        return AdaptiveTableState::NotRead;
    };
    *budget -= needed;
    let Some(entries) = section.tables.get(&0).map(all_entries) else { return AdaptiveTableState::NotRead };
    let linear = held.lft.get_or_insert_with(|| static_ports(&entries));
    let tables = AdaptiveTables {
        groups: all_groups(&section.groups),
        tables: vec![AdaptiveLft::from_entries(&entries, Some(linear))],
        table_of: Vec::new(),
    };
    let settings = switch.settings().copied().unwrap_or_default();
    match tables.find_mismatch(linear, &settings) {
        Some(mismatch) => AdaptiveTableState::NotUnderstood(mismatch),
        None => AdaptiveTableState::Read(Arc::new(tables)),
    }
}

/// Entries by LID, from LID 0 on.
fn all_entries(table: &BTreeMap<Lid, AdaptiveEntry>) -> Vec<AdaptiveEntry> {
    let top = table.keys().next_back().map_or(0, |lid| lid.index() + 1);
    let mut entries = vec![AdaptiveEntry::default(); top];
    for (lid, entry) in table {
        entries[lid.index()] = *entry;
    }
    entries
}

fn all_groups(groups: &BTreeMap<u16, PortSet>) -> Vec<PortSet> {
    let top = groups.keys().next_back().map_or(0, |group| usize::from(*group) + 1);
    let mut all = vec![PortSet::EMPTY; top];
    for (group, ports) in groups {
        all[usize::from(*group)] = *ports;
    }
    all
}

/// The linear table that the static ports are, where no other file has one.
fn static_ports(entries: &[AdaptiveEntry]) -> Lft {
    let mut table = Lft::new();
    for (lid, entry) in entries.iter().enumerate() {
        if let Some(lid) = Lid::new(lid as u32) {
            table.set(lid, entry.port);
        }
    }
    table
}

#[cfg(test)]
mod tests;
