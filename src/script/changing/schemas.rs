//! The JSON of changes.

use serde_json::{Value, json};

use crate::script::schemas::{closed, flag, list, nullable, number, text};

/// The state in place of that of a change where there is nothing to do.
pub const UNCHANGED: &str = "unchanged";

/// How far a change is.
fn state() -> Value {
    json!({ "enum": [
        "applying", "applied", "confirmed", "rolling-back", "rolled-back", "incomplete", "refused",
    ] })
}

fn left() -> Value {
    list(closed(vec![("what", text()), ("why", text())]))
}

/// One change, as its guard tells it; without an id where none was begun, as all that the plan writes stands there already.
pub fn change() -> Vec<(&'static str, Value)> {
    vec![
        ("id", nullable(text())),
        ("state", json!({ "anyOf": [state(), { "const": UNCHANGED }] })),
        ("done", number()),
        ("writes", number()),
        ("deadline", nullable(text())),
        ("why", nullable(text())),
        ("left", left()),
        ("silent", list(text())),
        ("waits", flag()),
        ("phase_of_five", nullable(number())),
        ("drift", nullable(text())),
        ("trouble", nullable(text())),
    ]
}

/// One of all changes.
pub fn row() -> Value {
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
        ("left", left()),
        ("moves", list(text())),
        ("silent", list(text())),
        ("waits", flag()),
        ("phase_of_five", nullable(number())),
        ("drift", nullable(text())),
        ("trouble", nullable(text())),
        ("overdue", flag()),
    ])
}
