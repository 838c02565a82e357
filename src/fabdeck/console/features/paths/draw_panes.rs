//! The panes below the hops: the way back, the other ways that the fabric has, and what marks and proposals do to the pair.
//! A screen without room for them has a row of each.

use ratatui::layout::Rect;

use super::draw_line::draw_path_line;
use super::draw_times::draw_wait_strips;
use super::pair_words::{back_words, mark_words, proposed_words, switch_names};
use super::path_panes::{BACK, LINE_ROWS, PREVIEW, TIMES, WAYS};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::drawing::buffer_area::buffer_area;
use crate::console::drawing::canvas::{Canvas, shorten_name, truncate_text, width};
use crate::console::drawing::pane::{PaneHead, TextRun, draw_pane, draw_rule};
use crate::console::drawing::theme::Role;
use crate::console::features::map::figures::{MapQuantity, port_figures};
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::trace::pair_paths::PairPaths;
use crate::operations::trace::path_trace::Trace;
use fabdeck_fabric::{NodeId, PortId};

/// Columns of the figures of a port, and of its number.
const FIGURE_WIDTH: u16 = 7;
const PORT_WIDTH: u16 = 6;

/// Draws the panes of a pair; those without a place are left out.
pub fn draw_panes(canvas: &mut Canvas<'_>, state: &SessionState) {
    let [back, ways, preview] = [BACK, WAYS, PREVIEW].map(|pane| buffer_area(state.areas().panes.area(pane)));
    let screen = &state.screens.paths;
    let (Some(look), Some(shown), Some(facts)) = (state.snapshot(), &screen.trace, screen.facts()) else {
        return;
    };
    draw_back(canvas, back, state, look, shown, &facts.paths);
    draw_ways(canvas, ways, state, look, shown, &facts.paths);
    draw_preview(canvas, preview, state, look, shown);
    let times = buffer_area(state.areas().panes.area(TIMES));
    let back = facts.paths.back.as_ref();
    draw_wait_strips(canvas, times, state, shown, back);
}

pub(super) fn pane(canvas: &mut Canvas<'_>, area: Rect, title: &str, right: &[TextRun<'_>]) -> Option<Rect> {
    let inside = draw_pane(canvas, area, &PaneHead { title, right, focused: false }, true);
    let inside = Rect { width: inside.width.saturating_sub(1), ..inside };
    (!inside.is_empty()).then_some(inside)
}

fn draw_back(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    look: &Snapshot,
    shown: &Trace,
    pair: &PairPaths,
) {
    let names = [shown.to, shown.from].map(|end| look.host_name(end.node).into_owned());
    let title = format!("Way back, {} to {}", names[0], names[1]);
    let Some(back) = &pair.back else {
        let Some(inside) = pane(canvas, area, &title, &[]) else { return };
        canvas.draw_text(inside, 1, 0, "not known: the source has no LID", Role::Dim);
        return;
    };
    let Some(inside) = pane(canvas, area, &title, &[]) else { return };
    let y = draw_path_line(canvas, inside, state, back, &pair.lanes[1], LINE_ROWS);
    let (words, role) = back_words(look, shown, back);
    canvas.draw_text(inside, 1, y.min(inside.height.saturating_sub(1)), &words, role);
}

/// Draws the ports by which each switch could send, and the paths to the other LIDs.
fn draw_ways(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    look: &Snapshot,
    shown: &Trace,
    pair: &PairPaths,
) {
    let choices: usize = pair.next_hops.iter().map(|hops| hops.others.len()).sum();
    let right = format!("{}, {}", count_words(choices, "port", "ports"), lid_count(pair));
    let Some(inside) = pane(canvas, area, "Other ways, as short", &[(&right, Role::Dim)]) else { return };
    let mut y = 0;
    if !pair.next_hops.is_empty() {
        draw_port_heads(canvas, inside);
        y = 1;
    }
    for hops in &pair.next_hops {
        for (at, port) in std::iter::once(&hops.in_use).chain(&hops.others).enumerate() {
            if y + 2 > inside.height && at > 0 {
                break;
            }
            draw_port(canvas, inside, y, state, look, (hops.switch, *port, at == 0));
            y += 1;
        }
    }
    if pair.next_hops.is_empty() {
        let words = "no switch of this path has another port to a switch as near to the destination";
        y = draw_wrapped(canvas, inside, y, words, Role::Dim);
    }
    if pair.other_lids.is_empty() {
        let words = "the destination has one LID (LMC 0), so every packet to it takes this path";
        draw_wrapped(canvas, inside, y + 1, words, Role::Dim);
        return;
    }
    y += 1;
    for other in pair.other_lids.iter().take(usize::from(inside.height.saturating_sub(y))) {
        let x = canvas.draw_text(inside, 1, y, &format!("LID {}", other.lid), Role::Label);
        let (text, role) = match (other.has_arrived(), other.hops == shown.hops) {
            (false, _) => (other.verdict(look), Role::Danger),
            (true, true) => ("the same path".to_owned(), Role::Dim),
            (true, false) => (switch_names(look, other), Role::Text),
        };
        canvas.draw_text(inside, x + 2, y, &text, role);
        y += 1;
    }
}

fn lid_count(pair: &PairPaths) -> String {
    count_words(usize::from(pair.lids), "LID", "LIDs")
}

fn draw_port_heads(canvas: &mut Canvas<'_>, area: Rect) {
    canvas.draw_text(area, 1, 0, "SWITCH", Role::Heading);
    let [port, to, wait, load] = port_columns(area);
    canvas.draw_right_aligned(Rect { width: to - 1, ..area }, port, 0, "PORT", Role::Heading);
    canvas.draw_text(area, to, 0, "TO", Role::Heading);
    canvas.draw_right_aligned(Rect { width: wait + FIGURE_WIDTH, ..area }, wait, 0, "WAIT", Role::Heading);
    canvas.draw_right_aligned(Rect { width: load + FIGURE_WIDTH, ..area }, load, 0, "LOAD", Role::Heading);
}

/// The columns of port, neighbour, wait and load.
fn port_columns(area: Rect) -> [u16; 4] {
    let load = area.width.saturating_sub(FIGURE_WIDTH);
    let wait = load.saturating_sub(FIGURE_WIDTH);
    let names = wait.saturating_sub(PORT_WIDTH + 1) / 2;
    [names, names + PORT_WIDTH, wait, load]
}

fn draw_port(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    state: &SessionState,
    look: &Snapshot,
    (switch, port, in_use): (NodeId, PortId, bool),
) {
    let fabric = look.fabric();
    let [port_x, to_x, wait_x, load_x] = port_columns(area);
    let more = canvas.signs.more;
    let trouble = state.known.port_trouble(port);
    let role = match (trouble, in_use) {
        ("marked", _) => Role::Marked,
        ("down" | "no answer", _) => Role::LinkDown,
        ("degraded" | "errors", _) => Role::LinkDegraded,
        (_, true) => Role::Strong,
        _ => Role::Text,
    };
    let number = fabric.port(port).number.to_string();
    if in_use {
        canvas.draw_text(area, 0, y, canvas.signs.crumb, Role::Strong);
        canvas.draw_text(area, 1, y, &shorten_name(&look.host_name(switch), port_x - 1, more), Role::Strong);
    }
    canvas.draw_right_aligned(Rect { width: to_x - 1, ..area }, port_x, y, &number, role);
    let peer = fabric.peer(port).map(|peer| look.host_name(fabric.port(peer).node).into_owned());
    let words = match trouble {
        "" => peer.unwrap_or_default(),
        trouble => format!("{} {trouble}", peer.unwrap_or_default()),
    };
    canvas.draw_text(area, to_x, y, &truncate_text(&words, wait_x.saturating_sub(to_x), more), role);
    for (x, quantity) in [(wait_x, MapQuantity::Wait), (load_x, MapQuantity::Load)] {
        let figures = port_figures(&state.known, port);
        let (text, role) = match figures.and_then(|figures| figures.text(quantity)) {
            None => (canvas.signs.severity[3].to_owned(), Role::Dim),
            Some(text) if text == "0 %" => ("none".to_owned(), Role::Faint),
            Some(text) => (text, quantity.colours().figure_role()),
        };
        canvas.draw_right_aligned(Rect { width: x + FIGURE_WIDTH, ..area }, x, y, &text, role);
    }
}

/// Draws what the marks do to the pair, and its path under the routes of each engine that was run.
fn draw_preview(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, look: &Snapshot, shown: &Trace) {
    let screen = &state.screens.paths;
    let note = if state.known.marks.is_empty() { "" } else { "not real" };
    let right = [(note, Role::Preview)];
    let right: &[TextRun<'_>] = if note.is_empty() { &[] } else { &right };
    let Some(inside) = pane(canvas, area, "Marks and proposed routes", right) else { return };
    let mut y = 0;
    for (words, role) in mark_words(screen, &state.known) {
        y = draw_wrapped(canvas, inside, y, &words, role);
    }
    if let Some(row) = state.known.changes.first_pending_row() {
        let words =
            format!("change {} ({}) is {}: this path follows it", row.number, row.engine, row.state_title());
        y = draw_wrapped(canvas, inside, y, &words, Role::Warning);
    }
    y += 1;
    let chosen = state.screens.whatif.engine().map(|engine| engine.id);
    let mut proposed: Vec<_> = screen.proposed.iter().collect();
    proposed.sort_by_key(|path| Some(path.engine.id) != chosen);
    if proposed.is_empty() {
        let words = "no routes are proposed: p on What-if (6) runs the engines, and each has a row here";
        draw_wrapped(canvas, inside, y, words, Role::Dim);
        return;
    }
    y = draw_rule(canvas, inside, y, "Under the routes of");
    let name_room = proposed.iter().map(|path| width(path.engine.id)).max().unwrap_or(0);
    // With room for it, each engine that changes the path has it drawn.
    let has_lines = usize::from(inside.height.saturating_sub(y)) >= proposed.len() * 4;
    for path in proposed {
        if y >= inside.height {
            break;
        }
        let role = if Some(path.engine.id) == chosen { Role::Strong } else { Role::Text };
        canvas.draw_text(inside, 1, y, path.engine.id, role);
        let (words, role) = proposed_words(look, shown, path.trace.as_ref());
        canvas.draw_text(inside, 2 + name_room, y, &words, role);
        y += 1;
        let other =
            path.trace.as_ref().filter(|trace| has_lines && trace.has_arrived() && trace.hops != shown.hops);
        if let Some(trace) = other {
            let below = Rect { y: inside.y + y, height: inside.height.saturating_sub(y), ..inside };
            y += draw_path_line(canvas, below, state, trace, &[], 3);
        }
    }
}

/// Writes a text over several rows, and returns the row below it.
fn draw_wrapped(canvas: &mut Canvas<'_>, area: Rect, y: u16, text: &str, role: Role) -> u16 {
    let mut y = y;
    for line in wrap_text(text, area.width.saturating_sub(1).into()) {
        canvas.draw_text(area, 1, y, &line, role);
        y += 1;
    }
    y
}

/// Draws a row of each below the hops.
pub fn draw_summary(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let screen = &state.screens.paths;
    let (Some(look), Some(shown), Some(facts)) = (state.snapshot(), &screen.trace, screen.facts()) else {
        return;
    };
    let pair = &facts.paths;
    let back = match &pair.back {
        Some(back) => back_words(look, shown, back),
        None => ("not known: the source has no LID".to_owned(), Role::Dim),
    };
    let (others, role_of_others) = other_words(state, look, pair);
    // The rest of the room is for the other ports: the rows of the other lines are given.
    let spare = area.height.saturating_sub(4 + u16::from(!mark_words(screen, &state.known).is_empty()));
    let others = wrap_text(&others, area.width.saturating_sub(10).into());
    let others = others.into_iter().take(usize::from(spare.max(1))).enumerate();
    let others = others.map(|(at, line)| (if at == 0 { "others" } else { "" }, (line, role_of_others)));
    let mut lines = vec![("back", back)];
    lines.extend(others);
    lines.extend(mark_words(screen, &state.known).into_iter().take(1).map(|words| ("marks", words)));
    let chosen = state.screens.whatif.engine().map(|engine| engine.id);
    let proposed = screen.proposed.iter().find(|path| Some(path.engine.id) == chosen);
    lines.push(match proposed.or(screen.proposed.first()) {
        None => {
            ("preview", ("no routes are proposed: p on What-if (6) runs the engines".to_owned(), Role::Dim))
        }
        Some(path) => {
            let (words, role) = proposed_words(look, shown, path.trace.as_ref());
            let same = |other: &&super::pair_facts::ProposedPath| {
                other.trace.as_ref().map(|trace| &trace.hops) == path.trace.as_ref().map(|trace| &trace.hops)
            };
            let alike = screen.proposed.iter().filter(same).count();
            let count = screen.proposed.len();
            ("preview", (format!("{}: {words}; {alike} of {count} engines alike", path.engine.id), role))
        }
    });
    draw_rule(canvas, area, 0, "Besides this path");
    for (y, (label, (words, role))) in (1..area.height).zip(lines) {
        canvas.draw_text(area, 0, y, label, Role::Label);
        canvas.draw_text(area, 10, y, &words, role);
    }
}

/// The other next hops, the first ones by name: `as near: rack1-leaf[8] to spine-1, [10] to spine-2; 3 more; 1 LID`.
fn other_words(state: &SessionState, look: &Snapshot, pair: &PairPaths) -> (String, Role) {
    const MAX_NAMED: usize = 6;
    let fabric = look.fabric();
    let all = pair
        .next_hops
        .iter()
        .flat_map(|hops| hops.others.iter().enumerate().map(|(at, port)| (at == 0, hops.switch, *port)));
    let words = |(is_first, switch, port): (bool, NodeId, PortId)| {
        let from = if is_first { look.host_name(switch).into_owned() } else { String::new() };
        let peer = fabric.peer(port).map(|peer| look.host_name(fabric.port(peer).node).into_owned());
        let trouble = state.known.port_trouble(port);
        let trouble = if trouble.is_empty() { String::new() } else { format!(" {trouble}") };
        format!("{from}[{}] to {}{trouble}", fabric.port(port).number, peer.unwrap_or_default())
    };
    let count = all.clone().count();
    let named: Vec<String> = all.take(MAX_NAMED).map(words).collect();
    let more = match count.saturating_sub(named.len()) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    match named.is_empty() {
        true => ("no switch has another port as near".to_owned(), Role::Dim),
        false => (format!("as near: {}{more}; {}", named.join(", "), lid_count(pair)), Role::Text),
    }
}
