//! The details of a change.

use crate::console::model::detail_page::DetailPage;
use crate::console::model::fabric_model::Model;
use crate::operations::changes::acceptance::acknowledged_words;
use crate::operations::changes::change_row::{ChangeRow, countdown, day_and_time, silent_words};
use fabdeck_change::ChangePhase;

/// The details of a change.
pub fn change_detail(row: &ChangeRow, known: &Model) -> DetailPage {
    let seen = &known.changes;
    let left = seen.left_ms(row).map(|left| format!("; {} left", countdown(left / 1000)));
    let mut pairs = vec![
        ("state", format!("{}{}", row.state_title(), left.unwrap_or_default())),
        ("what", row.engine.clone()),
        ("id", row.id.clone()),
        ("begun", format!("{} by {}", day_and_time(&row.time), row.user)),
        ("source", row.source.clone()),
        ("via", row.via.clone()),
        ("writes", row.progress_words()),
        ("risks", acknowledged_words(&row.accepted)),
    ];
    let deadline = row.deadline.clone().filter(|_| row.state == ChangePhase::Applied);
    pairs.extend(deadline.map(|at| ("rollback", format!("{}, unless confirmed", day_and_time(&at)))));
    pairs.extend(row.ended.as_deref().map(|at| ("ended", day_and_time(at))));
    pairs.extend(row.why.clone().map(|why| ("reason", why)));
    pairs.extend(row.drift.clone().map(|drift| ("drift", drift)));
    pairs.extend(row.comparison.as_ref().map(|found| ("compared", found.summary())));
    pairs.extend(row.trouble.clone().map(|trouble| ("trouble", trouble)));
    pairs.extend(row.moves.iter().map(|moved| ("moves", moved.clone())));
    pairs.extend(silent_words(&row.silent).map(|silent| ("agents", silent)));
    pairs.extend(row.left.iter().map(|left| ("left", format!("{}: {}", left.what, left.why))));
    if row.state == ChangePhase::Incomplete {
        let text = "the parts above are still in the fabric: examine them; u rolls them back again, or \
                    make a new plan";
        pairs.push(("a person", text.to_owned()));
    }
    DetailPage { title: format!("Change {}", row.number), pairs, ports: Vec::new() }
}
