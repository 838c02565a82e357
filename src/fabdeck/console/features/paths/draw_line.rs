//! A path drawn as a line: its nodes with the ports of each cable, and below each cable what it is and what it carries.
//!
//! ```text
//!        node01 1───2 rack1-leaf 8───2 spine-1 5───11 rack3-leaf 5───1 node16
//! wait         none           85 %           none              none
//! load          6 %           15 %            8 %               3 %
//! ```

use ratatui::layout::Rect;

use super::path_panes::SHORT_LINE_ROWS;
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::canvas::{Canvas, shorten_name, width};
use crate::console::drawing::theme::Role;
use crate::console::features::map::figures::{MapQuantity, port_figures};
use crate::console::model::state::SessionState;
use crate::operations::trace::path_trace::{Trace, TraceOutcome};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ElementId, Lane, NodeId, PortId};

/// Columns of the labels of rows.
const LABEL_WIDTH: u16 = 7;
/// Strokes of a cable between its port numbers.
const MIN_STROKES: u16 = 1;
const MAX_STROKES: u16 = 9;
/// Least columns of the name of a node.
const MIN_NAME: u16 = 5;
/// Least columns of what stands below a cable.
const FIGURE_WIDTH: u16 = 6;

/// A cable of the line: the port that sends, and the one that receives.
#[derive(Clone, Copy)]
struct LineCable {
    from: PortId,
    to: Option<PortId>,
    lane: Option<Lane>,
}

/// The nodes of a path, and the cables between them.
struct PathLine {
    nodes: Vec<NodeId>,
    cables: Vec<LineCable>,
}

impl PathLine {
    fn new(look: &Snapshot, trace: &Trace, lanes: &[Option<Lane>]) -> Self {
        let fabric = look.fabric();
        let mut line = Self { nodes: Vec::new(), cables: Vec::new() };
        for (at, hop) in trace.hops.iter().enumerate() {
            line.nodes.push(hop.node);
            let Some(from) = hop.egress.and_then(|number| fabric.port_of(hop.node, number)) else { continue };
            let (to, lane) = (fabric.peer(from), lanes.get(at).copied().flatten());
            line.cables.push(LineCable { from, to, lane });
        }
        let last = line.cables.last().filter(|_| line.cables.len() == line.nodes.len());
        line.nodes.extend(last.and_then(|cable| cable.to).map(|port| fabric.port(port).node));
        line
    }
}

/// Draws the line of a path from a row on, with as many rows of figures as there is room for. What has no room in width is
/// left out in the middle and counted. Returns the number of rows.
pub fn draw_path_line(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    trace: &Trace,
    lanes: &[Option<Lane>],
    rows: u16,
) -> u16 {
    let Some(look) = state.snapshot() else { return 0 };
    let line = PathLine::new(look, trace, lanes);
    if line.nodes.len() < 2 {
        return 0;
    }
    let shown = shown_cables(&line, area.width.saturating_sub(LABEL_WIDTH));
    let labels = row_labels(&line, state, rows);
    for (y, label) in (1..).zip(&labels) {
        canvas.draw_text(area, 1, y, label, Role::Label);
    }
    let places = place_cables(canvas, area, look, &line, shown, state);
    for (cable, x, room) in places {
        for (y, label) in (1..).zip(&labels) {
            draw_figure(canvas, area, (x, y, room), state, label, &line.cables[cable]);
        }
    }
    if trace.ending != TraceOutcome::Arrived {
        canvas.draw_right_aligned(area, LABEL_WIDTH, 0, "ends here", Role::Danger);
    }
    1 + labels.len() as u16
}

/// The rows below the line. Lanes and paths have a row where they are known.
fn row_labels(line: &PathLine, state: &SessionState, rows: u16) -> Vec<&'static str> {
    if rows <= SHORT_LINE_ROWS {
        return vec!["wait", "load"];
    }
    let has_lanes = line.cables.iter().any(|cable| cable.lane.is_some());
    let has_paths = state.known.paths.is_some();
    let all = [("cable", true), ("lane", has_lanes), ("wait", true), ("load", true), ("paths", has_paths)];
    all.iter().filter(|(_, is_known)| *is_known).map(|(label, _)| *label).collect()
}

/// How many cables from the start are drawn before the last one; all where they have room.
fn shown_cables(line: &PathLine, room: u16) -> usize {
    let least = MIN_NAME + MIN_STROKES + 6;
    let fits = usize::from(room.saturating_sub(MIN_NAME) / least).max(1);
    if line.cables.len() <= fits { line.cables.len() } else { fits.saturating_sub(2) }
}

/// Draws nodes and cables, and returns the cables with the columns below them.
fn place_cables(
    canvas: &mut Canvas<'_>,
    area: Rect,
    look: &Snapshot,
    line: &PathLine,
    shown: usize,
    state: &SessionState,
) -> Vec<(usize, u16, u16)> {
    let last = line.cables.len() - 1;
    let drawn: Vec<usize> = (0..line.cables.len()).filter(|at| *at < shown || *at == last).collect();
    let hidden = line.cables.len() - drawn.len();
    let gap = if hidden > 0 {
        format!(" {} {hidden} more {} ", canvas.signs.more, canvas.signs.more)
    } else {
        String::new()
    };
    let number = |port: Option<PortId>| {
        port.map_or_else(|| "?".to_owned(), |port| look.fabric().port(port).number.to_string())
    };
    let ports: Vec<[String; 2]> =
        drawn.iter().map(|at| [number(Some(line.cables[*at].from)), number(line.cables[*at].to)]).collect();
    let digits: u16 = ports.iter().flatten().map(|port| width(port) + 1).sum();
    let mut nodes: Vec<NodeId> = drawn.iter().map(|at| line.nodes[*at]).collect();
    nodes.extend(line.nodes.get(last + 1));
    let names: Vec<String> = nodes.iter().map(|node| look.host_name(*node).into_owned()).collect();
    let room = area.width.saturating_sub(LABEL_WIDTH + digits + width(&gap));
    let cables = drawn.len() as u16;
    let longest = names.iter().map(|name| width(name)).sum::<u16>();
    let strokes = (room.saturating_sub(longest) / cables).clamp(MIN_STROKES, MAX_STROKES);
    let share = room.saturating_sub(strokes * cables) / names.len() as u16;
    let name_room = if longest + strokes * cables <= room { u16::MAX } else { share.max(MIN_NAME) };
    let mut places = Vec::new();
    let mut x = LABEL_WIDTH;
    for (at, name) in names.iter().enumerate() {
        if at == shown && hidden > 0 {
            x = canvas.draw_text(area, x, 0, &gap, Role::Dim);
        }
        let failed = state.known.is_failed(ElementId::Node(nodes[at]));
        let role = if failed { Role::Marked } else { Role::Strong };
        x = canvas.draw_text(area, x, 0, &shorten_name(name, name_room, canvas.signs.more), role);
        let Some(cable) = drawn.get(at) else { continue };
        let left = x;
        let [from, to] = &ports[at];
        x = canvas.draw_text(area, x + 1, 0, from, Role::Dim);
        let sign = match cable_role(state, &line.cables[*cable]) {
            Role::Marked => canvas.signs.marked,
            _ => canvas.signs.gauge[0],
        };
        let role = cable_role(state, &line.cables[*cable]);
        x = canvas.draw_text(area, x, 0, &sign.repeat(strokes.into()), role);
        x = canvas.draw_text(area, x, 0, to, Role::Dim) + 1;
        places.push((*cable, left, x - left));
    }
    places
}

/// How a cable is drawn: marked, down, below its rate, or as busy as it is.
fn cable_role(state: &SessionState, cable: &LineCable) -> Role {
    match state.known.port_trouble(cable.from) {
        "marked" => return Role::Marked,
        "down" => return Role::LinkDown,
        "degraded" => return Role::LinkDegraded,
        "errors" => return Role::Warning,
        _ => {}
    }
    let figures = port_figures(&state.known, cable.from);
    let step = figures.and_then(|figures| figures.step(MapQuantity::Wait)).unwrap_or(0);
    match step {
        0 => Role::Load,
        step => MapQuantity::Wait.colours().step_role(step),
    }
}

/// Draws what stands below a cable, around its middle.
fn draw_figure(
    canvas: &mut Canvas<'_>,
    area: Rect,
    (x, y, room): (u16, u16, u16),
    state: &SessionState,
    label: &str,
    cable: &LineCable,
) {
    let Some(look) = state.snapshot() else { return };
    let unknown = || (canvas.signs.severity[3].to_owned(), Role::Dim);
    let quantity = |quantity: MapQuantity| {
        let figures = port_figures(&state.known, cable.from);
        let Some(text) = figures.and_then(|figures| figures.text(quantity)) else { return unknown() };
        if text == "0 %" {
            return ("none".to_owned(), Role::Faint);
        }
        (text, quantity.colours().figure_role())
    };
    let link = look.fabric().port(cable.from).link;
    let (text, role) = match label {
        "cable" => cable_words(canvas, state, look, cable),
        "lane" => cable.lane.map_or_else(unknown, |lane| (format!("VL {}", lane.value()), Role::Text)),
        "wait" => quantity(MapQuantity::Wait),
        "load" => quantity(MapQuantity::Load),
        _ => match link.and_then(|link| Some((link, state.known.paths.as_ref()?.load_of(link)?))) {
            Some((link, [there, back])) => {
                let is_a = look.fabric().link(link).a == cable.from;
                (digits_in_groups(if is_a { there } else { back }), Role::Text)
            }
            None => (canvas.signs.untold.to_owned(), Role::Faint),
        },
    };
    let room = room.max(FIGURE_WIDTH);
    let text = shorten_name(&text, room + 4, canvas.signs.more);
    let at = x + room.saturating_sub(width(&text)) / 2;
    canvas.draw_text(area, at, y, &text, role);
}

/// The width and speed of a cable, or what is wrong with it.
fn cable_words(
    canvas: &Canvas<'_>,
    state: &SessionState,
    look: &Snapshot,
    cable: &LineCable,
) -> (String, Role) {
    let Some(link) = look.fabric().port(cable.from).link else {
        return (format!("{} no cable", canvas.signs.severity[0]), Role::Danger);
    };
    let [_, warning, ..] = canvas.signs.severity;
    let rate = match (look.width_in_use(link), look.speed_in_use(link)) {
        (Some(width), Some(speed)) => format!("{width} {speed}"),
        _ => canvas.signs.severity[3].to_owned(),
    };
    match state.known.port_trouble(cable.from) {
        "marked" => (format!("{} marked", canvas.signs.marked), Role::Marked),
        "down" => (format!("{} down", canvas.signs.severity[0]), Role::LinkDown),
        "degraded" => (format!("{warning} {rate}"), Role::LinkDegraded),
        "errors" => (format!("{warning} errors"), Role::Warning),
        _ => (rate, Role::Dim),
    }
}
