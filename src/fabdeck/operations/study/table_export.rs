//! The table of a study as a file: CSV, JSON Lines or Parquet. The columns of the view are the schema of each.

use std::path::Path;

use super::study_row::TABLE_SCHEMA;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::field::Listing;
use crate::catalogue::query::Selection;
use crate::catalogue::value::{FieldKind, Value};
use crate::catalogue::value_json::write_json_value;
use fabdeck_files::csv::write_row;
use fabdeck_files::parquet_table::{ParquetColumn, ParquetValues, write_parquet};

/// A form of a table file, by the end of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableForm {
    Csv,
    JsonLines,
    Parquet,
}

impl TableForm {
    pub fn of_file(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|end| end.to_str()) {
            Some("csv") => Ok(Self::Csv),
            Some("jsonl") => Ok(Self::JsonLines),
            Some("parquet") => Ok(Self::Parquet),
            _ => {
                let what = format!(
                    "FD-9430: {} has no known form; end its name in .csv, .jsonl or .parquet",
                    path.display()
                );
                Err(Failure::usage(what))
            }
        }
    }
}

/// The bytes of a table file.
pub fn export_table(
    form: TableForm,
    listing: &dyn Listing,
    selection: &Selection,
    study: &str,
) -> Result<Vec<u8>, Failure> {
    match form {
        TableForm::Csv => Ok(csv(listing, selection)),
        TableForm::JsonLines => Ok(json_lines(listing, selection)?),
        TableForm::Parquet => parquet(listing, selection, study),
    }
}

fn csv(listing: &dyn Listing, selection: &Selection) -> Vec<u8> {
    let mut text = String::new();
    write_row(&mut text, selection.columns.iter().map(|at| listing.column(*at).id.as_ref()));
    for row in &selection.rows {
        let values: Vec<Value<'_>> = selection.columns.iter().map(|at| listing.cell(*row, *at)).collect();
        let cells: Vec<_> = values
            .iter()
            .map(|value| if value.is_missing() { "".into() } else { value.display_text() })
            .collect();
        write_row(&mut text, cells.iter().map(AsRef::as_ref));
    }
    text.into_bytes()
}

/// A line for each row: an object with the columns as keys.
fn json_lines(listing: &dyn Listing, selection: &Selection) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for row in &selection.rows {
        for (at, column) in selection.columns.iter().enumerate() {
            bytes.push(if at == 0 { b'{' } else { b',' });
            serde_json::to_writer(&mut bytes, &listing.column(*column).id)?;
            bytes.push(b':');
            write_json_value(&mut bytes, &listing.cell(*row, *column))?;
        }
        bytes.extend_from_slice(b"}\n");
    }
    Ok(bytes)
}

fn parquet(listing: &dyn Listing, selection: &Selection, study: &str) -> Result<Vec<u8>, Failure> {
    let column = |at: &usize| {
        let described = listing.column(*at);
        let cells = || selection.rows.iter().map(|row| listing.cell(*row, *at));
        let values = match described.kind {
            FieldKind::Number => ParquetValues::Integers(cells().map(|value| integer(&value)).collect()),
            FieldKind::Real => ParquetValues::Reals(cells().map(|value| real(&value)).collect()),
            FieldKind::Flag => ParquetValues::Flags(cells().map(|value| flag(&value)).collect()),
            _ => ParquetValues::Texts(cells().map(|value| known_text(&value)).collect()),
        };
        ParquetColumn { name: described.id.to_string(), values }
    };
    let columns = selection.columns.iter().map(column).collect::<Vec<_>>();
    let metadata = [("schema", TABLE_SCHEMA), ("study", study)];
    write_parquet(&columns, &metadata).map_err(|error| {
        Failure::new(Exit::Failed, format!("FD-9431: the Parquet file cannot be made: {error}"))
    })
}

fn integer(value: &Value<'_>) -> Option<i64> {
    match value {
        Value::Number(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

fn real(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Real(number) => Some(number.0),
        _ => None,
    }
}

fn flag(value: &Value<'_>) -> Option<bool> {
    match value {
        Value::Flag(flag) => Some(*flag),
        _ => None,
    }
}

fn known_text(value: &Value<'_>) -> Option<String> {
    (!value.is_missing()).then(|| value.display_text().into_owned())
}
