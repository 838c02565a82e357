//! Opens a screen from another one.

use super::row_selection::set_filter;
use super::screen::ScreenTarget;
use super::screens::{ScreenId, move_cursor_to};
use crate::console::model::overlay::Overlay;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;
use fabdeck_fabric::ElementId;

/// Opens a screen, and stores the current one for Esc.
pub fn open_screen(state: &mut SessionState, screen: ScreenId) {
    state.came_from = Some(state.screen).filter(|from| *from != screen);
    state.levels_entered = 0;
    state.screen = screen;
}

/// Opens a screen with its cursor on a row.
pub fn open_target(state: &mut SessionState, target: &ScreenTarget) {
    match target {
        ScreenTarget::Element(screen, element) => {
            open_screen(state, *screen);
            // The list of verdicts has no port that is below every threshold.
            let (shown, known) = state.current_mut();
            if !move_cursor_to(shown, *element, known) && *screen == ScreenId::Hotspots {
                state.screens.hotspots.show_all_ports();
                move_cursor_to(&mut state.screens.hotspots, *element, &state.known);
            }
        }
        ScreenTarget::Job(job) => {
            open_screen(state, ScreenId::Jobs);
            state.screens.jobs.move_to_job(job);
        }
        ScreenTarget::Cable(link) => {
            open_screen(state, ScreenId::Links);
            let (shown, known) = state.current_mut();
            move_cursor_to(shown, ElementId::Link(*link), known);
            state.screens.links.open_page(*link);
        }
        ScreenTarget::Cables(filter) => {
            open_screen(state, ScreenId::Links);
            state.screens.links.page = None;
            set_filter(state, (*filter).to_owned());
        }
        ScreenTarget::Events if state.known.playback.is_some() => open_screen(state, ScreenId::Timeline),
        ScreenTarget::Events => state.layer = Some(Overlay::Log(Scroll { top: usize::MAX / 4 })),
    }
}
