//! The number of rows that a screen or an overlay shows at once.

use super::overlays;
use crate::console::model::state::SessionState;

/// Number of rows that a screen, or the overlay on it, shows at once.
pub fn page_rows(state: &SessionState) -> usize {
    if state.layer.is_some() {
        return overlays::overlay_height(state);
    }
    rows_in_sight(state)
}

pub(crate) fn rows_in_sight(state: &SessionState) -> usize {
    let screen = state.current();
    if let Some(rows) = screen.page_rows(&state.areas()) {
        return rows;
    }
    let other = screen.rows_above(&state.known) + screen.rows_below(&state.known, state.size) + 1;
    usize::from(state.areas().body.height.saturating_sub(other)).max(1)
}
