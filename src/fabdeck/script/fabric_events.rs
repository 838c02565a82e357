//! Events of a fabric during a watch, as JSON.

use serde_json::{Value, json};

use super::schema_parts::{closed, flag, guid, list, nullable, number, text};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::watch::fabric_events::{
    FABRIC_EVENT_WORDS, end_name, fabric_event_text, fabric_event_word, manager_port, node_name,
    producer_word, trap_name, weights_words,
};
use fabdeck_fabric::Arbitration;
use fabdeck_fabric::observe::{
    ChangedArbitration, ChangedEntry, ChangedGroup, ChangedLanes, FabricEvent, KnownManager, PortIdentity,
};

/// JSON of one event. Keys that do not apply are empty or null.
pub fn fabric_event_object(snapshot: &Snapshot, event: &FabricEvent) -> Value {
    let (ends, node): (Vec<&PortIdentity>, _) = match event {
        FabricEvent::LinkDown { a, b }
        | FabricEvent::LinkUp { a, b }
        | FabricEvent::RateChanged { a, b, .. }
        | FabricEvent::LinkFlapped { a, b, .. } => (vec![a, b], None),
        FabricEvent::Recabled { at, before, now } => (vec![at, before, now], None),
        FabricEvent::NodeAppeared { node }
        | FabricEvent::NodeSilent { node }
        | FabricEvent::NodeAnswers { node } => (Vec::new(), Some(*node)),
        FabricEvent::Trap { node, .. } => (Vec::new(), *node),
        FabricEvent::ManagerChanged { .. }
        | FabricEvent::JobsChanged { .. }
        | FabricEvent::JobsSilent { .. } => (Vec::new(), None),
        FabricEvent::TableDrift { switch: node, .. }
        | FabricEvent::GroupDrift { switch: node, .. }
        | FabricEvent::LanesDrift { node, .. }
        | FabricEvent::ArbitrationDrift { node, .. } => (Vec::new(), Some(*node)),
    };
    let port = |end: &PortIdentity| json!({ "port": end_name(snapshot, *end), "guid": end.0.to_string() });
    json!({
        "what": fabric_event_word(event),
        "trouble": event.is_trouble(),
        "text": fabric_event_text(snapshot, event),
        "ports": ends.into_iter().map(port).collect::<Vec<_>>(),
        "node": node.map(|node| node_name(snapshot, node)),
        "guid": node.map(|node| node.to_string()),
        "flapped": flaps_object(event),
        "manager": manager_object(snapshot, event),
        "drift": drift_object(event),
        "trap": trap_object(event),
    })
}

/// The report of the subnet manager, with the fields of its trap.
fn trap_object(event: &FabricEvent) -> Value {
    match event {
        FabricEvent::Trap { number, issuer, producer, lid, port, guid, .. } => json!({
            "number": number,
            "name": trap_name(*number),
            "issuer_lid": issuer.map(|lid| lid.value()),
            "producer": producer_word(*producer),
            "lid": lid.map(|lid| lid.value()),
            "port": port.map(|port| port.value()),
            "port_guid": guid.map(|guid| guid.to_string()),
        }),
        _ => Value::Null,
    }
}

/// How often a link went down.
fn flaps_object(event: &FabricEvent) -> Value {
    match event {
        FabricEvent::LinkFlapped { downed, recovered, .. } => {
            json!({ "downed": downed, "recovered": recovered })
        }
        _ => Value::Null,
    }
}

/// The old and the new master subnet manager.
fn manager_object(snapshot: &Snapshot, event: &FabricEvent) -> Value {
    let to_object = |known: &KnownManager| {
        let manager = known.manager.as_ref();
        json!({
            "lid": known.lid.map(|lid| lid.value()),
            "port": manager_port(snapshot, known),
            "guid": manager.map(|manager| manager.guid.to_string()),
            "state": manager.and_then(|manager| manager.state.clone()),
            "priority": manager.and_then(|manager| manager.priority),
        })
    };
    match event {
        FabricEvent::ManagerChanged { before, now } => {
            json!({ "before": to_object(before), "now": to_object(now) })
        }
        _ => Value::Null,
    }
}

/// Differences of tables. Each kind of table has a list, and at most one list is not empty.
fn drift_object(event: &FabricEvent) -> Value {
    let (mut blocks, mut first, mut groups, mut lanes, mut arbitration) =
        (&[][..], Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (entries, manager) = match event {
        FabricEvent::TableDrift { blocks: changed_blocks, entries, first: named, manager, .. } => {
            blocks = changed_blocks.as_slice();
            first = named.iter().map(entry_object).collect();
            (entries, manager)
        }
        FabricEvent::GroupDrift { entries, first, manager, .. } => {
            let group =
                |one: &ChangedGroup| json!({ "group": one.group, "before": one.before, "now": one.now });
            groups = first.iter().map(group).collect();
            (entries, manager)
        }
        FabricEvent::LanesDrift { entries, first, manager, .. } => {
            let row = |one: &ChangedLanes| json!({ "from": one.from, "to": one.to, "before": one.before, "now": one.now });
            lanes = first.iter().map(row).collect();
            (entries, manager)
        }
        FabricEvent::ArbitrationDrift { entries, first, manager, .. } => {
            let words = |table: &Arbitration| json!({ "high": weights_words(&table.high), "low": weights_words(&table.low) });
            let port = |one: &ChangedArbitration| json!({ "port": one.port, "before": words(&one.before), "now": words(&one.now) });
            arbitration = first.iter().map(port).collect();
            (entries, manager)
        }
        _ => return Value::Null,
    };
    json!({
        "blocks": blocks,
        "entries": entries,
        "first": first,
        "groups": groups,
        "lanes": lanes,
        "arbitration": arbitration,
        "manager_lid": manager.map(|lid| lid.value()),
    })
}

fn entry_object(entry: &ChangedEntry) -> Value {
    json!({
        "lid": entry.lid.value(),
        "before": entry.before.map(|port| port.value()),
        "now": entry.now.map(|port| port.value()),
    })
}

/// Schema of an event between two sweeps.
pub fn fabric_event_schema() -> Value {
    let entry = closed(vec![("lid", number()), ("before", nullable(number())), ("now", nullable(number()))]);
    let ports = || list(number());
    let group = closed(vec![("group", number()), ("before", ports()), ("now", ports())]);
    let row = closed(vec![("from", number()), ("to", number()), ("before", text()), ("now", text())]);
    let weights = || closed(vec![("high", text()), ("low", text())]);
    let port = closed(vec![("port", number()), ("before", weights()), ("now", weights())]);
    let manager = || {
        closed(vec![
            ("lid", nullable(number())),
            ("port", nullable(text())),
            ("guid", nullable(guid())),
            ("state", nullable(text())),
            ("priority", nullable(number())),
        ])
    };
    let drift = vec![
        ("blocks", list(number())),
        ("entries", number()),
        ("first", list(entry)),
        ("groups", list(group)),
        ("lanes", list(row)),
        ("arbitration", list(port)),
        ("manager_lid", nullable(number())),
    ];
    let trap = vec![
        ("number", number()),
        ("name", text()),
        ("issuer_lid", nullable(number())),
        ("producer", text()),
        ("lid", nullable(number())),
        ("port", nullable(number())),
        ("port_guid", nullable(guid())),
    ];
    closed(vec![
        ("what", json!({ "enum": FABRIC_EVENT_WORDS })),
        ("trouble", flag()),
        ("text", text()),
        ("ports", list(closed(vec![("port", text()), ("guid", guid())]))),
        ("node", nullable(text())),
        ("guid", nullable(guid())),
        ("flapped", nullable(closed(vec![("downed", number()), ("recovered", number())]))),
        ("manager", nullable(closed(vec![("before", manager()), ("now", manager())]))),
        ("drift", nullable(closed(drift))),
        ("trap", nullable(closed(trap))),
    ])
}
