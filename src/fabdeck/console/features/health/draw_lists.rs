//! The lists of Health: jobs that are hit, ports that wait, the latest events.

use ratatui::layout::Rect;

use super::card_text::OwnedRun;
use super::health_layout::{HealthLayout, JOB_ROWS};
use super::pane_frame::{draw_frame, draw_runs};
use super::screen::HealthPane;
use super::wait_role::wait_role;
use crate::catalogue::severity::Severity;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, truncate_text, width};
use crate::console::drawing::gauge::{bar_symbol, draw_gauge, step_of};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::draw_wait_strip;
use crate::console::features::chart_time::{time_words, window_words};
use crate::console::features::jobs::current_job_source::{CurrentJobSource, current_job_source};
use crate::console::features::screen::Screen;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::health::job_hits::JobHit;
use crate::operations::health::ranked_problems::RankedProblems;
use fabdeck_fabric::observe::digits_in_groups;

pub fn draw(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    let ranked = state.known.problems.ranked.as_deref();
    if !layout.jobs.is_empty() {
        draw_jobs(canvas, layout, state, ranked);
    }
    if !layout.waits.is_empty() {
        draw_waits(canvas, layout, state, ranked);
    }
    if !layout.events.is_empty() {
        draw_events(canvas, layout, state);
    }
}

/// Which rows of a list are in sight: the first one, and their number.
fn rows_in_sight(state: &SessionState, pane: HealthPane, inside: Rect, step: u16) -> (usize, usize) {
    let sight = usize::from((inside.height / step.max(1)).max(1));
    let table = state.screens.health.table_of(pane);
    (table.top.min(table.selection.rows.len().saturating_sub(1)), sight)
}

fn is_chosen(state: &SessionState, pane: HealthPane, row: usize) -> bool {
    let health = &state.screens.health;
    // Where a pane without rows has the keys, no list has them.
    let has_keys = state.focused_pane() == health.focused_pane();
    has_keys && health.pane == pane && health.table_of(pane).cursor == row
}

/// Writes a sentence in the middle of a pane that has no row.
fn draw_sentence(canvas: &mut Canvas<'_>, area: Rect, text: &str) {
    let lines = wrap_text(text, area.width.saturating_sub(4).into());
    let above = area.height.saturating_sub(u16::try_from(lines.len()).unwrap_or(0)) / 2;
    for (y, line) in (above..area.height).zip(&lines) {
        canvas.draw_text(area, area.width.saturating_sub(width(line)) / 2, y, line, Role::Dim);
    }
}

fn draw_jobs(
    canvas: &mut Canvas<'_>,
    layout: &HealthLayout,
    state: &SessionState,
    ranked: Option<&RankedProblems>,
) {
    let jobs = ranked.and_then(|ranked| ranked.jobs.as_ref());
    let (top, sight) =
        rows_in_sight(state, HealthPane::Jobs, buffer_area(layout.jobs.inside(layout.boxed)), JOB_ROWS);
    let head: Vec<OwnedRun> = jobs.map_or_else(Vec::new, |jobs| {
        let hit = format!("{} of {}", digits_in_groups(jobs.hit), digits_in_groups(jobs.rows.len()));
        let role = if jobs.hit > 0 { Role::Wait } else { Role::Dim };
        // Where not all of them are in sight, the head says which.
        let extent = canvas.extent_text(top, sight, jobs.hit, 30);
        let beside = match extent.is_empty() {
            true => (format!("  {} hosts", digits_in_groups(jobs.hosts)), Role::Dim),
            false => (format!("  {extent}"), Role::Key),
        };
        vec![(hit, role), beside]
    });
    let focused = state.screens.health.pane == HealthPane::Jobs;
    let inside = draw_frame(canvas, layout.jobs, "Jobs hit", &head, focused, layout.boxed);
    let Some(jobs) = jobs else {
        let named = !matches!(current_job_source(&state.known), CurrentJobSource::Unknown);
        let text = match (ranked, named) {
            (None, _) => "The fabric is being checked.",
            (Some(_), true) => "The list of jobs is not known yet.",
            (Some(_), false) => "No job is known. :jobs slurm asks Slurm.",
        };
        return draw_sentence(canvas, inside, text);
    };
    if jobs.hit == 0 {
        return draw_sentence(canvas, inside, "No job is hit.");
    }
    for (place, job) in jobs.hit_rows().iter().enumerate().skip(top).take(sight) {
        let y = u16::try_from(place - top).unwrap_or(u16::MAX).saturating_mul(JOB_ROWS);
        let area = Rect { y: inside.y + y, height: inside.height.saturating_sub(y).min(JOB_ROWS), ..inside };
        canvas.add_target(area, ClickTarget::Row(place));
        if is_chosen(state, HealthPane::Jobs, place) {
            canvas.fill_row(area, 0, Role::Cursor);
        }
        draw_job(canvas, area, job);
    }
}

/// A job: its hosts, how many wait, and a bar for each of them.
fn draw_job(canvas: &mut Canvas<'_>, area: Rect, job: &JobHit) {
    let area = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let runs = [
        ("job ".to_owned(), Role::Dim),
        (job.job.clone(), Role::Strong),
        (format!("  {} hosts", digits_in_groups(job.hosts)), Role::Text),
    ];
    let x = draw_runs(canvas, area, (0, 0), &runs);
    let unknown = canvas.signs.severity[3];
    let worst = match job.worst {
        Some(share) => format!("{} wait, worst {:.0} %", digits_in_groups(job.waiting), share * 100.0),
        None => format!("{unknown} waits not known"),
    };
    let role = if job.waiting > 0 { Role::Wait } else { Role::Dim };
    canvas.draw_right_aligned(area, x + 1, 0, &worst, role);
    if area.height < 2 {
        return;
    }
    let numbers: Vec<String> = job.problems.iter().map(|at| (at + 1).to_string()).collect();
    let word = if numbers.len() == 1 { "problem" } else { "problems" };
    let text = format!("{word} {}", numbers.join(" "));
    let room = area.width.saturating_sub(width(&text) + 2);
    let mut x = 0;
    for share in job.shares.iter().take(room.into()) {
        let (sign, role) = match share {
            Some(share) => (bar_symbol(canvas, *share), Quantity::Wait.step_role(step_of(*share))),
            None => (canvas.signs.untold, Role::Dim),
        };
        x = canvas.draw_text(area, x, 1, sign, role);
    }
    if job.shares.len() > usize::from(room) {
        x = canvas.draw_text(area, x, 1, canvas.signs.more, Role::Dim);
    }
    canvas.draw_right_aligned(area, x + 1, 1, &text, Role::Dim);
}

/// The width of a share in percent, with the spaces beside it.
const PERCENT_WIDTH: u16 = 7;

fn draw_waits(
    canvas: &mut Canvas<'_>,
    layout: &HealthLayout,
    state: &SessionState,
    ranked: Option<&RankedProblems>,
) {
    let waits = ranked.and_then(|ranked| ranked.waits.as_ref());
    let head: Vec<OwnedRun> = waits.map_or_else(Vec::new, |waits| {
        let count = digits_in_groups(waits.count);
        let over = match layout.waits.width {
            STRIP_MIN_PANE.. => format!(" now and over {}", window_words(&state.known)),
            _ => String::new(),
        };
        let unknown = waits.ports - waits.known;
        let unknown = match unknown {
            0 => String::new(),
            some => format!("  {} {} not known", canvas.signs.severity[3], digits_in_groups(some)),
        };
        vec![(format!("{count} ports"), Role::Text), (format!("{unknown}  % of time{over}"), Role::Dim)]
    });
    let focused = state.screens.health.pane == HealthPane::Waits;
    let inside = draw_frame(canvas, layout.waits, "Worst waits", &head, focused, layout.boxed);
    let Some(waits) = waits else {
        return draw_sentence(canvas, inside, unknown_waits_text(state));
    };
    if waits.rows.is_empty() {
        return draw_sentence(canvas, inside, "No port waits 1 % of the time or longer.");
    }
    let (top, sight) = rows_in_sight(state, HealthPane::Waits, inside, 1);
    let area = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let rows = || waits.rows.iter().enumerate().skip(top).take(sight);
    // The gauge gives way to names.
    let role_width =
        rows().map(|(_, port)| port.role.map_or(0, |role| width(wait_role(role).0))).max().unwrap_or(0);
    let name_width = rows().map(|(_, port)| width(&port.name)).max().unwrap_or(0);
    // Where roles would be cut, the gauge is a single bar; roles are cut before names.
    let beside = |gauge: u16| name_width + 1 + gauge + PERCENT_WIDTH;
    let is_narrow = beside(LEAST_GAUGE) + role_width > area.width;
    let least_gauge = if is_narrow { 1 } else { LEAST_GAUGE };
    let role_width = role_width.min(area.width.saturating_sub(beside(least_gauge)));
    let strip_width = if layout.waits.width >= STRIP_MIN_PANE { STRIP_WIDTH } else { 0 };
    let room = area.width.saturating_sub(role_width + PERCENT_WIDTH + strip_width);
    let most_gauge = if is_narrow { 1 } else { (area.width / 4).max(LEAST_GAUGE) };
    let gauge_width = room.saturating_sub(name_width + 1).clamp(least_gauge, most_gauge);
    let gauge_at = room.saturating_sub(gauge_width);
    for (y, (place, port)) in (0..area.height).zip(rows()) {
        canvas.add_row_target(inside, y, ClickTarget::Row(place));
        if is_chosen(state, HealthPane::Waits, place) {
            canvas.fill_row(inside, y, Role::Cursor);
        }
        let names = Rect { width: gauge_at.saturating_sub(1), ..area };
        canvas.draw_name(names, 0, y, &port.name, Role::Text);
        if is_narrow {
            let role = Quantity::Wait.step_role(step_of(port.share));
            canvas.draw_text(area, gauge_at, y, bar_symbol(canvas, port.share), role);
        } else {
            draw_gauge(canvas, area, (gauge_at, y), gauge_width, port.share, Quantity::Wait);
        }
        let percent = format!("{:>3.0} %", port.share * 100.0);
        canvas.draw_text(area, gauge_at + gauge_width + 1, y, &percent, Role::Wait);
        if let (STRIP_WIDTH, Some(look)) = (strip_width, state.snapshot()) {
            let x = area.x + gauge_at + gauge_width + PERCENT_WIDTH;
            let strip = Rect { x, y: area.y + y, width: STRIP_WIDTH - 1, height: 1 };
            draw_wait_strip(canvas, strip, (state, look), port.port);
        }
        let (word, role) = port.role.map_or(("", Role::Dim), wait_role);
        let word = truncate_text(word, role_width, canvas.signs.more);
        canvas.draw_right_aligned(area, gauge_at + gauge_width + PERCENT_WIDTH - 1, y, &word, role);
    }
}

/// Why no wait is known.
fn unknown_waits_text(state: &SessionState) -> &'static str {
    match state.known.watch.reading {
        Some(_) => {
            "No port reports the length of a tick, so no share of time is known. Hot-spots has the ticks."
        }
        None => "Counters are not compared yet.",
    }
}

/// Least columns of a gauge.
const LEAST_GAUGE: u16 = 4;
/// Columns of the history of a wait with a blank, and of a pane that has room for it.
const STRIP_WIDTH: u16 = 11;
const STRIP_MIN_PANE: u16 = 54;

fn draw_events(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    let events = &state.known.problems;
    let count = events.events().len();
    let head = [(format!("{} since the watch began", digits_in_groups(count)), Role::Dim)];
    let head = if count > 0 { &head[..] } else { &[] };
    let focused = state.screens.health.pane == HealthPane::Events;
    let inside = draw_frame(canvas, layout.events, "Latest", head, focused, layout.boxed);
    if count == 0 {
        let watch = &state.known.watch;
        let text = match watch.can_watch() || watch.recorded {
            _ if watch.live.is_none() => "The source is being read.",
            true => "No event so far.",
            false => "Events need a watch, and this source has one reading.",
        };
        return draw_sentence(canvas, inside, text);
    }
    let (top, sight) = rows_in_sight(state, HealthPane::Events, inside, 1);
    let area = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let groups = events.event_groups();
    let rows = || groups.iter().enumerate().skip(top).take(sight);
    let time_of = |at_ms| time_words(&state.known, at_ms);
    let age_width = rows().map(|(_, group)| width(&time_of(group.latest.at_ms))).max().unwrap_or(0);
    let mut y = 0;
    for (place, group) in rows() {
        let event = group.latest;
        let alike = if group.count > 1 { times_words(group.count) } else { String::new() };
        let room = area.width.saturating_sub(age_width + 3 + width(&alike) + u16::from(group.count > 1) * 2);
        // Where all events are in sight, the rows that are left are shared among them.
        let behind = groups.len().saturating_sub(place).max(1);
        let most = usize::from(area.height.saturating_sub(y)) / behind;
        let lines = event_text_lines(&event.text, room, most.max(1), canvas.signs.more);
        let high = u16::try_from(lines.len()).unwrap_or(1);
        for row in y..y + high {
            canvas.add_row_target(inside, row, ClickTarget::Row(place));
            if is_chosen(state, HealthPane::Events, place) {
                canvas.fill_row(inside, row, Role::Cursor);
            }
        }
        canvas.draw_right_aligned(Rect { width: age_width, ..area }, 0, y, &time_of(event.at_ms), Role::Dim);
        let (sign, role) = event_sign(canvas, event.severity);
        let x = canvas.draw_text(area, age_width + 1, y, sign, role);
        let room = area.width.saturating_sub(width(&alike) + u16::from(group.count > 1) * 2);
        for (row, line) in (y..).zip(&lines) {
            canvas.draw_text(Rect { width: room, ..area }, x + 1, row, line, Role::Text);
        }
        canvas.draw_right_aligned(area, x + 1, y, &alike, Role::Dim);
        y += high;
    }
}

/// The text of an event in at most this many rows. Without room for both ends of a cable it has the first.
fn event_text_lines(text: &str, room: u16, most: usize, more: &str) -> Vec<String> {
    let fits = |text: &str| Some(wrap_text(text, room.into())).filter(|lines| lines.len() <= most);
    let short = first_end_only(text);
    if let Some(lines) = fits(text).or_else(|| fits(short.as_deref()?)) {
        return lines;
    }
    let mut lines = wrap_text(short.as_deref().unwrap_or(text), room.into());
    let rest = lines.split_off(most.saturating_sub(1)).join(" ");
    lines.push(truncate_text(&rest, room, more));
    lines
}

/// `link rack2-leaf[7] to spine-1[3]: flapped once` as `rack2-leaf[7]: flapped once`.
fn first_end_only(text: &str) -> Option<String> {
    let (first, rest) = text.split_once("] to ")?;
    let (second, behind) = rest.split_once(']')?;
    let first = first.strip_prefix("link ").unwrap_or(first);
    (!second.contains(": ")).then(|| format!("{first}]{behind}"))
}

fn times_words(count: usize) -> String {
    format!("{} times", digits_in_groups(count))
}

fn event_sign(canvas: &Canvas<'_>, severity: Severity) -> (&'static str, Role) {
    let [critical, warning, well, _] = canvas.signs.severity;
    match severity {
        Severity::Error => (critical, Role::Danger),
        Severity::Warning => (warning, Role::Warning),
        Severity::Info => (well, Role::Dim),
    }
}
