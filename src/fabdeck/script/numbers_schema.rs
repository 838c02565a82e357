//! JSON schema of the numbers of a fabric, which several commands print.

use super::json_schema::SchemaProperties;
use super::schema_parts::{nullable, number};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::FabricSummary;

pub fn summary_numbers() -> SchemaProperties {
    let none = FabricSummary::from_snapshot(&Snapshot::new("", Default::default(), &Default::default()));
    let kind = |key| match key {
        "degraded_links" | "down_links" | "tables" => nullable(number()),
        _ => number(),
    };
    none.numbers().into_iter().map(|(key, _)| (key, kind(key))).collect()
}
