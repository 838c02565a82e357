//! Charts over time: an area whose colour rises with its height, a second curve, a printed scale, a time axis with the
//! marks of events. A frame costs what the chart has of columns, whatever the length of the history.

use ratatui::layout::Rect;

use super::braille::{CellSharing, DotGrid};
use super::canvas::{Canvas, width};
use super::theme::{Quantity, Role};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ChartScale {
    Linear,
    /// The logarithm of one more than the value.
    Logarithmic,
}

/// A sign on the time axis, with a faint line above it. Places on the axis are shares of its length.
#[derive(Clone, Copy, Debug)]
pub struct ChartMark {
    pub at: f64,
    pub sign: &'static str,
    pub role: Role,
}

/// A chart. It has a value for each column of dots, two in a cell, the last one at the right; `None` where nothing was
/// read.
#[derive(Clone, Copy, Debug)]
pub struct Chart<'c> {
    pub quantity: Quantity,
    pub values: &'c [Option<f64>],
    /// A second curve on the same scale, drawn as a line.
    pub curve: &'c [Option<f64>],
    pub scale: ChartScale,
    /// The value at the top.
    pub top: f64,
    /// Labels of the scale, by their share of the height.
    pub labels: &'c [(f64, String)],
    /// Labels of the time axis, by their share of its length; the chart has no axis where this is empty.
    pub ticks: &'c [(f64, String)],
    pub marks: &'c [ChartMark],
    /// The cursor in time, as a share of the axis.
    pub cursor: Option<f64>,
    /// Columns of the labels of the scale, with the scale itself.
    pub label_width: u16,
}

/// Weights of what shares a cell of a chart.
const BASELINE_WEIGHT: i32 = -1;
const CURVE_WEIGHT: i32 = i32::MAX;

impl Chart<'_> {
    /// The share of the height that a value reaches.
    fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            ChartScale::Linear => value / self.top,
            ChartScale::Logarithmic => value.ln_1p() / self.top.ln_1p(),
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Draws a chart that fills the area.
pub fn draw_chart(canvas: &mut Canvas<'_>, area: Rect, chart: &Chart<'_>) {
    let area = area.intersection(canvas.buffer.area);
    let axis = u16::from(!chart.ticks.is_empty());
    let left = chart.label_width.min(area.width);
    let plot = Rect {
        x: area.x + left,
        width: area.width - left,
        height: area.height.saturating_sub(axis),
        y: area.y,
    };
    if plot.width == 0 || plot.height == 0 {
        return;
    }
    draw_scale(canvas, area, plot, chart);
    draw_values(canvas, plot, chart);
    draw_curve(canvas, plot, chart);
    draw_mark_lines(canvas, plot, chart);
    if axis == 1 {
        draw_axis(canvas, plot, chart);
    }
    if let Some(at) = chart.cursor {
        let x = column_of(plot, at);
        for y in 0..plot.height {
            canvas.draw_text(plot, x, y, canvas.signs.chart[1], Role::Key);
        }
    }
}

fn draw_scale(canvas: &mut Canvas<'_>, area: Rect, plot: Rect, chart: &Chart<'_>) {
    let [labelled, side, _, _, grid] = canvas.signs.chart;
    let beside = plot.x - area.x;
    if beside == 0 {
        return;
    }
    for y in 0..plot.height {
        canvas.draw_text(area, beside - 1, y, side, Role::Border);
    }
    for (share, label) in chart.labels {
        let y = plot.height - 1 - (share * f64::from(plot.height - 1)).round() as u16;
        let room = Rect { width: beside - 1, ..area };
        canvas.draw_right_aligned(room, 0, y, label, Role::Dim);
        canvas.draw_text(area, beside - 1, y, labelled, Role::Border);
        if *share > 0.0 {
            for x in (0..plot.width).step_by(2) {
                canvas.draw_text(plot, x, y, grid, Role::Grid);
            }
        }
    }
}

fn draw_values(canvas: &mut Canvas<'_>, plot: Rect, chart: &Chart<'_>) {
    let mut dots = DotGrid::new(plot.width, plot.height, CellSharing::AllDots);
    let columns = last_columns(chart.values, &dots);
    let first = dots.dots_wide() - columns.len() as i32;
    for (x, value) in (first..).zip(columns) {
        let Some(value) = *value else { continue };
        let height = (chart.share(value) * f64::from(dots.dots_high())).round() as i32;
        let height = if value > 0.0 { height.max(1) } else { height };
        for level in 0..height {
            // The colour of a dot follows the middle of its cell, so that a cell has one colour.
            let middle = (f64::from(level / 4) + 0.5) / f64::from(plot.height);
            let role = chart.quantity.step_role(1 + ((middle * 4.0) as u8).min(3));
            dots.set(x, dots.dots_high() - 1 - level, role, level);
        }
        if height == 0 {
            dots.set(x, dots.dots_high() - 1, Role::Border, BASELINE_WEIGHT);
        }
    }
    dots.draw(canvas, plot);
}

/// Draws the second curve in cells of its own: the area leaves the cells that it goes through.
fn draw_curve(canvas: &mut Canvas<'_>, plot: Rect, chart: &Chart<'_>) {
    let mut dots = DotGrid::new(plot.width, plot.height, CellSharing::AllDots);
    let columns = last_columns(chart.curve, &dots);
    let first = dots.dots_wide() - columns.len() as i32;
    let mut before: Option<(i32, i32)> = None;
    for (x, value) in (first..).zip(columns) {
        let Some(value) = *value else {
            before = None;
            continue;
        };
        let y = dots.dots_high() - 1 - (chart.share(value) * f64::from(dots.dots_high() - 1)).round() as i32;
        dots.draw_line(before.unwrap_or((x, y)), (x, y), Role::Strong, CURVE_WEIGHT, 0);
        before = Some((x, y));
    }
    dots.draw(canvas, plot);
}

/// The column of a place on the time axis. A reading is of the time up to it, so a place between two columns belongs to the
/// left one, where the value of that reading ends.
pub fn column_of(plot: Rect, at: f64) -> u16 {
    let behind = (at.clamp(0.0, 1.0) * f64::from(plot.width) - 1e-6).ceil() as u16;
    behind.saturating_sub(1).min(plot.width - 1)
}

fn draw_mark_lines(canvas: &mut Canvas<'_>, plot: Rect, chart: &Chart<'_>) {
    let [_, _, _, line, grid] = canvas.signs.chart;
    for mark in chart.marks {
        let x = column_of(plot, mark.at);
        for y in 0..plot.height {
            let free = canvas.buffer.cell((plot.x + x, plot.y + y)).is_some_and(|cell| {
                let sign = cell.symbol();
                sign == " " || sign == grid
            });
            if free {
                canvas.draw_text(plot, x, y, line, mark.role);
            }
        }
    }
}

fn draw_axis(canvas: &mut Canvas<'_>, plot: Rect, chart: &Chart<'_>) {
    let y = plot.height;
    let whole = Rect { height: plot.height + 1, ..plot };
    if plot.x > 0 {
        let corner = Rect { x: plot.x - 1, width: 1, ..whole };
        canvas.draw_text(corner, 0, y, canvas.signs.chart[2], Role::Border);
    }
    canvas.draw_text(whole, 0, y, &canvas.signs.rule.repeat(plot.width.into()), Role::Border);
    let marks: Vec<u16> = chart.marks.iter().map(|mark| column_of(plot, mark.at)).collect();
    let mut end = plot.width;
    for (at, text) in chart.ticks {
        let (column, wide) = (column_of(plot, *at), width(text));
        if wide > plot.width {
            continue;
        }
        let x = column.saturating_sub(wide / 2).min(plot.width - wide);
        // A label that would touch the sign of an event gives way, but not the one at the end.
        let touches = |mark: &u16| *mark + 1 >= x && *mark <= x + wide;
        if *at >= 1.0 {
            end = x;
        } else if marks.iter().any(touches) {
            continue;
        }
        canvas.draw_text(whole, x, y, text, Role::Dim);
    }
    // A sign beside or below the label at the end stands before it, with the line between them.
    let last = if end < plot.width { end.checked_sub(2) } else { plot.width.checked_sub(1) };
    let Some(last) = last else { return };
    for (mark, x) in chart.marks.iter().zip(marks) {
        canvas.draw_text(whole, x.min(last), y, mark.sign, mark.role);
    }
}

/// Writes the labels of a time axis into a row; those without room are left out, and those that the sign of a cursor in
/// the column `taken` would touch.
pub fn draw_ticks(canvas: &mut Canvas<'_>, row: Rect, ticks: &[(f64, String)], taken: Option<u16>) {
    let mut behind = 0;
    for (at, text) in ticks {
        let (column, wide) = (column_of(row, *at), width(text));
        if wide > row.width {
            continue;
        }
        let x = column.saturating_sub(wide / 2).min(row.width - wide);
        let is_touched = taken.is_some_and(|taken| taken + 1 >= x && taken <= x + wide);
        if x >= behind && !is_touched {
            behind = canvas.draw_text(row, x, 0, text, Role::Dim) + 1;
        }
    }
}

/// The last values, as many as the grid has columns of dots.
fn last_columns<'v>(values: &'v [Option<f64>], dots: &DotGrid) -> &'v [Option<f64>] {
    let skipped = values.len().saturating_sub(usize::try_from(dots.dots_wide()).unwrap_or(0));
    values.get(skipped..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::console::drawing::color_depth::ColorDepth;
    use crate::console::drawing::symbols::Symbols;
    use crate::console::drawing::theme::Theme;

    fn drawn(chart: &Chart<'_>, (width, height): (u16, u16)) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        let theme = Theme::built_in("dark", ColorDepth::True).unwrap();
        draw_chart(&mut Canvas::new(&mut buffer, &theme, Symbols::UNICODE), area, chart);
        (0..height).map(|y| (0..width).map(|x| buffer[(x, y)].symbol()).collect()).collect()
    }

    const PLAIN: Chart<'_> = Chart {
        quantity: Quantity::Wait,
        values: &[],
        curve: &[],
        scale: ChartScale::Linear,
        top: 100.0,
        labels: &[],
        ticks: &[],
        marks: &[],
        cursor: None,
        label_width: 0,
    };

    #[test]
    fn zero_is_a_baseline_and_nothing_read_is_empty() {
        let values = [Some(0.0), Some(0.0), None, None, Some(0.5), Some(100.0)];
        assert_eq!(drawn(&Chart { values: &values, ..PLAIN }, (3, 2)), ["  ⢸", "⣀ ⣸"]);
        assert_eq!(drawn(&Chart { values: &values[..2], ..PLAIN }, (3, 1)), ["  ⣀"], "the last value is now");
    }

    #[test]
    fn the_scale_and_the_axis_are_printed() {
        let labels = [(1.0, "100".to_owned()), (0.0, "0".to_owned())];
        let ticks = [(0.0, "14:25".to_owned()), (1.0, "now".to_owned())];
        let marks = [ChartMark { at: 0.5, sign: "▲", role: Role::Warning }];
        let values = vec![Some(0.0); 40];
        let chart =
            Chart { values: &values, labels: &labels, ticks: &ticks, marks: &marks, label_width: 5, ..PLAIN };
        assert_eq!(
            drawn(&chart, (25, 4)),
            [
                " 100┤· · · · ·┊· · · · · ",
                "    │         ┊          ",
                "   0┤⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀⣀",
                "    ╰14:25────▲───────now"
            ]
        );
    }

    #[test]
    fn the_sign_of_an_event_covers_no_label() {
        let ticks = [(0.0, "14:25".to_owned()), (1.0, "now".to_owned())];
        let row = |at| {
            let marks = [ChartMark { at, sign: "i", role: Role::Text }];
            let values = vec![Some(0.0); 40];
            let chart = Chart { values: &values, ticks: &ticks, marks: &marks, ..PLAIN };
            drawn(&chart, (20, 3)).pop().unwrap()
        };
        assert_eq!(row(0.5), "14:25────i───────now");
        assert_eq!(row(0.82), "14:25──────────i─now", "beside the label at the end");
        assert_eq!(row(1.0), "14:25──────────i─now", "below it");
    }

    #[test]
    fn the_sign_of_the_cursor_covers_no_label() {
        let ticks = [(0.0, "20:34".to_owned()), (0.5, "20:35".to_owned()), (1.0, "20:35:09".to_owned())];
        let theme = Theme::built_in("dark", ColorDepth::True).unwrap();
        let row = |taken| {
            let area = Rect::new(0, 0, 30, 1);
            let mut buffer = Buffer::empty(area);
            draw_ticks(&mut Canvas::new(&mut buffer, &theme, Symbols::UNICODE), area, &ticks, taken);
            (0..30).map(|x| buffer[(x, 0)].symbol()).collect::<String>()
        };
        assert_eq!(row(None), "20:34       20:35     20:35:09");
        assert_eq!(row(Some(14)), "20:34                 20:35:09");
        assert_eq!(row(Some(24)), "20:34       20:35             ");
        assert_eq!(row(Some(8)), "20:34       20:35     20:35:09");
    }

    #[test]
    fn the_cursor_is_a_line_through_the_values() {
        let values = [Some(100.0); 8];
        let rows = drawn(&Chart { values: &values, cursor: Some(0.6), ..PLAIN }, (4, 2));
        assert_eq!(rows, ["⣿⣿│⣿", "⣿⣿│⣿"]);
        let rows = drawn(&Chart { values: &values, cursor: Some(0.5), ..PLAIN }, (4, 1));
        assert_eq!(rows, ["⣿│⣿⣿"], "the value of a reading ends at it");
        let rows = drawn(&Chart { values: &values, cursor: Some(1.0), ..PLAIN }, (4, 1));
        assert_eq!(rows, ["⣿⣿⣿│"], "the end of the axis is its last column");
    }

    #[test]
    fn values_beyond_the_columns_are_the_oldest() {
        let values = [Some(100.0), Some(0.0), Some(0.0)];
        assert_eq!(drawn(&Chart { values: &values, ..PLAIN }, (1, 1)), ["⣀"]);
    }
}
