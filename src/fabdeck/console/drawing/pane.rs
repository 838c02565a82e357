//! Panes: boxes with round corners on wide screens, and one titled rule of a row on narrow ones.

use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::{Canvas, shorten_name, width};
use super::theme::Role;
use crate::console::model::layout;

/// A piece of text with its role.
pub type TextRun<'t> = (&'t str, Role);

/// The head of a pane.
#[derive(Clone, Copy, Debug, Default)]
pub struct PaneHead<'p> {
    pub title: &'p str,
    /// Amount and order, at the right of the border.
    pub right: &'p [TextRun<'p>],
    /// Whether keys act on this pane.
    pub focused: bool,
}

/// The inside of a pane at this place.
pub fn pane_inside(area: Rect, boxed: bool) -> Rect {
    buffer_area(layout::Rect::new(area.x, area.y, area.width, area.height).inside(boxed))
}

/// Draws the border or the rule of a pane, and returns its inside.
pub fn draw_pane(canvas: &mut Canvas<'_>, area: Rect, head: &PaneHead<'_>, boxed: bool) -> Rect {
    let area = area.intersection(canvas.buffer.area);
    if area.width < 2 || area.height < 1 {
        return Rect { height: 0, ..area };
    }
    let focused = canvas.focus.map_or(head.focused, |place| place == (area.x, area.y));
    let head = &PaneHead { focused, ..*head };
    let role = if head.focused { Role::Key } else { Role::Border };
    let [rule, side] = [canvas.signs.rule, canvas.signs.beside];
    let [upper_left, upper_right, lower_left, lower_right] = canvas.signs.corners;
    let line = |room: u16| rule.repeat(room.into());
    if boxed {
        let inner = area.width - 2;
        canvas.draw_text(area, 0, 0, &format!("{upper_left}{}{upper_right}", line(inner)), role);
        for y in 1..area.height.saturating_sub(1) {
            canvas.draw_text(area, 0, y, side, role);
            canvas.draw_text(area, area.width - 1, y, side, role);
        }
        if area.height > 1 {
            let lower = format!("{lower_left}{}{lower_right}", line(inner));
            canvas.draw_text(area, 0, area.height - 1, &lower, role);
        }
    } else {
        canvas.draw_text(area, 0, 0, &line(area.width), role);
    }
    draw_head(canvas, area, head, if boxed { 2 } else { 1 });
    pane_inside(area, boxed)
}

/// Writes title and amounts into the upper border. The amounts give way to the title.
fn draw_head(canvas: &mut Canvas<'_>, area: Rect, head: &PaneHead<'_>, indent: u16) {
    let row = Rect { width: area.width.saturating_sub(indent), height: 1, ..area };
    let mut x = indent;
    if !head.title.is_empty() {
        x = canvas.draw_text(row, x, 0, " ", Role::Text);
        if head.focused {
            let sign = format!("{} ", canvas.signs.focus);
            x = canvas.draw_text(row, x, 0, &sign, Role::Key);
        }
        x = canvas.draw_text(row, x, 0, head.title, Role::Strong);
        x = canvas.draw_text(row, x, 0, " ", Role::Text);
    }
    let amounts: u16 = head.right.iter().map(|(text, _)| width(text)).sum();
    let room = amounts + 2;
    if amounts == 0 || x + 1 + room > row.width {
        return;
    }
    let mut x = canvas.draw_text(row, row.width - room, 0, " ", Role::Text);
    for (text, role) in head.right {
        x = canvas.draw_text(row, x, 0, text, *role);
    }
    canvas.draw_text(row, x, 0, " ", Role::Text);
}

/// Draws a rule with a title inside a pane, and returns the row below it.
pub fn draw_rule(canvas: &mut Canvas<'_>, area: Rect, y: u16, title: &str) -> u16 {
    let rule = canvas.signs.rule.repeat(area.width.into());
    canvas.draw_text(area, 0, y, &rule, Role::Border);
    let title = shorten_name(title, area.width.saturating_sub(4), canvas.signs.more);
    canvas.draw_text(area, 1, y, &format!(" {title} "), Role::Strong);
    y + 1
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;

    use super::*;
    use crate::console::drawing::color_depth::ColorDepth;
    use crate::console::drawing::symbols::Symbols;
    use crate::console::drawing::theme::Theme;

    fn drawn(width: u16, head: &PaneHead<'_>, boxed: bool) -> (Vec<String>, Rect) {
        let area = Rect::new(0, 0, width, 3);
        let mut buffer = Buffer::empty(area);
        let theme = Theme::built_in("dark", ColorDepth::True).unwrap();
        let inside = draw_pane(&mut Canvas::new(&mut buffer, &theme, Symbols::UNICODE), area, head, boxed);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect();
        ((0..3).map(row).collect(), inside)
    }

    #[test]
    fn a_box_on_a_wide_screen_and_a_rule_on_a_narrow_one() {
        let right = [("3 of 4", Role::Dim)];
        let head = PaneHead { title: "Links", right: &right, focused: true };
        let (rows, inside) = drawn(24, &head, true);
        assert_eq!(
            rows,
            ["╭─ ▸ Links ─── 3 of 4 ─╮", "│                      │", "╰──────────────────────╯"]
        );
        assert_eq!(inside, Rect::new(1, 1, 22, 1));
        let (rows, inside) = drawn(20, &PaneHead { focused: false, ..head }, false);
        assert_eq!(rows[0], "─ Links ─── 3 of 4 ─");
        assert_eq!(inside, Rect::new(0, 1, 20, 2));
        let (rows, _) = drawn(14, &head, true);
        assert_eq!(rows[0], "╭─ ▸ Links ──╮", "amounts give way to the title");
    }
}
