//! Writes every port with its peer as comma-separated values.

use crate::catalogue::field::Listing;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::views::ports;
use fabdeck_fabric::observe::escape_unprintable;
use fabdeck_files::csv::write_row;

/// Escapes a cell, so that no spreadsheet evaluates it as a formula and no terminal interprets its control characters.
fn escape_cell(cell: &str) -> String {
    let escaped = escape_unprintable(cell);
    let is_formula = escaped.starts_with(['=', '+', '-', '@']) && escaped.parse::<f64>().is_err();
    if is_formula { format!("'{escaped}") } else { escaped.into_owned() }
}

/// A title line, then a line for each port with every field of `show ports`; an unknown value is an empty cell.
pub fn ports(snapshot: &Snapshot, raw: bool) -> Vec<u8> {
    let mut text = String::new();
    let listing = ports::ports(snapshot);
    let columns = 0..listing.column_count();
    write_row(&mut text, columns.clone().map(|at| listing.column(at).id.as_ref()));
    for row in 0..listing.row_count() {
        let values: Vec<_> = columns.clone().map(|column| listing.cell(row, column)).collect();
        let cells: Vec<_> = values
            .iter()
            .map(|value| if value.is_missing() { "".into() } else { value.display_text() })
            .collect();
        match raw {
            true => write_row(&mut text, cells.iter().map(AsRef::as_ref)),
            false => {
                let cells: Vec<String> = cells.iter().map(|cell| escape_cell(cell)).collect();
                write_row(&mut text, cells.iter().map(String::as_str));
            }
        }
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::escape_cell;

    #[test]
    fn no_cell_is_a_formula_or_acts_on_a_terminal() {
        for (cell, written) in [
            ("=HYPERLINK(1)", "'=HYPERLINK(1)"),
            ("+1 rack", "'+1 rack"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-cmd", "'-cmd"),
            ("-3.5", "-3.5"),
            ("+7", "+7"),
            ("node-1", "node-1"),
            ("a\u{1b}]0;x", "a\\u{1b}]0;x"),
        ] {
            assert_eq!(escape_cell(cell), written);
        }
    }
}
