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

fn is_findings(name: &str) -> bool {
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

fn is_read(name: &str) -> bool {
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

/// Names the tables with rows that are not read, so that they can be looked up in the file.
pub(super) fn note_unread_tables(tables: &CsvTables<'_>, notes: &mut Notes) {
    let unread = tables.iter().filter(|section| !is_read(&section.name));
    let unread: Vec<(&Section<'_>, u64)> =
        unread.map(|section| (section, section.row_count())).filter(|(_, rows)| *rows > 0).collect();
    let Some((first, _)) = unread.first() else { return };
    let name = |(section, rows): &(&Section<'_>, u64)| {
        let name: String = section.name.chars().take(60).collect();
        format!("{name} ({rows})")
    };
    let mut names: Vec<String> = unread.iter().take(MAX_NAMES).map(name).collect();
    if unread.len() > MAX_NAMES {
        names.push(format!("and {} more", unread.len() - MAX_NAMES));
    }
    notes.add("FN-439", first.place(), || {
        format!("tables that are not read, with their rows: {}", names.join(", "))
    });
}
