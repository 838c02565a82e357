//! Events of a fabric during a watch, as JSON.

use serde_json::{Value, json};

use crate::session::{
    Look, end_name, manager_port, news_text, news_word, node_name, producer_word, trap_name, weights_words,
};
use fabdeck_fabric::Arbitration;
use fabdeck_fabric::observe::{
    ChangedArbitration, ChangedEntry, ChangedGroup, ChangedLanes, End, ManagerTold, News,
};

/// JSON of one event. Keys that do not apply are empty or null.
pub fn news_object(look: &Look, news: &News) -> Value {
    let (ends, node): (Vec<&End>, _) = match news {
        News::LinkDown { a, b }
        | News::LinkUp { a, b }
        | News::RateChanged { a, b, .. }
        | News::LinkFlapped { a, b, .. } => (vec![a, b], None),
        News::Recabled { at, before, now } => (vec![at, before, now], None),
        News::NodeAppeared { node } | News::NodeSilent { node } | News::NodeAnswers { node } => {
            (Vec::new(), Some(*node))
        }
        News::Trap { node, .. } => (Vec::new(), *node),
        News::ManagerChanged { .. } | News::JobsChanged { .. } | News::JobsSilent { .. } => {
            (Vec::new(), None)
        }
        News::TableDrift { switch: node, .. }
        | News::GroupDrift { switch: node, .. }
        | News::LanesDrift { node, .. }
        | News::ArbitrationDrift { node, .. } => (Vec::new(), Some(*node)),
    };
    let port = |end: &End| json!({ "port": end_name(look, *end), "guid": end.0.to_string() });
    json!({
        "what": news_word(news),
        "trouble": news.is_trouble(),
        "text": news_text(look, news),
        "ports": ends.into_iter().map(port).collect::<Vec<_>>(),
        "node": node.map(|node| node_name(look, node)),
        "guid": node.map(|node| node.to_string()),
        "flapped": flapped(news),
        "manager": manager(look, news),
        "drift": drift(news),
        "trap": trap(news),
    })
}

/// The report of the subnet manager, with the fields of its trap.
fn trap(news: &News) -> Value {
    match news {
        News::Trap { number, issuer, producer, lid, port, guid, .. } => json!({
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
fn flapped(news: &News) -> Value {
    match news {
        News::LinkFlapped { downed, recovered, .. } => json!({ "downed": downed, "recovered": recovered }),
        _ => Value::Null,
    }
}

/// The old and the new master subnet manager.
fn manager(look: &Look, news: &News) -> Value {
    let told = |told: &ManagerTold| {
        let manager = told.manager.as_ref();
        json!({
            "lid": told.lid.map(|lid| lid.value()),
            "port": manager_port(look, told),
            "guid": manager.map(|manager| manager.guid.to_string()),
            "state": manager.and_then(|manager| manager.state.clone()),
            "priority": manager.and_then(|manager| manager.priority),
        })
    };
    match news {
        News::ManagerChanged { before, now } => json!({ "before": told(before), "now": told(now) }),
        _ => Value::Null,
    }
}

/// Differences of tables. Each kind of table has a list, and at most one list is not empty.
fn drift(news: &News) -> Value {
    let (mut blocks, mut first, mut groups, mut lanes, mut arbitration) =
        (&[][..], Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (entries, manager) = match news {
        News::TableDrift { blocks: told, entries, first: named, manager, .. } => {
            blocks = told.as_slice();
            first = named.iter().map(entry).collect();
            (entries, manager)
        }
        News::GroupDrift { entries, first, manager, .. } => {
            let group =
                |one: &ChangedGroup| json!({ "group": one.group, "before": one.before, "now": one.now });
            groups = first.iter().map(group).collect();
            (entries, manager)
        }
        News::LanesDrift { entries, first, manager, .. } => {
            let row = |one: &ChangedLanes| json!({ "from": one.from, "to": one.to, "before": one.before, "now": one.now });
            lanes = first.iter().map(row).collect();
            (entries, manager)
        }
        News::ArbitrationDrift { entries, first, manager, .. } => {
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

fn entry(entry: &ChangedEntry) -> Value {
    json!({
        "lid": entry.lid.value(),
        "before": entry.before.map(|port| port.value()),
        "now": entry.now.map(|port| port.value()),
    })
}
