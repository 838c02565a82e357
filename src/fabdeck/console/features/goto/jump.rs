//! Goes to the place of a row.

use super::goto_state::{GotoTarget, RecentPlace};
use super::map_rows::go_to_part;
use crate::catalogue::query::{Columns, Query};
use crate::catalogue::severity::Severity;
use crate::console::features::row_selection::set_filter;
use crate::console::features::screen::{Screen, ScreenTarget};
use crate::console::features::screen_change::{open_screen, open_target};
use crate::console::features::screens::{ScreenId, move_cursor_to};
use crate::console::features::timeline::time_navigation::seek_place;
use crate::console::model::effect::Effect;
use crate::console::model::element_search::find_element;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use fabdeck_fabric::ElementId;

/// The kind of a place, in a word.
fn kind_word(target: &GotoTarget) -> &'static str {
    match target {
        GotoTarget::Element(text) if text.starts_with("switch:") => "switch",
        GotoTarget::Element(text) if text.starts_with("host:") => "host",
        GotoTarget::Element(text) if text.starts_with("link:") => "cable",
        GotoTarget::Element(_) => "port",
        GotoTarget::Problem(_) => "problem",
        GotoTarget::Job(_) => "job",
        GotoTarget::Change(_) => "change",
        GotoTarget::MapPart(_) => "map",
        GotoTarget::Moment { .. } | GotoTarget::Events => "time",
        GotoTarget::Action { .. }
        | GotoTarget::Line(_)
        | GotoTarget::Completion { .. }
        | GotoTarget::More(_) => "action",
    }
}

/// Records that a place was opened.
pub fn remember(state: &mut SessionState, target: GotoTarget, text: &str) {
    let (kind, at_ms) = (kind_word(&target), state.now_ms);
    state.goto.remember_place(RecentPlace { target, text: text.to_owned(), kind, at_ms });
}

/// Goes to a place; a place that no longer exists leaves everything as it is, and a message says so.
pub fn go_to_place(state: &mut SessionState, target: &GotoTarget) -> Vec<Effect> {
    match target {
        GotoTarget::Element(text) => {
            if let Some(what) = find_element(state, text) {
                go_to_element(state, what);
            }
        }
        GotoTarget::Problem(id) => go_to_problem(state, id),
        GotoTarget::Job(job) => go_to_job(state, job),
        GotoTarget::Change(id) => {
            if state.screens.changes.move_to_change(id) {
                state.layer = None;
                open_screen(state, ScreenId::Changes);
            } else {
                state.log_message(Severity::Warning, format!("change {id} is no longer listed"));
            }
        }
        GotoTarget::MapPart(name) => go_to_part(state, name),
        GotoTarget::Moment { place, time } => return go_to_moment(state, *place, *time),
        GotoTarget::Events => {
            state.layer = None;
            open_target(state, &ScreenTarget::Events);
        }
        GotoTarget::Action { .. }
        | GotoTarget::Line(_)
        | GotoTarget::Completion { .. }
        | GotoTarget::More(_) => {}
    }
    Vec::new()
}

/// Goes to an element: to the row of a node or a port on the Map, and to the page of a cable.
fn go_to_element(state: &mut SessionState, what: ElementId) {
    state.layer = None;
    match what {
        ElementId::Link(link) => {
            open_screen(state, ScreenId::Links);
            show_row(&mut state.screens.links, what, &state.known);
            state.screens.links.open_page(link);
        }
        ElementId::Node(_) | ElementId::Port(_) => {
            open_screen(state, ScreenId::Map);
            state.screens.map.show_list_of(what, &state.known);
            show_row(&mut state.screens.map, what, &state.known);
        }
    }
}

/// Whether a place can be opened elsewhere than where Enter goes.
pub fn has_other_place(state: &SessionState, target: &GotoTarget) -> bool {
    match target {
        GotoTarget::Element(_) => true,
        GotoTarget::Problem(id) => problem_element(state, id).is_some(),
        GotoTarget::Job(job) => state.screens.health.has_job(job),
        _ => false,
    }
}

/// Goes to the other place: a cable on the Map, a node or a port among the cables of Links, what a problem is about instead
/// of its card, and a job on Health instead of Jobs.
pub fn go_to_other_place(state: &mut SessionState, target: &GotoTarget) {
    match target {
        GotoTarget::Element(text) => match find_element(state, text) {
            Some(ElementId::Link(link)) => {
                let end = state.snapshot().map(|look| look.fabric().link(link).a);
                if let Some(end) = end {
                    go_to_element(state, ElementId::Port(end));
                }
            }
            Some(what) => go_to_cables(state, what),
            None => {}
        },
        GotoTarget::Problem(id) => {
            if let Some(what) = problem_element(state, id) {
                go_to_element(state, what);
            }
        }
        GotoTarget::Job(job) => {
            go_to_job_on_health(state, job);
        }
        _ => {}
    }
}

fn go_to_job_on_health(state: &mut SessionState, job: &str) -> bool {
    let has_row = state.screens.health.move_to_job(job);
    if has_row {
        state.layer = None;
        open_screen(state, ScreenId::Health);
    }
    has_row
}

/// The element that a problem is about.
fn problem_element(state: &SessionState, id: &str) -> Option<ElementId> {
    let ranked = state.known.problems.ranked.as_ref()?;
    let problem = ranked.problems.iter().find(|problem| problem.id == id)?;
    problem.elements.first().copied()
}

/// Goes to the cables of a node, or to the cable of a port.
fn go_to_cables(state: &mut SessionState, what: ElementId) {
    let Some(look) = state.snapshot().cloned() else { return };
    let fabric = look.fabric();
    match what {
        ElementId::Port(port) if fabric.port(port).link.is_none() => {
            state.log_message(Severity::Info, "this port has no cable");
        }
        ElementId::Port(port) => {
            fabric.port(port).link.into_iter().for_each(|link| go_to_element(state, ElementId::Link(link)));
        }
        ElementId::Node(node) => {
            state.layer = None;
            open_screen(state, ScreenId::Links);
            state.screens.links.page = None;
            // A name would be found inside longer names too, or be read as an expression.
            set_filter(state, fabric.node(node).guid().to_string());
        }
        ElementId::Link(_) => go_to_element(state, what),
    }
}

/// Moves the cursor to the row of an element. Where a filter hides it, the list shows all rows again.
fn show_row(screen: &mut dyn Screen, what: ElementId, known: &Model) {
    if move_cursor_to(screen, what, known) {
        return;
    }
    let mut table = std::mem::take(screen.table_mut());
    (table.filter, table.names, table.sort) = (String::new(), Vec::new(), None);
    if let Some(listing) = screen.listing(known) {
        let all = Query::default().select(&*listing, Columns::Shown).unwrap_or_default();
        table.set_selection(all, None);
    }
    *screen.table_mut() = table;
    screen.update_filter(known);
    move_cursor_to(screen, what, known);
}

fn go_to_problem(state: &mut SessionState, id: &str) {
    if !state.screens.health.move_to_problem(id) {
        state.log_message(Severity::Warning, "this problem is over: Health has the current ones");
        return;
    }
    state.layer = None;
    open_screen(state, ScreenId::Health);
}

/// Goes to the row of a job on Jobs, or where that has none, to its row on Health.
fn go_to_job(state: &mut SessionState, job: &str) {
    state.layer = None;
    if state.screens.jobs.move_to_job(job) {
        open_screen(state, ScreenId::Jobs);
    } else if !go_to_job_on_health(state, job) {
        open_screen(state, ScreenId::Jobs);
        let text = format!("job {job} has no row here: Jobs lists those on several switches");
        state.log_message(Severity::Info, text);
    }
}

/// Goes to the moment of an event. Places move where a recording drops its older half; times stay.
fn go_to_moment(state: &mut SessionState, place: usize, time: i64) -> Vec<Effect> {
    let events = state.screens.timeline.events();
    let same_time = || events.iter().filter(|event| event.at == time);
    let nearest = same_time().filter_map(|event| event.place).min_by_key(|at| at.abs_diff(place));
    let Some(place) = nearest.filter(|_| state.known.playback.is_some()) else {
        let text = "this time is not in the recording that the screens show";
        state.log_message(Severity::Warning, text);
        return Vec::new();
    };
    state.layer = None;
    open_screen(state, ScreenId::Timeline);
    seek_place(state, place)
}
