//! Every port with its peer as comma-separated values.

use crate::files::csv::write_row;
use crate::session::{Browse, Look};

/// The title line, then a line for each port, with every field of `show ports`; what nobody said is an empty cell.
pub fn ports(look: &Look) -> Vec<u8> {
    let mut text = String::new();
    let Some(listing) = Browse::Ports.listing(look) else { return Vec::new() };
    let columns = 0..listing.column_count();
    write_row(&mut text, columns.clone().map(|at| listing.column(at).id.as_ref()));
    for row in 0..listing.row_count() {
        let values: Vec<_> = columns.clone().map(|column| listing.cell(row, column)).collect();
        let cells: Vec<_> =
            values.iter().map(|value| if value.is_missing() { "".into() } else { value.shown() }).collect();
        write_row(&mut text, cells.iter().map(AsRef::as_ref));
    }
    text.into_bytes()
}
