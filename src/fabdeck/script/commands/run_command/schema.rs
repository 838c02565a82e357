//! JSON schema of runs.

use serde_json::{Value, json};

use crate::script::json_schema::SchemaProperties;
use crate::script::schema_parts::{closed, flag, list, nullable, number, text};

fn step() -> Value {
    let verdict = json!({ "enum": ["holds", "fails", "unknown", "not-yet", "not-rehearsed"] });
    let guard = closed(vec![("guard", text()), ("verdict", verdict), ("found", text())]);
    let found = json!({ "type": ["number", "boolean", "null"] });
    let mut step = closed(vec![
        ("number", number()),
        ("kind", text()),
        ("id", nullable(text())),
        ("name", nullable(text())),
        ("line", number()),
        ("state", json!({ "enum": ["done", "rehearsed", "stopped", "failed", "interrupted", "not-run"] })),
        ("words", text()),
        ("partial", flag()),
        ("values", json!({ "type": "object", "additionalProperties": found })),
        ("guards", list(guard)),
        ("change", nullable(text())),
    ]);
    if let Some(map) = step.get_mut("properties").and_then(Value::as_object_mut) {
        map.insert("began".into(), text());
        map.insert("seconds".into(), json!({ "type": "number" }));
    }
    step
}

/// Schema of a run.
pub fn schema() -> SchemaProperties {
    let back = closed(vec![
        ("change", text()),
        ("state", nullable(text())),
        ("words", text()),
        ("complete", flag()),
    ]);
    let before = closed(vec![
        ("time", text()),
        ("user", text()),
        ("pid", number()),
        ("on_failure", flag()),
        ("step", number()),
        ("kind", text()),
        ("change", nullable(text())),
    ]);
    vec![
        ("runbook", text()),
        ("name", text()),
        ("dry_run", flag()),
        ("vars", json!({ "type": "object", "additionalProperties": text() })),
        ("state", json!({ "enum": ["done", "stopped", "failed", "interrupted"] })),
        ("exit", number()),
        ("why", nullable(text())),
        ("steps", list(step())),
        ("on_failure", list(step())),
        ("taken_back", nullable(back)),
        ("interrupted_before", nullable(before)),
    ]
}
