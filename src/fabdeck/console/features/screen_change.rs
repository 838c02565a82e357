//! Opens a screen from another one.

use super::screens::ScreenId;
use crate::console::model::state::SessionState;

/// Opens a screen, and stores the current one for Esc.
pub fn open_screen(state: &mut SessionState, screen: ScreenId) {
    state.came_from = Some(state.screen).filter(|from| *from != screen);
    state.screen = screen;
}
