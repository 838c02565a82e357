//! The panes of Health that only a wide screen has: the map, the cables, and what the watch reads.

use ratatui::layout::Rect;

use super::card_text::{OwnedRun, length_words};
use super::health_layout::HealthLayout;
use super::pane_frame::{draw_frame, draw_runs};
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::gauge::{bar_symbol, draw_gauge};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::jobs::current_job_source::{CurrentJobSource, current_job_source};
use crate::console::features::map::{draw_lines, draw_path};
use crate::console::features::watch::watch_text::spaced_interval;
use crate::console::model::state::{LoadState, SessionState};
use crate::operations::health::cable_overview::{CableOverview, CableSummary, CableTrouble, LOAD_STEPS};
use fabdeck_fabric::observe::digits_in_groups;

pub fn draw(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    if layout.map.width > 0 {
        draw_map(canvas, layout, state);
    }
    if layout.cables.width > 0 {
        draw_cables(canvas, layout, state);
        draw_watch(canvas, layout, state);
    }
}

/// The map as the screen Map colours it, with the path that it lights.
fn draw_map(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    let map = &state.screens.map.drawn;
    let mut head: Vec<OwnedRun> = vec![
        ("by ".to_owned(), Role::Dim),
        (map.quantity.word().to_owned(), map.quantity.colours().figure_role()),
    ];
    let lit = map.lit.as_ref().zip(state.snapshot()).map(|(lit, look)| lit.title(look));
    head.extend(lit.map(|title| (format!("   path {title}"), Role::Dim)));
    let inside = draw_frame(canvas, layout.map, "Map", &head, false, layout.boxed);
    let map = Rect { height: inside.height.saturating_sub(1), ..inside };
    if !draw_lines::draw_small_map(canvas, map, state) {
        canvas.draw_text(inside, 1, 0, "the map has no room here", Role::Dim);
        return;
    }
    draw_path::draw_legend(canvas, inside, inside.height.saturating_sub(1), state);
}

/// Columns of the cells of a cable, from the right: load, errors, state.
const LOAD_WIDTH: u16 = 12;
const ERRORS_WIDTH: u16 = 10;
const STATE_WIDTH: u16 = 12;
/// Rows of the cables by load below the list.
const LOADS_ROWS: u16 = 5;
/// Least rows of cables above it.
const MIN_CABLES: u16 = 3;

fn draw_cables(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    let overview = state.known.problems.ranked.as_ref().map(|ranked| &ranked.cables);
    let head: Vec<OwnedRun> = overview.map_or_else(Vec::new, |overview| {
        let role = if overview.in_trouble > 0 { Role::Warning } else { Role::Dim };
        let cables = count_words(overview.cables, "cable", "cables");
        let trouble = format!("{} in trouble", digits_in_groups(overview.in_trouble));
        vec![(trouble, role), (format!("  {cables}"), Role::Dim)]
    });
    let inside = draw_frame(canvas, layout.cables, "Cables", &head, false, layout.boxed);
    let Some(overview) = overview else { return };
    let area = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    let names = area.width.saturating_sub(LOAD_WIDTH + ERRORS_WIDTH + STATE_WIDTH);
    canvas.draw_text(area, 0, 0, "CABLE", Role::Heading);
    canvas.draw_text(area, names, 0, "STATE", Role::Heading);
    let errors_end = Rect { width: names + STATE_WIDTH + ERRORS_WIDTH - 2, ..area };
    canvas.draw_right_aligned(errors_end, 0, 0, "ERRORS", Role::Heading);
    canvas.draw_right_aligned(area, 0, 0, "LOAD", Role::Heading);
    // A low pane has no room for the cables by load.
    let loads = if area.height >= 1 + LOADS_ROWS + MIN_CABLES { LOADS_ROWS } else { 1 };
    let rows = area.height.saturating_sub(1 + loads);
    let shown = usize::from(rows).min(overview.rows.len());
    for (y, cable) in (1..=rows).zip(&overview.rows) {
        draw_cable(canvas, Rect { y: area.y + y, height: 1, ..area }, names, cable);
    }
    let more = overview.cables.saturating_sub(shown);
    let y = area.height.saturating_sub(loads);
    if more > 0 {
        let text = format!("and {} more", digits_in_groups(more));
        canvas.draw_text(area, 0, y, &text, Role::Dim);
    }
    draw_loads(canvas, Rect { y: area.y + y + 1, height: loads - 1, ..area }, overview);
}

fn draw_cable(canvas: &mut Canvas<'_>, area: Rect, names: u16, cable: &CableSummary) {
    let [critical, warning, well, unknown] = canvas.signs.severity;
    let between = format!(" {} ", canvas.signs.rule);
    let room = names.saturating_sub(width(&between) + 1);
    let [a, b] = &cable.ends;
    let first = width(a).min(room.saturating_sub(width(b).min(room / 2)));
    let more = canvas.signs.more;
    let name = format!("{}{between}{}", shorten_name(a, first, more), shorten_name(b, room - first, more));
    canvas.draw_text(area, 0, 0, &name, Role::Text);
    let (sign, role, word) = match cable.trouble {
        CableTrouble::Down => (critical, Role::LinkDown, "down"),
        CableTrouble::Errors => (warning, Role::Warning, "errors"),
        CableTrouble::Degraded => (warning, Role::LinkDegraded, cable.rate.as_str()),
        CableTrouble::None => (well, Role::Dim, cable.rate.as_str()),
    };
    canvas.draw_text(area, names, 0, &format!("{sign} {word}"), role);
    let (errors, role) = match cable.errors {
        Some(0) => ("0".to_owned(), Role::Faint),
        Some(errors) => (digits_in_groups(errors), Role::Errors),
        None => (unknown.to_owned(), Role::Dim),
    };
    let cells = Rect { width: names + STATE_WIDTH + ERRORS_WIDTH - 2, ..area };
    canvas.draw_right_aligned(cells, 0, 0, &errors, role);
    match cable.load {
        Some(load) => {
            let share = f64::from(load) / 100.0;
            let at = area.width.saturating_sub(LOAD_WIDTH);
            draw_gauge(canvas, area, (at, 0), LOAD_WIDTH - 6, share, Quantity::Load);
            canvas.draw_right_aligned(area, at, 0, &format!("{load} %"), Role::Load);
        }
        None => canvas.draw_right_aligned(area, 0, 0, unknown, Role::Dim),
    }
}

/// How many cables carry how much: a bar for each tenth, its number below.
fn draw_loads(canvas: &mut Canvas<'_>, area: Rect, overview: &CableOverview) {
    let unknown = match overview.unknown_load {
        0 => String::new(),
        some => format!("  {} {} not known", canvas.signs.severity[3], digits_in_groups(some)),
    };
    canvas.draw_text(area, 0, 0, &format!("CABLES BY LOAD{unknown}"), Role::Heading);
    let most = overview.by_load.iter().copied().max().unwrap_or(0);
    let step = area.width / LOAD_STEPS as u16;
    if most == 0 || step < 3 {
        return;
    }
    for (at, count) in (0u16..).zip(overview.by_load) {
        let x = at * step;
        if count > 0 {
            let sign = bar_symbol(canvas, count as f64 / most as f64).repeat(usize::from(step - 1));
            let role = Quantity::Load.step_role(1 + (at * 4 / LOAD_STEPS as u16) as u8);
            canvas.draw_text(area, x, 1, &sign, role);
            canvas.draw_text(area, x, 3, &digits_in_groups(count), Role::Text);
        } else {
            canvas.draw_text(area, x, 1, canvas.signs.untold, Role::Faint);
        }
        canvas.draw_text(area, x, 2, &format!("{} %", at * 10), Role::Dim);
    }
}

fn draw_watch(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    let watch = &state.known.watch;
    let every = match watch.can_watch() && !watch.paused {
        true => format!("every {}", spaced_interval(watch.settings.interval_ms)),
        false => String::new(),
    };
    let inside = draw_frame(canvas, layout.watch, "Watch", &[(every, Role::Dim)], false, layout.boxed);
    let area = Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside };
    for (y, (label, words, is_known)) in (0..area.height).zip(watch_lines(state)) {
        canvas.draw_text(area, 0, y, label, Role::Label);
        let sign = if is_known { String::new() } else { format!("{} ", canvas.signs.severity[3]) };
        let role = if is_known { Role::Text } else { Role::Dim };
        draw_runs(canvas, area, (10, y), &[(format!("{sign}{words}"), role)]);
    }
}

/// What is read, and how far each part is known.
fn watch_lines(state: &SessionState) -> Vec<(&'static str, String, bool)> {
    let (known, watch) = (&state.known, &state.known.watch);
    let counters = match &watch.reading {
        Some(reading) => {
            let ports = count_words(reading.watched.ports, "port", "ports");
            let unknown = reading.watched.verdict.unknown_ports.len();
            let unknown =
                if unknown > 0 { format!(", the waiting of {unknown} not known") } else { String::new() };
            (format!("{ports} over {:.1} s{unknown}", reading.watched.seconds), true)
        }
        None => ("not compared yet".to_owned(), false),
    };
    let tables = match known.problems.tables_checked() {
        Ok(true) => ("certified".to_owned(), true),
        Ok(false) if known.problems.is_checking() => ("being checked".to_owned(), false),
        Ok(false) if matches!(state.loading, LoadState::Under(_)) => ("not read yet".to_owned(), false),
        Ok(false) => ("the source has none".to_owned(), false),
        Err(why) => (why, false),
    };
    let jobs = match (
        current_job_source(known),
        known.problems.ranked.as_ref().and_then(|ranked| ranked.jobs.as_ref()),
    ) {
        (CurrentJobSource::Named(from), Some(jobs)) => {
            (format!("{}: {}", from.words(), jobs.rows.len()), true)
        }
        (CurrentJobSource::Recorded(_), Some(jobs)) => (format!("recorded: {}", jobs.rows.len()), true),
        (CurrentJobSource::Unknown, Some(jobs)) => (format!("SIMULATED: {}", jobs.rows.len()), true),
        (_, None) => ("not known".to_owned(), false),
    };
    let span = watch
        .totals
        .span_ms()
        .map_or_else(|| "nothing yet".to_owned(), |ms| format!("{} of 24 h", length_words(ms)));
    let change = known.changes.header_word().map_or_else(|| "none waits".to_owned(), |(words, _)| words);
    let marks = if known.marks.is_empty() { "none".to_owned() } else { digits_in_groups(known.marks.len()) };
    let readings = count_words(usize::try_from(watch.sweeps).unwrap_or(usize::MAX), "sweep", "sweeps");
    vec![
        ("source", state.source.clone(), true),
        ("counters", counters.0, counters.1),
        ("readings", readings, true),
        ("kept", span, true),
        ("tables", tables.0, tables.1),
        ("jobs", jobs.0, jobs.1),
        ("change", change, true),
        ("marks", marks, true),
    ]
}
