//! Tables of nodes whose columns are kept by name: SHARP_AN_INFO (aggregation nodes) and ROUTERS_INFO (routers).

use std::collections::BTreeMap;

use super::section::{CsvTables, Row, Section, SectionColumns, read_number};
use crate::FileError;
use fabdeck_fabric::Guid;
use fabdeck_fabric::observe::{NodeStatements, Notes};

/// The tables that this module reads.
pub(super) const TABLES: &[&str] = &["SHARP_AN_INFO", "ROUTERS_INFO"];

/// Most columns of a table that are kept, and the longest name of one.
const MAX_COLUMNS: usize = 64;
const MAX_NAME: usize = 60;

/// Reads both tables.
pub(super) fn read(
    tables: &CsvTables<'_>,
    notes: &mut Notes,
) -> Result<BTreeMap<Guid, NodeStatements>, Box<FileError>> {
    let mut stated: BTreeMap<Guid, NodeStatements> = BTreeMap::new();
    if let Some(section) = tables.get_table("SHARP_AN_INFO") {
        read_columns(section, notes, |node, columns| stated.entry(node).or_default().aggregation = columns)?;
    }
    if let Some(section) = tables.get_table("ROUTERS_INFO") {
        read_columns(section, notes, |node, columns| stated.entry(node).or_default().router = columns)?;
    }
    Ok(stated)
}

/// Reads the numbers of each row by the names of their columns.
fn read_columns(
    section: &Section<'_>,
    notes: &mut Notes,
    mut each: impl FnMut(Guid, BTreeMap<String, u64>),
) -> Result<(), Box<FileError>> {
    let pick = |columns: &SectionColumns| -> Vec<(usize, String)> {
        let kept = columns.names().enumerate().filter(|(_, name)| is_kept(name));
        let kept: Vec<_> = kept.take(MAX_COLUMNS).map(|(at, name)| (at, name.to_owned())).collect();
        columns.mark_read(kept.iter().map(|(at, _)| *at));
        kept
    };
    section.read_nodes(notes, pick, |node, columns, row, notes| {
        each(node, columns.iter().filter_map(|column| read_column(row, column, notes)).collect());
    })
}

/// A key that came into a column by mistake has more than 32 bits.
fn read_column(row: &Row<'_>, (at, name): &(usize, String), notes: &mut Notes) -> Option<(String, u64)> {
    let number = read_number(row, Some(*at), name, notes)?;
    (number <= u32::MAX.into()).then(|| (name.clone(), number))
}

/// Whether a column is kept. Identifiers are known from other tables, and a key is never kept.
pub(super) fn is_kept(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_plain = lower.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_excluded = ["guid", "key", "prefix", "gid"].iter().any(|word| lower.contains(word));
    is_plain && !lower.is_empty() && lower.len() <= MAX_NAME && lower != "lid" && !is_excluded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_identifiers_are_never_kept() {
        for name in ["tree_radix", "num_of_jobs", "CapabilityMask", "x_2"] {
            assert!(is_kept(name), "{name}");
        }
        for name in ["GUID", "NodeGUID", "LID", "M_Key", "am_key", "SubnetPrefix", "two words", "", "a-b"] {
            assert!(!is_kept(name), "{name}");
        }
        assert!(!is_kept(&"x".repeat(MAX_NAME + 1)));
    }
}
