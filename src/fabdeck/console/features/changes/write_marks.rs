//! Marks of changes for the time axes of charts: when writes began, and when the change was confirmed or rolled back.

use jiff::Timestamp;

use super::changes_model::ChangesModel;
use crate::operations::changes::change_row::ChangeRow;
use fabdeck_change::ChangePhase;

/// Most changes with marks; the newest have them.
const MAX_CHANGES: usize = 50;

/// What happened to a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WriteEvent {
    Begun,
    Confirmed,
    RolledBack,
}

/// What happened to a change, at a time of the session. It may lie before the session began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteMark {
    /// The number of the change.
    pub number: u64,
    pub at_ms: i64,
    pub event: WriteEvent,
}

impl ChangesModel {
    /// A time of the machine's clock as a time of the session.
    pub(super) fn session_time_ms(&self, time: &str) -> Option<i64> {
        let clock = self.last.as_ref()?.now.parse::<Timestamp>().ok()?;
        let ago = clock.duration_since(time.parse::<Timestamp>().ok()?).as_millis();
        i64::try_from(i128::from(self.seen_ms) - ago).ok()
    }

    /// The marks of the changes of this fabric.
    pub(super) fn find_write_marks(&self) -> Vec<WriteMark> {
        let marks = |row: &ChangeRow| {
            let mark = |time: &str, event| {
                Some(WriteMark { number: row.number, at_ms: self.session_time_ms(time)?, event })
            };
            let end = match row.state {
                ChangePhase::Confirmed => Some(WriteEvent::Confirmed),
                ChangePhase::RolledBack | ChangePhase::Incomplete => Some(WriteEvent::RolledBack),
                ChangePhase::Applying
                | ChangePhase::Applied
                | ChangePhase::RollingBack
                | ChangePhase::Refused => None,
            };
            [
                mark(&row.time, WriteEvent::Begun),
                row.ended.as_ref().zip(end).and_then(|(time, event)| mark(time, event)),
            ]
        };
        let written = self.rows_here().filter(|row| row.state != ChangePhase::Refused);
        written.take(MAX_CHANGES).flat_map(marks).flatten().collect()
    }
}
