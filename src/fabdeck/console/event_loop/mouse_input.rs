//! What the mouse does: a click chooses, the wheel scrolls, a drag moves a border.

use super::actions::action;
use super::goto_keys::press_enter;
use super::navigation::move_rows;
use super::overlays;
use super::run_action::run_action;
use crate::catalogue::severity::Severity;
use crate::console::features::changes::dialogue_keys::{click_button, click_risk};
use crate::console::features::panes::detail_scroll;
use crate::console::features::panes::pane_actions::{focus_pane, place_border};
use crate::console::features::screens::{SCREENS, ScreenId};
use crate::console::features::target_id::is_current;
use crate::console::features::timeline::time_cursor;
use crate::console::features::views::open_view::end_waiting;
use crate::console::features::whatif::whatif_layout;
use crate::console::model::effect::Effect;
use crate::console::model::mouse::{ClickTarget, MouseAction, MouseInput};
use crate::console::model::overlay::Overlay;
use crate::console::model::pane_sizes::DraggedBorder;
use crate::console::model::panes::{DETAILS, SplitDirection};
use crate::console::model::prompt::Purpose;
use crate::console::model::state::SessionState;
use fabdeck_fabric::{ElementId, LinkId, NodeId};

/// Rows by which the wheel scrolls.
const WHEEL_ROWS: isize = 3;

/// Turns the mouse on or off, or to the other.
pub fn switch_mouse(state: &mut SessionState, wanted: &str) -> Vec<Effect> {
    state.mouse = match wanted {
        "" => !state.mouse,
        "on" => true,
        "off" => false,
        other => {
            let text = format!("'{other}' is neither on nor off; :mouse alone turns it to the other");
            state.log_message(Severity::Error, text);
            return Vec::new();
        }
    };
    state.panes.dragged = None;
    let text = match state.mouse {
        true => {
            "the mouse is on: click, wheel and drag; with Shift held, the terminal selects text as before"
        }
        false => "the mouse is off: the terminal selects text",
    };
    state.log_message(Severity::Info, text);
    Vec::new()
}

pub fn handle_mouse(state: &mut SessionState, mouse: &MouseInput) -> Vec<Effect> {
    // An event from before the mouse was turned off may still arrive.
    if !state.mouse {
        return Vec::new();
    }
    match mouse.action {
        MouseAction::Press => press(state, mouse),
        MouseAction::Drag => drag_border(state, mouse),
        MouseAction::Release => {
            state.panes.dragged = None;
            Vec::new()
        }
        MouseAction::WheelUp => turn_wheel(state, mouse, -WHEEL_ROWS),
        MouseAction::WheelDown => turn_wheel(state, mouse, WHEEL_ROWS),
    }
}

fn press(state: &mut SessionState, mouse: &MouseInput) -> Vec<Effect> {
    // The places are those of the frame that was clicked: with the message seen, its row goes to the panes.
    let panes = state.areas().panes;
    let shown = mouse.target.as_ref();
    let target = shown.map(|shown| &shown.target);
    let is_stale = shown.is_some_and(|shown| !is_current(state, mouse, shown));
    state.seen = state.messages.total_count();
    state.panes.dragged = None;
    if let Some(prompt) = &state.prompt {
        let is_command = prompt.purpose == Purpose::Command;
        return if is_command { take_found(state, mouse) } else { Vec::new() };
    }
    if matches!(state.layer, Some(Overlay::Dialogue(_))) {
        return match target {
            Some(ClickTarget::Button { title, word }) => click_button(state, title, word),
            Some(ClickTarget::Risk { title, place }) => click_risk(state, title, *place),
            _ => Vec::new(),
        };
    }
    if let Some(ClickTarget::Screen(word)) = target {
        let screen = SCREENS.iter().find(|screen| screen.word == word);
        let open = screen.and_then(|screen| action(&format!("screen-{}", screen.word)));
        return open.map(|open| run_action(state, open, "")).unwrap_or_default();
    }
    if let (Some(ClickTarget::Key(word)), None) = (target, &state.layer) {
        return action(word).map(|action| run_action(state, action, "")).unwrap_or_default();
    }
    // A frame that was held over a slow line may show rows that are sorted anew since, or another screen.
    if state.layer.is_some() || is_stale {
        return Vec::new();
    }
    if let Some(pane) = panes.pane_at(mouse.x, mouse.y) {
        focus_pane(state, pane);
    }
    match target {
        Some(target) => choose(state, target),
        None => {
            let border = panes.border_at(mouse.x, mouse.y);
            state.panes.dragged = border.map(|border| {
                let at = match border.direction {
                    SplitDirection::Columns => i32::from(mouse.x) - i32::from(border.area.x),
                    SplitDirection::Rows => i32::from(mouse.y) - i32::from(border.area.y),
                };
                let offset = i32::from(border.first) - at;
                DraggedBorder { screen: state.screen, word: border.word, offset }
            });
            Vec::new()
        }
    }
}

/// Chooses what was clicked in a pane.
fn choose(state: &mut SessionState, target: &ClickTarget) -> Vec<Effect> {
    match target {
        ClickTarget::Row(place) => {
            end_waiting(state);
            state.current_mut().0.table_mut().move_to(*place);
        }
        ClickTarget::Heading(field) => {
            let sorted = state.current().table().sort.as_ref().is_some_and(|(by, _)| by == field);
            let (word, argument) = if sorted { ("reverse", "") } else { ("sort", field.as_str()) };
            return action(word).map(|sort| run_action(state, sort, argument)).unwrap_or_default();
        }
        ClickTarget::Switch(node) => choose_on_map(state, ElementId::Node(NodeId(*node))),
        ClickTarget::Cable(link) => choose_on_map(state, ElementId::Link(LinkId(*link))),
        ClickTarget::Cell(row, column) if state.screen == ScreenId::Map => {
            state.screens.map.drawn.matrix.choose_cell(*row, *column);
        }
        ClickTarget::Slice(slice) if state.screen == ScreenId::Map => {
            state.screens.map.drawn.choose_slice(*slice);
        }
        ClickTarget::Time(at_ms) => return time_cursor::go_to_time(state, *at_ms),
        _ => {}
    }
    Vec::new()
}

fn choose_on_map(state: &mut SessionState, what: ElementId) {
    if state.screen == ScreenId::Map || whatif_layout::shares_cursor(state) {
        state.screens.map.move_to_drawn(what, &state.known);
    }
}

/// Takes the row of the line that was clicked; nothing where the rows changed since the frame.
fn take_found(state: &mut SessionState, mouse: &MouseInput) -> Vec<Effect> {
    let target = mouse.target.as_ref().map(|shown| &shown.target);
    let Some(ClickTarget::Found { place, text }) = target else { return Vec::new() };
    if state.goto.rows.get(*place).is_none_or(|row| row.text != *text) {
        return Vec::new();
    }
    (state.goto.picked, state.goto.is_chosen) = (Some(*place), true);
    press_enter(state)
}

fn turn_wheel(state: &mut SessionState, mouse: &MouseInput, by: isize) -> Vec<Effect> {
    if let Some(prompt) = &state.prompt {
        if prompt.purpose == Purpose::Command {
            state.goto.pick_next(by > 0);
        }
        return Vec::new();
    }
    if state.layer.is_some() {
        overlays::scroll_overlay(state, by);
        return Vec::new();
    }
    let Some(pane) = state.areas().panes.pane_at(mouse.x, mouse.y) else { return Vec::new() };
    if pane == DETAILS {
        focus_pane(state, pane);
        return if detail_scroll::has_keys(state) { move_rows(state, by) } else { Vec::new() };
    }
    let screen = state.current_mut().0;
    match screen.focused_pane() == pane || screen.focus_pane(pane) {
        true => {
            focus_pane(state, pane);
            move_rows(state, by)
        }
        false => Vec::new(),
    }
}

fn drag_border(state: &mut SessionState, mouse: &MouseInput) -> Vec<Effect> {
    let Some(dragged) = state.panes.dragged.filter(|dragged| dragged.screen == state.screen) else {
        return Vec::new();
    };
    let Some(border) = state.areas().panes.border(dragged.word).cloned() else { return Vec::new() };
    let at = match border.direction {
        SplitDirection::Columns => i32::from(mouse.x) - i32::from(border.area.x),
        SplitDirection::Rows => i32::from(mouse.y) - i32::from(border.area.y),
    };
    place_border(state, dragged.word, u16::try_from(at + dragged.offset).unwrap_or(0));
    Vec::new()
}
