//! The two lines at the bottom: what goes on or was said, and the keys that work here.

use super::area::area;
use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::session::interactive::{ACTIONS, Action, Layer, Loading, Needs, Place, State, Task};

pub fn draw(canvas: &mut Canvas<'_>, state: &State) {
    let areas = state.areas();
    let (status, keys) = (area(areas.status), area(areas.footer));
    match &state.prompt {
        Some(prompt) => super::prompt::draw(canvas, status, state, prompt),
        None => status_line(canvas, status, state),
    }
    footer(canvas, keys, state);
}

fn status_line(canvas: &mut Canvas<'_>, at: ratatui::layout::Rect, state: &State) {
    let table = state.current().table();
    let mut right = String::new();
    if state.layer.is_none() && state.current().listing(&state.known).is_some() {
        let (rows, of) = (table.selection.rows.len(), table.selection.of);
        let here = if rows == 0 { 0 } else { table.cursor + 1 };
        right = match rows == of {
            true => format!("{here}/{rows} "),
            false => format!("{here}/{rows} of {of} "),
        };
    }
    let room = at.width.saturating_sub(width(&right) + 1);
    let left = ratatui::layout::Rect { width: room, ..at };
    if let Some(message) = state.news() {
        canvas.text(left, 0, 0, &message.line(), Role::of(message.severity));
    } else if let Some(task) = state.tasks.running().first() {
        progress(canvas, left, state, task);
    } else if let Loading::Failed(error) = &state.loading {
        canvas.text(left, 0, 0, &format!("error: {error}"), Role::Danger);
    } else if !table.filter.is_empty() {
        let problem = table.problem.as_ref();
        let role = if problem.is_some() { Role::Danger } else { Role::Prompt };
        let text = problem.map_or_else(|| format!("/{}", table.filter), Clone::clone);
        canvas.text(left, 0, 0, &text, role);
    }
    canvas.right(at, 0, 0, &right, Role::Dim);
}

fn progress(canvas: &mut Canvas<'_>, at: ratatui::layout::Rect, state: &State, task: &Task) {
    const BAR: u64 = 10;
    let mut text = task.title.clone();
    if let Some(percent) = (task.done.min(task.of) * 100).checked_div(task.of) {
        let full = (percent * BAR / 100) as usize;
        let [done, left] = canvas.signs.bar;
        let part = if task.part > 1 { format!(", part {}", task.part) } else { String::new() };
        text = format!("{text}{part} {}{} {percent} %", done.repeat(full), left.repeat(BAR as usize - full));
    }
    // What is left of one part says nothing of those that follow.
    let took_s = state.now_ms.saturating_sub(task.begun_ms) / 1000;
    match task.left_ms(state.now_ms).filter(|_| task.needs < Needs::Marks && task.part == 1) {
        Some(left_ms) => text.push_str(&format!(", about {} s left", left_ms.div_ceil(1000))),
        None if took_s > 0 => text.push_str(&format!(", {took_s} s so far")),
        None => {}
    }
    let others = state.tasks.running().len() - 1 + state.queue.len();
    if others > 0 {
        text.push_str(&format!(" (and {others} more)"));
    }
    text.push_str("; Esc cancels");
    canvas.text(at, 0, 0, &text, Role::Prompt);
}

fn footer(canvas: &mut Canvas<'_>, at: ratatui::layout::Rect, state: &State) {
    let mut x = 0;
    let mut hint = |canvas: &mut Canvas<'_>, key: &str, word: &str| {
        if x + width(key) + width(word) < at.width {
            x = canvas.text(at, x, 0, key, Role::Key);
            x = canvas.text(at, x + 1, 0, word, Role::Dim) + 2;
        }
    };
    let fixed: &[(&str, &str)] = match (&state.prompt, &state.layer) {
        (Some(_), _) => &[("enter", "take"), ("esc", "leave as it was"), ("tab", "complete")],
        (_, Some(Layer::Help(_))) => &[("esc", "close"), ("down up", "scroll"), ("a-z", "search")],
        (_, Some(Layer::Log(_) | Layer::Details(_))) => &[("esc", "close"), ("down up", "scroll")],
        (_, Some(Layer::Tour(_))) => &[("enter", "next"), ("left", "back"), ("esc", "close")],
        (None, None) => &[],
    };
    if !fixed.is_empty() {
        fixed.iter().for_each(|(key, word)| hint(canvas, key, word));
        return;
    }
    let works = |action: &&Action| action.prominent && (action.ready)(state).is_ok();
    let here = |action: &&Action| action.place == Place::On(state.screen);
    let everywhere = |action: &&Action| action.place == Place::Everywhere;
    let own = ACTIONS.iter().filter(works).filter(here);
    for action in own.chain(ACTIONS.iter().filter(works).filter(everywhere)) {
        if let Some(key) = state.keymap.keys(action).first() {
            hint(canvas, &key.to_string(), short(action));
        }
    }
    hint(canvas, "q", if at_top(state) { "quit" } else { "back" });
}

fn at_top(state: &State) -> bool {
    state.screen == crate::session::interactive::ScreenId::Fabric
        && state.current().crumbs(&state.known).len() < 2
}

/// The word for the footer, where there is no room for a sentence.
fn short(action: &Action) -> &'static str {
    match action.id {
        "palette" => "actions",
        "write-plan" => "plan",
        "copy-line" => "copy line",
        id => id,
    }
}
