//! Paths: both ends and the verdict, the path as a line, its hops, and what else the pair has.

use ratatui::layout::Rect;

use super::draw_line::draw_path_line;
use super::draw_panes::{draw_panes, draw_summary};
use super::path_panes::HEAD_ROWS;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::feature::BodyAreas;
use crate::console::features::map::lit_path::LitPath;
use crate::console::model::fabric_model::TABLES_BEING_READ;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use fabdeck_fabric::LinkId;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    let paths = &state.screens.paths;
    draw_head(canvas, areas.head, state);
    let line = Rect {
        y: areas.head.y + HEAD_ROWS.min(areas.head.height),
        height: areas.head.height.saturating_sub(HEAD_ROWS),
        ..areas.head
    };
    if let (Some(trace), Some(facts)) =
        (paths.trace.as_ref().filter(|_| paths.users.is_none()), paths.facts())
    {
        draw_path_line(canvas, line, state, trace, &facts.paths.lanes[0], line.height);
    }
    let below = paths.summary_rows(state.size).min(areas.rest.height);
    let hops = Rect { height: areas.rest.height - below, ..areas.rest };
    match paths.is_without_ends() {
        true => draw_start(canvas, hops, state),
        false => list::draw(canvas, hops, state),
    }
    draw_summary(canvas, Rect { y: hops.y + hops.height, height: below, ..hops }, state);
    draw_panes(canvas, state);
    details::draw(canvas, areas.details, state);
}

/// Draws how a path is followed, and the path that waits most as an example.
fn draw_start(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    const STEPS: [(&str, &str); 5] = [
        (
            "enter",
            "asks where the path begins, then where it ends: a host, a switch, a port, a LID or a GUID",
        ),
        ("t", "on any screen begins a path at the row of the cursor"),
        (":trace A B", "follows it at once, with both ends"),
        ("U", "on a cable lists the destinations that are reached over it"),
        ("V", "follows the routes that engines propose, once p on What-if has run them"),
    ];
    let mut y = 0;
    for (key, text) in STEPS {
        canvas.draw_text(area, 1, y, key, Role::Key);
        canvas.draw_text(area, 13, y, text, Role::Text);
        y += 1;
    }
    let words = "The screen then has the path as a line with the wait and the load of each cable, the way back, the other \
                 ports that lead there as directly, and what marks and proposed routes do to the pair.";
    y += 1;
    for line in wrap_text(words, area.width.saturating_sub(2).into()) {
        canvas.draw_text(area, 1, y, &line, Role::Dim);
        y += 1;
    }
    let (Some(look), Some(example)) = (state.snapshot(), LitPath::of_worst_problem(&state.known)) else {
        return;
    };
    y += 1;
    let x = canvas.draw_text(area, 1, y, "now", Role::Label);
    let title = example.title(look);
    let x = canvas.draw_text(area, x + 1, y, &title, Role::Strong);
    canvas.draw_text(
        area,
        x + 1,
        y,
        &format!("({}) waits for the worst hot-spot; to follow it:", example.role),
        Role::Text,
    );
    canvas.draw_text(area, 13, y + 1, &format!(":trace {}", title.replace(" to ", " ")), Role::Key);
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
    let others = if paths.proposed.is_empty() { "" } else { "; V follows others" };
    canvas.draw_text(area, 10, 2, &format!("{tables}{others}{lid}{}", level_words(state)), Role::Text);
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

/// The service level of the path, or why its lanes are not known.
fn level_words(state: &SessionState) -> String {
    let Some(facts) = state.screens.paths.facts() else { return String::new() };
    match facts.paths.level {
        Some(level) => format!("; service level {}", level.value()),
        None => "; lane not known, for no source states its level".to_owned(),
    }
}

/// Draws a cable and the number of paths over it.
fn draw_cable_load(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, link: LinkId) {
    let known = &state.known;
    canvas.draw_text(area, 0, 0, "cable", Role::Label);
    let Some(look) = &known.look else { return };
    let (a, b) = (look.fabric().link(link).a, look.fabric().link(link).b);
    canvas.draw_cable(area, 10, 0, &format!("{} - {}", look.port_name(a), look.port_name(b)), Role::Text);
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
