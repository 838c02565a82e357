//! Converts the catalogue of generated fabrics for `generate` and `sources`.

use crate::script::CatalogueEntry;
use fabdeck_fabric::generate;
use fabdeck_fabric::observe::Observation;
use fabdeck_live::generated;
use fabdeck_mad::access::SourceError;

pub fn catalogue() -> Vec<CatalogueEntry> {
    let entry = |entry: &generate::Entry| CatalogueEntry {
        name: entry.name.into(),
        keys: keys(entry.keys),
        about: entry.title.into(),
    };
    generate::catalogue().iter().map(entry).collect()
}

fn keys(keys: &[generate::Key]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{}={}", key.name, key.default)).collect();
    keys.join(",")
}

pub fn generate(name: &str) -> Result<Observation, SourceError> {
    generated(name, name)
}
