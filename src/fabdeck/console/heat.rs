//! Steps from 0 to 7 as signs and colours: the higher a sign stands the hotter it is, so that without colours the same
//! can be read.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::State;
use fabdeck_fabric::NodeId;

/// The sign and the role of a step; what nobody knows has a sign of its own.
pub fn step(canvas: &Canvas<'_>, level: u8) -> (&'static str, Role) {
    const ROLES: [Role; 4] = [Role::Heat0, Role::Heat1, Role::Heat2, Role::Heat3];
    match canvas.signs.levels.get(usize::from(level)) {
        Some(sign) => (sign, ROLES[usize::from(level) / 2]),
        None => (canvas.signs.untold, Role::Dim),
    }
}

/// A sign a step, from a column of a row on. `role`: what a step is drawn in that is not to be coloured by its heat.
pub fn strip(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    levels: impl Iterator<Item = u8>,
    role: impl Fn(u8) -> Option<Role>,
) {
    for (x, level) in (x..area.width).zip(levels) {
        let (sign, heat) = step(canvas, level);
        canvas.text(area, x, y, sign, role(level).unwrap_or(heat));
    }
}

/// The steps that a cell of a list holds as digits.
pub fn of_digits(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().map(|digit| if digit.is_ascii_digit() { digit - b'0' } else { u8::MAX })
}

/// On the map: how busy the busiest link of a switch is, while somebody watches.
pub fn of_switch(canvas: &Canvas<'_>, state: &State, switch: NodeId) -> Option<(&'static str, Role)> {
    state.known.watch.load_of(switch).map(|level| step(canvas, level))
}
