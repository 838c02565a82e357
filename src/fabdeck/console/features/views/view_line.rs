//! The view that a session shows, as words.

use super::console_view::ConsoleView;
use crate::catalogue::shell_words::quote_for_shell;
use crate::console::features::map::screen::MapView;
use crate::console::features::screens::ScreenId;
use crate::console::model::state::SessionState;
use fabdeck_fabric::{Element, ElementId};

/// What the open screen shows.
pub fn current_view(state: &SessionState) -> ConsoleView {
    let (screen, table) = (state.current(), state.current().table());
    let mut view = ConsoleView::new(state.screen);
    view.view = screen.view_name().map(str::to_owned);
    view.filter = Some(table.filter.clone()).filter(|filter| !filter.is_empty());
    view.sort.clone_from(&table.sort);
    view.at = object_word(state);
    match state.screen {
        ScreenId::Map => {
            view.inside =
                state.screens.map.inside().and_then(|node| element_word(state, ElementId::Node(node)));
            let is_drawn = state.screens.map.view == MapView::Drawn;
            view.quantity = is_drawn.then_some(state.screens.map.drawn.quantity);
        }
        ScreenId::Links => view.page = state.screens.links.page.is_some() && view.at.is_some(),
        ScreenId::Paths => {
            let paths = &state.screens.paths;
            (view.from, view.to) = (paths.from.clone(), paths.to.clone());
            view.under = paths.under.map(|engine| engine.id.to_owned());
            view.inside = paths.users.and_then(|link| element_word(state, ElementId::Link(link)));
        }
        _ => {}
    }
    if matches!(state.screen, ScreenId::Health | ScreenId::Timeline) || view.page {
        view.window = Some(state.known.problems.window);
    }
    view
}

/// The command line that opens the same view.
pub fn view_command(state: &SessionState) -> String {
    let has_members = state.screen == ScreenId::Map && state.screens.map.shows_members();
    let reads = if has_members && !state.known.watch.recorded { "--with-partitions " } else { "" };
    state.command_line(&format!("{reads}--open {}", quote_for_shell(&current_view(state).line())))
}

/// The object under the cursor; none where the cursor is where the screen opens.
fn object_word(state: &SessionState) -> Option<String> {
    let screen = state.current();
    if state.screen == ScreenId::Timeline
        || (state.screen == ScreenId::Map && !state.screens.map.moves_to_elements())
    {
        return None;
    }
    let own = screen.table().row().and_then(|row| screen.row_key(row, &state.known));
    own.or_else(|| element_word(state, screen.current(&state.known)?))
}

fn element_word(state: &SessionState, what: ElementId) -> Option<String> {
    let look = state.snapshot()?;
    Some(Element::from_id(look.fabric(), &look.names, what).to_string())
}
