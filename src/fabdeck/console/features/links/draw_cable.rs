//! Draws the page of a cable.

use ratatui::layout::Rect;

use super::cable_meaning::meaning_lines;
use super::cable_page::CablePage;
use super::cable_panes::CablePanes;
use super::counter_rows::{CounterHistory, CounterRow};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, truncate_text, width};
use crate::console::drawing::chart::{Chart, draw_chart};
use crate::console::drawing::gauge::step_of;
use crate::console::drawing::pane::{PaneHead, draw_pane, draw_rule};
use crate::console::drawing::theme::{Quantity, Role};
use crate::console::features::chart_axes::{
    LABEL_WIDTH, chart_marks, chart_top, counter_columns, draw_time_chart, scale_of, worst_columns,
};
use crate::console::features::chart_time::{chart_window, cursor_share, window_words};
use crate::console::features::feature::{BodyAreas, Feature};
use crate::console::features::health::card_text::short_number;
use crate::console::features::watch::watch_text::empty_words;
use crate::console::model::fabric_model::Model;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::health::cable_report::{CableReport, JobOverCable};
use crate::operations::health::problem::FabricProblem;
use crate::operations::preview::whatif::MarkLoss;
use crate::operations::preview::whatif::cut_off_words;
use crate::operations::watch::hot_ports::HotPort;
use crate::operations::watch::link_rate::data_gbps;
use crate::operations::watch::port_values::PortQuantity;
use fabdeck_fabric::counters::WireVerdict;
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ElementId, LinkId, LinkSpeed, LinkWidth, PhysicalState, PortId};

/// Width of the names of counters, and of a value or a rate of one end.
const TITLE_WIDTH: u16 = 25;
const VALUE_WIDTH: u16 = 14;
const RATE_WIDTH: u16 = 11;
/// Columns of the history of a counter.
const HISTORY_WIDTH: u16 = 14;
/// Columns of the words behind it.
const VERDICT_WIDTH: u16 = 12;
/// Most jobs that are named.
const MAX_JOBS: usize = 3;

/// Draws the open page, or the list and its details.
pub fn draw(canvas: &mut Canvas<'_>, body: &BodyAreas, state: &SessionState) {
    let (Some(page), Some(look)) = (&state.screens.links.page, state.snapshot()) else {
        return (Feature::NEW.draw)(canvas, body, state);
    };
    let areas = state.areas();
    let panes = CablePanes::new(&areas);
    let ends = [look.fabric().link(page.link).a, look.fabric().link(page.link).b];
    draw_title(canvas, buffer_area(panes.title), state, look, page);
    let seen = ends.iter().zip(panes.ends).enumerate().filter(|(_, (_, area))| !area.is_empty());
    for (at, (port, area)) in seen {
        let facts = end_facts(look, page.report.as_deref(), *port, at);
        match areas.boxed {
            true => draw_end(canvas, buffer_area(area), look, *port, &facts),
            false => draw_end_row(canvas, buffer_area(area), look, *port, &facts),
        }
    }
    if !panes.cable.is_empty() {
        draw_cable(canvas, buffer_area(panes.cable), state, look, page.link, areas.boxed);
    }
    let quantities = [
        (PortQuantity::Sent, vec![ends[0]]),
        (PortQuantity::Sent, vec![ends[1]]),
        (PortQuantity::Errors, ends.to_vec()),
    ];
    for (area, (quantity, ports)) in panes.charts.into_iter().zip(quantities) {
        draw_history(canvas, buffer_area(area), state, look, quantity, &ports);
    }
    draw_counters(canvas, state, look, page, &panes);
}

/// The way here, the place among parallel cables, and what is wrong.
fn draw_title(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, look: &Snapshot, page: &CablePage) {
    let ends = look.fabric().link(page.link);
    let crumb = format!("{} {} ", state.screen.title().title, canvas.signs.crumb);
    let x = canvas.draw_text(area, 1, 0, &crumb, Role::Dim);
    let names =
        [ends.a, ends.b].map(|port| look.labelled_port_name(port)).join(&format!(" {} ", canvas.signs.rule));
    let room = area.width.saturating_sub(x + 1);
    let mut x = canvas.draw_text(area, x, 0, &shorten_name(&names, room, canvas.signs.more), Role::Strong);
    if state.known.is_failed(ElementId::Link(page.link)) {
        x = canvas.draw_text(
            area,
            x + 3,
            0,
            &format!("{} marked as failed", canvas.signs.marked),
            Role::Marked,
        );
    }
    for (text, role) in troubles(canvas, state, look, page.link) {
        x = canvas.draw_text(area, x + 3, 0, &text, role);
    }
    if let Some((place, count @ 2..)) = page.report.as_ref().map(|report| report.parallel) {
        canvas.draw_text(area, x + 3, 0, &format!("{place} of {count} parallel"), Role::Dim);
    }
}

/// What is wrong with the cable.
fn troubles(canvas: &Canvas<'_>, state: &SessionState, look: &Snapshot, link: LinkId) -> Vec<(String, Role)> {
    let [critical, warning, ..] = canvas.signs.severity;
    if look.is_down(link) {
        return vec![(format!("{critical} down"), Role::LinkDown)];
    }
    let mut troubles = Vec::new();
    if look.is_degraded(link) == Some(true) {
        let used = rate_text(look.width_in_use(link), look.speed_in_use(link));
        let (width, speed) = possible_rate(look, link);
        let text = format!("{warning} runs at {used} of {}", rate_text(width, speed));
        troubles.push((text, Role::LinkDegraded));
    }
    let judged = look.link_judgement(link).1;
    let worst = judged.evidence.first().filter(|worst| worst.verdict >= WireVerdict::Watch);
    if let Some(worst) = worst {
        troubles.push((format!("{warning} wire {}: {}", judged.verdict.word(), worst.text), Role::Warning));
    }
    if state.known.health.is_miscabled(link) {
        troubles.push((format!("{warning} not as planned"), Role::Warning));
    }
    if state.known.health.has_errors(link) {
        troubles.push((format!("{warning} errors above their threshold"), Role::Warning));
    }
    troubles
}

fn rate_text(width: Option<LinkWidth>, speed: Option<LinkSpeed>) -> String {
    format!("{} {}", width.map_or("?", |width| width.word()), speed.map_or("?", |speed| speed.word()))
}

fn possible_rate(look: &Snapshot, link: LinkId) -> (Option<LinkWidth>, Option<LinkSpeed>) {
    let ends = look.fabric().link(link);
    let [a, b] = [ends.a, ends.b].map(|port| &look.fabric().port(port).facts);
    (
        a.width_supported.zip(b.width_supported).map(|(a, b)| a.min(b)),
        a.speed_supported.zip(b.speed_supported).map(|(a, b)| a.min(b)),
    )
}

/// The facts of an end, as labels and texts.
fn end_facts(
    look: &Snapshot,
    report: Option<&CableReport>,
    port: PortId,
    at: usize,
) -> Vec<(&'static str, String)> {
    let facts = &look.fabric().port(port).facts;
    let unknown = || "not known".to_owned();
    let physical = facts.physical_state.map(|state| match state {
        PhysicalState::LinkUp => "link up",
        state => state.word(),
    });
    let states = [facts.state.map(|state| state.word()), physical];
    let mut states: Vec<String> = states.into_iter().flatten().map(str::to_lowercase).collect();
    if look.port_wire(port).is_some() {
        states.push(format!("wire {}", look.wire_judgement(port).verdict.word()));
    }
    let can_do = match (facts.width_supported, facts.speed_supported) {
        (None, None) => unknown(),
        (width, speed) => rate_text(width, speed),
    };
    let paths = report.map(|report| report.paths.map(|paths| digits_in_groups(paths[at])));
    vec![
        ("GUID", look.fabric().node(look.fabric().port(port).node).guid().to_string()),
        ("state", if states.is_empty() { unknown() } else { states.join(", ") }),
        ("can do", can_do),
        ("behind it", report.map_or_else(|| "being read".to_owned(), |report| report.behind[at].clone())),
        ("paths out", paths.map_or_else(|| "being read".to_owned(), |paths| paths.unwrap_or_else(unknown))),
    ]
}

/// The label of a port, and the LID that addresses it.
fn lid_words(look: &Snapshot, port: PortId) -> String {
    let (fabric, node) = (look.fabric(), look.fabric().port(port).node);
    let management = fabric.port_of(node, fabdeck_fabric::PortNum::MANAGEMENT);
    let owner = if fabric.node(node).is_switch() { management } else { Some(port) };
    let lid = owner.and_then(|port| fabric.port(port).facts.lid);
    let lid = lid.map_or_else(|| "LID not known".to_owned(), |lid| format!("LID {}", lid.value()));
    match look.label(port) {
        Some(label) => format!("label {}  {lid}", label.shown()),
        None => lid,
    }
}

fn draw_end(
    canvas: &mut Canvas<'_>,
    area: Rect,
    look: &Snapshot,
    port: PortId,
    facts: &[(&'static str, String)],
) {
    let lid = lid_words(look, port);
    let title =
        shorten_name(&look.port_name(port), area.width.saturating_sub(width(&lid) + 9), canvas.signs.more);
    let head = PaneHead { title: &title, right: &[(lid.as_str(), Role::Dim)], focused: false };
    let inside = draw_pane(canvas, area, &head, true);
    for (y, (label, text)) in (0..inside.height).zip(facts) {
        canvas.draw_text(inside, 1, y, label, Role::Label);
        let text = truncate_text(text, inside.width.saturating_sub(13), canvas.signs.more);
        canvas.draw_text(inside, 12, y, &text, Role::Text);
    }
}

/// An end in a row: state, what it can do, and what lies behind it.
fn draw_end_row(
    canvas: &mut Canvas<'_>,
    area: Rect,
    look: &Snapshot,
    port: PortId,
    facts: &[(&'static str, String)],
) {
    let name = shorten_name(&look.port_name(port), 24, canvas.signs.more);
    let x = canvas.draw_text(area, 1, 0, &name, Role::Strong).max(26);
    let text =
        |label: &str| facts.iter().find(|(own, _)| *own == label).map_or("", |(_, text)| text.as_str());
    let state = text("state").split(',').next().unwrap_or_default();
    // What runs stands here; the row of the cable says what it could be.
    let rate = match look.fabric().port(port).link {
        Some(link) => rate_text(look.width_in_use(link), look.speed_in_use(link)),
        None => "no cable".to_owned(),
    };
    let all = format!("{state}  {}  runs at {rate}  {}", lid_words(look, port), text("behind it"));
    canvas.draw_text(
        area,
        x,
        0,
        &truncate_text(&all, area.width.saturating_sub(x), canvas.signs.more),
        Role::Text,
    );
}

/// The cable with its rate, and load and wait of both directions.
fn draw_cable(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    look: &Snapshot,
    link: LinkId,
    boxed: bool,
) {
    let ends = look.fabric().link(link);
    let rows = [ends.a, ends.b].map(|port| port_row(state, port));
    let (used_width, speed) = (look.width_in_use(link), look.speed_in_use(link));
    let gbps = |width: Option<LinkWidth>, speed: Option<LinkSpeed>| {
        Some(format!("{} Gb/s", short_number(data_gbps(width?, speed?))))
    };
    let mut rate = rate_text(used_width, speed);
    rate.extend(gbps(used_width, speed).map(|gbps| format!("  {gbps}")));
    let degraded = look.is_degraded(link) == Some(true);
    if degraded {
        let (width, speed) = possible_rate(look, link);
        rate.push_str(&format!("  of {}", rate_text(width, speed)));
        rate.extend(gbps(width, speed).map(|gbps| format!(", {gbps}")));
    }
    let rate_role = if degraded { Role::LinkDegraded } else { Role::Text };
    let directions = rows.map(direction_words);
    if !boxed {
        let x = canvas.draw_text(area, 1, 0, &rate, rate_role);
        let both = format!("there {}   back {}", directions[0], directions[1]);
        canvas.draw_text(
            area,
            x + 3,
            0,
            &truncate_text(&both, area.width.saturating_sub(x + 3), canvas.signs.more),
            Role::Text,
        );
        return;
    }
    let centre = |text: &str| area.width.saturating_sub(width(text)) / 2;
    canvas.draw_text(area, centre(&rate), 1, &rate, rate_role);
    let loads = rows.map(|row| row.and_then(|row| row.used));
    let lines = [(2, &directions[0], loads[0], true), (4, &directions[1], loads[1], false)];
    for (y, text, load, there) in lines {
        let step = load.map_or(0, |load| step_of(f64::from(load) / 100.0));
        let line = canvas.signs.gauge[0].repeat(usize::from(area.width.saturating_sub(4)));
        canvas.draw_text(area, 2, y, &line, Quantity::Load.step_role(step));
        let sign = if there { ">" } else { "<" };
        let at = if there { area.width.saturating_sub(2) } else { 1 };
        canvas.draw_text(area, at, y, sign, Role::Text);
        canvas.draw_text(area, centre(text), y + 1, text, Role::Text);
    }
}

fn port_row(state: &SessionState, port: PortId) -> Option<&HotPort> {
    state.known.watch.reading.as_ref()?.port_row_of(ElementId::Port(port))
}

/// What a direction carries: rate, load and wait.
fn direction_words(row: Option<&HotPort>) -> String {
    let Some(row) = row else { return "not measured".to_owned() };
    let sent = row.sent_mbps.map(|mbps| format!("{} Gb/s", short_number(mbps as f64 / 1000.0)));
    let load = row.used.map(|used| format!("{used} %"));
    let wait = row.time_waited.map(|share| format!("wait {:.0} %", (share * 100.0).min(100.0)));
    let known: Vec<String> = [sent, load, wait].into_iter().flatten().collect();
    if known.is_empty() { "not known".to_owned() } else { known.join("  ") }
}

/// What an end sends, or the errors of both, over the time of all charts.
fn draw_history(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    look: &Snapshot,
    quantity: PortQuantity,
    ports: &[PortId],
) {
    if area.height < 3 || area.width < LABEL_WIDTH + 6 {
        return;
    }
    let boxed = state.areas().boxed;
    let hue = if quantity == PortQuantity::Errors { Quantity::Errors } else { Quantity::Load };
    let plot = area.width.saturating_sub(LABEL_WIDTH + if boxed { 2 } else { 1 });
    let window = chart_window(&state.known, plot);
    let values = worst_columns(state, look, quantity, ports, plot);
    let cursor = cursor_share(&state.known, window);
    let latest = match cursor {
        Some(at) => values.get((at * values.len() as f64) as usize).copied().flatten(),
        None => values.iter().rev().find_map(|value| *value),
    };
    // In little room, the title is the name alone: it tells the charts of both ends apart.
    let ([title, short], unit) = match (quantity, ports) {
        (PortQuantity::Errors, _) => (["Link errors", "Errors"].map(str::to_owned), "/s  log"),
        (_, [port, ..]) => {
            let name = look.name(look.fabric().port(*port).node);
            ([format!("Sent by {name}"), name.to_string()], "Gb/s")
        }
        _ => return,
    };
    let figure = latest.map_or_else(String::new, |value| format!("{} {unit}", short_number(value)));
    let room = area.width.saturating_sub(width(&figure) + 8);
    let title = if width(&title) > room { short } else { title };
    let title = shorten_name(&title, room, canvas.signs.more);
    let head = PaneHead { title: &title, right: &[(figure.as_str(), hue.figure_role())], focused: false };
    let inside = draw_pane(canvas, area, &head, boxed);
    let marks = chart_marks(canvas, state, window, boxed);
    draw_time_chart(canvas, inside, state, plot, hue, &values, &marks);
    if values.iter().all(Option::is_none) {
        let words = match state.known.watch.totals.latest() {
            Some(_) => "kept from now on",
            None => "waiting for two readings",
        };
        let x = LABEL_WIDTH + plot.saturating_sub(width(words)) / 2;
        canvas.draw_text(inside, x, inside.height.saturating_sub(1) / 2, words, Role::Dim);
    }
}

fn draw_counters(
    canvas: &mut Canvas<'_>,
    state: &SessionState,
    look: &Snapshot,
    page: &CablePage,
    panes: &CablePanes,
) {
    let boxed = state.areas().boxed;
    let table = buffer_area(panes.table);
    let shown = page.counters.len().min(usize::from(table.height.saturating_sub(1)));
    let count = match page.counters.len() {
        all if shown < all => format!("{shown} of {all} counters, d shows all"),
        _ => "both ends".to_owned(),
    };
    let head = PaneHead { title: "Counters", right: &[(count.as_str(), Role::Dim)], focused: true };
    draw_pane(canvas, buffer_area(panes.counters), &head, boxed);
    let ends = [look.fabric().link(page.link).a, look.fabric().link(page.link).b];
    if page.counters.is_empty() {
        canvas.draw_text(table, 1, 0, &empty_words(&state.known), Role::Dim);
    } else {
        draw_table(canvas, table, state, look, page, ends);
    }
    let plain = |lines: Vec<String>| lines.into_iter().map(|line| (line, Role::Text)).collect::<Vec<_>>();
    let report = page.report.as_deref();
    let texts = [
        ("Who uses it", plain(users_lines(&state.known, page.link, report))),
        ("What it means", meaning_lines(look, &state.known, page.link)),
        ("If it fails", plain(cost_lines(report))),
    ];
    for ((title, lines), area) in texts.iter().zip(panes.texts) {
        draw_text_pane(canvas, buffer_area(area), title, lines);
    }
}

fn draw_table(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    look: &Snapshot,
    page: &CablePage,
    ends: [PortId; 2],
) {
    let mut columns = vec![TITLE_WIDTH];
    for _ in ends {
        columns.extend([VALUE_WIDTH, RATE_WIDTH]);
    }
    let threshold = columns.iter().sum::<u16>();
    let has_threshold = threshold + VALUE_WIDTH <= area.width;
    let has_history = threshold + VALUE_WIDTH + HISTORY_WIDTH + 3 <= area.width;
    let has_verdict = has_history && threshold + VALUE_WIDTH + HISTORY_WIDTH + VERDICT_WIDTH < area.width;
    canvas.draw_text(area, 1, 0, "COUNTER", Role::Heading);
    for (at, port) in ends.into_iter().enumerate() {
        let left = TITLE_WIDTH + at as u16 * (VALUE_WIDTH + RATE_WIDTH);
        let name = shorten_name(&look.port_name(port), VALUE_WIDTH - 1, canvas.signs.more);
        draw_right(canvas, area, left + VALUE_WIDTH, 0, &name, Role::Heading);
        draw_right(canvas, area, left + VALUE_WIDTH + RATE_WIDTH, 0, "RATE", Role::Heading);
    }
    if has_threshold {
        draw_right(canvas, area, threshold + VALUE_WIDTH, 0, "THRESHOLD", Role::Heading);
    }
    if has_history {
        let title = window_words(&state.known).to_uppercase();
        canvas.draw_text(area, threshold + VALUE_WIDTH + 2, 0, &title, Role::Heading);
    }
    for (y, row) in (1..area.height).zip(&page.counters) {
        draw_counter(canvas, area, y, row);
        if has_threshold {
            draw_right(canvas, area, threshold + VALUE_WIDTH, y, &row.threshold, Role::Dim);
        }
        let x = threshold + VALUE_WIDTH + 2;
        if has_history {
            draw_strip(canvas, area, (x, y), state, look, &row.history, &ends);
        }
        if has_verdict {
            draw_verdict(canvas, Rect { y: area.y + y, height: 1, ..area }, x + HISTORY_WIDTH + 1, row);
        }
    }
}

/// What a counter says, behind its history.
fn draw_verdict(canvas: &mut Canvas<'_>, area: Rect, x: u16, row: &CounterRow) {
    let (sign, role) = match row.is_over {
        true => (format!("{} ", canvas.signs.severity[1]), Role::Warning),
        false => (String::new(), Role::Dim),
    };
    canvas.draw_text(area, x, 0, &format!("{sign}{}", row.verdict), role);
}

/// A text that ends before a column.
fn draw_right(canvas: &mut Canvas<'_>, area: Rect, end: u16, y: u16, text: &str, role: Role) {
    canvas.draw_text(area, end.saturating_sub(width(text)), y, text, role);
}

fn draw_counter(canvas: &mut Canvas<'_>, area: Rect, y: u16, row: &CounterRow) {
    let [_, warning, ..] = canvas.signs.severity;
    let counted = row.ends.iter().any(|cell| cell.counted);
    let title = if row.is_over { format!("{warning} {}", row.title) } else { format!("  {}", row.title) };
    let role = match (row.is_over, counted) {
        (true, _) => Role::Warning,
        (false, true) => Role::Text,
        (false, false) => Role::Faint,
    };
    canvas.draw_text(area, 0, y, &truncate_text(&title, TITLE_WIDTH - 1, canvas.signs.more), role);
    for (at, cell) in row.ends.iter().enumerate() {
        let left = TITLE_WIDTH + at as u16 * (VALUE_WIDTH + RATE_WIDTH);
        let role = if cell.counted { role } else { Role::Faint };
        draw_right(canvas, area, left + VALUE_WIDTH, y, &cell.value, role);
        draw_right(canvas, area, left + VALUE_WIDTH + RATE_WIDTH, y, &cell.rate, role);
    }
}

/// The history of a counter in one row.
fn draw_strip(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y): (u16, u16),
    state: &SessionState,
    look: &Snapshot,
    history: &CounterHistory,
    ends: &[PortId],
) {
    let hue = match history {
        CounterHistory::Quantity(PortQuantity::Sent) => Quantity::Load,
        CounterHistory::Quantity(PortQuantity::Wait) => Quantity::Wait,
        CounterHistory::Quantity(PortQuantity::Errors) | CounterHistory::Errors(_) => Quantity::Errors,
    };
    let values = match history {
        CounterHistory::Quantity(quantity) => worst_columns(state, look, *quantity, ends, HISTORY_WIDTH),
        CounterHistory::Errors(wide) => counter_columns(state, look, wide, ends, HISTORY_WIDTH),
    };
    let most = values.iter().flatten().copied().fold(0.0, f64::max);
    let chart = Chart {
        quantity: hue,
        values: &values,
        curve: &[],
        scale: scale_of(hue),
        top: chart_top(hue, most),
        labels: &[],
        ticks: &[],
        marks: &[],
        cursor: cursor_share(&state.known, chart_window(&state.known, HISTORY_WIDTH)),
        label_width: 0,
    };
    let strip = Rect { x: area.x + x, y: area.y + y, width: HISTORY_WIDTH, height: 1 };
    draw_chart(canvas, strip, &chart);
}

/// The jobs over the cable, and what it carries besides.
fn users_lines(known: &Model, link: LinkId, report: Option<&CableReport>) -> Vec<String> {
    let Some(report) = report else { return vec!["being read".to_owned()] };
    let mut lines = Vec::new();
    match &report.jobs {
        None => lines.push("Jobs are not known. :jobs slurm asks Slurm.".to_owned()),
        Some(jobs) if jobs.is_empty() => {
            let waiting = waiting_jobs(known, link).map(|jobs| format!("; hosts of {jobs} wait for it"));
            lines.push(format!("no path within a job{}", waiting.unwrap_or_default()));
        }
        Some(jobs) => {
            let use_words = |job: &JobOverCable| match job.hit.paths {
                0 => count_words(job.hit.hosts, "host", "hosts"),
                paths => {
                    let of = digits_in_groups(job.all_paths.max(paths));
                    format!("{} of its {of} paths", digits_in_groups(paths))
                }
            };
            let named =
                jobs.iter().take(MAX_JOBS).map(|job| format!("job {} {}", job.hit.job, use_words(job)));
            lines.extend(named);
            lines.extend((jobs.len() > MAX_JOBS).then(|| format!("and {} more jobs", jobs.len() - MAX_JOBS)));
        }
    }
    lines
}

/// The jobs that a problem of the cable or of its ends hits, though no path between their hosts crosses it: they send to
/// a host outside of them.
fn waiting_jobs(known: &Model, link: LinkId) -> Option<String> {
    let fabric = known.look.as_ref()?.fabric();
    let ends = [fabric.link(link).a, fabric.link(link).b];
    let nodes =
        ends.map(|port| fabric.port(port).node).into_iter().filter(|node| !fabric.node(*node).is_switch());
    let mut own: Vec<ElementId> = ends.map(ElementId::Port).into();
    own.extend(nodes.map(ElementId::Node));
    own.push(ElementId::Link(link));
    let problems = &known.problems.ranked.as_ref()?.problems;
    let of_cable =
        |problem: &&FabricProblem| problem.elements.first().is_some_and(|first| own.contains(first));
    let jobs = problems.iter().filter(of_cable).find_map(|problem| problem.hits.jobs.as_ref());
    let jobs: Vec<&str> = jobs?.iter().take(MAX_JOBS).map(|job| job.job.as_str()).collect();
    let word = if jobs.len() == 1 { "job" } else { "jobs" };
    (!jobs.is_empty()).then(|| format!("{word} {}", jobs.join(", ")))
}

/// What the failure of the cable costs.
fn cost_lines(report: Option<&CableReport>) -> Vec<String> {
    let Some(report) = report else { return vec!["being counted".to_owned()] };
    let mut lines = Vec::new();
    if let MarkLoss::Counted(cost) = &report.loss {
        lines.push(format!("without a path: {}", cost.lost_words()));
    }
    if let MarkLoss::ByCables(cut) = report.loss {
        lines.push(format!("cut off: {}", cut_off_words(cut)));
    }
    let [(_, cut_off), _, (_, jobs)] = report.victims.lines();
    lines.push(format!("cut off: {cut_off}"));
    if report.victims.jobs.is_some() {
        lines.push(format!("jobs: {jobs}"));
    }
    lines
}

/// A text with its title: a rule above it where there is room, otherwise in one row.
fn draw_text_pane(canvas: &mut Canvas<'_>, area: Rect, title: &str, lines: &[(String, Role)]) {
    if area.height <= 1 {
        let x = canvas.draw_text(area, 1, 0, title, Role::Label);
        let texts: Vec<&str> = lines.iter().map(|(text, _)| text.as_str()).collect();
        let text = truncate_text(&texts.join(", "), area.width.saturating_sub(x + 3), canvas.signs.more);
        canvas.draw_text(area, x + 2, 0, &text, lines.first().map_or(Role::Text, |(_, role)| *role));
        return;
    }
    draw_rule(canvas, area, 0, title);
    let room = usize::from(area.width.saturating_sub(2));
    let rows =
        lines.iter().flat_map(|(line, role)| wrap_text(line, room).into_iter().map(|line| (line, *role)));
    for (y, (line, role)) in (1..area.height).zip(rows) {
        canvas.draw_text(area, 1, y, &line, role);
    }
}
