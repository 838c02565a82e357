//! Comma-separated rows (RFC 4180), rows with another separator, and deviations of tools: blanks before a quote, quotes within quotes.

use std::borrow::Cow;

/// A quoted cell without an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a quoted cell has no closing quote")]
pub struct UnclosedQuote;

/// Writes one row with its line end. Quotes a cell if it could be misread otherwise.
pub fn write_row<'a>(out: &mut String, cells: impl Iterator<Item = &'a str>) {
    let start = out.len();
    for (at, cell) in cells.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_cell(out, cell);
    }
    if out.len() == start {
        // A row of one empty cell must not become an empty line.
        out.push_str("\"\"");
    }
    out.push('\n');
}

fn write_cell(out: &mut String, cell: &str) {
    let special = |c: char| matches!(c, ',' | '"' | '\n' | '\r');
    let blank_ends = cell.trim().len() != cell.len();
    if !blank_ends && !cell.contains(special) {
        out.push_str(cell);
        return;
    }
    out.push('"');
    for part in cell.split_inclusive('"') {
        out.push_str(part);
        if part.ends_with('"') {
            out.push('"');
        }
    }
    out.push('"');
}

/// Splits one row (without its line end) into `cells`, which is emptied first. A cell without quotes keeps its blanks.
/// A quote inside a quoted cell is kept unless it ends the cell.
pub fn read_row<'a>(row: &'a str, cells: &mut Vec<Cow<'a, str>>) -> Result<(), UnclosedQuote> {
    read_cells(row, ',', cells)
}

/// The same with another separator.
pub fn read_cells<'a>(
    row: &'a str,
    separator: char,
    cells: &mut Vec<Cow<'a, str>>,
) -> Result<(), UnclosedQuote> {
    cells.clear();
    let mut rest = row;
    loop {
        let unquoted = rest.trim_start_matches(|sign| is_blank(sign, separator));
        let (cell, after) = match unquoted.strip_prefix('"') {
            Some(quoted) => quoted_cell(quoted, separator)?,
            None => {
                let end = rest.find(separator).unwrap_or(rest.len());
                (Cow::Borrowed(&rest[..end]), &rest[end..])
            }
        };
        cells.push(cell);
        match after.strip_prefix(separator) {
            Some(more) => rest = more,
            None => return Ok(()),
        }
    }
}

/// Whether a sign around a quoted cell has no meaning.
fn is_blank(sign: char, separator: char) -> bool {
    matches!(sign, ' ' | '\t') && sign != separator
}

/// Reads a cell after its opening quote; returns the cell and the rest (empty, or a separator and more).
fn quoted_cell(text: &str, separator: char) -> Result<(Cow<'_, str>, &str), UnclosedQuote> {
    // Used only if the cell is not a plain piece of the row.
    let mut owned = String::new();
    let mut from = 0;
    let mut search = 0;
    while let Some(found) = text[search..].find('"') {
        let quote = search + found;
        let after = &text[quote + 1..];
        if after.starts_with('"') {
            owned.push_str(&text[from..=quote]);
            (from, search) = (quote + 2, quote + 2);
            continue;
        }
        let tail = after.trim_start_matches(|sign| is_blank(sign, separator));
        if tail.is_empty() || tail.starts_with(separator) {
            let piece = &text[from..quote];
            let cell = if from == 0 { Cow::Borrowed(piece) } else { Cow::Owned(owned + piece) };
            return Ok((cell, tail));
        }
        search = quote + 1;
    }
    Err(UnclosedQuote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cells(row: &str) -> Result<Vec<String>, UnclosedQuote> {
        let mut cells = Vec::new();
        read_row(row, &mut cells)?;
        Ok(cells.into_iter().map(Cow::into_owned).collect())
    }

    #[test]
    fn rows_of_the_wild() {
        for (row, expected) in [
            ("a,b,,c", &["a", "b", "", "c"][..]),
            ("", &[""]),
            ("\"\"", &[""]),
            ("a,", &["a", ""]),
            ("\"MF0;leaf,1:X/U1\",2", &["MF0;leaf,1:X/U1", "2"]),
            ("0x1, \"rack 3, top\" , 4", &["0x1", "rack 3, top", " 4"]),
            ("\"say \"\"hi\"\"\",1", &["say \"hi\"", "1"]),
            ("\"a \"b\" c\",1", &["a \"b\" c", "1"]),
            ("trail ,x", &["trail ", "x"]),
        ] {
            assert_eq!(
                cells(row).as_deref(),
                Ok(&expected.iter().map(|c| c.to_string()).collect::<Vec<_>>()[..]),
                "{row}"
            );
        }
        assert_eq!(cells("1,\"cut"), Err(UnclosedQuote));
        assert_eq!(cells("\""), Err(UnclosedQuote));
    }

    #[test]
    fn only_what_needs_quotes_is_quoted() {
        let mut out = String::new();
        write_row(&mut out, ["plain", "a,b", "x\"y", " blank", ""].into_iter());
        write_row(&mut out, [""].into_iter());
        assert_eq!(out, "plain,\"a,b\",\"x\"\"y\",\" blank\",\n\"\"\n");
    }

    proptest! {
        #[test]
        fn written_rows_read_back(row in proptest::collection::vec("[a\", \t\n\r;x]{0,6}|\\PC{0,4}", 1..6)) {
            let mut out = String::new();
            write_row(&mut out, row.iter().map(String::as_str));
            prop_assert_eq!(cells(out.strip_suffix('\n').unwrap()), Ok(row));
        }

        #[test]
        fn no_row_panics(row in "[a\", ]{0,12}|\\PC{0,20}") {
            let _ = cells(&row);
        }
    }
}
