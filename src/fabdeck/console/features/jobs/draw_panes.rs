//! Draws the panes of Jobs: the list, the waits of the hosts of a job, the cables that it uses, how its paths are spread,
//! and the worst waits of several jobs.

use ratatui::layout::Rect;

use super::draw::draw_histogram;
use super::job_strips::{HOST_WIDTH, JOB_WIDTH, MAX_CHART_PORTS, SWITCH_WIDTH, WAIT_WIDTH};
use super::job_strips::{HostStrip, JobChart, chart_columns, strip_columns};
use super::jobs_panes::JobsPanes;
use super::running_jobs::{P_RUNS_SAR, figure_lines, list_words};
use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, truncate_text, width};
use crate::console::drawing::chart::{Chart, draw_chart, draw_ticks};
use crate::console::drawing::gauge::step_symbol;
use crate::console::drawing::list;
use crate::console::drawing::pane::{PaneHead, draw_pane};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::{
    LABEL_WIDTH, chart_marks, chart_top, scale_labels, scale_of, time_ticks,
};
use crate::console::features::chart_time::{chart_window, column_words, cursor_share};
use crate::console::model::layout;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::health::problem::ProblemSeverity;
use crate::operations::jobs::job_comparison::JobComparison;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ChannelId, ElementId};

pub(super) fn draw_panes(canvas: &mut Canvas<'_>, panes: &JobsPanes, state: &SessionState) {
    let Some((comparison, look)) = state.screens.jobs.comparison.as_ref() else { return };
    draw_list(canvas, panes, state, comparison);
    draw_hosts(canvas, panes, state);
    draw_uses(canvas, panes.uses, state, comparison, look);
    draw_paths(canvas, panes.paths, state, comparison);
    draw_waits(canvas, panes, state);
}

/// Draws a pane without the keys, and returns its inside.
fn draw_beside(canvas: &mut Canvas<'_>, area: layout::Rect, title: &str, right: &str) -> Rect {
    let right = [(right, Role::Dim)];
    draw_pane(canvas, buffer_area(area), &PaneHead { title, right: &right, focused: false }, true)
}

/// The name of the job at the cursor.
fn job_name<'c>(state: &SessionState, comparison: &'c JobComparison) -> Option<&'c str> {
    comparison.name(state.screens.jobs.job()?).map(String::as_str)
}

fn draw_list(canvas: &mut Canvas<'_>, panes: &JobsPanes, state: &SessionState, comparison: &JobComparison) {
    let hits = state.known.problems.ranked.as_ref().and_then(|ranked| ranked.jobs.as_ref());
    let hit = hits
        .map(|hits| format!("{} of {} hit", digits_in_groups(hits.hit), digits_in_groups(hits.rows.len())));
    let hit = hit.unwrap_or_default();
    const TITLE_WIDTH: u16 = 18;
    let room = panes.jobs.width.saturating_sub(width(&hit) + TITLE_WIDTH);
    let source = format!("   {}", list_words(state, comparison, room.into()));
    let source = truncate_text(&source, room, canvas.signs.more);
    let hit_role = if hits.is_some_and(|hits| hits.hit > 0) { Role::Warning } else { Role::Dim };
    let right = [(hit.as_str(), hit_role), (source.as_str(), Role::Dim)];
    draw_pane(
        canvas,
        buffer_area(panes.jobs),
        &PaneHead { title: "Jobs", right: &right, focused: true },
        true,
    );
    list::draw(canvas, buffer_area(panes.table), state);
}

fn draw_hosts(canvas: &mut Canvas<'_>, panes: &JobsPanes, state: &SessionState) {
    let screen = &state.screens.jobs;
    let strips = &screen.strips;
    let name = screen.comparison.as_ref().and_then(|(comparison, _)| job_name(state, comparison));
    let title = match name {
        Some(name) => format!("Job {name}: wait of its hosts"),
        None => "Wait of hosts".to_owned(),
    };
    let right = host_head(state, panes);
    let inside = draw_beside(canvas, panes.hosts, &title, &right);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    for (y, strip) in (0..).zip(&strips.hosts) {
        draw_host(canvas, inside, y, panes, strip);
    }
    let y = u16::try_from(strips.hosts.len()).unwrap_or(u16::MAX).min(inside.height);
    let left = HOST_WIDTH + SWITCH_WIDTH;
    let plot = Rect { x: inside.x + left, y: inside.y + y, width: strip_columns(panes), height: 1 };
    if let Some(window) = strips.window.filter(|_| !strips.hosts.is_empty()) {
        draw_ticks(canvas, plot, &time_ticks(&state.known, window, plot.width), None);
    }
    draw_reasons(
        canvas,
        Rect { y: inside.y + y + 1, height: inside.height.saturating_sub(y + 1), ..inside },
        state,
    );
}

/// How many ports are shown, and how long a column is.
fn host_head(state: &SessionState, panes: &JobsPanes) -> String {
    let strips = &state.screens.jobs.strips;
    let Some(window) = strips.window else { return String::new() };
    let column = column_words(window, strip_columns(panes));
    let (shown, all) = (strips.hosts.len(), strips.ports);
    match shown < all {
        true => format!("worst {shown} of {}, one column is {column}", digits_in_groups(all)),
        false => format!("% of time, one column is {column}"),
    }
}

fn draw_host(canvas: &mut Canvas<'_>, area: Rect, y: u16, panes: &JobsPanes, strip: &HostStrip) {
    let more = canvas.signs.more;
    canvas.draw_text(area, 0, y, &shorten_name(&strip.host, HOST_WIDTH - 1, more), Role::Text);
    canvas.draw_text(area, HOST_WIDTH, y, &shorten_name(&strip.switch, SWITCH_WIDTH - 1, more), Role::Dim);
    let (left, columns) = (HOST_WIDTH + SWITCH_WIDTH, strip_columns(panes));
    for (x, step) in (left..left + columns).zip(&strip.steps) {
        let Some(step) = *step else { continue };
        let role = if step == 0 { Role::Faint } else { Quantity::Wait.step_role(step) };
        canvas.draw_text(area, x, y, step_symbol(canvas, step), role);
    }
    let (text, role) = match strip.percent {
        Some(percent) if percent >= 0.5 => (format!("{percent:.0} %"), Role::Wait),
        Some(_) => ("none".to_owned(), Role::Dim),
        None => (canvas.signs.severity[3].to_owned(), Role::Dim),
    };
    let room = Rect { width: left + columns + WAIT_WIDTH, ..area };
    canvas.draw_right_aligned(room, left + columns, y, &text, role);
}

/// What hits the job, the worst first.
fn draw_reasons(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let problems = state.screens.jobs.problems();
    if problems.is_empty() {
        let words = match state.screens.jobs.hit() {
            Some(_) => "No problem hits this job.",
            None => "Whether a problem hits this job is not known yet.",
        };
        canvas.draw_text(area, 0, 0, words, Role::Dim);
        return;
    }
    let [critical, warning, ..] = canvas.signs.severity;
    let shown = problems.len().min(area.height.into());
    for (y, problem) in (0..area.height).zip(&problems) {
        let (sign, role) = match problem.severity {
            ProblemSeverity::Critical => (critical, Role::Danger),
            ProblemSeverity::Warning => (warning, Role::Warning),
        };
        let x = canvas.draw_text(area, 0, y, sign, role);
        let hidden = problems.len() - shown;
        let more = if hidden > 0 && usize::from(y) + 1 == shown {
            format!(" and {hidden} more")
        } else {
            String::new()
        };
        let room = area.width.saturating_sub(x + 1 + width(&more));
        let title = truncate_text(&problem.title, room, canvas.signs.more);
        let x = canvas.draw_text(area, x + 1, y, &title, Role::Text);
        canvas.draw_text(area, x, y, &more, Role::Dim);
    }
}

/// The channels with the most paths of the job, with their load.
fn draw_uses(
    canvas: &mut Canvas<'_>,
    area: layout::Rect,
    state: &SessionState,
    comparison: &JobComparison,
    look: &Snapshot,
) {
    let name = job_name(state, comparison).unwrap_or_default();
    let now = state.screens.jobs.job().and_then(|job| comparison.effective_in_force(job));
    let all = comparison.channels.len();
    let right = now.map_or_else(String::new, |now| {
        format!("{} of {}", digits_in_groups(now.used_channels()), digits_in_groups(all))
    });
    let inside = draw_beside(canvas, area, &format!("Directions that job {name} uses"), &right);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let Some(now) = now else {
        canvas.draw_text(inside, 0, 0, "not known without forwarding tables", Role::Dim);
        return;
    };
    const PATHS_WIDTH: u16 = 6;
    const LOAD_WIDTH: u16 = 8;
    let names = inside.width.saturating_sub(PATHS_WIDTH + LOAD_WIDTH);
    canvas.draw_text(inside, 0, 0, "CABLE", Role::Heading);
    let paths = Rect { width: names + PATHS_WIDTH, ..inside };
    canvas.draw_right_aligned(paths, names, 0, "PATHS", Role::Heading);
    canvas.draw_right_aligned(inside, names + PATHS_WIDTH, 0, "LOAD", Role::Heading);
    let rows = inside.height.saturating_sub(3);
    let is_slow = |channel: &ChannelId| {
        let port = comparison.channels.get(channel.index())?;
        look.is_degraded(look.fabric().port(*port).link?)
    };
    let slow = now.loads.iter().filter(|(channel, _)| is_slow(channel) == Some(true)).count();
    for (y, (channel, count)) in (1..=rows).zip(busiest(&now.loads, rows.into())) {
        let Some(port) = comparison.channels.get(channel.index()).copied() else { continue };
        let peer = look.fabric().port(port).peer.map(|peer| look.unique_port_name(peer)).unwrap_or_default();
        let words = format!("{} to {peer}", look.unique_port_name(port));
        canvas.draw_text(inside, 0, y, &shorten_name(&words, names, canvas.signs.more), Role::Text);
        canvas.draw_right_aligned(paths, names, y, &digits_in_groups(count), Role::Text);
        let row =
            state.known.watch.reading.as_ref().and_then(|reading| reading.port_row_of(ElementId::Port(port)));
        let load = match row.and_then(|row| row.used) {
            Some(used) => format!("{used} %"),
            None => canvas.signs.severity[3].to_owned(),
        };
        let (text, role) = match is_slow(&channel) {
            Some(true) => (format!("{} {load}", canvas.signs.severity[1]), Role::LinkDegraded),
            _ => (load, Role::Load),
        };
        canvas.draw_right_aligned(inside, names + PATHS_WIDTH, y, &text, role);
    }
    let below = inside.height.saturating_sub(1);
    let (text, role) = match slow {
        0 => ("enter all of it".to_owned(), Role::Dim),
        1 => (format!("{} one of them runs below its rate", canvas.signs.severity[1]), Role::LinkDegraded),
        slow => (
            format!("{} {} of them run below their rate", canvas.signs.severity[1], digits_in_groups(slow)),
            Role::LinkDegraded,
        ),
    };
    canvas.draw_text(inside, 0, below, &text, role);
}

/// The channels with the most paths, at most this number; of equal ones the first.
fn busiest(loads: &[(ChannelId, u64)], most: usize) -> Vec<(ChannelId, u64)> {
    let mut all = loads.to_vec();
    let order = |(channel, paths): &(ChannelId, u64)| (std::cmp::Reverse(*paths), *channel);
    if all.len() > most && most > 0 {
        all.select_nth_unstable_by_key(most - 1, order);
        all.truncate(most);
    }
    all.sort_unstable_by_key(order);
    all
}

/// How many channels carry how many paths of the job, and the figures of all jobs below.
fn draw_paths(canvas: &mut Canvas<'_>, area: layout::Rect, state: &SessionState, comparison: &JobComparison) {
    let name = job_name(state, comparison).unwrap_or_default();
    let right = match comparison.proposed {
        Some(_) => "tables in force | sar, preview",
        None => "tables in force, p asks sar",
    };
    let inside = draw_beside(canvas, area, &format!("Job {name}: paths on one cable"), right);
    let inside = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let mut lines: Vec<(Role, String)> = Vec::new();
    for (severity, words) in figure_lines(state, comparison) {
        let role = if severity == Severity::Info { Role::Text } else { Role::Warning };
        let words = words.trim_end_matches(P_RUNS_SAR).trim_end().replace("   ", ", ");
        lines.extend(wrap_text(&words, inside.width.into()).into_iter().map(|line| (role, line)));
    }
    let rows = u16::try_from(lines.len()).unwrap_or(u16::MAX).min(inside.height / 2);
    let bars = Rect { height: inside.height.saturating_sub(rows + 1), ..inside };
    if let Some((_, histograms)) = state.screens.jobs.histograms() {
        draw_histogram(canvas, bars, histograms);
    }
    for (y, (role, line)) in (inside.height - rows..inside.height).zip(&lines) {
        canvas.draw_text(inside, 0, y, line, *role);
    }
}

fn draw_waits(canvas: &mut Canvas<'_>, panes: &JobsPanes, state: &SessionState) {
    let charts = &state.screens.jobs.strips.charts;
    let partial = charts.iter().any(|chart| chart.is_partial);
    let right = match partial {
        true => format!("% of time, {MAX_CHART_PORTS} ports of a job at most"),
        false => "% of time".to_owned(),
    };
    let inside = draw_beside(canvas, panes.waits, "Worst wait of each job", &right);
    let Ok(count @ 1..) = u16::try_from(charts.len()) else { return };
    let height = inside.height / count;
    for (place, chart) in (0..count).zip(charts) {
        let area = Rect { y: inside.y + place * height, height, ..inside };
        draw_job_chart(canvas, area, panes, state, chart, place + 1 == count);
    }
}

fn draw_job_chart(
    canvas: &mut Canvas<'_>,
    area: Rect,
    panes: &JobsPanes,
    state: &SessionState,
    job: &JobChart,
    has_axis: bool,
) {
    let name = shorten_name(&format!("job {}", job.job), JOB_WIDTH - 1, canvas.signs.more);
    canvas.draw_text(area, 1, area.height.saturating_sub(1) / 2, &name, Role::Text);
    let plot = chart_columns(panes);
    let window = chart_window(&state.known, plot);
    let place = Rect { x: area.x + JOB_WIDTH, width: area.width.saturating_sub(JOB_WIDTH + 1), ..area };
    // The charts share one axis, below the last one.
    let place = if has_axis { place } else { Rect { height: place.height.saturating_sub(1), ..place } };
    let top = chart_top(Quantity::Wait, 0.0);
    let ticks = if has_axis { time_ticks(&state.known, window, plot) } else { Vec::new() };
    let chart = Chart {
        quantity: Quantity::Wait,
        values: &job.values,
        curve: &[],
        scale: scale_of(Quantity::Wait),
        top,
        labels: &scale_labels(Quantity::Wait, top, place.height),
        ticks: &ticks,
        marks: &chart_marks(canvas, state, window, true),
        cursor: cursor_share(&state.known, window),
        label_width: LABEL_WIDTH,
    };
    draw_chart(canvas, place, &chart);
}
