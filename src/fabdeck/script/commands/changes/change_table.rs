//! Prints all changes as a table, the newest last.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::catalogue::failure::Failure;
use crate::catalogue::field::Field;
use crate::catalogue::query::{Columns, Query};
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::view::View;
use crate::operations::changes::change_row::{ChangeRow, deadline_words, silent_words};
use crate::script::context::Context;
use fabdeck_change::ChangePhase;

/// A change with the text of its last column.
type ChangeLine = (String, ChangeRow);

type RowField = Field<ChangeLine, ()>;

const CHANGE_TABLE: View<ChangeLine, ()> = View::new(FIELDS, "nothing is pending");

static FIELDS: &[RowField] = &[
    RowField::new("number", "NO", FieldKind::Number, "", |(), (_, row)| row.number.into()).identifier(),
    RowField::new("id", "ID", FieldKind::Text, "", |(), (_, row)| Value::text(&row.id)),
    RowField::new("state", "STATE", FieldKind::Text, "", |(), (_, row)| row.state_title().into()).status(),
    // To the second, which is precise enough for a reader.
    RowField::new("time", "TIME", FieldKind::Text, "", |(), (_, row)| {
        row.time.get(..19).unwrap_or(&row.time).replace('T', " ").into()
    })
    .keyword(),
    RowField::new("user", "USER", FieldKind::Text, "", |(), (_, row)| Value::text(&row.user)),
    RowField::new("via", "VIA", FieldKind::Text, "", |(), (_, row)| Value::text(&row.via)).spare(),
    RowField::new("engine", "ENGINE", FieldKind::Text, "", |(), (_, row)| Value::text(&row.engine)),
    RowField::new("writes", "WRITES", FieldKind::Number, "", |(), (_, row)| row.writes.into()),
    RowField::new("source", "SOURCE", FieldKind::Text, "", |(), (_, row)| Value::text(&row.source)).spare(),
    RowField::new("stands", "IN FORCE", FieldKind::Text, "", |(), (_, row)| row.stands_words().into())
        .when_known(),
    RowField::new("about", "WHY", FieldKind::Text, "", |(), (words, _)| {
        Some(words.as_str()).filter(|words| !words.is_empty()).into()
    })
    .sentence(),
];

/// Prints all changes, or that these folders have none.
pub fn write(
    context: &mut Context<'_, '_>,
    rows: Vec<ChangeRow>,
    folders: &[PathBuf],
) -> Result<(), Failure> {
    if rows.is_empty() {
        // Of two folders that are looked at by default one is rarely there.
        let is_named = folders.len() == 1;
        let name = |folder: &PathBuf| match folder.try_exists() {
            Ok(false) if is_named => format!("{} (which does not exist)", folder.display()),
            _ => folder.display().to_string(),
        };
        let folders: Vec<String> = folders.iter().map(name).collect();
        let folders = folders.join(" or ");
        writeln!(context.output.out, "no change is pending, and none was applied so far, in {folders}")?;
        return Ok(());
    }
    let now = Timestamp::now();
    let rows: Vec<ChangeLine> = rows.into_iter().map(|row| (state_text(&row, now), row)).collect();
    let changes = CHANGE_TABLE.of(rows);
    let all = Query::default().select(&changes, Columns::Shown)?;
    Ok(context.output.write_table(&changes, all, false)?)
}

/// The last column: why the change is in its state, and what happens next.
fn state_text(row: &ChangeRow, now: Timestamp) -> String {
    let left = match row.left.len() {
        0 => None,
        1 => Some("1 part is left as it was".to_owned()),
        some => Some(format!("{some} parts are left as they were")),
    };
    let waits = row.deadline.as_ref().filter(|_| row.state == ChangePhase::Applied || row.overdue);
    let waits = waits.map(|deadline| deadline_words(deadline, now));
    let words =
        [waits, row.why.clone(), row.drift.clone(), row.trouble.clone(), silent_words(&row.silent), left];
    words.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
