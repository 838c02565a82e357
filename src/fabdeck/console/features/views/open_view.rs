//! Opens a view: what is known at once is set at once, and the cursor goes to its object as soon as the list has it.

use super::console_view::ConsoleView;
use crate::catalogue::severity::Severity;
use crate::console::features::awaited::awaited_words;
use crate::console::features::row_selection::{select_rows, selection_task, set_filter};
use crate::console::features::screens::{ScreenId, move_cursor_to};
use crate::console::model::effect::Effect;
use crate::console::model::line_words::rephrase_for_console;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::{LoadState, OpeningView, SessionState};
use fabdeck_fabric::{Element, ElementId};
use fabdeck_routing::{Engine, find_engine};

/// Names that a message lists at most.
const MAX_NAMED: usize = 6;

/// Opens the view of a line.
pub fn open_view_line(state: &mut SessionState, line: &str) -> Vec<Effect> {
    match ConsoleView::parse(line) {
        Ok(view) => {
            begin_opening(state, view);
            if let (LoadState::Under(_), Some(awaited)) = (&state.loading, awaited_words(state)) {
                state.log_message(Severity::Info, format!("the view opens as soon as {awaited}"));
            }
        }
        Err(why) => state.log_message(Severity::Error, why),
    }
    Vec::new()
}

/// Goes to the screen of a view; the rest follows once the source is read.
pub fn begin_opening(state: &mut SessionState, view: ConsoleView) {
    (state.layer, state.came_from, state.screen) = (None, None, view.screen);
    state.levels_entered = 0;
    state.opening = Some(OpeningView { view, is_prepared: false, is_reduced: false });
}

/// Goes on with a view that is being opened, after any event.
pub fn follow_opening(state: &mut SessionState) -> Vec<Effect> {
    let Some(mut opening) = state.opening.take() else { return Vec::new() };
    if opening.view.screen != state.screen || matches!(state.loading, LoadState::Failed(_)) {
        return Vec::new();
    }
    // Tables, and what is computed of them, come after the first sight of the fabric.
    if state.snapshot().is_none() || state.loading != LoadState::Done {
        state.opening = Some(opening);
        return Vec::new();
    }
    if !opening.is_prepared {
        match prepare(state, &opening.view) {
            Ok(is_whole) => (opening.is_prepared, opening.is_reduced) = (true, !is_whole),
            Err(why) => {
                state.log_message(Severity::Error, why);
                return Vec::new();
            }
        }
    }
    match find_object(state, &opening.view) {
        Ok(true) => {}
        Ok(false) => state.opening = Some(opening),
        // The warning on what does not exist here is the reason.
        Err(_) if opening.is_reduced => {}
        Err(why) => state.log_message(Severity::Error, why),
    }
    Vec::new()
}

/// Ends the wait for an object: the operator moves or filters, and the cursor must not leave that place later.
pub fn end_waiting(state: &mut SessionState) {
    state.opening.take_if(|opening| opening.is_prepared);
}

/// Sets everything but the object. Returns whether all of it exists on this screen; warnings name what does not.
fn prepare(state: &mut SessionState, view: &ConsoleView) -> Result<bool, String> {
    let mut missing = None;
    if let Some(window) = view.window {
        state.known.problems.window = window;
    }
    if let Some(quantity) = view.quantity {
        state.screens.map.drawn.quantity = quantity;
    }
    if let Some(name) = &view.view {
        missing = show_view(state, name)?;
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
            if let Some(engine) = view.under.as_deref().and_then(find_engine) {
                missing = missing.or(follow_proposal(state, engine));
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
    let order = view.sort.clone().or_else(|| state.current().usual_order());
    state.current_mut().0.table_mut().sort = order;
    set_filter(state, view.filter.clone().unwrap_or_default());
    // The Timeline opens at its newest event, which is the last row; other lists at the first one.
    let to_first = view.screen != ScreenId::Timeline;
    select_rows(state, to_first);
    if !to_first {
        state.current_mut().0.table_mut().move_to(usize::MAX);
    }
    if let Some(why) = &missing {
        state.log_message(Severity::Warning, format!("FD-6334: {why}; the rest of the view is open"));
    }
    Ok(missing.is_none())
}

/// Follows paths under the proposal of an engine; returns why there is none.
fn follow_proposal(state: &mut SessionState, engine: &'static Engine) -> Option<String> {
    if state.known.proposal(engine).is_none() {
        let id = engine.id;
        return Some(format!(
            "under={id}: this session has no proposal of {id}; p on What-if runs the engines"
        ));
    }
    state.screens.paths.follow_under(Some(engine), &state.known);
    None
}

/// The element that a view is inside of.
fn inner_element(state: &SessionState, view: &ConsoleView) -> Result<Option<ElementId>, String> {
    view.inside.as_deref().map(|name| find(state, name)).transpose()
}

fn wrong_inner(view: &ConsoleView, wanted: &str) -> String {
    let name = view.inside.as_deref().unwrap_or_default();
    format!("FD-6333: in={name} is not {wanted}; {} goes into {wanted}", view.screen.title().title)
}

/// Turns to a list or a pane by its name. Returns why the screen at this size has no such pane.
fn show_view(state: &mut SessionState, name: &str) -> Result<Option<String>, String> {
    let names = state.current().view_names();
    if !names.contains(&name) {
        let title = state.screen.title().title;
        let all = if names.is_empty() { "it has one alone".to_owned() } else { names.join(", ") };
        return Err(format!("FD-6333: {title} has no view '{name}': {all}"));
    }
    let (screen, known) = state.current_mut();
    if screen.open_view(known, name) {
        return Ok(None);
    }
    for _ in &names {
        if state.current().view_name() == Some(name) {
            return Ok(None);
        }
        let (screen, known) = state.current_mut();
        if let Err(why) = screen.next_view(known, true) {
            return Ok(Some(format!("view={name} does not exist at this size: {why}")));
        }
    }
    Ok(None)
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
    if selection_task(state).is_some() {
        return Ok(false);
    }
    let selection = &state.current().table().selection;
    let (rows, all) = (selection.rows.clone(), selection.of);
    if rows.is_empty() {
        return match all {
            0 => Ok(false),
            _ => Err(format!(
                "FD-6333: no row matches the filter ({all} without it), so {name} has none; :open without filter= \
                 shows it"
            )),
        };
    }
    let keys: Vec<Option<String>> =
        rows.iter().map(|row| state.current().row_key(*row, &state.known)).collect();
    if keys.iter().any(Option::is_some) {
        let Some(at) = keys.iter().position(|key| key.as_ref() == Some(name)) else {
            if view.screen == ScreenId::Health && awaits_interval(state) {
                return Ok(false);
            }
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
    if view.screen == ScreenId::Map {
        state.screens.map.reveal_in_tree(what, &state.known);
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

/// Whether problems are ranked from one reading, and a second one that shows what waits and counts errors is to come.
fn awaits_interval(state: &SessionState) -> bool {
    let watch = &state.known.watch;
    let goes_on =
        watch.settings.interval_ms > 0 && watch.live != Some(false) && !watch.recorded && !watch.paused;
    let ranked = state.known.problems.ranked.as_ref();
    goes_on && ranked.is_none_or(|ranked| ranked.at_ms.is_none())
}

fn missing_words<'k>(state: &SessionState, name: &str, keys: impl Iterator<Item = &'k String>) -> String {
    let keys: Vec<&String> = keys.collect();
    let named: Vec<&str> = keys.iter().take(MAX_NAMED).map(|key| key.as_str()).collect();
    let more = keys.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let title = state.screen.title().title;
    format!("FD-6333: '{name}' is not on {title}; there is {}{more}", named.join(", "))
}
