//! The service levels of single paths as records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use fabdeck_fabric::observe::PolicyLevels;
use fabdeck_fabric::{Guid, Lid, PathLevelTable, ServiceLevel};

/// Most paths whose levels a capture holds.
pub const MAX_PATHS: usize = 20_000_000;
/// Most characters of rows in one record.
const MAX_RECORD_CHARS: usize = 8 << 20;
/// A path that is not listed.
const UNLISTED: char = '-';

/// The levels of the paths from some sources.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathLevelRecord {
    /// Whether this record replaces all earlier ones.
    whole: bool,
    /// By source node: a hexadecimal digit for each LID from 1 on, `-` for a path that is not listed.
    sources: BTreeMap<Guid, String>,
}

impl PathLevelRecord {
    /// The table in records that fit into frames; `None` if it has too many paths for a capture.
    pub fn from_table(table: &PathLevelTable) -> Option<Vec<Self>> {
        if table.count() > MAX_PATHS {
            return None;
        }
        let (mut all, mut size) = (vec![Self { whole: true, sources: BTreeMap::new() }], 0);
        for (source, row) in &table.sources {
            let row = row_text(row);
            if size > 0 && size + row.len() > MAX_RECORD_CHARS {
                all.push(Self { whole: false, sources: BTreeMap::new() });
                size = 0;
            }
            size += row.len();
            if let Some(last) = all.last_mut() {
                last.sources.insert(*source, row);
            }
        }
        Some(all)
    }

    /// The same levels with other GUIDs.
    pub fn anonymize(self, guid: impl Fn(Guid) -> Guid) -> Self {
        Self { sources: self.sources.into_iter().map(|(old, row)| (guid(old), row)).collect(), ..self }
    }

    /// Adds the levels to the policy; an error if one is no service level. `paths` counts the stored paths, so that
    /// the cost of a record depends only on its own size.
    pub(crate) fn apply(self, policy: &mut Option<PolicyLevels>, paths: &mut usize) -> Result<(), String> {
        let mut table = match policy.take() {
            Some(PolicyLevels::ByPath(table)) if !self.whole => table,
            _ => {
                *paths = 0;
                PathLevelTable::default()
            }
        };
        for (source, text) in self.sources {
            let row = read_row(&text)?;
            *paths += row.len();
            if *paths > MAX_PATHS {
                return Err(format!("levels of more than {MAX_PATHS} paths"));
            }
            *paths -= table.sources.insert(source, row).map_or(0, |before| before.len());
        }
        *policy = Some(PolicyLevels::ByPath(table));
        Ok(())
    }
}

fn row_text(row: &BTreeMap<Lid, ServiceLevel>) -> String {
    let top = row.last_key_value().map_or(0, |(lid, _)| u32::from(lid.value()));
    let level = |lid: u32| row.get(&Lid::new(lid)?);
    let digit = |lid: u32| level(lid).and_then(|level| char::from_digit(level.value().into(), 16));
    (1..=top).map(|lid| digit(lid).unwrap_or(UNLISTED)).collect()
}

fn read_row(text: &str) -> Result<BTreeMap<Lid, ServiceLevel>, String> {
    let mut row = BTreeMap::new();
    for (lid, digit) in (1u32..).zip(text.chars()) {
        if digit == UNLISTED {
            continue;
        }
        let level = digit.to_digit(16).and_then(ServiceLevel::new);
        let level = level.ok_or_else(|| format!("there is no service level '{digit}'"))?;
        row.insert(Lid::new(lid).ok_or_else(|| format!("there is no LID {lid}"))?, level);
    }
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_paths_come_back_from_their_records() {
        let mut table = PathLevelTable::default();
        for (source, lid, level) in [(7, 1, 0), (7, 4, 15), (9, 0xBFFF, 3)] {
            let (lid, level) = (Lid::new(lid).unwrap(), ServiceLevel::new(level).unwrap());
            table.sources.entry(Guid(source)).or_default().insert(lid, level);
        }
        let records = PathLevelRecord::from_table(&table).unwrap();
        assert_eq!(records[0].sources[&Guid(7)], "0--f");
        let mut policy = Some(PolicyLevels::Undecided);
        let mut paths = 77;
        records.into_iter().for_each(|record| record.apply(&mut policy, &mut paths).unwrap());
        assert_eq!(policy, Some(PolicyLevels::ByPath(table)));
        // A second part adds its sources.
        let part = |whole, row: &str| PathLevelRecord { whole, sources: [(Guid(8), row.to_owned())].into() };
        part(false, "2").apply(&mut policy, &mut paths).unwrap();
        let held = |policy: &Option<PolicyLevels>| match policy {
            Some(PolicyLevels::ByPath(table)) => table.count(),
            other => panic!("{other:?}"),
        };
        assert_eq!((held(&policy), paths), (4, 4));
        // A repeated source counts once.
        part(false, "34").apply(&mut policy, &mut paths).unwrap();
        assert_eq!((held(&policy), paths), (5, 5));
        part(true, "2").apply(&mut policy, &mut paths).unwrap();
        assert_eq!((held(&policy), paths), (1, 1));
        for row in ["g", "0 ", &"1".repeat(0xC000)] {
            assert!(part(true, row).apply(&mut policy, &mut paths).is_err(), "{row:.9}");
        }
    }
}
