//! Paths: the two ends and the verdict, above the hops.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::State;

pub fn head(canvas: &mut Canvas<'_>, area: Rect, state: &State) {
    let paths = &state.screens.paths;
    let end = |text: &Option<String>| text.clone().unwrap_or_else(|| "not chosen".to_owned());
    canvas.text(area, 0, 0, "from", Role::Label);
    canvas.text(area, 10, 0, &end(&paths.from), Role::Text);
    canvas.text(area, 0, 1, "to", Role::Label);
    canvas.text(area, 10, 1, &end(&paths.to), Role::Text);
    canvas.text(area, 0, 2, "under", Role::Label);
    canvas.text(area, 10, 2, &format!("{}; Tab follows others", paths.under_title()), Role::Text);
    canvas.text(area, 0, 3, "path", Role::Label);
    let (text, role) = match (&paths.trace, &paths.problem, &state.known.look) {
        (_, Some(problem), _) => (problem.clone(), Role::Danger),
        (Some(trace), _, Some(look)) if trace.found() => (trace.verdict(look), Role::Good),
        (Some(trace), _, Some(look)) => (trace.verdict(look), Role::Danger),
        _ => ("Enter asks where it begins and ends".to_owned(), Role::Dim),
    };
    canvas.text(area, 10, 3, &text, role);
}
