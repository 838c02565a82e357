//! Levels from 0 to 7 as characters and colours: a hotter level has a taller character, so it is readable without
//! colours.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;
use crate::console::model::state::SessionState;
use fabdeck_fabric::NodeId;

/// Character and role of a level; an unknown level has a character of its own.
pub fn level_symbol(canvas: &Canvas<'_>, level: u8) -> (&'static str, Role) {
    const ROLES: [Role; 4] = [Role::Heat0, Role::Heat1, Role::Heat2, Role::Heat3];
    match canvas.signs.levels.get(usize::from(level)) {
        Some(sign) => (sign, ROLES[usize::from(level) / 2]),
        None => (canvas.signs.untold, Role::Dim),
    }
}

/// Draws one character for each level, from a column of a row on. `role` overrides the colour of a level.
pub fn draw_strip(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    levels: impl Iterator<Item = u8>,
    role: impl Fn(u8) -> Option<Role>,
) {
    for (x, level) in (x..area.width).zip(levels) {
        let (sign, heat) = level_symbol(canvas, level);
        canvas.draw_text(area, x, y, sign, role(level).unwrap_or(heat));
    }
}

/// Levels that a cell of a list holds as digits.
pub fn parse_levels(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().map(|digit| if digit.is_ascii_digit() { digit - b'0' } else { u8::MAX })
}

/// Level of the busiest link of a switch on the map, during a watch.
pub fn switch_load_symbol(
    canvas: &Canvas<'_>,
    state: &SessionState,
    switch: NodeId,
) -> Option<(&'static str, Role)> {
    state.known.watch.switch_load(switch).map(|level| level_symbol(canvas, level))
}
