//! Gauges and bars of one row or one cell.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::{Quantity, Role};

/// The step from 0 to 4 of a share of the largest value.
pub fn step_of(share: f64) -> u8 {
    (share.clamp(0.0, 1.0) * 5.0).min(4.0) as u8
}

/// Draws a thin gauge: the filled part, then a faint rest. A value above zero fills at least one cell.
pub fn draw_gauge(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    width: u16,
    share: f64,
    quantity: Quantity,
) {
    let role = quantity.step_role(step_of(share).max(2));
    draw_plain_gauge(canvas, area, (x, y), width, share, role);
}

/// Draws a thin gauge whose filled part has this role.
pub fn draw_plain_gauge(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    width: u16,
    share: f64,
    role: Role,
) {
    let share = share.clamp(0.0, 1.0);
    let least = u16::from(share > 0.0);
    let filled = ((share * f64::from(width)).round() as u16).clamp(least.min(width), width);
    let [full, rest] = canvas.signs.gauge;
    let x = canvas.draw_text(area, x, y, &full.repeat(filled.into()), role);
    canvas.draw_text(area, x, y, &rest.repeat((width - filled).into()), Role::Border);
}

/// The block of one cell for a share, in seven heights: rows below each other stay apart.
pub fn bar_symbol<'s>(canvas: &Canvas<'s>, share: f64) -> &'static str {
    let height = (share.clamp(0.0, 1.0) * 7.0).min(6.0) as usize;
    canvas.signs.levels[height]
}

/// The sign of a step from 0 to 4: the higher, the taller.
pub fn step_symbol(canvas: &Canvas<'_>, step: u8) -> &'static str {
    const LEVELS: [usize; 5] = [0, 1, 3, 5, 6];
    match step {
        0 => canvas.signs.untold,
        step => canvas.signs.levels[LEVELS[usize::from(step.min(4))]],
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::console::drawing::color_depth::ColorDepth;
    use crate::console::drawing::symbols::Symbols;
    use crate::console::drawing::theme::Theme;

    #[test]
    fn a_gauge_shows_any_value_above_zero() {
        let area = Rect::new(0, 0, 5, 1);
        let theme = Theme::built_in("dark", ColorDepth::True).unwrap();
        let drawn = |share| {
            let mut buffer = Buffer::empty(area);
            let mut canvas = Canvas::new(&mut buffer, &theme, Symbols::UNICODE);
            draw_gauge(&mut canvas, area, (0, 0), 5, share, Quantity::Load);
            (0..5).map(|x| buffer[(x, 0)].symbol().to_owned()).collect::<String>()
        };
        assert_eq!([0.0, 0.001, 0.5, 1.0, 7.0].map(drawn), ["╌╌╌╌╌", "━╌╌╌╌", "━━━╌╌", "━━━━━", "━━━━━"]);
        assert_eq!([0.0, 0.19, 0.2, 0.99, 1.0].map(step_of), [0, 0, 1, 4, 4]);
    }
}
