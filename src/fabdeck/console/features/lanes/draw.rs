//! Lanes: the migrations and the state of the tables above the list, and below it the steps of a move and the hosts that
//! wait.

use ratatui::layout::Rect;

use super::lane_lines::lanes_head;
use super::lane_panes::{STEPS, WAITS, rows_below};
use super::move_steps::{MoveStepState, move_steps};
use crate::catalogue::severity::Severity;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::gauge::draw_gauge;
use crate::console::drawing::pane::{PaneHead, TextRun, draw_pane, draw_rule};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::drawing::{details, list};
use crate::console::features::feature::BodyAreas;
use crate::console::features::health::wait_role::wait_role;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::health::short_port_name::short_port_name;
use crate::operations::watch::hot_ports::HotRole;
use fabdeck_fabric::counters::CongestedAdapter;
use fabdeck_fabric::observe::digits_in_groups;

/// Columns of the names of hosts, of their gauges and of their waits.
const MAX_NAME_WIDTH: u16 = 14;
const GAUGE_WIDTH: u16 = 5;
const WAIT_WIDTH: u16 = 6;

pub fn draw(canvas: &mut Canvas<'_>, areas: &BodyAreas, state: &SessionState) {
    draw_head(canvas, areas.head, state);
    let below = rows_below(&state.areas()).min(areas.rest.height);
    let rows = Rect { height: areas.rest.height - below, ..areas.rest };
    list::draw(canvas, rows, state);
    draw_short_steps(canvas, Rect { y: rows.y + rows.height, height: below, ..rows }, state);
    details::draw(canvas, areas.details, state);
    let [steps, waits] = [STEPS, WAITS].map(|pane| buffer_area(state.areas().panes.area(pane)));
    if let Some(inside) = pane(canvas, steps, "The move, in steps", &[]) {
        draw_steps(canvas, inside, 0, state, false);
    }
    draw_waits(canvas, waits, state);
}

fn pane(canvas: &mut Canvas<'_>, area: Rect, title: &str, right: &[TextRun<'_>]) -> Option<Rect> {
    let inside = draw_pane(canvas, area, &PaneHead { title, right, focused: false }, true);
    let inside = Rect { width: inside.width.saturating_sub(1), ..inside };
    (!inside.is_empty()).then_some(inside)
}

fn draw_head(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    for (y, (severity, words)) in (0..area.height).zip(lanes_head(&state.known)) {
        let role = match severity {
            Severity::Info => Role::Good,
            Severity::Warning | Severity::Error => Role::Warning,
        };
        canvas.draw_text(area, 1, y, &words, role);
    }
}

fn draw_short_steps(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    if area.height < 2 {
        return;
    }
    let y = draw_rule(canvas, area, 0, "The move, in steps");
    draw_steps(canvas, area, y, state, true);
}

/// Draws the steps; `is_short` gives each of them one row.
fn draw_steps(canvas: &mut Canvas<'_>, area: Rect, y: u16, state: &SessionState, is_short: bool) {
    let mut y = y;
    for (at, step) in move_steps(state).iter().enumerate() {
        let (sign, role) = match step.state {
            MoveStepState::Done => (canvas.signs.proven, Role::Good),
            MoveStepState::Here => (canvas.signs.crumb, Role::Warning),
            MoveStepState::Later => (canvas.signs.untold, Role::Dim),
        };
        canvas.draw_text(area, 0, y, sign, role);
        canvas.draw_text(area, 2, y, &(at + 1).to_string(), Role::Dim);
        canvas.draw_text(area, 4, y, step.key, Role::Key);
        let text = if step.state == MoveStepState::Here { Role::Strong } else { Role::Text };
        let text = if step.state == MoveStepState::Later { Role::Dim } else { text };
        let column = Rect { x: area.x + 6, width: area.width.saturating_sub(6), ..area };
        let lines = match is_short {
            true => vec![step.text.clone()],
            false => wrap_text(&step.text, column.width.into()),
        };
        for line in lines {
            canvas.draw_text(column, 0, y, &line, text);
            y += 1;
        }
    }
}

/// Draws the hosts that wait, those that wait longest first, each of them once.
fn draw_waits(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let waiting = waiting_hosts(state);
    let count = format!("{}   % of time", digits_in_groups(waiting.len()));
    let Some(inside) = pane(canvas, area, "Hosts that wait now", &[(&count, Role::Dim)]) else { return };
    let Some(look) = state.snapshot() else { return };
    if waiting.is_empty() {
        let words = match &state.known.watch.reading {
            Some(_) => "no host waits",
            None => "not known before the second reading of counters",
        };
        canvas.draw_text(inside, 1, 0, words, Role::Dim);
        return;
    }
    let alone =
        state.known.watch.reading.as_ref().is_some_and(|now| now.watched.verdict.hot_spots.is_empty());
    let shown = &waiting[..waiting.len().min(inside.height.into())];
    let names: Vec<String> = shown.iter().map(|held| short_port_name(look, held.at.port)).collect();
    let longest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let name_width = (longest + 1).min(MAX_NAME_WIDTH);
    for ((y, held), name) in (0..).zip(shown).zip(&names) {
        let name = shorten_name(name, name_width - 1, canvas.signs.more);
        canvas.draw_text(inside, 1, y, &name, Role::Text);
        let x = 1 + name_width;
        let room = Rect { width: x + GAUGE_WIDTH + WAIT_WIDTH, ..inside };
        match held.at.time_waited {
            Some(share) => {
                draw_gauge(canvas, inside, (x, y), GAUGE_WIDTH, share, Quantity::Wait);
                let text = format!("{:.0} %", share * 100.0);
                canvas.draw_right_aligned(room, x + GAUGE_WIDTH, y, &text, Role::Wait);
            }
            None => canvas.draw_right_aligned(room, x, y, canvas.signs.severity[3], Role::Dim),
        }
        let (word, role) = wait_role(HotRole::of_adapter(held, alone));
        canvas.draw_text(inside, x + GAUGE_WIDTH + WAIT_WIDTH + 2, y, word, role);
    }
}

/// The adapters that wait.
fn waiting_hosts(state: &SessionState) -> Vec<CongestedAdapter> {
    let Some(reading) = &state.known.watch.reading else { return Vec::new() };
    let mut waiting: Vec<CongestedAdapter> = reading.watched.verdict.congested_adapters.clone();
    waiting.sort_by(|a, b| b.at.congestion.total_cmp(&a.at.congestion).then(a.at.port.cmp(&b.at.port)));
    waiting.dedup_by_key(|held| held.at.port);
    waiting
}
