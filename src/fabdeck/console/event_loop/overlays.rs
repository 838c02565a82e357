//! The actions on overlays. They are the actions of the screens, with the same keys.

use super::help::HelpColumns;
use crate::catalogue::severity::Severity;
use crate::console::features::changes::dialogue_size::{dialogue_height, dialogue_room};
use crate::console::features::details::ElementDetail;
use crate::console::features::screens::ScreenId;
use crate::console::model::action::{Action, KeyScope};
use crate::console::model::effect::Effect;
use crate::console::model::key::Key;
use crate::console::model::overlay::{Help, Overlay};
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::{wrap_pairs, wrap_text};

/// Number of rows of an overlay that are visible at once.
pub fn overlay_height(state: &SessionState) -> usize {
    usize::from(state.areas().overlay.height).max(1)
}

/// Number of rows of an overlay at the width of the screen.
fn overlay_rows(state: &SessionState, layer: &Overlay) -> usize {
    match layer {
        Overlay::Help(help) => HelpColumns::new(state, &help.search).row_count(),
        Overlay::Details(_) => ElementDetail::detail_page(state).map_or(0, |whole| {
            wrap_pairs(&whole.pairs, usize::from(state.areas().overlay.width.saturating_sub(1))).1.len()
                + whole.ports.len()
        }),
        Overlay::Log(_) => {
            let room = usize::from(state.areas().overlay.width.saturating_sub(LOG_MARGIN + 1));
            state.messages.iter().map(|message| wrap_text(&message.line(), room).len()).sum()
        }
        Overlay::Dialogue(dialogue) => dialogue.rows(&state.known, dialogue_room(state)).len(),
    }
}

/// The column at which the texts of the log begin, after their times.
pub const LOG_MARGIN: u16 = 11;

/// Scrolls the overlay.
pub fn scroll_overlay(state: &mut SessionState, by: isize) {
    let Some(layer) = &state.layer else { return };
    let height = match layer {
        Overlay::Dialogue(_) => dialogue_height(state),
        _ => overlay_height(state),
    };
    let rows = overlay_rows(state, layer);
    match &mut state.layer {
        Some(Overlay::Help(help)) => help.scroll.scroll_by(by, rows, height),
        Some(Overlay::Details(scroll) | Overlay::Log(scroll)) => scroll.scroll_by(by, rows, height),
        Some(Overlay::Dialogue(dialogue)) => dialogue.scroll.scroll_by(by, rows, height),
        None => {}
    }
}

/// Opens an overlay, or closes it where it is open.
pub fn toggle_overlay(state: &mut SessionState, layer: Overlay) -> Vec<Effect> {
    let same = state
        .layer
        .as_ref()
        .is_some_and(|there| std::mem::discriminant(there) == std::mem::discriminant(&layer));
    if same {
        close_overlay(state);
        return Vec::new();
    }
    let details = match &state.layer {
        Some(Overlay::Details(scroll)) => Some(*scroll),
        _ => None,
    };
    state.layer = Some(match layer {
        Overlay::Help(help) => Overlay::Help(Help { above_details: details, ..help }),
        layer => layer,
    });
    Vec::new()
}

/// Closes the overlay; returns false where none is open. Details that help was opened over are open again.
pub fn close_overlay(state: &mut SessionState) -> bool {
    let closed = state.layer.take();
    if let Some(Overlay::Help(Help { above_details: Some(scroll), .. })) = closed {
        state.layer = Some(Overlay::Details(scroll));
    }
    closed.is_some()
}

/// Whether the key of an action works on an open page: on the page of a problem, what Health does with problems.
pub fn is_page_key(state: &SessionState, action: &Action) -> bool {
    let is_problem_page =
        matches!(state.layer, Some(Overlay::Details(_))) && state.screen == ScreenId::Health;
    is_problem_page && action.place == KeyScope::On(ScreenId::Health)
}

/// Reports that a key has no function in the overlay.
pub fn refuse_key(state: &mut SessionState, key: Key, action: Option<&Action>) {
    let close = state.keymap.find_action("out").and_then(|out| state.keymap.keys(out).first().copied());
    let close = close.map_or_else(|| ":out".to_owned(), |key| key.to_string());
    let what =
        action.map_or("does nothing".to_owned(), |action| format!("is {} on the screen below", action.id));
    state.log_message(Severity::Info, format!("{key} {what}; {close} closes this page"));
}
