//! Every port with its peer as comma-separated values (RFC 4180, lines ended by LF).

use crate::session::{Browse, Look, Value};

/// The title line, then a line for each port, with every field of `show ports`.
pub fn ports(look: &Look) -> Vec<u8> {
    let mut text = String::new();
    if let Some(listing) = Browse::Ports.listing(look) {
        let ids: Vec<&str> = (0..listing.column_count()).map(|at| listing.column(at).id.as_ref()).collect();
        text.push_str(&ids.join(","));
        text.push('\n');
        for row in 0..listing.row_count() {
            for column in 0..listing.column_count() {
                if column > 0 {
                    text.push(',');
                }
                push_cell(&mut text, &listing.cell(row, column));
            }
            text.push('\n');
        }
    }
    text.into_bytes()
}

/// What nobody said is an empty cell.
fn push_cell(text: &mut String, value: &Value<'_>) {
    if value.is_missing() {
        return;
    }
    let cell = value.shown();
    if cell.contains(['"', ',', '\n', '\r']) {
        text.push('"');
        text.push_str(&cell.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(&cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_must() {
        let mut text = String::new();
        push_cell(&mut text, &Value::text("a \"b\", c"));
        push_cell(&mut text, &Value::Missing);
        push_cell(&mut text, &Value::text("d"));
        assert_eq!(text, "\"a \"\"b\"\", c\"d");
    }
}
