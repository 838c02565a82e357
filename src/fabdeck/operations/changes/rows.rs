//! The changes as rows, the last one first.

use std::borrow::Cow;
use std::sync::LazyLock;

use jiff::Timestamp;

use super::change_row::{ChangeRow, countdown, seconds_left};
use crate::catalogue::field::{Column, Listing};
use crate::catalogue::value::{FieldKind, Value};
use fabdeck_change::ChangePhase;
use fabdeck_fabric::observe::digits_in_groups;

/// Defines the columns: id, heading, kind, meaning, and the function that yields the value of a row.
macro_rules! columns {
    ($($id:literal $title:literal $kind:ident $about:literal $value:expr;)+) => {
        static COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| vec![$(
            place_column(Column::new($id.into(), $title.into(), FieldKind::$kind, $about.into()))),+]);

        const VALUES: &[fn(&ChangeRow, Option<Timestamp>) -> Value<'_>] = &[$($value),+];
    };
    }

columns! {
"number" "NO" Number "the number of the change" |row, _| Value::Number(row.number);
"state" "STATE" Text "the state of the change" |row, _| Value::text(row.state_title());
"left" "LEFT" Text "time until it is rolled back unless confirmed, or the writes that are done" progress;
"what" "WHAT" Text "the engine that proposed it, or the change of a link" |row, _| Value::text(&row.engine);
"why" "REASON" Text "why it is or was rolled back, or refused" |row, _| text(row.why.as_deref());
"writes" "WRITES" Number "parts of switches that it writes" |row, _| Value::Number(row.writes);
"user" "USER" Text "the user who began it" |row, _| Value::text(&row.user);
"time" "BEGUN" Text "when it was begun" |row, _| Value::Text(Cow::Owned(short_time(&row.time)));
"via" "VIA" Text "how its writes reach the fabric: direct or opensm" |row, _| Value::text(&row.via);
"drift" "DRIFT" Text "entries that another tool has overwritten since it was applied" |row, _| text(row.drift.as_deref());
"stands" "STANDS" Text "whether the fabric still has what the change wrote, as of the last comparison" comparison_value;
"trouble" "TROUBLE" Text "what prevents its guard from working" |row, _| text(row.trouble.as_deref());
"source" "SOURCE" Text "the source that it writes to" |row, _| Value::text(&row.source);
"id" "ID" Text "its id, which commands take" |row, _| Value::text(&row.id);
}

/// Sets where a column appears: some only where a row has a value, others only on the page of a change.
fn place_column(column: Column) -> Column {
    let when_known = matches!(column.id.as_ref(), "left" | "why" | "drift" | "stands" | "trouble");
    let shown = !when_known && !matches!(column.id.as_ref(), "source" | "id");
    Column { when_known, shown, largest_first: column.id == "number", ..column }
}

fn comparison_value(row: &ChangeRow, _: Option<Timestamp>) -> Value<'_> {
    text(row.comparison.as_ref().map(|found| found.verdict.column_text()))
}

fn text(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Missing, Value::text)
}

/// A time to the minute: `2026-11-22 02:03`.
fn short_time(time: &str) -> String {
    time.get(..16).map_or_else(|| time.to_owned(), |time| time.replace('T', " "))
}

fn progress(row: &ChangeRow, now: Option<Timestamp>) -> Value<'_> {
    let left = match (row.state, &row.deadline, now) {
        (ChangePhase::Applied, Some(deadline), Some(now)) => seconds_left(deadline, now).map(countdown),
        (ChangePhase::Applying | ChangePhase::RollingBack, ..) => {
            Some(format!("{} of {}", digits_in_groups(row.done), digits_in_groups(row.writes)))
        }
        _ => None,
    };
    left.map_or(Value::Missing, |left| Value::Text(Cow::Owned(left)))
}

/// Changes, with the time of display.
#[derive(Clone, Copy, Debug)]
pub struct ChangeRows<'r> {
    pub rows: &'r [ChangeRow],
    pub now: Option<Timestamp>,
    /// The text where there is no change.
    pub empty: &'r str,
}

impl Listing for ChangeRows<'_> {
    fn column_count(&self) -> usize {
        COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        VALUES[column](&self.rows[row], self.now)
    }

    fn empty_text(&self) -> &str {
        self.empty
    }
}
