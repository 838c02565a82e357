//! What is otherwise than at the sweep before, for the message log: each thing once, and not again at every sweep.

use std::collections::BTreeSet;

use super::judge::Reading;
use crate::counters::{HotSpot, Thresholds, Trouble, Why};
use crate::fabric::{LinkId, PortId};
use crate::observe::News;
use crate::session::hotspots::{HOT, LINK, hot_words, link_words};
use crate::session::interactive::messages::Severity;
use crate::session::{Look, NEWS_WORDS, Watched, counted, news_label, news_text, news_word};

/// Of each kind so many are named.
const NAMED: usize = 5;

pub fn changes(
    look: &Look,
    now: &Watched,
    earlier: Option<&Reading>,
    thresholds: &Thresholds,
) -> Vec<(Severity, String)> {
    let before = earlier.map(|reading| &reading.watched);
    let mut said = Vec::new();
    let hot = |watched: &Watched| -> BTreeSet<PortId> {
        watched.verdict.hot_spots.iter().map(|hot| hot.at.port).collect()
    };
    let (was, is) = (before.map(hot).unwrap_or_default(), hot(now));
    let new = now.verdict.hot_spots.iter().filter(|hot| !was.contains(&hot.at.port));
    let words =
        |hot: &HotSpot| format!("{HOT}: {}", hot_words(look, hot.adapter, &hot.at, thresholds.congestion));
    say(&mut said, Severity::Warning, new.map(words), listed("hot-spot", "hot-spots"));
    let over = was.difference(&is).map(|port| format!("no {HOT} any more: {}", led_to(look, *port)));
    say(&mut said, Severity::Said, over, listed("hot-spot that ended", "hot-spots that ended"));
    // A link that counts errors may begin to go down too.
    let kind = |bad: &Trouble| (bad.link, matches!(bad.why, Why::Flaps { .. }));
    let of = |watched: &Watched| -> BTreeSet<(LinkId, bool)> { bad(watched).map(kind).collect() };
    let was = before.map(of).unwrap_or_default();
    let new = bad(now)
        .filter(|bad| !was.contains(&kind(bad)))
        .map(|bad| format!("{LINK} {}", link_words(look, bad, thresholds.of(bad.why))));
    say(&mut said, Severity::Warning, new, listed("link in trouble", "links in trouble"));
    let cleared = now.cleared.iter().map(|port| {
        format!("somebody cleared the counters of {}: what came before is lost", look.port_name(*port))
    });
    say(
        &mut said,
        Severity::Said,
        cleared,
        listed("port whose counters were cleared", "ports whose counters were cleared"),
    );
    said
}

/// Links that got worse since somebody watches.
fn bad(watched: &Watched) -> impl Iterator<Item = &Trouble> {
    watched.troubles.iter().filter(|trouble| trouble.why != Why::Degraded)
}

fn led_to(look: &Look, port: PortId) -> String {
    let adapter = look.fabric().peer(port).map_or_else(String::new, |peer| look.port_name(peer));
    format!("{adapter}, which {} leads to", look.port_name(port))
}

/// What is otherwise in the fabric itself.
pub fn news(look: &Look, all: &[News]) -> Vec<(Severity, String)> {
    let mut said = Vec::new();
    for word in NEWS_WORDS {
        let of: Vec<&News> = all.iter().filter(|news| news_word(news) == *word).collect();
        let trouble = of.iter().any(|news| news.is_trouble());
        let severity = if trouble { Severity::Warning } else { Severity::Said };
        let text = |news: &&News| {
            let text = format!("{}: {}", news_label(word), news_text(look, news));
            match news {
                News::TableDrift { .. }
                | News::GroupDrift { .. }
                | News::LanesDrift { .. }
                | News::ArbitrationDrift { .. } => {
                    format!("{text}; tables are read in turns, r reads all at once")
                }
                News::NodeAppeared { .. } => format!("{text}; its tables are read with the next sweeps"),
                News::LinkDown { .. } | News::LinkUp { .. } | News::Recabled { .. } => {
                    format!("{text}; paths are those of the tables as they were read last")
                }
                _ => text,
            }
        };
        let more = |more: usize| format!("{}: and {more} more", news_label(word));
        say(&mut said, severity, of.iter().map(text), more);
    }
    said
}

/// What stands in the list of hot-spots too.
fn listed<'w>(one: &'w str, many: &'w str) -> impl Fn(usize) -> String + 'w {
    move |more| {
        let more = counted(more, &format!("more {one}"), &format!("more {many}"));
        format!("and {more} (screen Hot-spots)")
    }
}

fn say(
    said: &mut Vec<(Severity, String)>,
    severity: Severity,
    all: impl Iterator<Item = String>,
    words: impl Fn(usize) -> String,
) {
    let mut all = all;
    said.extend(all.by_ref().take(NAMED).map(|text| (severity, text)));
    let more = all.count();
    if more > 0 {
        said.push((severity, words(more)));
    }
}
