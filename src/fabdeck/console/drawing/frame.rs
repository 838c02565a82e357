//! Draws a frame from the state alone, without side effects.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::buffer_area::buffer_area;
use super::canvas::Canvas;
use super::symbols::Symbols;
use super::theme::{Role, Theme};
use super::{details, footer, header, help, log, tour};
use crate::console::features::changes::draw_dialogue as dialogue;
use crate::console::features::feature::BodyAreas;
use crate::console::model::overlay::Overlay;
use crate::console::model::state::{LoadState, SessionState};

/// Theme and characters of the console; the state says what is drawn.
#[derive(Clone, Debug)]
pub struct Appearance {
    pub theme: Theme,
    pub signs: Symbols,
}

/// Draws the whole screen into an empty buffer.
pub fn draw(state: &SessionState, appearance: &Appearance, buffer: &mut Buffer) {
    let mut canvas = Canvas { buffer, theme: &appearance.theme, signs: appearance.signs };
    canvas.buffer.set_style(canvas.buffer.area, canvas.theme.blank());
    header::draw(&mut canvas, state);
    match &state.layer {
        Some(Overlay::Help(search)) => help::draw(&mut canvas, state, search),
        Some(Overlay::Details(scroll)) => details::draw_page(&mut canvas, state, *scroll),
        Some(Overlay::Log(scroll)) => log::draw(&mut canvas, state, *scroll),
        Some(Overlay::Tour { page, scroll }) => tour::draw(&mut canvas, state, *page, *scroll),
        Some(Overlay::Dialogue(asked)) => dialogue::draw(&mut canvas, state, asked),
        None => draw_body(&mut canvas, state),
    }
    footer::draw(&mut canvas, state);
}

fn draw_body(canvas: &mut Canvas<'_>, state: &SessionState) {
    let areas = state.areas();
    let at = buffer_area(areas.body);
    if state.known.look.is_none() {
        return draw_empty_body(canvas, at, state);
    }
    let above = state.current().rows_above(&state.known).min(at.height);
    let head = Rect { height: above, ..at };
    let rest = Rect { y: at.y + above, height: at.height - above, ..at };
    let areas = BodyAreas { whole: at, head, rest, details: buffer_area(areas.details) };
    (state.screen.feature().draw)(canvas, &areas, state);
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
