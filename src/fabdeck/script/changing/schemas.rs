//! The JSON of changes.

use serde_json::{Value, json};

use crate::script::schemas::{closed, flag, guid, list, nullable, number, text};

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
        ("left", left()),
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

/// The list of changes, with what a comparison with a fabric adds.
pub fn changes() -> Vec<(&'static str, Value)> {
    vec![("compared_with", nullable(text())), ("pending_elsewhere", nullable(text())), ("rows", list(row()))]
}

/// What `--verify` says of a confirmed change.
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
