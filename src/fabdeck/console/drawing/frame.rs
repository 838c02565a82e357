//! Draws a frame from the state alone, without side effects.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::{Canvas, shorten_name, width};
use super::color_depth::{MIN_CONTRAST, ansi_index, contrast};
use super::pane::{PaneHead, draw_pane};
use super::symbols::Symbols;
use super::theme::{Role, Theme};
use super::{details, footer, header, help, log};
use crate::console::features::changes::draw_dialogue as dialogue;
use crate::console::features::details::visible_page;
use crate::console::features::feature::BodyAreas;
use crate::console::features::goto::draw as goto;
use crate::console::features::target_id::target_id;
use crate::console::features::tour::draw as tour;
use crate::console::model::mouse::ClickTargets;
use crate::console::model::overlay::Overlay;
use crate::console::model::prompt::Purpose;
use crate::console::model::state::{LoadState, SessionState};
use fabdeck_fabric::observe::digits_in_groups;

/// Theme and characters of the console; the state says what is drawn.
#[derive(Clone, Debug)]
pub struct Appearance {
    pub theme: Theme,
    pub signs: Symbols,
}

/// Draws the whole screen into an empty buffer.
pub fn draw(state: &SessionState, appearance: &Appearance, buffer: &mut Buffer) {
    draw_with_targets(state, appearance, buffer);
}

/// Draws the whole screen, and returns what of it can be clicked; nothing while the mouse is off.
pub fn draw_with_targets(state: &SessionState, appearance: &Appearance, buffer: &mut Buffer) -> ClickTargets {
    let mut canvas = Canvas::new(buffer, &appearance.theme, appearance.signs);
    canvas.targets.is_listed = state.mouse;
    canvas.buffer.set_style(canvas.buffer.area, canvas.theme.blank());
    header::draw(&mut canvas, state);
    match &state.layer {
        Some(Overlay::Help(search)) => help::draw(&mut canvas, state, search),
        Some(Overlay::Details(scroll)) => details::draw_page(&mut canvas, state, *scroll),
        Some(Overlay::Log(scroll)) => log::draw(&mut canvas, state, *scroll),
        Some(Overlay::Dialogue(asked)) => {
            // A narrow screen has no room for what is behind a dialog.
            if state.areas().boxed {
                draw_body(&mut canvas, state);
            }
            canvas.targets.clear();
            dialogue::draw(&mut canvas, state, asked);
        }
        None => draw_body(&mut canvas, state),
    }
    if let Some(prompt) = state.prompt.as_ref().filter(|prompt| prompt.purpose == Purpose::Command) {
        canvas.targets.clear();
        goto::draw(&mut canvas, state, prompt);
    }
    tour::draw(&mut canvas, state);
    footer::draw(&mut canvas, state);
    mend_cursor_row(&mut canvas);
    let mut targets = canvas.targets;
    targets.identify(state.screen.title().word, |at, target| target_id(state, at, target));
    targets
}

/// Of sixteen colours, some cannot be read on the ground of the cursor: those signs take the colour of its text.
fn mend_cursor_row(canvas: &mut Canvas<'_>) {
    let cursor = canvas.style(Role::Cursor);
    let (Some(text), Some(ground)) = (cursor.fg, cursor.bg) else { return };
    if ansi_index(ground).is_none() {
        return;
    }
    for cell in canvas.buffer.content.iter_mut().filter(|cell| cell.bg == ground) {
        if contrast(cell.fg, ground).is_some_and(|found| found < MIN_CONTRAST) {
            cell.fg = text;
        }
    }
}

fn draw_body(canvas: &mut Canvas<'_>, state: &SessionState) {
    canvas.focus = chosen_place(state);
    draw_panes(canvas, state);
    canvas.focus = None;
}

/// The place of a pane without rows that has the keys.
fn chosen_place(state: &SessionState) -> Option<(u16, u16)> {
    let pane = state.focused_pane();
    let area = state.areas().panes.area(pane);
    (state.known.look.is_some() && pane != state.current().focused_pane()).then_some((area.x, area.y))
}

fn draw_panes(canvas: &mut Canvas<'_>, state: &SessionState) {
    let areas = state.areas();
    if state.known.look.is_none() {
        let head = PaneHead { title: state.screen.title().title, right: &[], focused: true };
        let at = draw_pane(canvas, buffer_area(areas.middle), &head, areas.boxed);
        return draw_empty_body(canvas, at, state);
    }
    let feature = state.screen.feature();
    let at = match (feature.has_own_panes)(state) {
        true => buffer_area(areas.middle),
        false => draw_body_pane(canvas, state),
    };
    let above = state.current().rows_above(&state.known).min(at.height);
    let head = Rect { height: above, ..at };
    let rest = Rect { y: at.y + above, height: at.height - above, ..at };
    let areas = BodyAreas { whole: at, head, rest, details: buffer_area(areas.details_pane) };
    (feature.draw)(canvas, &areas, state);
}

/// Draws the pane of a screen with its path of names, and how many rows it has. Returns its inside.
fn draw_body_pane(canvas: &mut Canvas<'_>, state: &SessionState) -> Rect {
    let areas = state.areas();
    let pane = buffer_area(areas.body_pane);
    let crumbs = state.current().crumbs(&state.known);
    let sign = format!(" {} ", canvas.signs.crumb);
    let names = std::iter::once(state.screen.title().title.to_owned()).chain(crumbs).collect::<Vec<_>>();
    let note = state.current().pane_note(&state.known);
    let position = note.unwrap_or_else(|| position_text(state));
    let room = pane.width.saturating_sub(width(&position) + PANE_HEAD_MARGIN);
    // The innermost name matters most, so a title that is too long loses its beginning.
    let whole = names.join(&sign);
    let title = match width(&whole) > room {
        true => shorten_name(names.last().map_or("", String::as_str), room, canvas.signs.more),
        false => whole,
    };
    let right = [(position.as_str(), Role::Dim)];
    draw_pane(canvas, pane, &PaneHead { title: &title, right: &right, focused: true }, areas.boxed)
}

/// Columns of the upper border besides title and amounts: corners, blanks, the sign of the focus.
const PANE_HEAD_MARGIN: u16 = 11;

/// The row of the cursor and the number of rows: `3 of 81`, `3 of 9, 81 in all`.
fn position_text(state: &SessionState) -> String {
    if state.current().listing(&state.known).is_none() {
        return String::new();
    }
    let table = state.current().table();
    let (mut rows, mut all) = (table.selection.rows.len(), table.selection.of);
    let mut here = if rows == 0 { 0 } else { table.cursor + 1 };
    if let Some((seen, of_page)) = visible_page(state) {
        (here, rows, all) = (seen, of_page, of_page);
    }
    let is_whole = rows == all;
    let [here, rows, all] = [here, rows, all].map(digits_in_groups);
    let position = match is_whole {
        true => format!("{here} of {rows}"),
        false => format!("{here} of {rows}, {all} in all"),
    };
    match table.selected.len() {
        0 => position,
        selected => format!("{selected} selected, {position}"),
    }
}

/// Draws the first frame before anything is read, or after the reading failed.
fn draw_empty_body(canvas: &mut Canvas<'_>, at: Rect, state: &SessionState) {
    match &state.loading {
        LoadState::Failed(error) => {
            canvas.draw_text(at, 2, 1, "The source could not be read", Role::Danger);
            let lines = crate::operations::check::certificate_text::wrap_text(
                error,
                at.width.saturating_sub(4).min(90).into(),
            );
            for (y, line) in (3..at.height).zip(lines) {
                canvas.draw_text(at, 2, y, &line, Role::Text);
            }
        }
        _ => {
            canvas.draw_text(at, 2, 1, &format!("Reading {}", state.source), Role::Text);
            canvas.draw_text(
                at,
                2,
                2,
                "Every screen works as soon as there is something to show.",
                Role::Dim,
            );
        }
    }
}
