//! The size of a dialog on the screen.

use crate::console::model::state::SessionState;

/// The width of the text in a dialog.
pub fn dialogue_width(state: &SessionState) -> usize {
    usize::from(state.areas().overlay.width.saturating_sub(4).min(100))
}

/// Number of rows of a dialog above its buttons, which have a blank row above.
pub fn dialogue_height(state: &SessionState) -> usize {
    usize::from(state.areas().overlay.height.saturating_sub(2)).max(1)
}
