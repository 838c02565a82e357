//! What changed while a fabric was watched, in JSON.

use serde_json::{Value, json};

use crate::observe::{End, News};
use crate::session::{Look, end_name, news_text, news_word, node_name};

/// One piece of news. Keys that say nothing about it are empty or null.
pub fn news_object(look: &Look, news: &News) -> Value {
    let (ends, node): (Vec<&End>, _) = match news {
        News::LinkDown { a, b } | News::LinkUp { a, b } | News::RateChanged { a, b, .. } => {
            (vec![a, b], None)
        }
        News::Recabled { at, before, now } => (vec![at, before, now], None),
        News::NodeAppeared { node } | News::NodeSilent { node } | News::NodeAnswers { node } => {
            (Vec::new(), Some(*node))
        }
        News::TableDrift { switch, .. } => (Vec::new(), Some(*switch)),
    };
    let port = |end: &End| json!({ "port": end_name(look, *end), "guid": end.0.to_string() });
    let mut object = json!({
        "what": news_word(news),
        "trouble": news.is_trouble(),
        "text": news_text(look, news),
        "ports": ends.into_iter().map(port).collect::<Vec<_>>(),
        "node": node.map(|node| node_name(look, node)),
        "guid": node.map(|node| node.to_string()),
        "drift": null,
    });
    if let News::TableDrift { blocks, entries, first, manager, .. } = news {
        let entry = |entry: &crate::observe::ChangedEntry| {
            json!({
                "lid": entry.lid.value(),
                "before": entry.before.map(|port| port.value()),
                "now": entry.now.map(|port| port.value()),
            })
        };
        object["drift"] = json!({
            "blocks": blocks,
            "entries": entries,
            "first": first.iter().map(entry).collect::<Vec<_>>(),
            "manager_lid": manager.map(|lid| lid.value()),
        });
    }
    object
}
