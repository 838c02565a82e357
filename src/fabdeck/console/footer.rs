//! Draws the two lines at the bottom: tasks or the newest message, and the keys that work here.

use super::area::area;
use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::session::interactive::{
    ACTIONS, Action, Layer, Loading, Message, Place, ScreenId, State, action, works_here,
};

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
        let (mut rows, mut of) = (table.selection.rows.len(), table.selection.of);
        let mut here = if rows == 0 { 0 } else { table.cursor + 1 };
        if let Some((seen, all)) = state.page_in_sight() {
            (here, rows, of) = (seen, all, all);
        }
        right = match rows == of {
            true => format!("{here}/{rows} "),
            false => format!("{here}/{rows} of {of} "),
        };
        if !table.selected.is_empty() {
            right = format!("{} selected  {right}", table.selected.len());
        }
    }
    let room = at.width.saturating_sub(width(&right) + 1);
    let left = ratatui::layout::Rect { width: room, ..at };
    if let Some(message) = state.news() {
        said(canvas, left, state, message);
    } else if let Some(task) = state.tasks.running().first() {
        super::progress::draw(canvas, left, state, task);
    } else if let Some(words) = state.known.changes.progress() {
        canvas.text(left, 0, 0, &words, Role::Prompt);
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

/// Draws the newest message. A message that is longer than the line ends with the key that opens the log.
fn said(canvas: &mut Canvas<'_>, at: ratatui::layout::Rect, state: &State, message: &Message) {
    let (line, role) = (message.line(), Role::of(message.severity));
    let log = action("log").and_then(|log| log.first_key(&state.keymap));
    let hint = log.filter(|_| width(&line) > at.width).map(|key| format!("{key} shows all"));
    let hint = hint.unwrap_or_default();
    let room = at.width.saturating_sub(if hint.is_empty() { 0 } else { width(&hint) + 1 });
    canvas.text(ratatui::layout::Rect { width: room, ..at }, 0, 0, &line, role);
    canvas.right(at, room, 0, &hint, Role::Key);
}

fn footer(canvas: &mut Canvas<'_>, at: ratatui::layout::Rect, state: &State) {
    let mut x = 0;
    let mut hint = |canvas: &mut Canvas<'_>, key: &str, word: &str, reserved: u16| {
        if x + width(key) + width(word) + reserved < at.width {
            x = canvas.text(at, x, 0, key, Role::Key);
            x = canvas.text(at, x + 1, 0, word, Role::Dim) + 2;
        }
    };
    if let Some(prompt) = &state.prompt {
        let mut fixed = vec![("enter", "take"), ("esc", "leave as it was")];
        if prompt.can_recall() {
            fixed = vec![("enter", "keep"), ("up", "change"), ("esc", "leave as it was")];
        }
        if !prompt.offers.is_empty() {
            fixed.extend([("tab", "complete"), ("down up", "pick")]);
        }
        fixed.into_iter().for_each(|(key, word)| hint(canvas, key, word, 0));
        return;
    }
    if let Some(Layer::Dialogue(dialogue)) = &state.layer {
        let does = |(_, word): &&(&str, &str)| match *word {
            "window" => dialogue.has_window(),
            "take in" => dialogue.has_findings(),
            _ => true,
        };
        DIALOGUE.iter().filter(does).for_each(|(key, word)| hint(canvas, key, word, 0));
        return;
    }
    if let Some(layer) = &state.layer {
        for (ids, word) in over(layer) {
            let keys = ids.iter().filter_map(|id| action(id)?.first_key(&state.keymap));
            let keys = keys.map(|key| key.to_string()).collect::<Vec<_>>().join(" ");
            hint(canvas, &keys, word, 0);
        }
        return;
    }
    // The way back gets its room first.
    let quit = action("quit").and_then(|quit| quit.first_key(&state.keymap));
    let quit = quit.map(|key| (key.to_string(), if at_top(state) { "quit" } else { "back" }));
    let reserved = quit.as_ref().map_or(0, |(key, word)| width(key) + width(word) + 3);
    let works =
        |action: &&Action| action.prominent && (action.ready)(state).is_ok() && does_something(state, action);
    let first = |action: &Action| TIME.contains(&action.id) || CHANGE.contains(&action.id);
    let here = |action: &&Action| action.place == Place::On(state.screen) || first(action);
    let everywhere = |action: &&Action| action.place == Place::Everywhere && !first(action);
    let own = ACTIONS.iter().filter(works).filter(here);
    for action in own.chain(ACTIONS.iter().filter(works).filter(everywhere)) {
        if let Some(key) = action.first_key(&state.keymap) {
            hint(canvas, &key.to_string(), short(action, state), reserved);
        }
    }
    if let Some((key, word)) = quit {
        hint(canvas, &key, word, 0);
    }
}

/// Actions of a layer over the screen, with a word for each.
fn over(layer: &Layer) -> &'static [(&'static [&'static str], &'static str)] {
    match layer {
        Layer::Help(_) => &[(&["quit"], "close"), (&["down", "up"], "scroll"), (&["filter"], "search")],
        Layer::Log(_) | Layer::Details(_) => {
            &[(&["quit"], "close"), (&["down", "up"], "scroll"), (&["first", "last"], "first, last")]
        }
        Layer::Dialogue(_) => &[],
        Layer::Tour { .. } => {
            &[(&["enter"], "next"), (&["down", "up"], "scroll"), (&["quit"], "close"), (&["left"], "back")]
        }
    }
}

/// These actions work everywhere and are shown on the Timeline.
const TIME: [&str; 4] = ["step-back", "step", "next-event", "live"];

/// These actions work everywhere; they come first if there is something to decide or to apply.
const CHANGE: [&str; 4] = ["apply", "confirm", "rollback", "extend"];

/// Keys of a dialog, which are the same in every keymap.
const DIALOGUE: [(&str, &str); 6] = [
    ("esc", "cancel"),
    ("tab", "next"),
    ("space", "take in"),
    ("enter", "press"),
    ("+ -", "window"),
    ("down up", "scroll"),
];

/// Whether an action has an effect here: Enter and Tab if they lead somewhere, `mark` if the row can be marked.
fn does_something(state: &State, action: &Action) -> bool {
    match action.id {
        "apply" => works_here(state),
        // On this screen the key belongs to another action.
        "extend" => state.screen != ScreenId::Paths,
        "enter" => state.current().can_enter(&state.known),
        "mark" => !state.meant().is_empty(),
        "next-view" => state.current().has_views(&state.known),
        id if TIME.contains(&id) => state.screen == ScreenId::Timeline,
        _ => true,
    }
}

fn at_top(state: &State) -> bool {
    state.screen == ScreenId::Fabric && state.current().crumbs(&state.known).len() < 2
}

/// Short word for the footer, which has no room for a sentence.
fn short(action: &Action, state: &State) -> &'static str {
    match action.id {
        "enter" => "in",
        "next-view" => "view",
        "palette" => "actions",
        "write-plan" => "plan",
        "copy-line" => "copy line",
        "pause" if state.known.playback.as_ref().is_some_and(|playback| !playback.plays()) => "play",
        "step-back" => "back",
        "next-event" => "event",
        id => id,
    }
}
