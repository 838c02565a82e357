//! The actions on overlays. They are the actions of the screens, with the same keys.

use super::actions::Action;
use super::effect::Effect;
use super::help::help_rows;
use super::key::Key;
use super::layer::{Layer, Scroll, TOUR};
use super::messages::Severity;
use super::screens::Detail;
use super::state::State;
use crate::session::{paired, wrap};

/// Number of rows of an overlay that are visible at once, below its heading.
pub fn height(state: &State) -> usize {
    usize::from(state.areas().body.height.saturating_sub(1)).max(1)
}

/// Number of rows of an overlay at the width of the screen.
fn rows(state: &State, layer: &Layer) -> usize {
    match layer {
        Layer::Help(help) => help_rows(state, &help.search).len(),
        Layer::Details(_) => Detail::whole(state).map_or(0, |whole| {
            paired(&whole.pairs, usize::from(state.size.width.saturating_sub(1))).1.len() + whole.ports.len()
        }),
        Layer::Log(_) => {
            let room = usize::from(state.size.width.saturating_sub(LOG_MARGIN + 1));
            state.messages.iter().map(|message| wrap(&message.line(), room).len()).sum()
        }
        Layer::Tour { page, .. } => tour_rows(state, *page).len(),
        Layer::Dialogue(dialogue) => dialogue.rows(&state.known.changes, dialogue_room(state)).len(),
    }
}

/// The width of the text in a dialog.
pub fn dialogue_room(state: &State) -> usize {
    usize::from(state.size.width.saturating_sub(4).min(100))
}

/// Number of rows of a dialog between its heading and its buttons, which have a blank row above.
pub fn dialogue_height(state: &State) -> usize {
    usize::from(state.areas().body.height.saturating_sub(3)).max(1)
}

/// The column at which the texts of the log begin, after their times.
pub const LOG_MARGIN: u16 = 11;

/// The text of a page of the tour, below a blank row.
pub fn tour_rows(state: &State, page: usize) -> Vec<String> {
    let room = state.size.width.saturating_sub(4).min(72);
    let text = TOUR.get(page).map_or("", |(_, text)| *text);
    std::iter::once(String::new()).chain(wrap(text, room.into())).collect()
}

/// Scrolls the overlay. At the end of a page, the tour goes to the next one.
pub fn scroll(state: &mut State, by: isize) {
    let Some(layer) = &state.layer else { return };
    let height = match layer {
        Layer::Dialogue(_) => dialogue_height(state),
        _ => height(state),
    };
    let rows = rows(state, layer);
    match &mut state.layer {
        Some(Layer::Help(help)) => help.scroll.step(by, rows, height),
        Some(Layer::Details(scroll) | Layer::Log(scroll)) => scroll.step(by, rows, height),
        Some(Layer::Dialogue(dialogue)) => dialogue.scroll.step(by, rows, height),
        Some(Layer::Tour { page, scroll }) => {
            let (at, before) = (*page, *scroll);
            scroll.step(by, rows, height);
            if *scroll == before {
                *page = at.saturating_add_signed(by.signum()).min(TOUR.len() - 1);
            }
            if *page != at {
                *scroll = Scroll::default();
            }
        }
        None => {}
    }
}

/// Turns to the next or the previous page of the tour.
pub fn turn(state: &mut State, forward: bool) {
    if let Some(Layer::Tour { page, scroll }) = &mut state.layer {
        *page = page.saturating_add_signed(if forward { 1 } else { -1 }).min(TOUR.len() - 1);
        *scroll = Scroll::default();
    }
}

/// Handles Enter: turns the pages of the tour, and closes it at the end.
pub fn enter(state: &mut State) {
    match state.layer {
        Some(Layer::Tour { page, .. }) if page + 1 == TOUR.len() => state.layer = None,
        _ => turn(state, true),
    }
}

/// Opens an overlay, or closes it where it is open.
pub fn toggle(state: &mut State, layer: Layer) -> Vec<Effect> {
    let same = state
        .layer
        .as_ref()
        .is_some_and(|there| std::mem::discriminant(there) == std::mem::discriminant(&layer));
    state.layer = Some(layer).filter(|_| !same);
    Vec::new()
}

/// Reports that a key has no function in the overlay.
pub fn refuse(state: &mut State, key: Key, action: Option<&Action>) {
    let close = super::actions::action("out").and_then(|out| state.keymap.keys(out).first().copied());
    let close = close.map_or_else(|| ":out".to_owned(), |key| key.to_string());
    let what =
        action.map_or("does nothing".to_owned(), |action| format!("is {} on the screen below", action.id));
    state.say(Severity::Said, format!("{key} {what}; {close} closes this page"));
}
