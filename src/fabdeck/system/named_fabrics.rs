//! Converts the catalogue of generated fabrics for `generate` and `sources`.

use super::access::CatalogueEntry;
use fabdeck_fabric::generate;
use fabdeck_fabric::observe::Observation;
use fabdeck_live::generate_snapshot;
use fabdeck_mad::access::SourceError;

pub fn catalogue() -> Vec<CatalogueEntry> {
    let entry = |entry: &generate::FabricTemplate| CatalogueEntry {
        name: entry.name.into(),
        keys: keys(entry.keys),
        about: entry.title.into(),
    };
    generate::catalogue().iter().map(entry).collect()
}

fn keys(keys: &[generate::TemplateKey]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| format!("{}={}", key.name, key.default)).collect();
    keys.join(",")
}

pub fn generate(name: &str) -> Result<Observation, SourceError> {
    generate_snapshot(name, name)
}
