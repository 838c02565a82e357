//! The frame of a pane of Health, and rows made of runs.

use ratatui::layout::Rect;

use super::card_text::OwnedRun;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::pane::{PaneHead, TextRun, draw_pane};

/// Draws the border of a pane, and returns its inside.
pub(super) fn draw_frame(
    canvas: &mut Canvas<'_>,
    area: crate::console::model::layout::Rect,
    title: &str,
    right: &[OwnedRun],
    focused: bool,
    boxed: bool,
) -> Rect {
    let right: Vec<TextRun<'_>> = right.iter().map(|(text, role)| (text.as_str(), *role)).collect();
    draw_pane(canvas, buffer_area(area), &PaneHead { title, right: &right, focused }, boxed)
}

/// Draws runs one after the other, and returns the column behind them.
pub(super) fn draw_runs(canvas: &mut Canvas<'_>, area: Rect, (x, y): (u16, u16), runs: &[OwnedRun]) -> u16 {
    runs.iter().fold(x, |x, (text, role)| canvas.draw_text(area, x, y, text, *role))
}
