//! Differences from the previous sweep, for the message log. Each is reported once.

use super::fabric_events::{FABRIC_EVENT_WORDS, fabric_event_label, fabric_event_text, fabric_event_word};
use super::interval_verdict::{HOT_LABEL, IntervalVerdict, LINK_LABEL, hot_words, link_words};
use super::threshold_events::{
    ThresholdEvent, ThresholdState, bottleneck_words, ended_words, threshold_events,
};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_fabric::counters::Thresholds;
use fabdeck_fabric::observe::FabricEvent;

/// Maximum number of messages of one kind.
const MAX_NAMED: usize = 5;

pub fn sweep_messages(
    look: &Snapshot,
    now: &IntervalVerdict,
    [before, above]: [&ThresholdState; 2],
    thresholds: &Thresholds,
) -> Vec<(Severity, String)> {
    let turned = threshold_events(look.fabric(), &now.verdict, &now.troubles, before, above);
    let mut messages = Vec::new();
    let new = turned.iter().filter_map(|turn| match turn {
        ThresholdEvent::Hot(hot) => {
            Some(format!("{HOT_LABEL}: {}", hot_words(look, hot.adapter, &hot.at, thresholds.congestion)))
        }
        _ => None,
    });
    push_message(&mut messages, Severity::Warning, new, listed_note("hot-spot", "hot-spots"));
    let ended = |turn: &ThresholdEvent| ended_words(look, turn);
    let over = turned.iter().filter(|turn| matches!(turn, ThresholdEvent::Cooled(_))).filter_map(ended);
    push_message(
        &mut messages,
        Severity::Info,
        over,
        listed_note("hot-spot that ended", "hot-spots that ended"),
    );
    let stuck = turned.iter().filter_map(|turn| bottleneck_words(look, turn, thresholds.congestion));
    messages.extend(stuck.map(|(label, text)| (Severity::Warning, format!("{label}: {text}"))));
    let free = turned.iter().filter(|turn| matches!(turn, ThresholdEvent::Free(_))).filter_map(ended);
    messages.extend(free.map(|text| (Severity::Info, text)));
    let new = turned.iter().filter_map(|turn| match turn {
        ThresholdEvent::Bad(bad) => {
            let limit = thresholds.limit_for(bad.why);
            Some(format!("{LINK_LABEL} {}", link_words(look, bad, limit, &now.error_span())))
        }
        _ => None,
    });
    push_message(&mut messages, Severity::Warning, new, listed_note("link in trouble", "links in trouble"));
    let over = turned.iter().filter(|turn| matches!(turn, ThresholdEvent::Mended { .. })).filter_map(ended);
    push_message(
        &mut messages,
        Severity::Info,
        over,
        listed_note("link that recovered", "links that recovered"),
    );
    let cleared = now.cleared.iter().map(|port| {
        format!("the counters of {} were cleared: their earlier values are lost", look.port_name(*port))
    });
    push_message(
        &mut messages,
        Severity::Info,
        cleared,
        listed_note("port whose counters were cleared", "ports whose counters were cleared"),
    );
    messages
}

/// Messages about changes of the fabric itself.
pub fn fabric_event_messages(look: &Snapshot, all: &[FabricEvent]) -> Vec<(Severity, String)> {
    let mut messages = Vec::new();
    for word in FABRIC_EVENT_WORDS {
        let of: Vec<&FabricEvent> = all.iter().filter(|news| fabric_event_word(news) == *word).collect();
        let trouble = of.iter().any(|news| news.is_trouble());
        let severity = if trouble { Severity::Warning } else { Severity::Info };
        let text = |news: &&FabricEvent| {
            let text = format!("{}: {}", fabric_event_label(word), fabric_event_text(look, news));
            match news {
                FabricEvent::TableDrift { .. }
                | FabricEvent::GroupDrift { .. }
                | FabricEvent::LanesDrift { .. }
                | FabricEvent::ArbitrationDrift { .. } => {
                    format!("{text}; tables are read in turns, r reads all at once")
                }
                FabricEvent::NodeAppeared { .. } => {
                    format!("{text}; its tables are read with the next sweeps")
                }
                FabricEvent::LinkDown { .. } | FabricEvent::LinkUp { .. } | FabricEvent::Recabled { .. } => {
                    format!("{text}; paths are those of the last tables read")
                }
                _ => text,
            }
        };
        let more = |more: usize| format!("{}: and {more} more", fabric_event_label(word));
        push_message(&mut messages, severity, of.iter().map(text), more);
    }
    messages
}

/// The text for further entries, which the list of hot-spots shows too.
fn listed_note<'w>(one: &'w str, many: &'w str) -> impl Fn(usize) -> String + 'w {
    move |more| {
        let more = count_words(more, &format!("more {one}"), &format!("more {many}"));
        format!("and {more} (screen Hot-spots)")
    }
}

fn push_message(
    messages: &mut Vec<(Severity, String)>,
    severity: Severity,
    all: impl Iterator<Item = String>,
    words: impl Fn(usize) -> String,
) {
    let mut all = all;
    messages.extend(all.by_ref().take(MAX_NAMED).map(|text| (severity, text)));
    let more = all.count();
    if more > 0 {
        messages.push((severity, words(more)));
    }
}
