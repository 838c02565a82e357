//! The problems as cards.
//!
//! ```text
//! ▌ ◆ 1 storage01 accepts 51 % of its link, and 15 hosts wait    for 2 min    node01 waits 87 %
//! ▌ cause likely: a slow host                                            100┤       ⣤⣶⣶⣶⣶⣶
//! ▌ hits  2 victims node01 87 %  node07 10 %   jobs 83 81 74                │      ⢸⣿⣿⣿⣿⣿⣿
//! ▌ next  p see which flows would move to the slow lane                    0┤⣀⣀⣀⣀⣀⣸⣿⣿⣿⣿⣿⣿
//! ```

use ratatui::layout::Rect;

use super::card_text::{OwnedRun, certainty_words, hit_runs, short_number};
use super::health_layout::{CARD_ROWS, HealthLayout};
use super::pane_frame::{draw_frame, draw_runs};
use super::problem_actions::fix_preview;
use super::problem_age::{age_words, problem_relief};
use super::screen::HealthPane;
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::{Canvas, truncate_text, width};
use crate::console::drawing::chart::{Chart, draw_chart};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::{chart_top, scale_of};
use crate::console::features::chart_time::{chart_window, cursor_share};
use crate::console::features::jobs::current_job_source::{CurrentJobSource, current_job_source};
use crate::console::features::jobs::running_jobs::uses_simulated_jobs;
use crate::console::features::watch::watch_text::empty_words;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::{LoadState, SessionState};
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::health::problem::{FabricProblem, ProblemSeverity};
use crate::operations::health::ranked_problems::{ProblemMeasure, RankedProblems};
use crate::operations::watch::history::PortFigure;
use fabdeck_fabric::observe::digits_in_groups;

pub fn draw(canvas: &mut Canvas<'_>, layout: &HealthLayout, state: &SessionState) {
    if layout.problems.is_empty() {
        return;
    }
    let health = &state.screens.health;
    let table = health.table_of(HealthPane::Problems);
    let ranked = state.known.problems.ranked.as_deref();
    let (sight, problems) = (layout.cards_in_sight(), ranked.map_or(&[][..], |ranked| &ranked.problems));
    let head = head_runs(canvas, layout, ranked, (table.top, sight));
    let focused = health.pane == HealthPane::Problems;
    let inside = draw_frame(canvas, layout.problems, "Problems", &head, focused, layout.boxed);
    let Some(ranked) = ranked.filter(|ranked| !ranked.problems.is_empty()) else {
        return draw_no_problem(canvas, inside, state, ranked);
    };
    let shown = ranked.measures.iter().skip(table.top).take(sight).flatten();
    let graph = graph_width(inside.width).saturating_sub(1 + GRAPH_LABELS);
    let errors_top = errors_top(state, shown, graph);
    for (place, problem) in problems.iter().enumerate().skip(table.top).take(sight) {
        let y = layout.card_row(place - table.top);
        let height = if layout.is_compact { 1 } else { CARD_ROWS };
        let area = Rect { y: inside.y + y, height: height.min(inside.height.saturating_sub(y)), ..inside };
        if area.height > 0 {
            canvas.add_target(area, ClickTarget::Row(place));
            let chosen = focused && place == table.cursor;
            draw_card(canvas, area, state, &Card { ranked, problem, place, chosen, errors_top });
        }
    }
}

/// How many problems there are, and those in sight where that is not all.
fn head_runs(
    canvas: &Canvas<'_>,
    layout: &HealthLayout,
    ranked: Option<&RankedProblems>,
    (top, sight): (usize, usize),
) -> Vec<OwnedRun> {
    let Some(ranked) = ranked else { return Vec::new() };
    let [critical, warning, ..] = canvas.signs.severity;
    let mut runs = Vec::new();
    for (sign, number, words, role) in [
        (critical, ranked.critical, ["critical", "critical"], Role::Danger),
        (warning, ranked.warnings, ["warning", "warnings"], Role::Warning),
    ] {
        if number > 0 {
            let word =
                if layout.boxed { count_words(number, words[0], words[1]) } else { digits_in_groups(number) };
            runs.push((format!("{sign} {word}  "), role));
        }
    }
    if ranked.acknowledged > 0 {
        runs.push((format!("{} acknowledged  ", digits_in_groups(ranked.acknowledged)), Role::Dim));
    }
    let extent = canvas.extent_text(top, sight, ranked.problems.len(), 30);
    if !extent.is_empty() {
        runs.push((extent, Role::Key));
    } else if ranked.problems.len() > 1 {
        let order = if layout.boxed { " ranked by jobs, then hosts hit" } else { "by jobs, hosts hit" };
        runs.push((order.to_owned(), Role::Dim));
    }
    if let Some((text, _)) = runs.last_mut() {
        text.truncate(text.trim_end().len());
    }
    runs
}

/// A problem with its place in the list.
struct Card<'c> {
    ranked: &'c RankedProblems,
    problem: &'c FabricProblem,
    place: usize,
    chosen: bool,
    /// The top of the scale of errors.
    errors_top: f64,
}

/// Width of the graph at the right of a card, on wide and on narrow screens.
const GRAPH_WIDTH: u16 = 30;
const NARROW_GRAPH_WIDTH: u16 = 14;
const WIDE_CARD: u16 = 100;
/// Columns of the scale of a graph, and the least top of a scale of errors.
const GRAPH_LABELS: u16 = 5;
const LEAST_ERRORS_TOP: f64 = 1000.0;

fn graph_width(card: u16) -> u16 {
    if card >= WIDE_CARD { GRAPH_WIDTH } else { NARROW_GRAPH_WIDTH }
}

fn draw_card(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, card: &Card<'_>) {
    let problem = card.problem;
    let (sign, role) = severity_sign(canvas, problem);
    for y in 0..area.height {
        canvas.draw_text(area, 0, y, canvas.signs.card, role);
    }
    let body = Rect { x: area.x + 1, width: area.width.saturating_sub(1), ..area };
    if card.chosen {
        canvas.fill_row(body, 0, Role::Cursor);
    }
    let graph = graph_width(area.width);
    let measure = card.ranked.measures.get(card.place).and_then(Option::as_ref);
    let wide = area.width >= WIDE_CARD;
    let right = measure.map(|measure| measure_runs(canvas, measure, wide)).unwrap_or_default();
    let right_width: u16 = right.iter().map(|(text, _)| width(text)).sum();
    let right_at = body.width.saturating_sub(right_width + 1);
    let x = canvas.draw_text(body, 1, 0, &format!("{sign} {} ", card.place + 1), role);
    // A title has the room of the graph where there is none.
    let has_graph = wide && measure.is_some();
    let title_end = if has_graph { body.width.saturating_sub(graph + 2) } else { right_at.saturating_sub(1) };
    let titles = Rect { width: title_end, ..body };
    let room = title_end.saturating_sub(x);
    let title = shorten_title(&problem.title, room, canvas.signs.more);
    let title_role = if problem.acknowledged.is_some() { Role::Dim } else { Role::Strong };
    let behind = canvas.draw_text(titles, x, 0, &title, title_role);
    let age_room = title_end.saturating_sub(behind + 2);
    let age = if wide { age_words(&state.known, &problem.id, age_room) } else { String::new() };
    canvas.draw_right_aligned(titles, behind + 2, 0, &age, Role::Dim);
    draw_runs(canvas, body, (right_at, 0), &right);
    if area.height < CARD_ROWS {
        return;
    }
    // Without a graph, the texts have its room. So have those of the chosen card on a narrow screen, where they need it.
    let texts = body.width.saturating_sub(graph + 2);
    let measure = measure.filter(|_| wide || !card.chosen || text_width(problem) <= texts);
    let texts = if measure.is_some() { body.width.saturating_sub(graph + 2) } else { body.width };
    draw_texts(canvas, Rect { width: texts, ..body }, state, card);
    let graph = graph.min(body.width);
    let at = Rect { x: body.x + body.width - graph, y: body.y + 1, width: graph, height: CARD_ROWS - 1 };
    if let Some(measure) = measure {
        draw_graph(canvas, Rect { width: graph.saturating_sub(1), ..at }, state, measure, card.errors_top);
    }
}

/// Cuts a title between its facts, the worst of which comes first; a single fact is cut where the room ends.
fn shorten_title(title: &str, room: u16, more: &str) -> String {
    let whole = |at: &usize| width(&title[..*at]) + width(more) <= room;
    let cut = title.match_indices(", ").map(|(at, _)| at).filter(whole).last();
    match cut {
        _ if width(title) <= room => title.to_owned(),
        Some(at) => format!("{}{more}", &title[..at]),
        None => truncate_text(title, room, more),
    }
}

/// Columns of the labels before the texts of a card.
const TEXT: u16 = 7;

/// Columns that the cause and the next step of a card need, with their labels and a key.
fn text_width(problem: &FabricProblem) -> u16 {
    let cause = width(certainty_words(problem.cause.certainty)) + width(&problem.cause.text);
    TEXT + cause.max(width(&problem.next.text) + 2)
}

/// Cause, hits and next step.
fn draw_texts(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, card: &Card<'_>) {
    let problem = card.problem;
    let first = if problem.worse_since.is_some() { "worse" } else { "cause" };
    for (y, label) in [(1, first), (2, "hits"), (3, "next")] {
        canvas.draw_text(area, 1, y, label, Role::Label);
    }
    if let Some(by) = &problem.worse_since {
        // The page of the problem has the cause.
        let text = format!("since it was acknowledged {}", by.words());
        canvas.draw_text(area, TEXT, 1, &text, Role::Warning);
    } else {
        let certainty = certainty_words(problem.cause.certainty);
        let x = canvas.draw_text(area, TEXT, 1, certainty, Role::Dim);
        let x = canvas.draw_text(area, x, 1, &problem.cause.text, Role::Text);
        // The page of the problem has the history where a narrow card has no room for it.
        let history = problem.history.as_deref().filter(|words| x + 3 + width(words) <= area.width);
        if let Some(words) = history {
            canvas.draw_text(area, x + 3, 1, words, Role::Warning);
        }
    }
    let room = area.width.saturating_sub(TEXT);
    let hits = hit_runs(problem, card.ranked.jobs.is_some(), room);
    draw_runs(canvas, area, (TEXT, 2), &hits);
    if let Some(by) = &problem.acknowledged {
        let text = format!("acknowledged {}", by.words());
        canvas.draw_text(area, TEXT, 3, &text, Role::Dim);
        return;
    }
    let key = state.keymap.find_action("preview-fix").filter(|_| fix_preview(problem).is_some());
    let key = key.and_then(|preview| preview.first_key(&state.keymap));
    let x = key.map_or(TEXT, |key| canvas.draw_text(area, TEXT, 3, &key.to_string(), Role::Key) + 1);
    match problem_relief(&state.known, problem) {
        Some(words) => canvas.draw_text(area, x, 3, &words, Role::Good),
        None => canvas.draw_text(area, x, 3, &problem.next.text, Role::Text),
    };
}

fn severity_sign(canvas: &Canvas<'_>, problem: &FabricProblem) -> (&'static str, Role) {
    let [critical, warning, ..] = canvas.signs.severity;
    match (problem.acknowledged.is_some(), problem.severity) {
        // It is neither well nor open.
        (true, _) => (canvas.signs.untold, Role::Dim),
        (false, ProblemSeverity::Critical) => (critical, Role::Danger),
        (false, ProblemSeverity::Warning) => (warning, Role::Warning),
    }
}

/// The figure of a problem in the last interval.
fn measure_runs(canvas: &Canvas<'_>, measure: &ProblemMeasure, wide: bool) -> Vec<OwnedRun> {
    let unknown = || (format!("{} not known", canvas.signs.severity[3]), Role::Dim);
    let (label, figure) = match measure {
        ProblemMeasure::Wait { name, share, .. } => {
            let figure = share.map(|share| (format!("{:.0} %", share * 100.0), Role::Wait));
            (format!("{name} waits  "), figure)
        }
        ProblemMeasure::Load { percent, .. } => {
            ("load  ".to_owned(), percent.map(|percent| (format!("{percent} %"), Role::Load)))
        }
        ProblemMeasure::Errors { per_s, .. } => {
            let figure = per_s.map(|errors| (format!("{} /s", short_number(errors)), Role::Errors));
            ("errors, log  ".to_owned(), figure)
        }
    };
    let mut runs = vec![figure.unwrap_or_else(unknown)];
    if wide {
        runs.insert(0, (label, Role::Dim));
    }
    runs
}

/// The values of a graph of this many columns; `None` where nothing is measured.
fn graph_values(
    state: &SessionState,
    measure: &ProblemMeasure,
    plot: u16,
) -> Option<(Quantity, Vec<Option<f64>>)> {
    let watch = &state.known.watch;
    let (window, columns) = (chart_window(&state.known, plot), usize::from(plot) * 2);
    let port = |port, figure| watch.history.port_columns(port, figure, window, columns);
    Some(match measure {
        ProblemMeasure::Wait { share: None, .. } => return None,
        ProblemMeasure::Wait { port: at, .. } => (Quantity::Wait, port(*at, PortFigure::Waiting)),
        ProblemMeasure::Load { port: at, .. } => (Quantity::Load, port(*at, PortFigure::Utilization)),
        ProblemMeasure::Errors { ports, .. } => {
            (Quantity::Errors, watch.totals.error_columns(window, columns, ports))
        }
    })
}

/// The top of the scale of errors, which is the same for all cards in sight, so that they can be compared.
fn errors_top<'m>(
    state: &SessionState,
    measures: impl Iterator<Item = &'m ProblemMeasure>,
    plot: u16,
) -> f64 {
    let of =
        |measure| graph_values(state, measure, plot).filter(|(quantity, _)| *quantity == Quantity::Errors);
    let most = measures.filter_map(of).flat_map(|(_, values)| values).flatten().fold(0.0, f64::max);
    chart_top(Quantity::Errors, most.max(LEAST_ERRORS_TOP))
}

fn draw_graph(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    measure: &ProblemMeasure,
    errors_top: f64,
) {
    let plot = area.width.saturating_sub(GRAPH_LABELS);
    let Some((quantity, values)) = graph_values(state, measure, plot) else { return };
    let window = chart_window(&state.known, plot);
    let top = if quantity == Quantity::Errors { errors_top } else { 100.0 };
    let (scale, label) = (scale_of(quantity), short_number(top));
    let chart = Chart {
        quantity,
        values: &values,
        curve: &[],
        scale,
        top,
        labels: &[(1.0, label), (0.0, "0".to_owned())],
        ticks: &[],
        marks: &[],
        cursor: cursor_share(&state.known, window),
        label_width: GRAPH_LABELS,
    };
    draw_chart(canvas, area, &chart);
}

/// A fabric without problems: what was checked, and what is not known.
fn draw_no_problem(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    ranked: Option<&RankedProblems>,
) {
    let Some(ranked) = ranked else {
        canvas.draw_text(area, 1, 0, "The fabric is being checked.", Role::Dim);
        return;
    };
    let (known, [_, _, well, unknown]) = (&state.known, canvas.signs.severity);
    let links = count_words(ranked.links, "cable", "cables");
    let ports = count_words(ranked.ports, "port", "ports");
    let mut lines = Vec::new();
    match &known.watch.reading {
        Some(reading) => {
            let seconds = reading.watched.seconds;
            let counted = digits_in_groups(reading.watched.ports);
            lines.push((true, format!("counters: {counted} ports compared over {seconds:.1} s")));
        }
        None => lines.push((false, format!("counters: {}", empty_words(known)))),
    }
    lines.push(match known.problems.tables_checked() {
        Ok(true) => (true, "tables: every pair of hosts has a path".to_owned()),
        Ok(false) if known.problems.is_checking() => (false, "tables: being checked".to_owned()),
        Ok(false) if matches!(state.loading, LoadState::Under(_)) => {
            (false, "tables: not read yet".to_owned())
        }
        Ok(false) => (false, "tables: the source has none".to_owned()),
        Err(why) => (false, format!("tables: {why}")),
    });
    lines.push(match &ranked.jobs {
        Some(jobs) => (true, format!("jobs: {} on the fabric", digits_in_groups(jobs.rows.len()))),
        None if !matches!(current_job_source(known), CurrentJobSource::Unknown) => {
            (false, "jobs: the list is not known yet".to_owned())
        }
        None if uses_simulated_jobs(state) => (false, "jobs: being read".to_owned()),
        None => (false, "jobs: not known; :jobs slurm asks Slurm".to_owned()),
    });
    lines.extend(ranked.link_health.map(|coverage| {
        let hint = if coverage.is_complete() { "" } else { "; the watch asks the others in turn" };
        (coverage.is_complete(), format!("link health: {}{hint}", coverage.words()))
    }));
    lines.extend(ranked.unacknowledged.iter().map(|why| (false, format!("acknowledgements: {why}"))));
    let checked = known.watch.reading.is_some() && known.problems.tables_checked() == Ok(true);
    let (sign, role) = if checked { (well, Role::Good) } else { (unknown, Role::Text) };
    // Before the first comparison, silence of the counters says nothing.
    let is_awaited = known.watch.reading.is_none() && known.watch.can_watch();
    let title = match is_awaited {
        true => format!("{sign} Not checked yet: {links} and {ports}"),
        false => format!("{sign} No problem in {links} and {ports}"),
    };
    canvas.draw_text(area, 1, 0, &title, role);
    let mut y = 2;
    for (is_known, text) in lines {
        let (sign, role) = if is_known { (well, Role::Dim) } else { (unknown, Role::Text) };
        for (at, line) in wrap_text(&text, area.width.saturating_sub(5).into()).iter().enumerate() {
            let sign = if at == 0 { sign } else { " " };
            canvas.draw_text(area, 3, y, &format!("{sign} {line}"), role);
            y += 1;
        }
    }
}
