//! Prints all changes as a table, the newest last.

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::catalogue::failure::Failure;
use crate::catalogue::field::{Column, Listing};
use crate::catalogue::query::{Columns, Query};
use crate::catalogue::value::{FieldKind, Value};
use crate::operations::changes::change_row::{ChangeRow, deadline_words, silent_words};
use crate::script::column_fit::PROSE_FIELD;
use crate::script::context::Context;
use fabdeck_change::ChangePhase;

const fn column(id: &'static str, title: &'static str, kind: FieldKind) -> Column {
    Column::new(Cow::Borrowed(id), Cow::Borrowed(title), kind, Cow::Borrowed(""))
}

/// A column that is dropped first on a narrow terminal.
const fn spare_column(id: &'static str, title: &'static str) -> Column {
    let mut column = column(id, title, FieldKind::Text);
    column.spare = true;
    column
}

/// A column that is shown if some row has a value.
const fn optional_column(id: &'static str, title: &'static str) -> Column {
    let mut column = column(id, title, FieldKind::Text);
    (column.shown, column.when_known) = (false, true);
    column
}

static COLUMNS: &[Column] = &[
    column("number", "NO", FieldKind::Number),
    column("id", "ID", FieldKind::Text),
    column("state", "STATE", FieldKind::Text),
    column("time", "TIME", FieldKind::Text),
    column("user", "USER", FieldKind::Text),
    spare_column("via", "VIA"),
    column("engine", "ENGINE", FieldKind::Text),
    column("writes", "WRITES", FieldKind::Number),
    spare_column("source", "SOURCE"),
    optional_column("stands", "STANDS"),
    column(PROSE_FIELD, "WHY", FieldKind::Text),
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
    let rows = rows.into_iter().map(|row| (state_text(&row, now), row)).collect();
    let changes = ChangeTable(rows);
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

/// Rows with the text of their last column.
struct ChangeTable(Vec<(String, ChangeRow)>);

impl Listing for ChangeTable {
    fn column_count(&self) -> usize {
        COLUMNS.len()
    }

    fn column(&self, at: usize) -> &Column {
        &COLUMNS[at]
    }

    fn row_count(&self) -> usize {
        self.0.len()
    }

    fn cell(&self, row: usize, column: usize) -> Value<'_> {
        let (words, row) = &self.0[row];
        match COLUMNS[column].id.as_ref() {
            "number" => row.number.into(),
            "id" => row.id.as_str().into(),
            "state" => row.state_title().into(),
            // To the second, which is precise enough for a reader.
            "time" => {
                let time = row.time.get(..19).unwrap_or(&row.time);
                Value::Text(time.replace('T', " ").into())
            }
            "user" => row.user.as_str().into(),
            "via" => row.via.as_str().into(),
            "engine" => row.engine.as_str().into(),
            "writes" => row.writes.into(),
            "source" => row.source.as_str().into(),
            "stands" => row.comparison.as_ref().map(|found| found.verdict.column_text()).into(),
            _ => Some(words.as_str()).filter(|words| !words.is_empty()).into(),
        }
    }

    fn empty_text(&self) -> &str {
        "nothing is pending"
    }
}
