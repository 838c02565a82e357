//! The size of a dialog on the screen.

use super::dialogue::DialogueRoom;
use crate::console::model::layout::Rect;
use crate::console::model::state::SessionState;

/// Columns of a dialog on a wide screen, its border included.
const BOX_WIDTH: u16 = 100;
/// Columns between the border of a box and its texts, at each side.
const BOX_MARGIN: u16 = 2;

/// The room of the texts in a dialog. Below them are a blank row and the buttons.
pub fn dialogue_room(state: &SessionState) -> DialogueRoom {
    let areas = state.areas();
    let (width, height) = match areas.boxed {
        true => (
            areas.middle.width.min(BOX_WIDTH).saturating_sub(2 + 2 * BOX_MARGIN),
            areas.overlay.height.saturating_sub(4),
        ),
        false => (areas.overlay.width.saturating_sub(2), areas.overlay.height.saturating_sub(2)),
    };
    DialogueRoom { width: width.into(), height: usize::from(height).max(1), boxed: areas.boxed }
}

/// Number of rows of a dialog above its buttons.
pub fn dialogue_height(state: &SessionState) -> usize {
    dialogue_room(state).height
}

/// The place of a dialog with this number of rows: all of the body, or a box in its middle.
pub fn dialogue_area(state: &SessionState, rows: usize) -> Rect {
    let middle = state.areas().middle;
    if !state.areas().boxed {
        return middle;
    }
    // Border, a blank row at each end, and the buttons below a blank row.
    let height = u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(6).min(middle.height);
    let width = middle.width.min(BOX_WIDTH);
    Rect::new(middle.x + (middle.width - width) / 2, middle.y + (middle.height - height) / 2, width, height)
}
