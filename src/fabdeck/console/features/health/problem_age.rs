//! What a session knows of a problem beside its ranking: since when it is there, whether a change brought it, and whether its
//! relief is in force already.

use super::card_text::length_words;
use crate::console::drawing::canvas::width;
use crate::console::features::changes::write_marks::{WriteEvent, WriteMark};
use crate::console::features::lanes::relief_model::relief_in_force;
use crate::console::model::fabric_model::Model;
use crate::operations::health::problem::{FabricProblem, ProblemKind};
use fabdeck_fabric::ElementId;

/// Most intervals between a write and the first reading with a problem that is named after it: that of the write, the next one,
/// whose hot-spots are not counted yet, and one that is late.
const INTERVALS_AFTER_WRITE: f64 = 4.0;

/// Since when a problem is there, in words that fit into the room. The change that brought it stays.
pub(in crate::console) fn age_words(known: &Model, id: &str, room: u16) -> String {
    let Some(first_ms) = known.problems.first_ms(id) else {
        return if known.watch.recorded { String::new() } else { "since the first reading".to_owned() };
    };
    let now_ms = known.problems.last_reading_ms().unwrap_or(first_ms);
    match write_before(known, first_ms) {
        Some((mark, at_ms)) => {
            let ago = length_words(now_ms.saturating_sub(at_ms));
            let became = match mark.event {
                WriteEvent::RolledBack => "rolled back",
                WriteEvent::Begun | WriteEvent::Confirmed => "applied",
            };
            let words = [
                format!("since change {} was {became}, {ago} ago", mark.number),
                format!("since change {} {became}", mark.number),
                format!("since change {}", mark.number),
            ];
            words.into_iter().find(|words| width(words) <= room).unwrap_or_default()
        }
        None => format!("for {}", length_words(now_ms.saturating_sub(first_ms))),
    }
}

/// The last write or rollback before a reading that shows its effect, and its time.
fn write_before(known: &Model, first_ms: u64) -> Option<(&WriteMark, u64)> {
    let interval_ms = known.watch.reading.as_ref()?.watched.seconds * 1000.0;
    let reach_ms = (interval_ms * INTERVALS_AFTER_WRITE) as u64;
    let writes = known.changes.write_marks.iter().filter(|mark| mark.event != WriteEvent::Confirmed);
    let before = writes.filter_map(|mark| Some((mark, u64::try_from(mark.at_ms).ok()?)));
    let near = before.filter(|(_, at_ms)| *at_ms <= first_ms && first_ms - *at_ms <= reach_ms);
    near.max_by_key(|(_, at_ms)| *at_ms)
}

/// The slow lane of a hot-spot that is in force, with what it did.
pub(in crate::console) fn problem_relief(known: &Model, problem: &FabricProblem) -> Option<String> {
    match (problem.kind, problem.elements.first()) {
        (ProblemKind::HotSpot, Some(ElementId::Port(adapter))) => relief_in_force(known, *adapter),
        _ => None,
    }
}
