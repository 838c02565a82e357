//! Opens a view: what is known at once is set at once, and the cursor goes to its object as soon as the list has it.

use super::console_view::ConsoleView;
use crate::catalogue::severity::Severity;
use crate::console::features::row_selection::{select_rows, selection_task, set_filter};
use crate::console::features::screens::{ScreenId, move_cursor_to};
use crate::console::model::effect::Effect;
use crate::console::model::line_words::rephrase_for_console;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::{LoadState, OpeningView, SessionState};
use fabdeck_fabric::{Element, ElementId};

/// Names that a message lists at most.
const MAX_NAMED: usize = 6;

/// Opens the view of a line.
pub fn open_view_line(state: &mut SessionState, line: &str) -> Vec<Effect> {
    match ConsoleView::parse(line) {
        Ok(view) => begin_opening(state, view),
        Err(why) => state.log_message(Severity::Error, why),
    }
    Vec::new()
}

/// Goes to the screen of a view; the rest follows once the source is read.
pub fn begin_opening(state: &mut SessionState, view: ConsoleView) {
    (state.layer, state.came_from, state.screen) = (None, None, view.screen);
    state.levels_entered = 0;
    state.opening = Some(OpeningView { view, is_prepared: false });
}

/// Goes on with a view that is being opened, after any event.
pub fn follow_opening(state: &mut SessionState) -> Vec<Effect> {
    let Some(opening) = state.opening.take() else { return Vec::new() };
    if opening.view.screen != state.screen || matches!(state.loading, LoadState::Failed(_)) {
        return Vec::new();
    }
    // Tables, and what is computed of them, come after the first sight of the fabric.
    if state.snapshot().is_none() || state.loading != LoadState::Done {
        state.opening = Some(opening);
        return Vec::new();
    }
    if !opening.is_prepared
        && let Err(why) = prepare(state, &opening.view)
    {
        state.log_message(Severity::Error, why);
        return Vec::new();
    }
    match find_object(state, &opening.view) {
        Ok(true) => {}
        Ok(false) => state.opening = Some(OpeningView { is_prepared: true, ..opening }),
        Err(why) => state.log_message(Severity::Error, why),
    }
    Vec::new()
}

/// Sets everything but the object.
fn prepare(state: &mut SessionState, view: &ConsoleView) -> Result<(), String> {
    if let Some(window) = view.window {
        state.known.problems.window = window;
    }
    if let Some(quantity) = view.quantity {
        state.screens.map.drawn.quantity = quantity;
    }
    if let Some(name) = &view.view {
        show_view(state, name)?;
    }
    match view.screen {
        ScreenId::Map => {
            state.screens.map.leave_nodes(&state.known);
            match inner_element(state, view)? {
                Some(ElementId::Node(node)) => state.screens.map.enter_node(node, &state.known),
                Some(_) => return Err(wrong_inner(view, "a switch or a host")),
                None => {}
            }
        }
        ScreenId::Paths => {
            for (purpose, end) in [(Purpose::From, &view.from), (Purpose::To, &view.to)] {
                if let Some(end) = end {
                    state.screens.paths.set_end(purpose, end.clone(), &state.known);
                }
            }
            match inner_element(state, view)? {
                Some(ElementId::Link(link)) => state.screens.paths.show_users(link, &state.known),
                Some(_) => return Err(wrong_inner(view, "a cable")),
                None => {}
            }
        }
        ScreenId::Links => state.screens.links.page = None,
        _ => {}
    }
    if let Some((field, _)) = &view.sort {
        check_field(state, field)?;
    }
    state.current_mut().0.table_mut().sort.clone_from(&view.sort);
    set_filter(state, view.filter.clone().unwrap_or_default());
    // The Timeline opens at its newest event, which is the last row; other lists at the first one.
    let to_first = view.screen != ScreenId::Timeline;
    select_rows(state, to_first);
    if !to_first {
        state.current_mut().0.table_mut().move_to(usize::MAX);
    }
    Ok(())
}

/// The element that a view is inside of.
fn inner_element(state: &SessionState, view: &ConsoleView) -> Result<Option<ElementId>, String> {
    view.inside.as_deref().map(|name| find(state, name)).transpose()
}

fn wrong_inner(view: &ConsoleView, wanted: &str) -> String {
    let name = view.inside.as_deref().unwrap_or_default();
    format!("FD-6333: in={name} is not {wanted}; {} goes into {wanted}", view.screen.title().title)
}

/// Turns to a list or a pane by its name.
fn show_view(state: &mut SessionState, name: &str) -> Result<(), String> {
    let names = state.current().view_names();
    if !names.contains(&name) {
        let title = state.screen.title().title;
        let all = if names.is_empty() { "it has one alone".to_owned() } else { names.join(", ") };
        return Err(format!("FD-6333: {title} has no view '{name}': {all}"));
    }
    for _ in &names {
        if state.current().view_name() == Some(name) {
            return Ok(());
        }
        let (screen, known) = state.current_mut();
        screen.next_view(known, true).map_err(str::to_owned)?;
    }
    Ok(())
}

fn check_field(state: &SessionState, field: &str) -> Result<(), String> {
    let Some(listing) = state.current().listing(&state.known) else { return Ok(()) };
    let ids: Vec<String> = (0..listing.column_count()).map(|at| listing.column(at).id.to_string()).collect();
    match ids.iter().any(|id| id == field) {
        true => Ok(()),
        false => Err(format!("FD-6333: this list has no field '{field}': {}", ids.join(", "))),
    }
}

fn find(state: &SessionState, name: &str) -> Result<ElementId, String> {
    let look = state.snapshot().ok_or_else(|| "nothing was read yet".to_owned())?;
    let found = Element::find(look.fabric(), &look.names, name);
    found.map_err(|error| rephrase_for_console(&error.to_string()))
}

/// Moves the cursor to the object. Returns false while the rows of the list are not known yet.
fn find_object(state: &mut SessionState, view: &ConsoleView) -> Result<bool, String> {
    let Some(name) = &view.at else { return Ok(true) };
    let rows = state.current().table().selection.rows.clone();
    if rows.is_empty() || selection_task(state).is_some() {
        return Ok(false);
    }
    let keys: Vec<Option<String>> =
        rows.iter().map(|row| state.current().row_key(*row, &state.known)).collect();
    if keys.iter().any(Option::is_some) {
        let Some(at) = keys.iter().position(|key| key.as_ref() == Some(name)) else {
            return Err(missing_words(state, name, keys.iter().flatten()));
        };
        state.current_mut().0.table_mut().move_to(at);
        return Ok(true);
    }
    let what = find(state, name)?;
    if let (ScreenId::Links, true, ElementId::Link(link)) = (view.screen, view.page, what) {
        state.screens.links.open_page(link);
    }
    if view.screen == ScreenId::Map && state.screens.map.move_to_drawn(what, &state.known) {
        return Ok(true);
    }
    let (screen, known) = state.current_mut();
    match move_cursor_to(screen, what, known) {
        true => Ok(true),
        false => Err(format!(
            "FD-6333: {name} has no row here; {} of {} rows are shown",
            rows.len(),
            state.current().table().selection.of
        )),
    }
}

fn missing_words<'k>(state: &SessionState, name: &str, keys: impl Iterator<Item = &'k String>) -> String {
    let keys: Vec<&String> = keys.collect();
    let named: Vec<&str> = keys.iter().take(MAX_NAMED).map(|key| key.as_str()).collect();
    let more = keys.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let title = state.screen.title().title;
    format!("FD-6333: '{name}' is not on {title}; there is {}{more}", named.join(", "))
}
