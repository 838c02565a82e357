//! What changed in a fabric while it was watched, in words.

use super::hotspots::shorten;
use super::{Look, counted};
use crate::fabric::{Guid, Lid, PortNum};
use crate::observe::{ChangedEntry, End, News, Rate};

/// What kind of news it is, as JSON and logs have it.
pub fn news_word(news: &News) -> &'static str {
    match news {
        News::LinkDown { .. } => "link-down",
        News::LinkUp { .. } => "link-up",
        News::Recabled { .. } => "recabled",
        News::RateChanged { .. } => "rate-changed",
        News::NodeAppeared { .. } => "node-appeared",
        News::NodeSilent { .. } => "node-silent",
        News::NodeAnswers { .. } => "node-answers",
        News::TableDrift { .. } => "table-drift",
    }
}

/// Every word, in the order in which they are told.
pub const NEWS_WORDS: &[&str] = &[
    "link-down",
    "recabled",
    "rate-changed",
    "node-silent",
    "table-drift",
    "link-up",
    "node-appeared",
    "node-answers",
];

/// A label and what it says, line by line; of each kind the first `most`.
pub fn news_lines(look: &Look, news: &[News], most: usize) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    for word in NEWS_WORDS {
        let all: Vec<&News> = news.iter().filter(|news| news_word(news) == *word).collect();
        shorten(&mut lines, news_label(word), &all, most, |news| news_text(look, news));
    }
    lines
}

/// The same for people.
pub fn news_label(word: &str) -> &'static str {
    match word {
        "link-down" => "link down",
        "recabled" => "recabled",
        "rate-changed" => "rate",
        "node-silent" => "silent",
        "table-drift" => "tables",
        "link-up" => "link up",
        "node-appeared" => "new",
        _ => "answers",
    }
}

/// One of them, without its label.
pub fn news_text(look: &Look, news: &News) -> String {
    let link = |a: &End, b: &End| format!("{} to {}", end_name(look, *a), end_name(look, *b));
    match news {
        News::LinkDown { a, b } | News::LinkUp { a, b } => link(a, b),
        News::Recabled { at, before, now } => format!(
            "{} leads to {} now, and led to {} before",
            end_name(look, *at),
            end_name(look, *now),
            end_name(look, *before)
        ),
        News::RateChanged { a, b, before, now } => {
            format!("{}: {} now, {} before", link(a, b), rate_words(now), rate_words(before))
        }
        News::NodeAppeared { node } => node_name(look, *node),
        News::NodeSilent { node } => format!("{} does not answer any more", node_name(look, *node)),
        News::NodeAnswers { node } => format!("{} answers again", node_name(look, *node)),
        News::TableDrift { switch, blocks, entries, first, manager } => {
            let named: Vec<String> = first.iter().map(entry_words).collect();
            let more = if *entries > first.len() { "; and others" } else { "" };
            let blocks: Vec<String> = blocks.iter().map(u16::to_string).collect();
            format!(
                "{} forwards {} otherwise than when its table was last read, in {} {}: {}{more}; {}",
                node_name(look, *switch),
                counted(*entries, "LID", "LIDs"),
                if blocks.len() == 1 { "block" } else { "blocks" },
                blocks.join(", "),
                named.join("; "),
                manager_words(look, *manager),
            )
        }
    }
}

fn entry_words(entry: &ChangedEntry) -> String {
    let port =
        |port: Option<PortNum>| port.map_or_else(|| "nowhere".to_owned(), |port| format!("port {port}"));
    format!("LID {} to {}, before to {}", entry.lid, port(entry.now), port(entry.before))
}

fn manager_words(look: &Look, manager: Option<Lid>) -> String {
    let Some(lid) = manager else { return "no subnet manager is known".to_owned() };
    let port = look.fabric().port_by_lid(lid).map(|port| format!(", {}", look.port_name(port)));
    format!("the subnet manager is at LID {lid}{}", port.unwrap_or_default())
}

fn rate_words((width, speed): &Rate) -> String {
    let width = width.map_or("?", |width| width.word());
    format!("{width} {}", speed.map_or("?", |speed| speed.word()))
}

pub(crate) fn node_name(look: &Look, guid: Guid) -> String {
    match look.fabric().node_by_guid(guid) {
        Some(node) => look.told_apart(node).into_owned(),
        None => guid.to_string(),
    }
}

pub(crate) fn end_name(look: &Look, (guid, port): End) -> String {
    format!("{}[{port}]", node_name(look, guid))
}
