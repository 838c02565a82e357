//! Draws the two lines at the bottom: tasks or the newest message, and the keys that work here.

use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::{Canvas, width};
use super::theme::Role;
use crate::console::event_loop::actions::{ACTIONS, action};
use crate::console::event_loop::overlays::is_page_key;
use crate::console::features::changes::apply_actions::is_key_active;
use crate::console::features::changes::dialogue::Dialogue;
use crate::console::features::screen::Screen;
use crate::console::features::screens::ScreenId;
use crate::console::features::whatif::screen::WhatifPane;
use crate::console::features::whatif::victims_page;
use crate::console::model::action::{Action, KeyScope};
use crate::console::model::layout::BOX_MIN_SCREEN;
use crate::console::model::messages::LogMessage;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::overlay::Overlay;
use crate::console::model::prompt::{Prompt, Purpose};
use crate::console::model::state::{LoadState, SessionState};
use fabdeck_change::ChangePhase;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState) {
    let areas = state.areas();
    let (status, keys) = (buffer_area(areas.status), buffer_area(areas.footer));
    match &state.prompt {
        Some(prompt) if prompt.purpose != Purpose::Command => {
            super::prompt::draw(canvas, status, state, prompt)
        }
        _ => draw_status_line(canvas, status, state),
    }
    draw_keys(canvas, keys, state);
}

fn draw_status_line(canvas: &mut Canvas<'_>, at: Rect, state: &SessionState) {
    let table = state.current().table();
    if let Some(message) = state.status_message() {
        draw_message(canvas, at, state, message);
    } else if let Some(task) = state.tasks.running_tasks().first() {
        super::progress::draw(canvas, at, state, task);
    } else if let Some(words) = state.known.changes.progress() {
        canvas.draw_text(at, 0, 0, &words, Role::Prompt);
    } else if let LoadState::Failed(error) = &state.loading {
        canvas.draw_text(at, 0, 0, &format!("error: {error}"), Role::Danger);
    } else if let Some(filter) = state.shown_filter() {
        let problem = table.problem.as_ref();
        let role = if problem.is_some() { Role::Danger } else { Role::Prompt };
        let text = problem.map_or_else(|| format!("/{filter}"), Clone::clone);
        canvas.draw_text(at, 0, 0, &text, role);
    }
}

/// Draws the newest message. A message that is longer than the line ends with the key that opens the log.
fn draw_message(canvas: &mut Canvas<'_>, at: Rect, state: &SessionState, message: &LogMessage) {
    let (line, role) = (message.line(), Role::from_severity(message.severity));
    let log = action("log").and_then(|log| log.first_key(&state.keymap));
    let hint = log.filter(|_| width(&line) > at.width).map(|key| format!("{key} shows all"));
    let hint = hint.unwrap_or_default();
    let room = at.width.saturating_sub(if hint.is_empty() { 0 } else { width(&hint) + 1 });
    canvas.draw_text(Rect { width: room, ..at }, 0, 0, &line, role);
    canvas.draw_right_aligned(at, room, 0, &hint, Role::Key);
}

/// The keys of an open line.
fn prompt_keys(prompt: &Prompt) -> Vec<(&'static str, &'static str)> {
    let enter = match prompt.purpose {
        Purpose::Acknowledge => "acknowledge",
        Purpose::TakeBack if prompt.text.trim().is_empty() => "take back",
        Purpose::TakeBack => "change the note",
        _ => "done",
    };
    let mut keys = vec![("enter", enter), ("esc", "cancel")];
    if prompt.can_recall() {
        keys = vec![("enter", "done"), ("up", "edit"), ("esc", "cancel")];
    }
    if !prompt.offers.is_empty() {
        keys.extend([("tab", "complete"), ("down up", "pick")]);
    }
    keys
}

fn draw_keys(canvas: &mut Canvas<'_>, at: Rect, state: &SessionState) {
    let mut x = 0;
    let mut place = |canvas: &mut Canvas<'_>, key: &str, word: &str, reserved: u16| {
        if x + width(key) + width(word) + reserved < at.width {
            let from = x;
            x = canvas.draw_text(at, x, 0, key, Role::Key);
            x = canvas.draw_text(at, x + 1, 0, word, Role::Dim) + 2;
            return Rect { x: at.x + from, width: x - from - 1, ..at };
        }
        Rect { width: 0, ..at }
    };
    let mut hint = |canvas: &mut Canvas<'_>, key: &str, word: &str, reserved: u16| {
        place(canvas, key, word, reserved);
    };
    if let Some(Prompt { purpose: Purpose::Command, .. }) = &state.prompt {
        GOTO_KEYS.into_iter().for_each(|(key, word)| hint(canvas, key, word, 0));
        return;
    }
    if let Some(prompt) = &state.prompt {
        prompt_keys(prompt).into_iter().for_each(|(key, word)| hint(canvas, key, word, 0));
        return;
    }
    if let Some(Overlay::Dialogue(dialogue)) = &state.layer {
        dialogue_keys(dialogue, at.width).into_iter().for_each(|(key, word)| hint(canvas, key, word, 0));
        return;
    }
    if let Some(layer) = &state.layer {
        for (ids, word) in overlay_actions(layer) {
            let keys = ids.iter().filter_map(|id| action(id)?.first_key(&state.keymap));
            let keys = keys.map(|key| key.to_string()).collect::<Vec<_>>().join(" ");
            hint(canvas, &keys, word, 0);
        }
        let works = |action: &&Action| action.prominent && (action.ready)(state).is_ok();
        for action in ACTIONS.iter().filter(works).filter(|action| is_page_key(state, action)) {
            let key = action.first_key(&state.keymap).map(|key| key.to_string()).unwrap_or_default();
            hint(canvas, &key, short_title(action, state), 0);
        }
        return;
    }
    draw_screen_keys(canvas, state, &mut place);
}

/// Draws a key and its word where they leave this number of columns free, and returns their place.
type DrawHint<'h> = dyn FnMut(&mut Canvas<'_>, &str, &str, u16) -> Rect + 'h;

/// The keys of the screen that is open.
fn draw_screen_keys(canvas: &mut Canvas<'_>, state: &SessionState, hint: &mut DrawHint<'_>) {
    // The key that goes back gets its room first.
    let quit = action("back").and_then(|quit| quit.first_key(&state.keymap));
    let quit = quit.map(|key| (key.to_string(), if is_at_top(state) { "quit" } else { "back" }));
    let works = |action: &&Action| {
        action.prominent && (action.ready)(state).is_ok() && has_effect_here(state, action)
    };
    let first = |action: &Action| {
        let marks = action.id == "mark" && matches!(state.screen, ScreenId::Map | ScreenId::Whatif);
        let is_unasked = state.screen == ScreenId::Whatif && state.known.proposed.is_empty();
        let runs_engines = action.id == "preview" && is_unasked;
        let leads_to_victims = action.id == "next-pane" && state.screen == ScreenId::Whatif;
        // The pane has all names, and its page a line for each.
        let opens_victims = action.id == "enter" && victims_page::has_keys(state);
        marks
            || opens_victims
            || runs_engines
            || leads_to_victims
            || TIME_ACTIONS.contains(&action.id)
            || CHANGE_ACTIONS.contains(&action.id)
    };
    let here = |action: &&Action| action.place == KeyScope::On(state.screen) || first(action);
    let everywhere = |action: &&Action| action.place == KeyScope::Everywhere && !first(action);
    let last = |action: &&Action| action.id == "zoom" || LAST_ACTIONS.contains(&action.id);
    let with_key = |action: &'static Action| {
        let key = action.first_key(&state.keymap)?.to_string();
        // The key for the other direction stands beside it.
        let other = self::action("previous-event").filter(|_| action.id == "next-event");
        let other = other.and_then(|other| other.first_key(&state.keymap));
        Some((other.map_or_else(|| key.clone(), |other| format!("{key} {other}")), action))
    };
    let ends: Vec<(String, &Action)> =
        LAST_ACTIONS.into_iter().filter_map(action).filter(works).filter_map(with_key).collect();
    let wide = |(key, word): (&str, &str)| width(key) + width(word) + 3;
    let quit_width = quit.as_ref().map_or(0, |(key, word)| wide((key, word)));
    // The keys that end the row get their room first: they are there on every screen of every size.
    let ends_width: u16 = ends.iter().map(|(key, action)| wide((key, short_title(action, state)))).sum();
    let zoom = action("zoom").filter(works).and_then(with_key);
    let own = ACTIONS.iter().filter(works).filter(here);
    let mut keys: Vec<(String, &Action)> = own
        .chain(ACTIONS.iter().filter(works).filter(everywhere).filter(|action| !last(action)))
        .filter_map(with_key)
        .take(
            MAX_KEYS + usize::from(state.screen == ScreenId::Map)
                - ends.len()
                - 1
                - usize::from(zoom.is_some()),
        )
        .collect();
    // The way back from a pane that has the whole body comes first.
    let at = if state.areas().panes.is_zoomed() { 0 } else { keys.len() };
    keys.splice(at..at, zoom);
    let keys = keys.into_iter().map(|own| (own, ends_width + quit_width));
    for ((key, action), reserved) in keys.chain(ends.into_iter().map(|own| (own, quit_width))) {
        let place = hint(canvas, &key, short_title(action, state), reserved);
        canvas.add_target(place, ClickTarget::Key(action.id.to_owned()));
    }
    if let Some((key, word)) = quit {
        let place = hint(canvas, &key, word, 0);
        canvas.add_target(place, ClickTarget::Key("back".to_owned()));
    }
}

/// The keys of a dialog, or of its proofs.
fn dialogue_keys(dialogue: &Dialogue, room: u16) -> Vec<(&'static str, &'static str)> {
    if dialogue.details {
        return DETAILS_KEYS.to_vec();
    }
    let does = |(_, word): &&(&str, &str)| match *word {
        "time" | "details" | "copy command" => dialogue.has_window(),
        "acknowledge" => dialogue.has_findings(),
        // All keys of a question with risks do not fit, and this one goes without saying.
        "press" => room >= BOX_MIN_SCREEN || !dialogue.has_findings(),
        _ => true,
    };
    DIALOGUE_KEYS.iter().filter(does).copied().collect()
}

/// Most keys in the last row, and the actions that end it before the key that leaves.
const MAX_KEYS: usize = 8;
const LAST_ACTIONS: [&str; 2] = ["palette", "help"];

/// Actions of a layer over the screen, with a word for each.
fn overlay_actions(layer: &Overlay) -> &'static [(&'static [&'static str], &'static str)] {
    match layer {
        Overlay::Help(_) => &[(&["back"], "close"), (&["down", "up"], "scroll"), (&["filter"], "search")],
        Overlay::Log(_) | Overlay::Details(_) => {
            &[(&["back"], "close"), (&["down", "up"], "scroll"), (&["first", "last"], "first, last")]
        }
        Overlay::Dialogue(_) => &[],
    }
}

/// These actions work everywhere and are shown on the Timeline.
const TIME_ACTIONS: [&str; 4] = ["step-back", "step", "next-event", "live"];

/// These actions work everywhere; they come first if there is something to decide or to apply.
const CHANGE_ACTIONS: [&str; 4] = ["apply", "confirm", "rollback", "extend"];

/// Keys of the line that goes to anything.
const GOTO_KEYS: [(&str, &str); 6] = [
    ("enter", "go"),
    ("down up", "pick"),
    ("tab", "next group"),
    ("ctrl-o", "other place"),
    ("ctrl-p", "before"),
    ("esc", "leave"),
];

/// Keys of a dialog, which are the same in every keymap.
const DIALOGUE_KEYS: [(&str, &str); 8] = [
    ("esc", "cancel"),
    ("tab", "next"),
    ("space", "acknowledge"),
    ("enter", "press"),
    ("- +", "time"),
    ("d", "details"),
    ("c", "copy command"),
    ("down up", "scroll"),
];

/// The keys of the proofs in a dialog.
const DETAILS_KEYS: [(&str, &str); 3] = [("q esc", "back"), ("d", "question"), ("down up", "scroll")];

/// Whether an action has an effect here: Enter and Tab if they lead somewhere, `mark` if the row can be marked.
fn has_effect_here(state: &SessionState, action: &Action) -> bool {
    match action.id {
        "apply" => is_key_active(state),
        // On this screen the key belongs to another action.
        "extend" => state.screen != ScreenId::Paths,
        "enter" if victims_page::has_keys(state) => true,
        "enter" => state.current().can_enter(&state.known),
        // On What-if the key asks for a name.
        "mark" => state.screen == ScreenId::Whatif || !state.target_elements().is_empty(),
        // Enter opens the same page there, or the details are beside the list already.
        "details" if is_unasked_engine(state) => false,
        "details" => state.screen != ScreenId::Health && state.areas().details_pane.is_empty(),
        // A list has no colours to choose.
        "quantity" => state.screens.map.shows_map(),
        "next-view" => state.screen != ScreenId::Health && state.current().has_views(&state.known),
        // Elsewhere the row has no room for it.
        "next-pane" => match state.screen {
            ScreenId::Whatif => state.screens.whatif.page.is_none() && !state.known.marks.is_empty(),
            screen => screen == ScreenId::Health,
        },
        id if TIME_ACTIONS.contains(&id) => state.screen == ScreenId::Timeline,
        _ => true,
    }
}

/// Whether the cursor is on an engine that was not run, so that it has no details.
fn is_unasked_engine(state: &SessionState) -> bool {
    let screen = &state.screens.whatif;
    let on_engines = screen.pane == WhatifPane::Engines && screen.page.is_none();
    state.screen == ScreenId::Whatif
        && on_engines
        && !victims_page::has_keys(state)
        && !screen.can_enter(&state.known)
}

fn is_at_top(state: &SessionState) -> bool {
    state.screen == ScreenId::Health && state.current().crumbs(&state.known).len() < 2
}

/// Whether the cursor is on a confirmed change, which the key undoes.
fn undoes_confirmed(state: &SessionState) -> bool {
    let change = state.screens.changes.change().filter(|_| state.screen == ScreenId::Changes);
    change.is_some_and(|row| row.state == ChangePhase::Confirmed)
}

/// Short word for the footer, which has no room for a sentence.
fn short_title(action: &Action, state: &SessionState) -> &'static str {
    match action.id {
        "next-pane" => "pane",
        "zoom" if state.areas().panes.is_zoomed() => "all panes",
        "enter" if state.screen == ScreenId::Timeline => "go",
        "enter" if state.screen == ScreenId::Paths => "ends",
        "enter" => "open",
        "preview-fix" => "preview",
        "longer-window" => state.known.problems.window.words(),
        "next-view" => "view",
        "palette" => "go to",
        "write-plan" => "plan",
        "copy-line" => "copy command",
        "preview-relief" => "relief",
        "pause" if state.known.playback.as_ref().is_some_and(|playback| !playback.is_playing()) => "play",
        "rollback" if undoes_confirmed(state) => "undo",
        "step-back" => "back",
        "next-event" => "event",
        id => id,
    }
}
