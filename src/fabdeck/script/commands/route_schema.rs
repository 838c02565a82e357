//! JSON schemas of what `whatif`, `route` and `plan` say of routes.

use serde_json::{Value, json};

use super::check::certificate_schema;
use crate::script::json_schema::SchemaProperties;
use crate::script::schema_parts::{closed, flag, list, nullable, number, text};

pub fn engine_row() -> SchemaProperties {
    let counts = [
        "lanes",
        "changed_entries",
        "changed_blocks",
        "changed_switches",
        "changed_lanes",
        "moved_pairs",
        "reused_tables",
        "supposed_lanes",
    ];
    let mut row = vec![
        ("engine", text()),
        ("ran", text()),
        ("degraded", flag()),
        ("refused", nullable(text())),
        ("remarks", list(text())),
        ("not_used", list(text())),
    ];
    row.extend(counts.map(|key| (key, nullable(number()))));
    row.extend([
        ("certificate", nullable(closed(certificate_schema()))),
        ("transition_safe", nullable(flag())),
    ]);
    row.push(("transition", nullable(closed(transition()))));
    row.push(("jobs", nullable(closed(job_figures()))));
    row
}

pub fn job_figures() -> SchemaProperties {
    let any = || json!({ "type": "number" });
    let counts = vec![("multi_switch", number()), ("max", number()), ("lost", number())];
    [counts, vec![("mean_max", any()), ("mean_links", any()), ("dark_fiber", any())]].concat()
}

/// Schema of nodes that answer now and are cut off by a plan.
pub fn cut_off() -> Value {
    let named = ["switches", "hosts", "aggregation_nodes"].map(|key| (key, list(text())));
    closed(named.into_iter().chain([("pairs", number())]).collect())
}

pub fn transition() -> SchemaProperties {
    vec![
        ("safe", nullable(flag())),
        ("reason", nullable(text())),
        ("old_lanes", text()),
        ("cycle", nullable(list(text()))),
        ("cycle_paths", nullable(list(text()))),
        ("cycle_lane", nullable(number())),
        ("on_the_way", nullable(closed(on_the_way()))),
        ("mixed", nullable(flag())),
        ("mixed_cycle", nullable(list(text()))),
        ("staged", nullable(closed(staged()))),
    ]
}

fn staged() -> SchemaProperties {
    vec![("through", nullable(text())), ("asked", list(text())), ("commands", list(text()))]
}

fn on_the_way() -> SchemaProperties {
    let counts = [
        "pairs",
        "writes",
        "before",
        "after",
        "worst_broken",
        "worst_looping",
        "worst_interrupted",
        "worst_after",
        "lasting",
    ];
    let counts = counts.into_iter().map(|key| (key, number()));
    counts.chain([("worst_at", nullable(text())), ("ordered", text())]).collect()
}
