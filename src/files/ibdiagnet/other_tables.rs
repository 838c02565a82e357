//! Tables that nothing else here reads, and what ibdiagnet itself found: their rows by the names of the columns. Tables of
//! keys are left out, and so are columns and cells that may hold one.

use super::findings::{holds_keys, is_findings, is_read};
use super::node_tables::is_kept;
use super::section::{CsvTables, Section, SectionColumns};
use crate::FileError;
use crate::counters_text::{PortField, is_absent, parse_number, parse_port};
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{FileTable, FileTableRow, FileValue, Notes};

/// Most columns of a table that are kept.
const MAX_COLUMNS: usize = 128;
/// The longest word of a cell.
const MAX_WORD: usize = 60;

/// Tables that say nothing of the fabric.
const WITHOUT_FACTS: &[&str] = &["RUN_INFO", "PLUGINS_INFO", "STAGE_PERF_INFO", "INDEX_TABLE"];

/// The columns that say what a row is about.
const SUBJECTS: &[&str] = &["NodeGUID", "PortGUID", "PortNum", "PortNumber", "LocalPortNum"];

/// Reads the tables, in the order of the file, and names the columns of other tables that nothing reads.
pub(super) fn read(tables: &CsvTables<'_>) -> Result<Vec<FileTable>, Box<FileError>> {
    let other = |section: &&Section<'_>| {
        let unread = !is_read(&section.name) && !holds_keys(&section.name);
        unread || is_findings(&section.name)
    };
    let all: Result<Vec<FileTable>, _> = tables.iter().filter(other).map(read_table).collect();
    let mut all: Vec<FileTable> = all?.into_iter().filter(|table| !table.rows.is_empty()).collect();
    let is_named = |table: &str| is_read(table) && !is_findings(table) && !WITHOUT_FACTS.contains(&table);
    let is_subject = |column: &String| SUBJECTS.iter().any(|subject| column.eq_ignore_ascii_case(subject));
    for (name, columns) in tables.unread_columns().into_iter().filter(|(table, _)| is_named(table)) {
        let columns: Vec<String> = columns.into_iter().filter(|column| !is_subject(column)).collect();
        if !columns.is_empty() {
            all.push(FileTable { name, columns, rows: Vec::new() });
        }
    }
    Ok(all)
}

/// The columns of a table.
struct TableColumns {
    node: Option<usize>,
    port: Option<usize>,
    /// The position and name of the columns that are kept.
    kept: Vec<(usize, String)>,
}

impl TableColumns {
    fn new(columns: &SectionColumns, findings: bool) -> Self {
        let subjects: Vec<usize> = SUBJECTS.iter().filter_map(|name| columns.find(&[name])).collect();
        // The summary of a finding is free text, which may hold a key.
        let fits = |at: usize, name: &str| match findings {
            true => ["EventName", "Scope"].contains(&name),
            false => is_kept(name) && !subjects.contains(&at),
        };
        let kept = columns.names().enumerate().filter(|(at, name)| fits(*at, name));
        Self {
            node: columns.find(&["NodeGUID"]),
            port: columns.find(&["PortNum", "PortNumber", "LocalPortNum"]),
            kept: kept.take(MAX_COLUMNS).map(|(at, name)| (at, name.to_owned())).collect(),
        }
    }
}

fn read_table(section: &Section<'_>) -> Result<FileTable, Box<FileError>> {
    // A row that does not fit is left out. Nothing depends on it, so the reading is not partial.
    let mut notes = Notes::new();
    let mut table =
        FileTable { name: section.name.chars().take(60).collect(), columns: Vec::new(), rows: Vec::new() };
    let findings = is_findings(&section.name);
    let FileTable { columns: names, rows, .. } = &mut table;
    let pick = |columns: &SectionColumns| {
        let columns = TableColumns::new(columns, findings);
        *names = columns.kept.iter().map(|(_, name)| name.clone()).collect();
        columns
    };
    section.read_rows(&mut notes, findings.then_some("Summary"), pick, |columns, row, _| {
        rows.push(FileTableRow {
            // Findings about the whole fabric have no node.
            node: Guid::from_hex(row.cell(columns.node)).ok().filter(|guid| guid.0 != 0),
            port: parse_port(row.cell(columns.port)).and_then(PortField::number),
            values: columns.kept.iter().map(|(at, _)| read_value(row.cell(Some(*at)))).collect(),
        });
    })?;
    Ok(table)
}

/// The value of a cell. A key is written in hexadecimal and has up to 64 bits, so a longer hexadecimal number is none;
/// and no word has digits.
fn read_value(cell: &str) -> Option<FileValue> {
    if is_absent(cell) || cell == "-1" {
        return None;
    }
    if let Some(number) = parse_number(cell).filter(|_| !cell.starts_with('-')) {
        let plain = cell.bytes().all(|b| b.is_ascii_digit());
        return (plain || number <= u32::MAX.into()).then_some(FileValue::Number(number));
    }
    let fits = |wanted: fn(u8) -> bool| cell.len() <= MAX_WORD && cell.bytes().all(wanted);
    let is_word = fits(|b| b.is_ascii_alphabetic() || b"_/ -".contains(&b));
    let is_decimal = cell.parse::<f64>().is_ok_and(f64::is_finite)
        && fits(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    (is_word || is_decimal).then(|| FileValue::Word(cell.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_may_hold_a_key_have_no_value() {
        let word = |word: &str| Some(FileValue::Word(word.into()));
        for (cell, value) in [
            ("12", Some(FileValue::Number(12))),
            ("18446744073709551615", Some(FileValue::Number(u64::MAX))),
            ("0x7f", Some(FileValue::Number(0x7F))),
            ("1.5e-254", word("1.5e-254")),
            ("-6.2", word("-6.2")),
            ("-6", word("-6")),
            ("SYMBOL_BER_CHECK", word("SYMBOL_BER_CHECK")),
            ("NODE_WRONG_FW_VERSION", word("NODE_WRONG_FW_VERSION")),
            ("N/A", None),
            ("", None),
            ("-1", None),
            ("0x5ec4e7ca11ab1e", None),
            ("5ec4e7ca11ab1e", None),
            ("s3cret", None),
            ("--m_key 0x12", None),
        ] {
            assert_eq!(read_value(cell), value, "{cell}");
        }
    }
}
