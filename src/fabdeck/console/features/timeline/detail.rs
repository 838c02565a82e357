//! The details of an event, or of a difference between two moments.

use super::event_rows::{BY_COUNTERS, EventRow};
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::operations::replay::moment_comparison::MomentComparison;

/// The details of an event.
pub fn event_detail(row: &EventRow, known: &Model) -> DetailPage {
    let by = match row.by {
        BY_COUNTERS => "counters: derived from the recording, as a watch would report it".to_owned(),
        other => other.to_owned(),
    };
    let mut pairs = vec![("what", row.text.clone())];
    match (&known.playback, row.place) {
        (Some(playback), Some(place)) => {
            let timeline = playback.timeline();
            let count = timeline.times.len();
            pairs.push(("time", format!("{} {}", timeline.date_text(row.at), row.time)));
            pairs.push(("sample", format!("{} of {count}; Enter shows it on all screens", place + 1)));
        }
        _ => pairs.push(("time", format!("{}; Enter moves the cursor of the charts to it", row.time))),
    }
    pairs.push(("by", by));
    pairs.extend(row.command.clone().map(|line| ("command", line)));
    DetailPage { title: row.label.to_owned(), pairs, ports: Vec::new() }
}

/// The details of a difference.
pub fn difference_detail(comparison: &MomentComparison, row: usize) -> Option<DetailPage> {
    let row = comparison.rows.get(row)?;
    let pairs = vec![
        ("what", row.name.clone()),
        ("change", row.change.to_owned()),
        ("then", row.then.clone()),
        ("now", row.now.clone()),
        ("in all", comparison.words()),
    ];
    Some(DetailPage { title: row.kind.to_owned(), pairs, ports: Vec::new() })
}
