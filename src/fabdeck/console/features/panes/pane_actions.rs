//! Zooms a pane, and moves its borders.

use crate::catalogue::severity::Severity;
use crate::console::features::screen::CursorDirection;
use crate::console::model::effect::Effect;
use crate::console::model::pane_sizes::WidthClass;
use crate::console::model::panes::{SplitDirection, to_share};
use crate::console::model::state::SessionState;

/// Columns that a key moves a border by; a row is about as high as two columns are wide.
const COLUMN_STEP: i32 = 2;

/// Checks that the screen shows several panes.
pub fn has_panes(state: &SessionState) -> Result<(), String> {
    match state.known.look.is_some() && state.areas().panes.are_several() {
        true => Ok(()),
        false => Err("there is one pane here; a larger screen may have more".to_owned()),
    }
}

/// Gives the keys to a pane. One that has no rows to move is zoomed and its borders are moved.
pub fn focus_pane(state: &mut SessionState, pane: &'static str) {
    let screen = state.screen;
    if state.focused_pane() != pane {
        state.panes.detail_top = 0;
    }
    match state.current_mut().0.focus_pane(pane) {
        true => state.panes.focused.remove(&screen),
        false => state.panes.focused.insert(screen, pane),
    };
}

/// Gives the keys to the next pane or to the one before.
pub fn focus_next(state: &mut SessionState, forward: bool) -> Vec<Effect> {
    let mut names = state.areas().panes.names();
    names.retain(|name| state.current().can_focus(name));
    let here = state.focused_pane();
    let at = names.iter().position(|name| *name == here).unwrap_or(0);
    let by = if forward { 1 } else { names.len().saturating_sub(1) };
    if let Some(next) = names.get((at + by) % names.len().max(1)) {
        focus_pane(state, next);
    }
    Vec::new()
}

pub fn toggle_zoom(state: &mut SessionState, _: &str) -> Vec<Effect> {
    if !state.panes.zoomed.remove(&state.screen) {
        state.panes.zoomed.insert(state.screen);
    }
    Vec::new()
}

/// Moves the border that is nearest to the pane with the keys.
pub fn move_border(state: &mut SessionState, direction: CursorDirection) -> Vec<Effect> {
    let panes = state.areas().panes;
    let (split, by) = match direction {
        CursorDirection::Left => (SplitDirection::Columns, -COLUMN_STEP),
        CursorDirection::Right => (SplitDirection::Columns, COLUMN_STEP),
        CursorDirection::Up => (SplitDirection::Rows, -1),
        CursorDirection::Down => (SplitDirection::Rows, 1),
    };
    let Some(border) = panes.border_of(state.focused_pane(), split) else {
        let text = match (panes.is_zoomed(), split) {
            (true, _) => "the pane has the whole body: Z shows all panes again",
            (false, SplitDirection::Columns) => "this pane has no border at its left or right that moves",
            (false, SplitDirection::Rows) => "this pane has no border above or below it that moves",
        };
        state.log_message(Severity::Info, text);
        return Vec::new();
    };
    let wanted = u16::try_from(i32::from(border.first) + by).unwrap_or(0);
    if !place_border(state, border.word, wanted) {
        state.log_message(Severity::Info, "the border moves no further");
    }
    Vec::new()
}

/// Moves a border so that the part before it has this size, within its limits. Returns whether it moved.
pub fn place_border(state: &mut SessionState, word: &'static str, first: u16) -> bool {
    let panes = state.areas().panes;
    let Some(border) = panes.border(word) else { return false };
    let Some(first) = border.limited(first).filter(|first| *first != border.first) else { return false };
    let width = WidthClass::of(state.size.width);
    let share = to_share(first, border.length());
    state.panes.sizes.set_share(state.screen.title().word, width, word, share);
    state.panes.unkept.insert((state.screen, width));
    true
}

/// Moves all borders of the screen back to where they are by default.
pub fn reset_panes(state: &mut SessionState, _: &str) -> Vec<Effect> {
    let width = WidthClass::of(state.size.width);
    state.panes.zoomed.remove(&state.screen);
    let text = match state.panes.sizes.reset(state.screen.title().word, width) {
        true => {
            state.panes.unkept.insert((state.screen, width));
            "the borders are in their first places"
        }
        false => "no border of this screen was moved at this width",
    };
    state.log_message(Severity::Info, text);
    Vec::new()
}
