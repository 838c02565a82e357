//! The changes as rows, the last one first.

use std::borrow::Cow;

use jiff::Timestamp;

use super::change_row::{ChangeRow, countdown, seconds_left};
use crate::catalogue::field::{Field, Tone};
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::{RowContext, View};
use fabdeck_change::ChangePhase;
use fabdeck_fabric::observe::digits_in_groups;

/// The time of display, which values that count down need.
type DisplayTime = Option<Timestamp>;

impl RowContext for DisplayTime {}

type RowField = Field<ChangeRow, DisplayTime>;

pub const CHANGES: View<ChangeRow, DisplayTime> = View::new(CHANGE_FIELDS, "no change was made here");

static CHANGE_FIELDS: &[RowField] = &[
    RowField::new("number", "NO", FieldKind::Number, "the number of the change", |_, row| row.number.into())
        .identifier()
        .largest_first(),
    RowField::new("state", "STATE", FieldKind::Text, "the state of the change", |_, row| {
        Value::text(row.state_title())
    })
    .toned(&[
        ("OVERDUE", Tone::Danger),
        ("rollback incomplete", Tone::Danger),
        ("applying", Tone::Warning),
        ("applied, not confirmed", Tone::Warning),
        ("rolling back", Tone::Warning),
        ("refused", Tone::Warning),
        ("confirmed", Tone::Good),
    ])
    .status(),
    RowField::new(
        "left",
        "LEFT",
        FieldKind::Text,
        "time until it is rolled back unless confirmed, or the writes that are done",
        |now, row| progress(row, *now),
    )
    .keyword()
    .when_known(),
    RowField::new(
        "what",
        "WHAT",
        FieldKind::Text,
        "the engine that proposed it, or the change of a link",
        |_, row| Value::text(&row.engine),
    )
    .sentence(),
    RowField::new("why", "REASON", FieldKind::Text, "why it is or was rolled back, or refused", |_, row| {
        row.why.as_deref().into()
    })
    .when_known(),
    RowField::new("writes", "WRITES", FieldKind::Number, "parts of switches that it writes", |_, row| {
        row.writes.into()
    })
    .shed(1),
    RowField::new("user", "USER", FieldKind::Text, "the user who began it", |_, row| Value::text(&row.user))
        .shed(2),
    RowField::new(
        "time",
        "BEGUN",
        FieldKind::Text,
        "when it was begun, without the date if it is today",
        |now, row| short_time(&row.time, *now).into(),
    )
    .keyword(),
    RowField::new(
        "via",
        "VIA",
        FieldKind::Text,
        "how its writes reach the fabric: direct or opensm",
        |_, row| Value::text(&row.via),
    )
    .shed(0),
    RowField::new(
        "drift",
        "DRIFT",
        FieldKind::Text,
        "entries that another tool has overwritten since it was applied",
        |_, row| row.drift.as_deref().into(),
    )
    .when_known(),
    RowField::new(
        "stands",
        "IN FORCE",
        FieldKind::Text,
        "whether the fabric still has what the change wrote, as of the last comparison",
        |_, row| row.stands_words().into(),
    )
    .when_known(),
    RowField::new("trouble", "TROUBLE", FieldKind::Text, "what prevents its guard from working", |_, row| {
        row.trouble.as_deref().into()
    })
    .when_known(),
    RowField::new("source", "SOURCE", FieldKind::Text, "the source that it writes to", |_, row| {
        Value::text(&row.source)
    })
    .on_request(),
    RowField::new("id", "ID", FieldKind::Text, "its id, which commands take", |_, row| Value::text(&row.id))
        .on_request(),
];

/// A time to the minute: `2026-11-22 02:03`, and `02:03` where it is of today.
fn short_time(time: &str, now: Option<Timestamp>) -> String {
    let today = now.map(|now| now.strftime("%Y-%m-%dT").to_string());
    let Some(time) = time.get(..16) else { return time.to_owned() };
    match today.and_then(|today| time.strip_prefix(&today).map(str::to_owned)) {
        Some(of_day) => of_day,
        None => time.replace('T', " "),
    }
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
