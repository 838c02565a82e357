//! The details of the event at the cursor.

use super::event_rows::BY_COUNTERS;
use super::screen::TimelineScreen;
use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;

/// The details of the event at the cursor.
pub fn event_detail(screen: &TimelineScreen, known: &Model) -> Option<DetailPage> {
    let (row, playback) = (screen.event()?, known.playback.as_ref()?);
    let count = playback.timeline().times.len();
    let by = match row.by {
        BY_COUNTERS => "counters: derived from the recording, as a watch would report it".to_owned(),
        other => other.to_owned(),
    };
    let mut pairs = vec![
        ("what", row.text.clone()),
        ("time", format!("{} {}", playback.timeline().date_text(row.at), row.time)),
        ("moment", format!("{} of {count}; Enter shows it on all screens", row.place + 1)),
        ("by", by),
    ];
    pairs.extend(row.command.clone().map(|line| ("command", line)));
    Some(DetailPage { title: row.label.to_owned(), pairs, ports: Vec::new() })
}
