//! JSON schemas of everything that `--json` prints, collected from the command table.

use std::collections::BTreeMap;

use super::commands::COMMANDS;
use super::rows::FIELDS_SCHEMA;

/// File name (`links.json`) and content of every schema.
pub fn schemas() -> BTreeMap<String, String> {
    let listed = COMMANDS.iter().flat_map(|entry| {
        let files = entry.schemas.iter();
        files.map(|schema| schema.file_of(entry.name))
    });
    listed.chain([FIELDS_SCHEMA.file("--fields help")]).collect()
}
