//! Draws the matrix: a cell for each pair of groups with the worst figure on its paths, the worst of each column below,
//! and the switches of the top rank.
//!
//! ```text
//!  from  to pod
//!          0  1  2        rows send, columns receive
//!  0       ▪  ·  4        ▪ the same part
//!  1       3  ▪ 91
//!  worst  ▂▂ ▂▂ ▇▇
//! ```

use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use super::draw_path::scale_glyphs;
use super::figures::{MapFigures, MapQuantity, step_role};
use super::matrix::{MatrixState, label_width};
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::gauge::bar_symbol;
use crate::console::drawing::pane::draw_rule;
use crate::console::drawing::theme::Role;
use crate::console::features::awaited::progress_words;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;

/// Columns of a cell with a number, and of one without.
const CELL_WIDTHS: [u16; 3] = [4, 3, 1];
/// Without colours, cells from this step on are reversed.
const HIGH_STEP: u8 = 3;
/// Longest name of a column that stands above it in one row.
const COLUMN_NAME_WIDTH: u16 = 2;

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let drawn = &state.screens.map.drawn;
    let (Some(structure), Some(look)) = (&drawn.structure, state.snapshot()) else { return };
    let (matrix, quantity) = (&drawn.matrix, drawn.quantity);
    let [one, _] = structure.groups.kind.words();
    let part = matrix.part().map(|of| structure.groups.title(structure, look, &of));
    let inner = matrix.crumbs(structure, look).is_empty();
    let heading = match inner {
        true => format!("from {one} (row) to {one} (column)"),
        false => format!("from {} (rows) to {} (columns)", part[0], part[1]),
    };
    canvas.draw_name(area, 1, 0, &heading, Role::Label);
    let label = label_width(area.width);
    let cells = Rect { x: area.x + label, width: area.width.saturating_sub(label), ..area };
    let wide = cell_width(matrix, cells.width);
    let common = draw_column_names(canvas, cells, matrix, wide);
    if let Some([before, after]) = common {
        let text = format!("to {before}{}{after}", canvas.signs.more);
        canvas.draw_text(Rect { width: label.min(area.width), ..area }, 1, 1, &text, Role::Label);
    }
    let rows = matrix.table.rows.len() as u16;
    for (row, bucket) in matrix.table.rows.iter().enumerate() {
        let y = 2 + row as u16;
        let role = if row == matrix.cursor.0 { Role::Strong } else { Role::Dim };
        let name = shorten_name(&bucket.name, label - 2, canvas.signs.more);
        canvas.draw_text(area, 1, y, &name, role);
        draw_row(canvas, cells, row, y, matrix, wide, quantity);
    }
    let y = 2 + rows;
    canvas.draw_text(area, 1, y, "worst", Role::Label);
    for column in 0..matrix.table.columns.len() {
        let worst = matrix.table.worst_of_column(column, quantity);
        let (sign, role) = bar_of(canvas, worst.map(|(_, figures)| figures), quantity);
        let text = sign.repeat(usize::from(wide.saturating_sub(1).max(1)));
        let x = column as u16 * wide + u16::from(wide > 1);
        canvas.draw_text(cells, x, y, &text, role);
    }
    draw_top_rank(canvas, area, y + 1, state);
    draw_legend_at(canvas, area, state);
    if matrix.stale {
        // The parts are known at once; what their paths carry follows.
        let far = matrix.table_task().map_or_else(String::new, |task| progress_words(state, task));
        let text = format!("paths being followed{far}");
        canvas.draw_right_aligned(area, width(&heading) + 3, 0, &text, Role::Warning);
    } else if matrix.table.broken > 0 {
        let text = format!("{} paths do not arrive", matrix.table.broken);
        canvas.draw_right_aligned(area, width(&heading) + 3, 0, &text, Role::Warning);
    }
}

/// Columns of a cell: a number and blanks, or a sign where there are many.
fn cell_width(matrix: &MatrixState, room: u16) -> u16 {
    let columns = matrix.table.columns.len().max(1);
    let fits = |wide: &u16| columns * usize::from(*wide) <= usize::from(room);
    CELL_WIDTHS.into_iter().find(fits).unwrap_or(1)
}

/// Draws the names above the columns; of longer ones only what they do not have in common, which it returns: of `rack1-leaf` and
/// `rack2-leaf` the numbers.
fn draw_column_names(
    canvas: &mut Canvas<'_>,
    cells: Rect,
    matrix: &MatrixState,
    wide: u16,
) -> Option<[String; 2]> {
    let names: Vec<&str> = matrix.table.columns.iter().map(|column| column.name.as_str()).collect();
    let fits = |names: &[&str]| wide > 1 && names.iter().all(|name| width(name) <= COLUMN_NAME_WIDTH);
    let common = common_ends(&names);
    let shown = match &common {
        _ if fits(&names) => names,
        Some([before, after]) => {
            let parts = names.iter().map(|name| &name[before.len()..name.len() - after.len()]);
            parts.collect()
        }
        None => Vec::new(),
    };
    if shown.is_empty() || !fits(&shown) {
        draw_long_column_names(canvas, cells, matrix, wide);
        return None;
    }
    for (column, name) in shown.iter().enumerate() {
        let role = if column == matrix.cursor.1 { Role::Strong } else { Role::Dim };
        let x = column as u16 * wide;
        let room = Rect { x: cells.x + x, width: wide.min(cells.width.saturating_sub(x)), ..cells };
        canvas.draw_right_aligned(room, 0, 1, name, role);
    }
    common.filter(|[before, after]| !before.is_empty() || !after.is_empty())
}

/// What all names begin and end with, around a number that distinguishes them; `None` where it is no number.
fn common_ends(names: &[&str]) -> Option<[String; 2]> {
    let first = names.first().filter(|_| names.len() > 1)?;
    let begin = first.find(|sign: char| sign.is_ascii_digit())?;
    let is_digit = |sign: char| sign.is_ascii_digit();
    let rest = first[begin..].trim_start_matches(is_digit);
    let (before, after) = (&first[..begin], rest);
    let is_number = |name: &&str| {
        let middle = name.strip_prefix(before).and_then(|name| name.strip_suffix(after));
        middle.is_some_and(|middle| !middle.is_empty() && middle.chars().all(is_digit))
    };
    names.iter().all(is_number).then(|| [before.to_owned(), after.to_owned()])
}

/// Of long names, that of the cursor's column stands above it, and those of the first and the last where they leave it room.
fn draw_long_column_names(canvas: &mut Canvas<'_>, cells: Rect, matrix: &MatrixState, wide: u16) {
    let columns = &matrix.table.columns;
    let Some(chosen) = columns.get(matrix.cursor.1) else { return };
    let whole = (columns.len() as u16 * wide).min(cells.width);
    let place = |column: usize, name: &str| {
        (column as u16 * wide).min(cells.width.saturating_sub(width(name))).min(cells.width)
    };
    let x = place(matrix.cursor.1, &chosen.name);
    canvas.draw_name(cells, x, 1, &chosen.name, Role::Strong);
    let (first, last) = (&columns[0], &columns[columns.len() - 1]);
    if width(&first.name) + 1 < x {
        canvas.draw_text(cells, 0, 1, &first.name, Role::Dim);
    }
    // The last name ends where its column does.
    let from = whole.saturating_sub(width(&last.name)).max(x + width(&chosen.name) + 1);
    if matrix.cursor.1 + 1 < columns.len() && from + width(&last.name) <= cells.width {
        canvas.draw_text(cells, from, 1, &last.name, Role::Dim);
    }
}

fn draw_row(
    canvas: &mut Canvas<'_>,
    cells: Rect,
    row: usize,
    y: u16,
    matrix: &MatrixState,
    wide: u16,
    quantity: MapQuantity,
) {
    let from = &matrix.table.rows[row];
    for (column, to) in matrix.table.columns.iter().enumerate() {
        let figures = matrix.table.cell(row, column).map(|(_, figures)| figures);
        let (text, style) = cell_look(canvas, figures, quantity, wide, from.leaves == to.leaves);
        let x = column as u16 * wide;
        let room = Rect { x: cells.x + x, width: wide.min(cells.width.saturating_sub(x)), ..cells };
        canvas.add_row_target(room, y, ClickTarget::Cell(row, column));
        let style = match (row, column) == matrix.cursor {
            true => canvas.theme.painted(Role::Key, true).add_modifier(Modifier::BOLD),
            false => style,
        };
        canvas.draw_styled(room, 0, y, &format!("{text:>0$}", usize::from(wide)), style);
    }
}

/// The text of a cell and its style. From the second step on the ground has the colour, so that a lit row or column
/// shows from afar. A number that would touch its neighbour is drawn as its bar.
fn cell_look(
    canvas: &Canvas<'_>,
    figures: Option<MapFigures>,
    quantity: MapQuantity,
    wide: u16,
    is_same: bool,
) -> (String, Style) {
    let step = figures.and_then(|figures| figures.step(quantity));
    let signs = canvas.signs;
    if is_same {
        return (signs.map[0].to_owned(), canvas.style(step_role(quantity, step.unwrap_or(0))));
    }
    let Some(step) = step else { return (signs.severity[3].to_owned(), canvas.style(Role::Faint)) };
    if step == 0 {
        return (signs.untold.to_owned(), canvas.style(Role::Faint));
    }
    let number = figures.and_then(|figures| figures.short_text(quantity)).filter(|_| wide > 1);
    let text = number.unwrap_or_else(|| step.to_string());
    if wide > 1 && width(&text) >= wide {
        let share = figures.and_then(|figures| figures.share(quantity)).unwrap_or(0.0);
        let bar = bar_symbol(canvas, share).repeat(usize::from(wide - 1));
        return (bar, canvas.style(step_role(quantity, step)));
    }
    match step {
        1 if wide > 1 => (text, canvas.style(Role::Dim)),
        _ => (text, canvas.theme.painted(step_role(quantity, step), step >= HIGH_STEP)),
    }
}

/// The bar of figures, or a sign where they are next to nothing or not known.
pub(super) fn bar_of(
    canvas: &Canvas<'_>,
    figures: Option<MapFigures>,
    quantity: MapQuantity,
) -> (&'static str, Role) {
    let step = figures.and_then(|figures| figures.step(quantity));
    let share = figures.and_then(|figures| figures.share(quantity)).unwrap_or(0.0);
    match step {
        None => (canvas.signs.severity[3], Role::Faint),
        Some(0) => (canvas.signs.untold, Role::Faint),
        Some(step) => (bar_symbol(canvas, share), step_role(quantity, step)),
    }
}

/// Draws a bar for each switch of the top rank, as many as there is room for.
fn draw_top_rank(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState) {
    let drawn = &state.screens.map.drawn;
    let (Some(structure), Some(tier)) = (&drawn.structure, state.known.tiers.first()) else { return };
    let last = area.height.saturating_sub(1);
    if !structure.tree || y + 2 >= last {
        return;
    }
    let quantity = drawn.quantity;
    let count = structure.ranks.first().copied().unwrap_or(0);
    let room = usize::from(area.width.saturating_sub(2)) * usize::from(last - y - 2);
    let shown = count.min(room);
    let text = match shown == count {
        true => format!("{count} {}, one bar each, by worst {}", tier.name, quantity.word()),
        false => format!("{shown} of {count} {}, one bar each, by worst {}", tier.name, quantity.word()),
    };
    let y = draw_rule(canvas, area, y, &text);
    let per_row = usize::from(area.width.saturating_sub(2)).max(1);
    for (at, switch) in structure.switches[..shown].iter().enumerate() {
        let (sign, role) = bar_of(canvas, Some(drawn.figures.node(switch.id)), quantity);
        canvas.draw_text(area, 1 + (at % per_row) as u16, y + (at / per_row) as u16, sign, role);
    }
}

/// Draws the scale of the colours and the signs in the last row.
pub(super) fn draw_legend_at(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let drawn = &state.screens.map.drawn;
    let quantity = drawn.quantity;
    let y = area.height.saturating_sub(1);
    let [title, least, most] = quantity.scale();
    let mut x = canvas.draw_text(area, 1, y, title, Role::Text) + 1;
    x = canvas.draw_text(area, x, y, least, Role::Dim) + 1;
    for step in 0..5 {
        x = canvas.draw_text(area, x, y, &scale_glyphs(canvas, step), step_role(quantity, step));
    }
    x = canvas.draw_text(area, x + 1, y, most, Role::Dim);
    let signs = [
        (canvas.signs.map[0], "same part"),
        (canvas.signs.untold, "next to nothing"),
        (canvas.signs.severity[3], "not known"),
    ];
    for (sign, word) in signs {
        if x + width(sign) + width(word) + 3 <= area.width {
            x = canvas.draw_text(area, x + 2, y, sign, Role::Dim);
            x = canvas.draw_text(area, x + 1, y, word, Role::Dim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_of_columns_differ_by_their_numbers() {
        let ends = |names: &[&str]| common_ends(names).map(|[before, after]| format!("{before}#{after}"));
        assert_eq!(ends(&["leaf0", "leaf11"]).as_deref(), Some("leaf#"));
        assert_eq!(ends(&["rack1-leaf", "rack12-leaf"]).as_deref(), Some("rack#-leaf"));
        assert_eq!(ends(&["leaf1", "spine1"]), None);
        assert_eq!(ends(&["leaf1"]), None, "one column has its whole name");
        assert_eq!(ends(&["leaf", "leaf"]), None);
    }
}
