//! Prints rows as aligned text. It passes twice over the cells and needs no memory for them.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use super::column_fit::TableLayout;
use super::paint::Paint;
use crate::catalogue::field::{Column, ColumnContent, Listing};
use crate::catalogue::query::Selection;
use crate::operations::check::certificate_text::wrap_text;
use fabdeck_fabric::observe::escape_unprintable;

pub const GAP: &str = "  ";

/// Prefix of a command that can be copied.
const COMMAND: &str = "fabdeck ";

/// Values are not wrapped at less than this width.
const MIN_TEXT_WIDTH: usize = 24;

/// Prints titles and rows.
pub fn write_table(
    out: &mut dyn Write,
    paint: Paint,
    page: TableLayout,
    listing: &dyn Listing,
    selection: &Selection,
) -> io::Result<()> {
    let columns: Vec<&Column> = selection.columns.iter().map(|at| listing.column(*at)).collect();
    let titles: Vec<String> = columns.iter().map(|column| title(column)).collect();
    let mut widths = widths(listing, selection);
    page.narrow(&columns, &titles, &mut widths);
    let mut line = String::new();
    for ((title, column), width) in titles.iter().zip(&columns).zip(&widths) {
        let heading = align(title, *width, column.kind.is_right_aligned());
        push(&mut line, &paint.heading(&heading));
    }
    writeln!(out, "{}", line.trim_end())?;
    for row in &selection.rows {
        line.clear();
        let mut rest = Vec::new();
        for ((at, column), width) in selection.columns.iter().zip(&columns).zip(&widths) {
            let value = listing.cell(*row, *at);
            let shown = column.in_words(&value);
            let text = match column.content == ColumnContent::Sentence && shown.width() > *width {
                true => {
                    let before = line_width(&widths, &columns);
                    let mut lines = wrap_text(&escape_unprintable(&shown), *width).into_iter();
                    let first = lines.next().unwrap_or_default();
                    rest = lines.map(|more| " ".repeat(before) + &more).collect();
                    first.into()
                }
                false => page.elide(escape_unprintable(&shown), *width),
            };
            let text = align(&text, *width, column.kind.is_right_aligned());
            push(&mut line, &paint.cell(&value, &text));
        }
        writeln!(out, "{}", line.trim_end())?;
        rest.iter().try_for_each(|more| writeln!(out, "{}", more.trim_end()))?;
    }
    Ok(())
}

/// Width of each column if nothing is cut.
pub fn widths(listing: &dyn Listing, selection: &Selection) -> Vec<usize> {
    let mut widths: Vec<usize> =
        selection.columns.iter().map(|at| title(listing.column(*at)).width()).collect();
    for row in &selection.rows {
        for (at, width) in selection.columns.iter().zip(&mut widths) {
            let cell = listing.cell(*row, *at);
            *width = (*width).max(escape_unprintable(&listing.column(*at).in_words(&cell)).width());
        }
    }
    widths
}

/// Width of the columns before the sentence of a row.
fn line_width(widths: &[usize], columns: &[&Column]) -> usize {
    let before = columns.iter().take_while(|column| column.content != ColumnContent::Sentence).zip(widths);
    before.map(|(_, width)| width + GAP.len()).sum()
}

fn push(line: &mut String, cell: &str) {
    if !line.is_empty() {
        line.push_str(GAP);
    }
    line.push_str(cell);
}

fn title(column: &Column) -> String {
    let title = escape_unprintable(&column.title).into_owned();
    if column.unit.is_empty() { title } else { format!("{title} {}", column.unit) }
}

fn align(text: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    if right { blanks + text } else { text.to_owned() + &blanks }
}

/// Prints names and values as two aligned columns; long values wrap on a narrow terminal.
pub fn write_pairs(
    out: &mut dyn Write,
    paint: Paint,
    page: TableLayout,
    pairs: &[(&str, String)],
) -> io::Result<()> {
    let width = pairs.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let room = page
        .prose_width()
        .map_or(usize::MAX, |all| all.saturating_sub(width + GAP.len()).max(MIN_TEXT_WIDTH));
    for (name, value) in pairs {
        let value = escape_unprintable(value);
        // A command stays on one line, because a line break would break the copied command.
        let wraps = value.width() > room && !value.starts_with(COMMAND);
        let lines = if wraps { wrap_text(&value, room) } else { vec![value.into_owned()] };
        for (at, line) in lines.iter().enumerate() {
            let name = if at == 0 { *name } else { "" };
            let written = format!("{}{GAP}{line}", paint.heading(&align(name, width, false)));
            writeln!(out, "{written}")?;
        }
    }
    Ok(())
}
