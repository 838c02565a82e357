//! JSON schemas of changes.

use serde_json::{Value, json};

use crate::script::json_schema::SchemaProperties;
use crate::script::schema_parts::{closed, flag, guid, list, nullable, number, text};

/// State that is printed if there is nothing to do, in place of a change's state.
pub const UNCHANGED: &str = "unchanged";

/// State of a change.
fn state() -> Value {
    json!({ "enum": [
        "applying", "applied", "confirmed", "rolling-back", "rolled-back", "incomplete", "refused",
    ] })
}

fn left_writes() -> Value {
    list(closed(vec![("what", text()), ("why", text())]))
}

/// Schema of one change. The id is null if no change was begun, because everything that the plan writes is in place.
pub fn change() -> SchemaProperties {
    vec![
        ("id", nullable(text())),
        ("state", json!({ "anyOf": [state(), { "const": UNCHANGED }] })),
        ("done", number()),
        ("writes", number()),
        ("deadline", nullable(text())),
        ("why", nullable(text())),
        ("left", left_writes()),
        ("silent", list(text())),
        ("waits", flag()),
        ("phase_of_five", nullable(number())),
        ("drift", nullable(text())),
        ("trouble", nullable(text())),
    ]
}

/// Schema of a row in the list of changes.
fn row() -> Value {
    closed(vec![
        ("id", text()),
        ("number", number()),
        ("state", state()),
        ("time", text()),
        ("user", text()),
        ("deadline", nullable(text())),
        ("source", text()),
        ("via", text()),
        ("engine", text()),
        ("writes", number()),
        ("done", number()),
        ("accepted", list(text())),
        ("ended", nullable(text())),
        ("why", nullable(text())),
        ("left", left_writes()),
        ("moves", list(text())),
        ("silent", list(text())),
        ("waits", flag()),
        ("phase_of_five", nullable(number())),
        ("drift", nullable(text())),
        ("trouble", nullable(text())),
        ("overdue", flag()),
        ("comparison", nullable(comparison())),
    ])
}

/// Schema of the list of changes, with the fields of a comparison.
pub fn changes() -> SchemaProperties {
    vec![("compared_with", nullable(text())), ("pending_elsewhere", nullable(text())), ("rows", list(row()))]
}

/// Schema of what `--verify` says of a confirmed change.
fn comparison() -> Value {
    let states = |states: &[&str]| json!({ "enum": states });
    let other = closed(vec![("id", text()), ("state", state()), ("entries", number())]);
    let device = closed(vec![
        ("name", text()),
        ("guid", guid()),
        ("state", states(&["overwritten", "restarted", "gone", "silent"])),
        ("differ", number()),
        ("unread", number()),
        ("as_before", number()),
        ("by", list(other)),
    ]);
    closed(vec![
        ("verdict", states(&["stands", "no-longer-stands", "not-known", "superseded"])),
        ("entries", number()),
        ("differ", number()),
        ("unread", number()),
        ("superseded", number()),
        ("superseded_by", list(text())),
        ("devices", list(device)),
        ("manager", nullable(text())),
        ("manager_before", nullable(text())),
    ])
}
