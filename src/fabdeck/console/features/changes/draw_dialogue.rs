//! Draws a dialog before something is written to the fabric: its parts and two buttons. A wide screen stays in sight behind
//! it, in grey. The button with the focus has a sign besides its colour.

use ratatui::layout::Rect;

use super::dialogue::{Dialogue, DialogueFocus};
use super::dialogue_row::{CHECKBOX_WIDTH, DialogueRow, DialogueSign, LABEL_WIDTH, RiskLine};
use super::dialogue_size::{dialogue_area, dialogue_room};
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::gauge::draw_plain_gauge;
use crate::console::drawing::overlay_pane::extent_room;
use crate::console::drawing::pane::{PaneHead, draw_pane};
use crate::console::drawing::theme::Role;
use crate::console::features::health::draw_charts::draw_wait_and_errors;
use crate::console::model::layout;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;

pub fn draw(canvas: &mut Canvas<'_>, state: &SessionState, dialogue: &Dialogue) {
    let areas = state.areas();
    let seen = &state.known.changes;
    let room = dialogue_room(state);
    let rows = dialogue.rows(&state.known, room);
    let pane = buffer_area(dialogue_area(state, rows.len())).intersection(canvas.buffer.area);
    if areas.boxed {
        grey_out(canvas);
    }
    paint_ground(canvas, pane, areas.boxed);
    let margin = if areas.boxed { 2 } else { 1 };
    let inside = buffer_area(dialogue_area(state, rows.len()).inside(areas.boxed));
    // If there is room for only one row, the buttons get it.
    let height = room.height.min(usize::from(inside.height.saturating_sub(1)));
    let top = dialogue.scroll.top.min(rows.len().saturating_sub(height));
    let title = shorten_name(&dialogue.title(seen), pane.width.saturating_sub(6), canvas.signs.more);
    let extent = canvas.extent_text(top, height, rows.len(), extent_room(pane, &title));
    let right = match dialogue.target().filter(|_| extent.is_empty()) {
        Some(target) => vec![("writes to: ", Role::Dim), (target, Role::Warning)],
        None => vec![(extent.as_str(), Role::Key)],
    };
    draw_pane(canvas, pane, &PaneHead { title: &title, right: &right, focused: true }, areas.boxed);
    let above = u16::from(areas.boxed && usize::from(inside.height) > rows.len() + 2);
    let body = Rect { y: inside.y + above, height: height as u16, ..inside };
    for (y, row) in (0..body.height).zip(rows.iter().skip(top)) {
        if let DialogueRow::Charts { rows } = row {
            let height = (*rows).min(body.height - y);
            let at = layout::Rect::new(body.x, body.y + y, body.width, height);
            draw_wait_and_errors(canvas, at, areas.boxed, state);
        }
        let line = Rect { y: body.y + y, height: 1, ..body };
        if let DialogueRow::Risk { at, .. } = row {
            let title = dialogue.title(seen);
            canvas.add_target(line, ClickTarget::Risk { title, place: *at });
        }
        draw_row(canvas, line, margin, dialogue, row);
    }
    let below = u16::from(areas.boxed && inside.height > 4);
    let buttons = Rect {
        x: inside.x + margin.min(inside.width),
        y: inside.y + inside.height.saturating_sub(1 + below),
        width: inside.width.saturating_sub(2 * margin),
        height: inside.height.min(1),
    };
    draw_buttons(canvas, buttons, dialogue, &dialogue.title(seen));
}

/// Turns everything that is drawn so far grey, without removing it.
fn grey_out(canvas: &mut Canvas<'_>) {
    let style = canvas.style(Role::Behind);
    let blank = canvas.theme.blank();
    for cell in &mut canvas.buffer.content {
        let symbol = cell.symbol().to_owned();
        cell.reset();
        cell.set_symbol(&symbol).set_style(blank).set_style(style);
    }
}

/// Clears the place of the dialog; a box has a ground of its own.
fn paint_ground(canvas: &mut Canvas<'_>, pane: Rect, boxed: bool) {
    let (blank, ground) = (canvas.theme.blank(), canvas.style(Role::Dialog));
    for y in pane.top()..pane.bottom() {
        for x in pane.left()..pane.right() {
            let cell = &mut canvas.buffer[(x, y)];
            cell.reset();
            cell.set_style(blank);
            if boxed {
                cell.set_style(ground);
            }
        }
    }
}

/// Draws a row; `line` is the whole row inside the pane.
fn draw_row(canvas: &mut Canvas<'_>, line: Rect, margin: u16, dialogue: &Dialogue, row: &DialogueRow) {
    let at =
        Rect { x: line.x + margin.min(line.width), width: line.width.saturating_sub(2 * margin), ..line };
    if let DialogueRow::Risk { at: which, taken, kind } = row {
        let here = dialogue.focus() == DialogueFocus::Finding(*which);
        return draw_risk(canvas, at, here, *taken, kind);
    }
    draw_plain_row(canvas, line, margin, row);
}

/// Draws a row that has no focus.
pub(super) fn draw_plain_row(canvas: &mut Canvas<'_>, line: Rect, margin: u16, row: &DialogueRow) {
    let at =
        Rect { x: line.x + margin.min(line.width), width: line.width.saturating_sub(2 * margin), ..line };
    match row {
        DialogueRow::Risk { .. } => {}
        // Charts are drawn over all of their rows at once.
        DialogueRow::Blank | DialogueRow::Charts { .. } => {}
        DialogueRow::Heading { title, right, ruled } => {
            if *ruled {
                let rule = canvas.signs.rule.repeat(line.width.into());
                canvas.draw_text(line, 0, 0, &rule, Role::Border);
            }
            let text = if *ruled { format!(" {title} ") } else { (*title).to_owned() };
            let x = if *ruled { 1 } else { at.x - line.x };
            let x = canvas.draw_text(line, x, 0, &text, Role::Strong);
            if let Some((amount, role)) = right {
                let room = Rect { width: line.width.saturating_sub(1), ..line };
                canvas.draw_right_aligned(room, x + 1, 0, &format!(" {amount} "), *role);
            }
        }
        DialogueRow::Labelled { sign, label: (label, role), pieces } => {
            let x = match sign_text(canvas, *sign) {
                Some(text) => canvas.draw_text(at, 0, 0, text, sign.role()) + 1,
                None => 0,
            };
            canvas.draw_text(Rect { width: at.width.min(LABEL_WIDTH as u16), ..at }, x, 0, label, *role);
            pieces
                .iter()
                .fold(LABEL_WIDTH as u16 + 1, |x, (text, role)| canvas.draw_text(at, x, 0, text, *role));
        }
        DialogueRow::Gauge { label, share, role, text } => {
            const GAUGE: u16 = 30;
            canvas.draw_text(at, 0, 0, label, Role::Label);
            let x = LABEL_WIDTH as u16 + 2;
            draw_plain_gauge(canvas, at, (x, 0), GAUGE, *share, *role);
            canvas.draw_text(at, x + GAUGE + 2, 0, text, *role);
        }
        DialogueRow::Loop { channels, upper } => {
            let at = Rect { x: at.x + CHECKBOX_WIDTH as u16, width: at.width.saturating_sub(4), ..at };
            draw_loop(canvas, at, channels, *upper);
        }
    }
}

fn sign_text(canvas: &Canvas<'_>, sign: DialogueSign) -> Option<&'static str> {
    let [critical, warning, well, unknown] = canvas.signs.severity;
    match sign {
        DialogueSign::None => None,
        DialogueSign::Critical => Some(critical),
        DialogueSign::Warning => Some(warning),
        DialogueSign::Well => Some(well),
        DialogueSign::Unknown => Some(unknown),
    }
}

fn draw_risk(canvas: &mut Canvas<'_>, at: Rect, here: bool, taken: bool, kind: &RiskLine) {
    let titled = matches!(kind, RiskLine::Title(_) | RiskLine::More(_));
    if here && titled {
        canvas.fill_row(at, 0, Role::Cursor);
    }
    let x = CHECKBOX_WIDTH as u16;
    let role = match (here, taken) {
        (true, _) => Role::Cursor,
        (false, true) => Role::Good,
        (false, false) => Role::Warning,
    };
    match kind {
        RiskLine::Title(text) => {
            canvas.draw_text(at, 0, 0, if taken { "[x]" } else { "[ ]" }, role);
            canvas.draw_text(at, x, 0, text, if here { Role::Cursor } else { Role::Strong });
        }
        RiskLine::More(text) => {
            canvas.draw_text(at, x, 0, text, if here { Role::Cursor } else { Role::Strong });
        }
        RiskLine::Reason(text) => {
            canvas.draw_text(at, x, 0, text, Role::Text);
        }
        RiskLine::Chain { names, continues } => {
            let arrow = canvas.signs.focus;
            let first = if *continues { format!("{arrow} ") } else { String::new() };
            let text = format!("{first}{}", names.join(&format!(" {arrow} ")));
            canvas.draw_text(at, x, 0, &text, Role::Text);
        }
    }
}

/// Draws half of a credit loop: its channels in a row, and the way from the last back to the first below it.
fn draw_loop(canvas: &mut Canvas<'_>, at: Rect, channels: &[String], upper: bool) {
    let ([upper_left, upper_right, lower_left, lower_right], rule) =
        (canvas.signs.corners, canvas.signs.rule);
    let arrow = canvas.signs.focus;
    // Each name has a blank at both sides, and an arrow of two columns or three before it.
    let names: u16 = channels.iter().map(|name| width(name) + 5).sum();
    if upper {
        let mut x = canvas.draw_text(at, 0, 0, upper_left, Role::Warning);
        for (place, name) in channels.iter().enumerate() {
            let line = if place == 0 { rule.to_owned() } else { rule.repeat(2) };
            x = canvas.draw_text(at, x, 0, &format!("{line}{arrow} "), Role::Warning);
            x = canvas.draw_text(at, x, 0, &format!("{name} "), Role::Strong);
        }
        canvas.draw_text(at, x, 0, &format!("{rule}{upper_right}"), Role::Warning);
        return;
    }
    const WORDS: &str = " each waits for room in the next ";
    let x = canvas.draw_text(at, 0, 0, &format!("{lower_left}{rule}"), Role::Warning);
    let x = canvas.draw_text(at, x, 0, WORDS, Role::Dim);
    let rest = (names + 1).saturating_sub(x);
    canvas.draw_text(at, x, 0, &format!("{}{lower_right}", rule.repeat(rest.into())), Role::Warning);
}

fn draw_buttons(canvas: &mut Canvas<'_>, at: Rect, dialogue: &Dialogue, title: &str) {
    let open = dialogue.unacknowledged_count();
    let mut x = 0;
    for (stop, word) in dialogue.buttons() {
        let here = dialogue.focus() == stop;
        let blocked = stop == DialogueFocus::Act && open > 0;
        let style = match (here, blocked) {
            (true, true) => canvas.style(Role::Cursor),
            (true, false) => canvas.theme.painted(Role::Key, true),
            (false, true) => canvas.style(Role::Faint),
            (false, false) => canvas.style(Role::Key),
        };
        let before = if here { canvas.signs.focus } else { " " };
        let end = canvas.draw_styled(at, x, 0, &format!("[{before}{word} ]"), style);
        let button = Rect { x: at.x + x, width: end.saturating_sub(x), ..at };
        let target = ClickTarget::Button { title: title.to_owned(), word: word.to_owned() };
        canvas.add_target(button, target);
        x = end + 2;
    }
    if open > 0 {
        let keys = match dialogue.focus() {
            DialogueFocus::Finding(_) => "space",
            _ => "tab, space",
        };
        let what = if open == 1 { "the risk".to_owned() } else { count_words(open, "risk", "risks") };
        canvas.draw_text(at, x, 0, &format!("acknowledge {what} first: {keys}"), Role::Warning);
        return;
    }
    // Which button is chosen stands in words too, where there is room.
    let chosen = dialogue.buttons().into_iter().find(|(stop, _)| *stop == dialogue.focus());
    let text = match (chosen, dialogue.focus()) {
        (Some((_, word)), _) => format!("{word} is chosen: enter presses it"),
        (None, DialogueFocus::Finding(_)) => "all acknowledged: tab goes to the buttons".to_owned(),
        (None, _) => String::new(),
    };
    if x + width(&text) <= at.width {
        canvas.draw_text(at, x, 0, &text, Role::Dim);
    }
}
