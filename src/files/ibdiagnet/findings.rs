//! What ibdiagnet itself reports, and the tables that are not read.

use std::collections::BTreeMap;

use super::section::{CsvTables, Section, SectionColumns};
use super::{adaptive_tables, device_tables, label_tables, node_tables, partition_tables, port_tables};
use crate::FileError;
use fabdeck_fabric::observe::Notes;

/// The tables that the topology and the counters come from, and those without facts about the fabric.
const TABLES: &[&str] = &[
    "NODES",
    "SWITCHES",
    "PORTS",
    "LINKS",
    "SM_INFO",
    "SMS",
    "PM_INFO",
    "PM_DELTA",
    "PM_PORT_SAMPLES_CONTROL",
    "RUN_INFO",
    "PLUGINS_INFO",
    "STAGE_PERF_INFO",
    "INDEX_TABLE",
];

/// Most names in a note.
const MAX_NAMES: usize = 24;

pub(super) fn is_findings(name: &str) -> bool {
    name.starts_with("WARNINGS_") || name.starts_with("ERRORS_")
}

/// Notes how often ibdiagnet reports each kind of event. Its summaries are free text, and are not shown.
pub(super) fn note_findings(tables: &CsvTables<'_>, notes: &mut Notes) -> Result<(), Box<FileError>> {
    let mut events: BTreeMap<String, u64> = BTreeMap::new();
    let mut first = None;
    for section in tables.iter().filter(|section| is_findings(&section.name)) {
        let pick = |columns: &SectionColumns| columns.find(&["EventName"]);
        section.read_rows(notes, Some("Summary"), pick, |column, row, _| {
            let name = row.cell(*column);
            let plain = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
            let known = !name.is_empty() && name.len() <= 60 && name.bytes().all(plain);
            let name = if known { name } else { "(no name)" };
            first.get_or_insert_with(|| row.place());
            *events.entry(name.to_owned()).or_default() += 1;
        })?;
    }
    if let Some(first) = first {
        let mut all: Vec<(&String, &u64)> = events.iter().collect();
        all.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let names = all.iter().take(MAX_NAMES).map(|(name, count)| format!("{count} {name}"));
        let names: Vec<String> = names.collect();
        notes.add("FN-442", first, || {
            format!("ibdiagnet itself reports {} (tables WARNINGS and ERRORS)", names.join(", "))
        });
    }
    Ok(())
}

/// Whether the content of a table is used, apart from its rows by name.
pub(super) fn is_read(name: &str) -> bool {
    let lists = [
        TABLES,
        device_tables::TABLES,
        port_tables::TABLES,
        adaptive_tables::TABLES,
        label_tables::TABLES,
        node_tables::TABLES,
        partition_tables::TABLES,
    ];
    lists.iter().any(|list| list.contains(&name)) || is_findings(name)
}

/// Whether a table holds keys. Nothing of it is read.
pub(super) fn holds_keys(name: &str) -> bool {
    name.contains("KEY")
}

/// Names the tables with rows that are kept by the names of their columns alone, and those that are not read at all.
pub(super) fn note_unread_tables(tables: &CsvTables<'_>, notes: &mut Notes) {
    let unread = tables.iter().filter(|section| !is_read(&section.name));
    let unread: Vec<(&Section<'_>, u64)> =
        unread.map(|section| (section, section.row_count())).filter(|(_, rows)| *rows > 0).collect();
    let Some((first, _)) = unread.first() else { return };
    let place = first.place();
    let (keys, shown): (Vec<_>, Vec<_>) =
        unread.into_iter().partition(|(section, _)| holds_keys(&section.name));
    let parts = [
        ("tables that only `show ibdiagnet` has, with their rows", shown),
        ("tables of keys, never read", keys),
    ];
    let parts = parts.into_iter().filter(|(_, tables)| !tables.is_empty());
    let parts: Vec<String> =
        parts.map(|(words, tables)| format!("{words}: {}", table_names(&tables))).collect();
    notes.add("FN-439", place, || parts.join("; "));
}

fn table_names(tables: &[(&Section<'_>, u64)]) -> String {
    let name = |(section, rows): &(&Section<'_>, u64)| {
        let name: String = section.name.chars().take(60).collect();
        format!("{name} ({rows})")
    };
    let mut names: Vec<String> = tables.iter().take(MAX_NAMES).map(name).collect();
    if tables.len() > MAX_NAMES {
        names.push(format!("and {} more", tables.len() - MAX_NAMES));
    }
    names.join(", ")
}
