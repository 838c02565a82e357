//! Differences from the previous sweep, for the message log. Each is reported once.

use super::judge::Reading;
use super::turns::{Above, Turn, over_words, stuck_words, turns};
use crate::session::hotspots::{HOT, LINK, hot_words, link_words};
use crate::session::interactive::messages::Severity;
use crate::session::{Look, NEWS_WORDS, Watched, counted, news_label, news_text, news_word};
use fabdeck_fabric::counters::Thresholds;
use fabdeck_fabric::observe::News;

/// Maximum number of messages of one kind.
const NAMED: usize = 5;

pub fn changes(
    look: &Look,
    now: &Watched,
    earlier: Option<&Reading>,
    thresholds: &Thresholds,
) -> Vec<(Severity, String)> {
    let fabric = look.fabric();
    let of = |watched: &Watched| Above::of(fabric, &watched.verdict, &watched.troubles);
    let before = earlier.map(|reading| of(&reading.watched)).unwrap_or_default();
    let turned = turns(fabric, &now.verdict, &now.troubles, &before);
    let mut said = Vec::new();
    let new = turned.iter().filter_map(|turn| match turn {
        Turn::Hot(hot) => {
            Some(format!("{HOT}: {}", hot_words(look, hot.adapter, &hot.at, thresholds.congestion)))
        }
        _ => None,
    });
    say(&mut said, Severity::Warning, new, listed("hot-spot", "hot-spots"));
    let ended = |turn: &Turn| over_words(look, turn);
    let over = turned.iter().filter(|turn| matches!(turn, Turn::Cooled(_))).filter_map(ended);
    say(&mut said, Severity::Said, over, listed("hot-spot that ended", "hot-spots that ended"));
    let stuck = turned.iter().filter_map(|turn| stuck_words(look, turn, thresholds.congestion));
    said.extend(stuck.map(|(label, text)| (Severity::Warning, format!("{label}: {text}"))));
    let free = turned.iter().filter(|turn| matches!(turn, Turn::Free(_))).filter_map(ended);
    said.extend(free.map(|text| (Severity::Said, text)));
    let new = turned.iter().filter_map(|turn| match turn {
        Turn::Bad(bad) => Some(format!("{LINK} {}", link_words(look, bad, thresholds.of(bad.why)))),
        _ => None,
    });
    say(&mut said, Severity::Warning, new, listed("link in trouble", "links in trouble"));
    let over = turned.iter().filter(|turn| matches!(turn, Turn::Mended { .. })).filter_map(ended);
    say(&mut said, Severity::Said, over, listed("link that is well again", "links that are well again"));
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

/// Messages about changes of the fabric itself.
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

/// The text for further entries, which the list of hot-spots shows too.
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
