//! Draws the strips of the Timeline: where the screens stand, the axis with the cursor, the rows, and their values at the
//! cursor.

use ratatui::layout::Rect;

use super::event_rows::{EventKind, EventLane};
use super::position_text::{clock_words, position_words};
use super::strips::{LaneCell, Strip, StripQuantity};
use super::timeline_panes::TimelinePanes;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::chart::{column_of, draw_ticks};
use crate::console::drawing::gauge::step_symbol;
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::{add_time_targets, time_ticks};
use crate::console::features::chart_time::{
    chart_history, column_words, cursor_ms, cursor_share, ends_now, latest_ms, time_words, window_words,
};
use crate::console::features::health::card_text::{OwnedRun, short_number};
use crate::console::features::watch::watch_text::header_word;
use crate::console::model::state::SessionState;
use crate::operations::watch::fabric_history::{FabricSums, TimeWindow};

/// Rows of strips, drawn one below the other.
struct StripRows<'s> {
    state: &'s SessionState,
    /// The inside of the pane, and the columns of its cells.
    area: Rect,
    plot: Rect,
    panes: TimelinePanes,
    window: TimeWindow,
    y: u16,
    /// Rows with a text where others have cells: the line of the cursor leaves them free.
    texts: Vec<u16>,
}

/// Draws all rows into the inside of the pane.
pub fn draw_strips(canvas: &mut Canvas<'_>, area: Rect, panes: &TimelinePanes, state: &SessionState) {
    let strips = &state.screens.timeline.strips;
    let Some(window) = strips.window.filter(|_| area.height > 0) else { return };
    let (label, value) = panes.label_columns();
    let left = (label + value + 1).min(area.width);
    let plot = Rect { x: area.x + left, width: panes.plot_columns().min(area.width - left), ..area };
    if plot.width == 0 {
        return;
    }
    let mut rows = StripRows { state, area, plot, panes: *panes, window, y: 0, texts: Vec::new() };
    if panes.has_head {
        rows.draw_position(canvas);
    }
    let axis = rows.y;
    rows.draw_axis(canvas);
    if panes.has_head {
        rows.draw_legend(canvas);
    }
    let sums = sums_at_cursor(state);
    for strip in strips.fabric.iter().take(panes.fabric_rows.into()) {
        let value = sums.and_then(|sums| strip.quantity.value(&sums));
        let ranked = || problem_count(state).filter(|_| strip.quantity == StripQuantity::Problems);
        let value = value.or_else(ranked);
        rows.draw_strip(canvas, strip, value);
    }
    rows.draw_ports(canvas);
    // Events lie above the line of the cursor, so that it hides none.
    rows.draw_cursor(canvas, axis);
    rows.draw_lanes(canvas);
}

/// The time that values are of: that of the cursor, or the last one.
fn value_ms(state: &SessionState) -> u64 {
    cursor_ms(&state.known).unwrap_or_else(|| latest_ms(&state.known))
}

/// The sums at the cursor, or those of the last interval.
pub fn sums_at_cursor(state: &SessionState) -> Option<FabricSums> {
    chart_history(&state.known).sums_at(value_ms(state)).map(|(.., sums)| sums)
}

/// The number of ranked problems, where the other screens show the time of the cursor: the scan of a recording does not
/// rank problems.
fn problem_count(state: &SessionState) -> Option<f64> {
    let is_shown = state.known.playback.is_some() || cursor_ms(&state.known).is_none();
    let ranked = state.known.problems.ranked.as_ref().filter(|ranked| is_shown && ranked.at_ms.is_some())?;
    Some((ranked.critical + ranked.warnings) as f64)
}

/// The figures at the cursor for the head of the pane: its time, and the values that have room.
pub fn head_runs(state: &SessionState, room: u16) -> Vec<OwnedRun> {
    let at_ms = i64::try_from(value_ms(state)).unwrap_or(i64::MAX);
    let mut runs = match cursor_ms(&state.known) {
        Some(_) => vec![(format!("at {}", time_words(&state.known, at_ms)), Role::Key)],
        None => vec![(window_words(&state.known), Role::Dim)],
    };
    let Some(sums) = sums_at_cursor(state) else { return runs };
    let mut used: u16 = runs.iter().map(|(text, _)| width(text)).sum();
    for quantity in StripQuantity::FABRIC {
        let Some(value) = quantity.value(&sums) else { continue };
        let text = format!("  {} {}", quantity.label(), value_words(quantity, value));
        used += width(&text);
        if used > room {
            break;
        }
        runs.push((text, value_role(quantity, value)));
    }
    runs
}

fn value_role(quantity: StripQuantity, value: f64) -> Role {
    match quantity {
        _ if value < LEAST_FIGURE => Role::Faint,
        StripQuantity::Wait => Role::Wait,
        StripQuantity::Traffic => Role::Load,
        StripQuantity::Errors => Role::Errors,
        StripQuantity::LostPairs | StripQuantity::Problems => Role::Text,
    }
}

/// Figures below are written as 0.
const LEAST_FIGURE: f64 = 0.5;

fn value_words(quantity: StripQuantity, value: f64) -> String {
    match quantity {
        StripQuantity::Wait => format!("{value:.0} %"),
        StripQuantity::Traffic if value >= 999.5 => format!("{} Tb/s", short_number(value / 1000.0)),
        StripQuantity::Traffic => format!("{} Gb/s", short_number(value)),
        StripQuantity::Errors => format!("{} /s", short_number(value)),
        StripQuantity::LostPairs | StripQuantity::Problems => short_number(value),
    }
}

/// The colour of a step.
fn step_role(strip: &Strip, column: usize, step: u8) -> Role {
    let of = |quantity: Quantity| quantity.step_role(step);
    match strip.quantity {
        _ if step == 0 => Role::Faint,
        StripQuantity::Wait => of(Quantity::Wait),
        StripQuantity::Traffic => of(Quantity::Load),
        StripQuantity::Errors => of(Quantity::Errors),
        StripQuantity::LostPairs => Role::Danger,
        StripQuantity::Problems if strip.critical.get(column) == Some(&true) => Role::Danger,
        StripQuantity::Problems => Role::Warning,
    }
}

impl StripRows<'_> {
    /// Where the screens stand in time, and how fast they play.
    fn draw_position(&mut self, canvas: &mut Canvas<'_>) {
        let known = &self.state.known;
        let (text, role) = match known.playback.as_ref().filter(|one| !one.timeline().times.is_empty()) {
            Some(playback) => {
                let role = if playback.is_playing() { Role::Good } else { Role::Text };
                (format!("{}  {}", clock_words(playback), position_words(playback)), role)
            }
            None => {
                let word = header_word(&known.watch).unwrap_or_else(|| "counters are not watched".to_owned());
                (word, Role::Text)
            }
        };
        let x = canvas.draw_text(self.area, 0, self.y, &text, role);
        let words = format!("one column is {}", column_words(self.window, self.plot.width));
        canvas.draw_right_aligned(self.area, x + 2, self.y, &words, Role::Dim);
        self.draw_latest(canvas, x + 4, self.area.width.saturating_sub(width(&words) + 2));
        self.y += 1;
    }

    /// The values of the last reading, beside which the strips have those at the cursor; what has no room is left out.
    fn draw_latest(&self, canvas: &mut Canvas<'_>, from: u16, to: u16) {
        let known = &self.state.known;
        let last = latest_ms(known);
        let is_elsewhere = cursor_ms(known).is_some_and(|at_ms| at_ms != last);
        let sums = chart_history(known).sums_at(last).map(|(.., sums)| sums);
        let Some(sums) = sums.filter(|_| is_elsewhere) else { return };
        let word = if ends_now(known, self.window) || known.watch.can_watch() { "now" } else { "at the end" };
        let mut runs = vec![(format!("{word}:"), Role::Key)];
        let mut used = width(&runs[0].0);
        for quantity in StripQuantity::FABRIC {
            let Some(value) = quantity.value(&sums) else { continue };
            let text = format!("  {} {}", quantity.label(), value_words(quantity, value));
            used += width(&text);
            if from + used > to {
                break;
            }
            runs.push((text, value_role(quantity, value)));
        }
        if runs.len() < 2 {
            return;
        }
        let mut x = from;
        for (text, role) in runs {
            x = canvas.draw_text(self.area, x, self.y, &text, role);
        }
    }

    fn draw_axis(&mut self, canvas: &mut Canvas<'_>) {
        let at_ms = i64::try_from(value_ms(self.state)).unwrap_or(i64::MAX);
        let words = match cursor_ms(&self.state.known) {
            Some(_) => format!("at {}", time_words(&self.state.known, at_ms)),
            None if ends_now(&self.state.known, self.window) => "now".to_owned(),
            None => "at the end".to_owned(),
        };
        let (label, value) = self.panes.label_columns();
        let head = Rect { width: label + value, ..self.area };
        canvas.draw_right_aligned(head, 0, self.y, &words, Role::Key);
        let row = Rect { y: self.plot.y + self.y, height: 1, ..self.plot };
        // The head of the row has the time of the cursor.
        let cursor = cursor_share(&self.state.known, self.window).map(|at| column_of(self.plot, at));
        draw_ticks(canvas, row, &time_ticks(&self.state.known, self.window, self.plot.width), cursor);
        let below = Rect { height: self.plot.height.saturating_sub(self.y), ..row };
        add_time_targets(canvas, below, self.window);
        self.y += 1;
    }

    /// The steps of each quantity; what has no room is left out from the right.
    fn draw_legend(&mut self, canvas: &mut Canvas<'_>) {
        let top = self.state.screens.timeline.strips.top_gbps;
        let texts = [
            (Quantity::Wait, "wait", "1 25 50 75 %".to_owned()),
            (Quantity::Load, "traffic", format!("quarters of {} Gb/s", short_number(top))),
            (Quantity::Errors, "errors, pairs", "1 10 100 1k".to_owned()),
        ];
        let mut x = canvas.draw_text(self.area, 0, self.y, "FABRIC", Role::Heading) + 2;
        for (quantity, name, scale) in texts {
            let signs = 4;
            if x + width(name) + width(&scale) + signs + 4 > self.area.width {
                break;
            }
            x = canvas.draw_text(self.area, x, self.y, &format!("{name} "), Role::Dim);
            for step in 1..=4 {
                let sign = step_symbol(canvas, step);
                x = canvas.draw_text(self.area, x, self.y, sign, quantity.step_role(step));
            }
            x = canvas.draw_text(self.area, x, self.y, &format!(" {scale}"), Role::Dim) + 2;
        }
        let zero = format!("{} none   blank: not known", canvas.signs.untold);
        canvas.draw_right_aligned(self.area, x, self.y, &zero, Role::Dim);
        self.y += 1;
    }

    fn draw_strip(&mut self, canvas: &mut Canvas<'_>, strip: &Strip, value: Option<f64>) {
        let (label, columns) = self.panes.label_columns();
        let indent = u16::from(strip.port.is_some());
        let name = shorten_name(&strip.label, label.saturating_sub(indent + 1), canvas.signs.more);
        canvas.draw_text(self.area, indent, self.y, &name, Role::Text);
        let (text, role) = match value {
            Some(value) => (value_words(strip.quantity, value), value_role(strip.quantity, value)),
            None => (canvas.signs.severity[3].to_owned(), Role::Dim),
        };
        canvas.draw_right_aligned(Rect { width: label + columns, ..self.area }, label, self.y, &text, role);
        for (x, (column, step)) in (0..self.plot.width).zip(strip.steps.iter().enumerate()) {
            let Some(step) = *step else { continue };
            let (sign, role) = (step_symbol(canvas, step), step_role(strip, column, step));
            canvas.draw_text(self.plot, x, self.y, sign, role);
        }
        self.y += 1;
    }

    fn draw_ports(&mut self, canvas: &mut Canvas<'_>) {
        if self.panes.port_rows == 0 {
            return;
        }
        let ports = &self.state.screens.timeline.strips.ports;
        let end = self.y + self.panes.port_rows + u16::from(self.panes.has_headings);
        if self.panes.has_headings {
            canvas.draw_text(self.area, 0, self.y, "PORTS", Role::Heading);
            let text = "wait, % of time; then errors /s: the worst of the window first";
            canvas.draw_text(self.plot, 0, self.y, text, Role::Dim);
            self.texts.push(self.y);
            self.y += 1;
        }
        if ports.is_empty() {
            let words = "no port is known to have waited or counted errors in this window";
            canvas.draw_text(self.plot, 0, self.y, words, Role::Dim);
            self.texts.push(self.y);
        }
        let history = chart_history(&self.state.known);
        for strip in ports.iter().take(self.panes.port_rows.into()) {
            let at_ms = value_ms(self.state);
            let value = strip.port.and_then(|port| match strip.quantity {
                StripQuantity::Errors => history.errors_at(at_ms, &port),
                _ => history.wait_at(at_ms, &port),
            });
            self.draw_strip(canvas, strip, value);
        }
        self.y = end;
    }

    fn draw_lanes(&mut self, canvas: &mut Canvas<'_>) {
        if self.panes.lane_rows == 0 {
            return;
        }
        if self.panes.has_headings {
            canvas.draw_text(self.area, 0, self.y, "EVENTS", Role::Heading);
            self.y += 1;
        }
        let lanes = &self.state.screens.timeline.strips.lanes;
        match self.panes.has_headings {
            true => {
                for (lane, cells) in lanes {
                    canvas.draw_text(self.area, 1, self.y, lane.title(), Role::Text);
                    self.draw_lane(canvas, *lane, cells);
                    self.y += 1;
                }
            }
            // One row for all: events lie above what lasts, and what the operator left above all.
            false => {
                canvas.draw_text(self.area, 1, self.y, "events", Role::Text);
                for lasting in [true, false] {
                    for (lane, cells) in lanes.iter().filter(|(lane, _)| *lane != EventLane::Operator) {
                        let of = |cell: &Option<LaneCell>| {
                            cell.filter(|cell| (*cell == LaneCell::Lasting) == lasting)
                        };
                        self.draw_lane(canvas, *lane, &cells.iter().map(of).collect::<Vec<_>>());
                    }
                }
                for (lane, cells) in lanes.iter().filter(|(lane, _)| *lane == EventLane::Operator) {
                    self.draw_lane(canvas, *lane, cells);
                }
                self.y += 1;
            }
        }
    }

    fn draw_lane(&self, canvas: &mut Canvas<'_>, lane: EventLane, cells: &[Option<LaneCell>]) {
        let cursor = cursor_share(&self.state.known, self.window).map(|at| column_of(self.plot, at));
        for (x, cell) in (0..self.plot.width).zip(cells) {
            let (sign, role) = match cell {
                None => continue,
                Some(LaneCell::Lasting) if cursor == Some(x) => continue,
                Some(LaneCell::Lasting) => (canvas.signs.gauge[0], lasting_role(lane)),
                Some(LaneCell::Event(kind)) => event_symbol(canvas, lane, *kind),
            };
            canvas.draw_text(self.plot, x, self.y, sign, role);
        }
    }

    /// The cursor: a line through all rows below the axis, and a sign on the axis.
    fn draw_cursor(&self, canvas: &mut Canvas<'_>, axis: u16) {
        let Some(at) = cursor_share(&self.state.known, self.window) else { return };
        let x = column_of(self.plot, at);
        canvas.draw_text(self.plot, x, axis, canvas.signs.down, Role::Key);
        let lanes = self.panes.lane_rows + u16::from(self.panes.has_headings);
        // The legend below the axis stays readable.
        let first = axis + 1 + u16::from(self.panes.has_head);
        for y in (first..self.y + lanes).filter(|y| !self.texts.contains(y)) {
            canvas.draw_text(self.plot, x, y, canvas.signs.beside, Role::Key);
        }
    }
}

fn lasting_role(lane: EventLane) -> Role {
    if lane == EventLane::HotSpots { Role::Danger } else { Role::Warning }
}

/// Sign and colour of an event.
pub fn event_symbol(canvas: &Canvas<'_>, lane: EventLane, kind: EventKind) -> (&'static str, Role) {
    let [critical, warning, well, unknown] = canvas.signs.severity;
    match kind {
        EventKind::Trouble | EventKind::Began if lane == EventLane::HotSpots => (critical, Role::Danger),
        EventKind::Trouble | EventKind::Began => (warning, Role::Warning),
        EventKind::Damage => (canvas.signs.marked, Role::Danger),
        EventKind::Gap | EventKind::Clock => (unknown, Role::Dim),
        EventKind::Better | EventKind::Over => (well, Role::Good),
        EventKind::Changed => (canvas.signs.focus, Role::Text),
        EventKind::Action => (canvas.signs.crumb, Role::Text),
        EventKind::Note => (canvas.signs.note, Role::Strong),
        EventKind::Bookmark => (canvas.signs.bookmark, Role::Strong),
    }
}
