//! Help: the keys of this screen and of every screen, narrowed to what is typed; and what the columns mean.

use ratatui::layout::Rect;

use super::area::area;
use super::canvas::Canvas;
use super::theme::Role;
use crate::session::interactive::{ACTIONS, Action, Help, Place, SCREENS, State};

pub fn draw(canvas: &mut Canvas<'_>, state: &State, help: &Help) {
    let areas = state.areas();
    let at = Rect { width: state.size.width, ..area(areas.body) };
    canvas.clear(at);
    let title = format!("Keys of {}", state.screen.title().title);
    let x = canvas.text(at, 1, 0, &title, Role::Header);
    let search =
        if help.search.is_empty() { "type to search".to_owned() } else { format!("/{}", help.search) };
    canvas.text(at, x + 3, 0, &search, Role::Prompt);
    let lines = lines(state, &help.search);
    let (_, body) = (0, Rect { y: at.y + 1.min(at.height), height: at.height.saturating_sub(1), ..at });
    let top = help.scroll.top.min(lines.len().saturating_sub(body.height.into()));
    for (y, line) in (0..body.height).zip(lines.iter().skip(top)) {
        match line {
            Line::Heading(text) => {
                canvas.text(body, 1, y, text, Role::Heading);
            }
            Line::Entry(key, words) => {
                canvas.text(body, 2, y, key, Role::Key);
                canvas.text(body, 18, y, words, Role::Text);
            }
        }
    }
    if lines.is_empty() {
        canvas.text(body, 2, 0, "nothing fits; Backspace widens the search", Role::Dim);
    }
}

enum Line {
    Heading(String),
    Entry(String, String),
}

fn lines(state: &State, search: &str) -> Vec<Line> {
    let search = search.to_lowercase();
    let fits = |action: &&Action| {
        search.is_empty() || format!("{} {}", action.id, action.title).to_lowercase().contains(&search)
    };
    let entry = |action: &Action| {
        let keys: Vec<String> = state.keymap.keys(action).iter().map(ToString::to_string).collect();
        let keys = if keys.is_empty() { format!(":{}", action.id) } else { keys.join(" ") };
        let why = (action.ready)(state).err().map_or_else(String::new, |why| format!(" (not now: {why})"));
        Line::Entry(keys, format!("{}{why}", action.title))
    };
    let mut lines = Vec::new();
    let places = std::iter::once(Place::On(state.screen)).chain([Place::Everywhere]);
    let others =
        SCREENS.iter().map(|screen| Place::On(screen.id)).filter(|place| *place != Place::On(state.screen));
    for place in places.chain(others) {
        let of_place = ACTIONS.iter().filter(|action| action.place == place).filter(fits);
        let entries: Vec<Line> = of_place.map(entry).collect();
        if !entries.is_empty() {
            lines.push(Line::Heading(format!("On {place}")));
            lines.extend(entries);
        }
    }
    let Some(listing) = state.current().listing(&state.known) else { return lines };
    let about = (0..listing.column_count()).map(|at| listing.column(at));
    let columns: Vec<Line> = about
        .filter(|column| search.is_empty() || column.id.contains(&search))
        .map(|column| Line::Entry(column.id.to_string(), column.about.to_string()))
        .collect();
    if !columns.is_empty() {
        lines.push(Line::Heading("Fields of this list, for / and s".to_owned()));
        lines.extend(columns);
    }
    lines
}
