//! Rows as aligned text. Two passes over the cells take no memory, however many rows there are.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::output::plain;
use super::paint::Paint;
use crate::session::{Column, Listing, Selection};

const GAP: &str = "  ";

/// Writes titles and rows.
pub fn write_table(
    out: &mut dyn Write,
    paint: Paint,
    listing: &dyn Listing,
    selection: &Selection,
) -> io::Result<()> {
    let columns: Vec<&Column> = selection.columns.iter().map(|at| listing.column(*at)).collect();
    let titles: Vec<String> = columns.iter().map(|column| title(column)).collect();
    let mut widths: Vec<usize> = titles.iter().map(|title| title.width()).collect();
    for row in &selection.rows {
        for (column, width) in selection.columns.iter().zip(&mut widths) {
            *width = (*width).max(plain(&listing.cell(*row, *column).shown()).width());
        }
    }
    let mut line = String::new();
    for ((title, column), width) in titles.iter().zip(&columns).zip(&widths) {
        let heading = aligned(title, *width, column.kind.right_aligned());
        push(&mut line, &paint.heading(&heading));
    }
    writeln!(out, "{}", line.trim_end())?;
    for row in &selection.rows {
        line.clear();
        for ((at, column), width) in selection.columns.iter().zip(&columns).zip(&widths) {
            let value = listing.cell(*row, *at);
            let text = aligned(&plain(&value.shown()), *width, column.kind.right_aligned());
            push(&mut line, &paint.cell(&value, &text));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn push(line: &mut String, cell: &str) {
    if !line.is_empty() {
        line.push_str(GAP);
    }
    line.push_str(cell);
}

fn title(column: &Column) -> String {
    let title = plain(&column.title).into_owned();
    if column.unit.is_empty() { title } else { format!("{title} {}", column.unit) }
}

fn aligned(text: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    if right { blanks + text } else { text.to_owned() + &blanks }
}

/// Names and values as two aligned columns.
pub fn write_pairs(out: &mut dyn Write, paint: Paint, pairs: &[(&str, String)]) -> io::Result<()> {
    let width = pairs.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, value) in pairs {
        writeln!(out, "{}{GAP}{}", paint.heading(&aligned(name, width, false)), plain(value))?;
    }
    Ok(())
}
