//! Paths: both ends and the verdict, above the hops.

use ratatui::layout::Rect;

use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::BodyAreas;
use crate::console::model::fabric_model::TABLES_BEING_READ;
use crate::console::model::state::SessionState;
use fabdeck_fabric::LinkId;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    draw_head(canvas, areas.head, state);
    list::draw(canvas, areas.rest, state);
    details::draw(canvas, areas.details, state);
}

fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let paths = &state.screens.paths;
    if let Some(link) = paths.users {
        return draw_cable_load(canvas, area, state, link);
    }
    let end = |text: &Option<String>| text.clone().unwrap_or_else(|| "not chosen".to_owned());
    canvas.draw_text(area, 0, 0, "from", Role::Label);
    canvas.draw_name(area, 10, 0, &end(&paths.from), Role::Text);
    canvas.draw_text(area, 0, 1, "to", Role::Label);
    canvas.draw_name(area, 10, 1, &end(&paths.to), Role::Text);
    canvas.draw_text(area, 0, 2, "under", Role::Label);
    let lid = paths.lid_words(&state.known).map_or_else(String::new, |words| format!("; {words}"));
    let tables = paths.tables_title(&state.known);
    canvas.draw_text(area, 10, 2, &format!("{tables}; V follows others{lid}"), Role::Text);
    canvas.draw_text(area, 0, 3, "path", Role::Label);
    let (text, role) = match (&paths.trace, &paths.problem, &state.known.look) {
        (_, Some(problem), _) if problem == TABLES_BEING_READ => (problem.clone(), Role::Text),
        (_, Some(problem), _) => (problem.clone(), Role::Danger),
        (Some(trace), _, Some(look)) if trace.has_arrived() => match paths.first_failed_element(&state.known)
        {
            Some(struck) => (format!("lost with these marks, at {struck}"), Role::Danger),
            None => (trace.verdict(look), Role::Good),
        },
        (Some(trace), _, Some(look)) => (trace.verdict(look), Role::Danger),
        _ => ("Enter asks where it begins and ends".to_owned(), Role::Dim),
    };
    canvas.draw_text(area, 10, 3, &text, role);
}

/// Draws a cable and the number of paths over it.
fn draw_cable_load(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, link: LinkId) {
    let known = &state.known;
    canvas.draw_text(area, 0, 0, "cable", Role::Label);
    let Some(look) = &known.look else { return };
    let (a, b) = (look.fabric().link(link).a, look.fabric().link(link).b);
    canvas.draw_name(area, 10, 0, &format!("{} - {}", look.port_name(a), look.port_name(b)), Role::Text);
    canvas.draw_text(area, 0, 1, "paths", Role::Label);
    let text = match known.paths.as_ref().and_then(|paths| paths.load_of(link)) {
        Some([there, back]) => format!("{there} one way, {back} the other, under the tables in force"),
        None => "all and only those of its host".to_owned(),
    };
    canvas.draw_text(area, 10, 1, &text, Role::Text);
    canvas.draw_text(area, 0, 2, "users", Role::Label);
    canvas.draw_text(
        area,
        10,
        2,
        "destinations that are reached over it, and how many hosts send to each",
        Role::Text,
    );
}
