//! Navigation: to the outer level, to a screen, from row to row, and through the orders of rows.

use super::line_input::abandon_prompt;
use super::overlays;
use super::overlays::close_overlay;
use super::page_rows::page_rows;
use crate::catalogue::severity::Severity;
use crate::console::features::panes::detail_scroll;
use crate::console::features::row_selection::{select_rows, set_filter};
use crate::console::features::screen::{CursorDirection, Screen as _};
use crate::console::features::screens::ScreenId;
use crate::console::features::timeline::time_cursor;
use crate::console::features::views::open_view::end_waiting;
use crate::console::features::whatif::{victims_page, whatif_layout};
use crate::console::model::effect::Effect;
use crate::console::model::scroll::Scroll;
use crate::console::model::state::SessionState;

/// Steps out by one level; returns false at the top.
pub fn step_out(state: &mut SessionState) -> bool {
    if state.prompt.is_some() {
        abandon_prompt(state);
        return true;
    }
    if close_overlay(state) {
        return true;
    }
    if !state.selected().is_empty() {
        state.current_mut().0.table_mut().selected.clear();
        return true;
    }
    if state.shown_filter().is_some() {
        set_filter(state, String::new());
        return true;
    }
    if state.panes.zoomed.remove(&state.screen) {
        return true;
    }
    let (screen, known) = state.current_mut();
    let stepped = screen.step_out(known);
    // What Enter opened on this screen closes first; what was open when the screen opened closes with it.
    if stepped && state.levels_entered > 0 {
        state.levels_entered -= 1;
        return true;
    }
    state.levels_entered = 0;
    if let Some(back) = state.came_from.take() {
        state.screen = back;
        return true;
    }
    if stepped {
        return true;
    }
    let elsewhere = state.screen != ScreenId::Health;
    state.screen = ScreenId::Health;
    elsewhere
}

pub fn move_to(state: &mut SessionState, screen: ScreenId) -> Vec<Effect> {
    state.layer = None;
    (state.came_from, state.levels_entered) = (None, 0);
    state.screen = screen;
    Vec::new()
}

pub fn switch_view(state: &mut SessionState, forward: bool) -> Vec<Effect> {
    if state.layer.is_some() {
        return Vec::new();
    }
    let (screen, known) = state.current_mut();
    match screen.next_view(known, forward) {
        Err(why) => state.log_message(Severity::Info, why),
        // On Hotspots a view can be an order of rows; the cursor then goes to the first one.
        Ok(()) if state.screen == ScreenId::Hotspots && state.screens.hotspots.view.order().is_some() => {
            select_rows(state, true);
        }
        Ok(()) => {}
    }
    Vec::new()
}

pub fn move_rows(state: &mut SessionState, by: isize) -> Vec<Effect> {
    if state.layer.is_some() {
        overlays::scroll_overlay(state, by);
        return Vec::new();
    }
    if victims_page::has_keys(state) {
        victims_page::scroll(state, by);
        return Vec::new();
    }
    if detail_scroll::has_keys(state) {
        detail_scroll::scroll(state, by);
        return Vec::new();
    }
    if state.screen == ScreenId::Whatif && state.screens.whatif.page.is_some() {
        let (rows, height) =
            (crate::console::features::details::rows_of_page(state), overlays::overlay_height(state));
        let mut scroll = Scroll { top: state.screens.whatif.top };
        scroll.scroll_by(by, rows, height);
        state.screens.whatif.top = scroll.top;
        return Vec::new();
    }
    end_waiting(state);
    state.current_mut().0.table_mut().move_by(by);
    Vec::new()
}

/// Handles an arrow key: moves to another row, column, or neighbour on the map.
pub fn move_direction(state: &mut SessionState, direction: CursorDirection) -> Vec<Effect> {
    if let (Some(_), CursorDirection::Left | CursorDirection::Right) = (&state.layer, direction) {
        return Vec::new();
    }
    let (width, in_sight) = (state.areas().body.width, state.layer.is_none());
    if let CursorDirection::Left | CursorDirection::Right = direction
        && time_cursor::takes_arrows(state)
    {
        return time_cursor::move_cursor(state, direction == CursorDirection::Right);
    }
    if in_sight && whatif_layout::has_map_keys(state) {
        let SessionState { screens, known, .. } = state;
        screens.map.move_by_arrow(known, direction, width);
        return Vec::new();
    }
    let (screen, known) = state.current_mut();
    if in_sight && screen.move_by_arrow(known, direction, width) {
        return Vec::new();
    }
    let by = match direction {
        CursorDirection::Up => return move_rows(state, -1),
        CursorDirection::Down => return move_rows(state, 1),
        CursorDirection::Left => -1,
        CursorDirection::Right => 1,
    };
    let (screen, _) = state.current_mut();
    let held = screen.fixed_columns();
    screen.table_mut().scroll_columns(by, held);
    Vec::new()
}

/// Selects the row or releases it; in an overlay, the same key scrolls by a page.
pub fn toggle_selected(state: &mut SessionState, _: &str) -> Vec<Effect> {
    if state.layer.is_some() {
        return move_rows(state, page_rows(state) as isize);
    }
    let Some(what) = state.current().current(&state.known) else {
        state.log_message(
            Severity::Info,
            "put the cursor on a switch, a host, a port or a cable to select it",
        );
        return Vec::new();
    };
    let table = state.current_mut().0.table_mut();
    if !table.selected.remove(&what) {
        table.selected.insert(what);
    }
    table.move_by(1);
    Vec::new()
}

pub fn sort_by(state: &mut SessionState, field: &str) -> Vec<Effect> {
    let found = state.current().listing(&state.known).and_then(|listing| {
        let column =
            (0..listing.column_count()).map(|at| listing.column(at)).find(|column| column.id == field)?;
        Some((column.id.to_string(), column.largest_first))
    });
    let Some(order) = found else {
        state.log_message(Severity::Error, format!("this list has no field '{field}'"));
        return Vec::new();
    };
    state.current_mut().0.table_mut().sort = Some(order);
    select_rows(state, true);
    Vec::new()
}

pub fn sort_next(state: &mut SessionState, reverse: bool) -> Vec<Effect> {
    let (screen, known) = state.current_mut();
    let mut table = std::mem::take(screen.table_mut());
    if let Some(listing) = screen.listing(known) {
        if reverse { table.reverse(&*listing) } else { table.sort_by_next(&*listing) }
    }
    let order = table.sort.clone();
    *screen.table_mut() = table;
    select_rows(state, true);
    let text = match order {
        Some((column, true)) => format!("sorted by {column}, largest first"),
        Some((column, false)) => format!("sorted by {column}"),
        None => "in the order of the fabric".to_owned(),
    };
    state.log_message(Severity::Info, text);
    Vec::new()
}
