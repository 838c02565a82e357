//! Draws the panes below the list of changes: the course of the change at the cursor, what became of it, and what can be
//! done with it now; and without any change, how one comes to be.

use ratatui::layout::Rect;

use super::changes_panes::{CHOICES, COURSE, EFFECT, has_choices};
use super::confirm_rows::effect_rows;
use super::detail::change_detail;
use super::dialogue::DialogueRoom;
use super::draw_dialogue::draw_plain_row;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::gauge::draw_plain_gauge;
use crate::console::drawing::pane::{PaneHead, TextRun, draw_pane, draw_rule};
use crate::console::drawing::theme::Role;
use crate::console::drawing::{details, list};
use crate::console::features::changes::choices::change_choices;
use crate::console::features::feature::BodyAreas;
use crate::console::features::health::draw_charts::draw_wait_and_errors;
use crate::console::model::layout;
use crate::console::model::state::SessionState;
use crate::operations::changes::change_row::{ChangeRow, countdown, phase_of_five_words, time_of_day};
use crate::operations::check::certificate_text::wrap_text;
use fabdeck_change::{ChangePhase, JournalStep};
use fabdeck_fabric::observe::digits_in_groups;

/// Columns of a time of day, with its zone.
const TIME_WIDTH: u16 = 13;
/// Columns of the keys of what can be done.
const KEY_WIDTH: u16 = 4;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    let screen = &state.screens.changes;
    let below = screen.summary_rows(state.size).min(areas.rest.height);
    let rows = Rect { height: areas.rest.height - below, ..areas.rest };
    let Some(row) = screen.change() else {
        return match screen.has_no_change() {
            true => draw_start(canvas, areas.rest, areas.details, state),
            false => {
                list::draw(canvas, rows, state);
                details::draw(canvas, areas.details, state);
            }
        };
    };
    list::draw(canvas, rows, state);
    draw_summary(canvas, Rect { y: rows.y + rows.height, height: below, ..rows }, state, row);
    details::draw(canvas, areas.details, state);
    let panes = &state.areas().panes;
    draw_course(canvas, buffer_area(panes.area(COURSE)), state, row);
    draw_effect(canvas, buffer_area(panes.area(EFFECT)), state, row);
    let choices = buffer_area(panes.area(CHOICES));
    if let Some(inside) = pane(canvas, choices, "What can be done now", &[]) {
        draw_choices(canvas, inside, 0, state, row);
    }
}

fn pane(canvas: &mut Canvas<'_>, area: Rect, title: &str, right: &[TextRun<'_>]) -> Option<Rect> {
    let inside = draw_pane(canvas, area, &PaneHead { title, right, focused: false }, true);
    let inside = Rect { width: inside.width.saturating_sub(1), ..inside };
    (!inside.is_empty()).then_some(inside)
}

/// Draws how a change comes to be, where none was made.
fn draw_start(canvas: &mut Canvas<'_>, area: Rect, beside: Rect, state: &SessionState) {
    const STEPS: [(&str, &str, &str); 6] = [
        ("1", "f", "marks what is to be taken out of use: a cable or switch on the Map (2) or on Links (3)"),
        ("2", "p", "on What-if (6) runs the engines: each proposes routes without what is marked"),
        ("3", "a", "on an engine asks before it writes: what it moves, its risks, and the way back"),
        (
            "4",
            "",
            "a guard writes and reads back. It rolls all back by itself unless the change is confirmed in time",
        ),
        ("5", "y", "confirms it, so that it stays; u rolls it back at once; e gives it ten minutes more"),
        ("6", "u", "here undoes a confirmed change: its tables as they were before, as a new change"),
    ];
    let mut y = 0;
    for line in wrap_text(&state.screens.changes.empty_words(), area.width.saturating_sub(2).into()) {
        canvas.draw_text(area, 1, y, &line, Role::Text);
        y += 1;
    }
    y = draw_rule(canvas, area, y + 1, "How a change comes to be");
    for (number, key, text) in STEPS {
        canvas.draw_text(area, 1, y, number, Role::Dim);
        canvas.draw_text(area, 3, y, key, Role::Key);
        let column = Rect { x: area.x + 5, width: area.width.saturating_sub(6), ..area };
        for line in wrap_text(text, column.width.into()) {
            canvas.draw_text(column, 0, y, &line, Role::Text);
            y += 1;
        }
    }
    y = draw_rule(canvas, area, y + 1, "Other beginnings");
    const OTHERS: [(&str, &str); 4] = [
        ("a", "here applies a plan from a file, which 'fabdeck route' and w on What-if write"),
        ("D", "on a cable takes it out of service, and E brings it back"),
        ("a", "on Lanes (7) moves flows that wait for a slow host to a lane of their own"),
        (":", "opens any of these by its name, with the reason where it cannot run now"),
    ];
    for (key, text) in OTHERS {
        canvas.draw_text(area, 3, y, key, Role::Key);
        let column = Rect { x: area.x + 5, width: area.width.saturating_sub(6), ..area };
        for line in wrap_text(text, column.width.into()) {
            canvas.draw_text(column, 0, y, &line, Role::Text);
            y += 1;
        }
    }
    details::draw(canvas, beside, state);
}

/// Draws the records of the journal, and what comes next.
fn draw_course(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, row: &ChangeRow) {
    let title = format!("Change {}: its course", row.number);
    let right = format!("{} of {} writes", digits_in_groups(row.done), digits_in_groups(row.writes));
    let Some(inside) = pane(canvas, area, &title, &[(&right, Role::Dim)]) else { return };
    let mut y = 0;
    if row.state.is_pending() && row.state != ChangePhase::Applied {
        let share = row.done as f64 / row.writes.max(1) as f64;
        let width = inside.width.saturating_sub(2);
        draw_plain_gauge(canvas, inside, (1, y), width, share, Role::Warning);
        y += 1;
    }
    let next = next_lines(state, row);
    let room = usize::from(inside.height.saturating_sub(y)).saturating_sub(next.len()).max(1);
    let first = row.steps.len().saturating_sub(room);
    for step in &row.steps[first..] {
        y = draw_step(
            canvas,
            inside,
            y,
            (&time_of_day(&step.time), canvas.signs.proven),
            &step.text,
            step_role(step),
        );
    }
    for (time, text, role) in next {
        y = draw_step(canvas, inside, y, (&time, canvas.signs.severity[3]), &text, role);
    }
    let pairs = change_detail(row, &state.known).pairs;
    const SHOWN: [&str; 9] = ["what", "id", "source", "via", "risks", "reason", "trouble", "moves", "left"];
    let pairs: Vec<_> = pairs.into_iter().filter(|(label, _)| SHOWN.contains(label)).collect();
    // With a pane for all of the row, it would stand there twice.
    if !has_choices(&state.areas()) && y + 2 < inside.height {
        y = draw_rule(canvas, inside, y + 1, "What it is");
        let rest = Rect {
            x: inside.x + 1,
            y: inside.y + y,
            width: inside.width.saturating_sub(2),
            height: inside.height - y,
        };
        canvas.draw_pairs(rest, &pairs, 0);
    }
}

fn step_role(step: &JournalStep) -> Role {
    match step.record.as_str() {
        "altered" | "returning" | "refused" | "again" => Role::Warning,
        "confirmed" | "applied" => Role::Good,
        _ => Role::Text,
    }
}

/// What comes next of itself, with its time.
fn next_lines(state: &SessionState, row: &ChangeRow) -> Vec<(String, String, Role)> {
    let now = String::new();
    if let Some(words) = row.phase_of_five.filter(|_| row.state.is_pending()).and_then(phase_of_five_words) {
        return vec![(now, words, Role::Warning)];
    }
    match row.state {
        ChangePhase::Applied => {
            let left = state.known.changes.left_ms(row).map(|left| countdown(left / 1000));
            let left = left.map_or_else(String::new, |left| format!(", in {left}"));
            let role = if row.overdue { Role::Danger } else { Role::Warning };
            let at = row.deadline.as_deref().map(time_of_day).unwrap_or_default();
            let text = match row.overdue {
                true => "it should have been rolled back: its guard has not done it".to_owned(),
                false => format!("is rolled back by itself{left}, unless confirmed"),
            };
            vec![(at, text, role)]
        }
        ChangePhase::Applying | ChangePhase::RollingBack => vec![(now, row.next_words(), Role::Warning)],
        _ => Vec::new(),
    }
}

fn draw_step(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    (time, sign): (&str, &str),
    text: &str,
    role: Role,
) -> u16 {
    canvas.draw_text(area, 1, y, time.trim_end_matches(" UTC"), Role::Label);
    let x = TIME_WIDTH - 3;
    canvas.draw_text(area, x, y, sign, role);
    let column = Rect { x: area.x + x + 2, width: area.width.saturating_sub(x + 3), ..area };
    let mut y = y;
    for line in wrap_text(text, column.width.into()) {
        canvas.draw_text(column, 0, y, &line, role);
        y += 1;
    }
    y
}

/// Draws the figures before the writes and now, and below them what can be done, unless that has a pane.
fn draw_effect(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, row: &ChangeRow) {
    let right = [("before the writes, and now", Role::Dim)];
    let Some(inside) = pane(canvas, area, "What became of it", &right) else { return };
    let room = DialogueRoom {
        width: usize::from(inside.width.saturating_sub(2)),
        height: usize::from(inside.height),
        boxed: true,
    };
    let mut y = 0;
    for dialogue_row in effect_rows(&state.known, row, room) {
        let line =
            Rect { y: inside.y + y.min(inside.height), height: u16::from(y < inside.height), ..inside };
        draw_plain_row(canvas, line, 1, &dialogue_row);
        y += 1;
    }
    for (label, text, role) in proof_lines(row) {
        for (at, line) in wrap_text(&text, room.width.saturating_sub(13).max(1)).iter().enumerate() {
            canvas.draw_text(inside, 1, y, if at == 0 { label } else { "" }, Role::Label);
            canvas.draw_text(inside, 14, y, line, role);
            y += 1;
        }
    }
    if !has_choices(&state.areas()) && y + 2 < inside.height {
        y = draw_rule(canvas, inside, y + 1, "What can be done now");
        y = draw_choices(canvas, inside, y, state, row);
    }
    draw_charts_below(canvas, inside, y + 1, state);
}

/// Least and most rows of the charts below the figures.
const CHART_ROWS: [u16; 2] = [5, 10];

/// Draws wait and errors over time into what is left below the figures, where they have room.
fn draw_charts_below(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState) {
    let [least, most] = CHART_ROWS;
    let rows = area.height.saturating_sub(y);
    if rows < least || state.known.watch.reading.is_none() {
        return;
    }
    let height = rows.min(most);
    let at = layout::Rect::new(area.x, area.y + area.height - height, area.width, height);
    draw_wait_and_errors(canvas, at, false, state);
}

/// What else shows how the change stands: its plan's count, overwritten entries, the comparison, hosts.
fn proof_lines(row: &ChangeRow) -> Vec<(&'static str, String, Role)> {
    let mut lines = Vec::new();
    lines.extend(row.pair_words().map(|words| ("planned", words, Role::Text)));
    lines.push(match &row.drift {
        Some(drift) => ("by others", drift.clone(), Role::Warning),
        None if row.state.is_pending() || row.state == ChangePhase::Confirmed => {
            ("by others", "nothing of it was changed since, as far as is known".to_owned(), Role::Dim)
        }
        None => ("by others", "its tables are no longer in force".to_owned(), Role::Dim),
    });
    lines.extend(row.comparison.as_ref().map(|found| ("compared", found.summary(), Role::Text)));
    lines
}

/// Draws what can be done with a change now, and returns the row below it.
fn draw_choices(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState, row: &ChangeRow) -> u16 {
    let mut y = y;
    for choice in change_choices(state, row) {
        let role = if choice.can { Role::Key } else { Role::Faint };
        canvas.draw_text(area, 1, y, choice.key, role);
        let column = Rect { x: area.x + KEY_WIDTH, width: area.width.saturating_sub(KEY_WIDTH + 1), ..area };
        let role = if choice.can { Role::Text } else { Role::Dim };
        for line in wrap_text(&choice.text, column.width.into()) {
            canvas.draw_text(column, 0, y, &line, role);
            y += 1;
        }
    }
    y
}

/// Draws the last steps of a change and what can be done with it, below the list of a narrow screen.
fn draw_summary(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, row: &ChangeRow) {
    if area.height < 3 {
        return;
    }
    let mut y = draw_rule(canvas, area, 0, &format!("Change {}", row.number));
    let choices = change_choices(state, row);
    let next = next_lines(state, row);
    let room = usize::from(area.height).saturating_sub(1 + next.len() + choices.len()).max(1);
    let first = row.steps.len().saturating_sub(room);
    for step in &row.steps[first..] {
        y = draw_step(
            canvas,
            area,
            y,
            (&time_of_day(&step.time), canvas.signs.proven),
            &step.text,
            step_role(step),
        );
    }
    for (time, text, role) in next {
        y = draw_step(canvas, area, y, (&time, canvas.signs.severity[3]), &text, role);
    }
    draw_choices(canvas, area, y, state, row);
}
