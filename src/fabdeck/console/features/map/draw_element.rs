//! Draws the pane beside the lines of the map: the switch or the cable at the cursor, the worst cables around it, and what
//! its failure costs.

use ratatui::layout::Rect;

use super::figures::{MapFigures, MapQuantity, step_role};
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::drawing::canvas::Canvas;
use crate::console::drawing::details::draw_beside;
use crate::console::drawing::gauge::draw_gauge;
use crate::console::drawing::pane::draw_rule;
use crate::console::drawing::theme::Role;
use crate::console::features::details::ElementDetail;
use crate::console::features::goto::cost_tasks::cost_lines;
use crate::console::features::panes::pins::is_pinned;
use crate::console::model::detail_page::DetailLine;
use crate::console::model::state::SessionState;
use crate::operations::fabric_map::groups::name_range;
use fabdeck_fabric::{ElementId, LinkId, NodeId};

/// Most cables that are listed, and the columns of their gauges and figures.
const MAX_CABLES: u16 = 6;
const GAUGE_WIDTH: u16 = 5;
const FIGURE_WIDTH: u16 = 7;
/// What stands in the list of the element's lines elsewhere.
const LEFT_OUT: [&str; 3] = ["kind", "GUID", "table"];

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState, what: ElementId) {
    let Some(look) = state.snapshot() else { return };
    let detail = ElementDetail(what);
    let Some(inside) = draw_beside(canvas, area, &detail.title(look), is_pinned(state)) else { return };
    let mut lines: Vec<DetailLine> = detail.lines(&state.known);
    // The page of a cable has its counters.
    lines.truncate(lines.iter().position(|(label, _)| *label == "errors").unwrap_or(lines.len()));
    lines.retain(|(label, _)| !LEFT_OUT.contains(label));
    lines.extend(hosts_line(state, look, what));
    lines.extend(figure_line(state, what));
    let mut y = canvas.draw_pairs(inside, &lines, 0);
    let name = state.known.element(what).unwrap_or_default();
    let costs = cost_lines(state, &name, canvas.signs.severity[3]);
    // The cables give way to what a failure costs.
    let below = costs.len() as u16 + 4;
    let room = inside.height.saturating_sub(y + below + 2).min(MAX_CABLES);
    if room > 0 {
        y = draw_cables(canvas, inside, y + 1, state, look, what, room);
    }
    if y + below <= inside.height {
        y = draw_rule(canvas, inside, y + 1, "If it fails");
        let rest = Rect { y: inside.y + y, height: inside.height - y, ..inside };
        let costs: Vec<DetailLine> = costs
            .into_iter()
            .map(|(label, text)| (if label == "if it fails" { "pairs" } else { label }, text))
            .collect();
        y += canvas.draw_pairs(rest, &costs, 0);
    }
    let open = match what {
        ElementId::Link(_) => "opens the cable",
        ElementId::Node(_) | ElementId::Port(_) => "lists its ports",
    };
    for (key, text) in [("enter", open), ("f", "marks it for What-if")] {
        let x = canvas.draw_text(inside, 0, y, key, Role::Key);
        canvas.draw_text(inside, x + 1, y, text, Role::Dim);
        y += 1;
    }
}

/// The hosts of a switch, or what lies behind both ends of a cable.
fn hosts_line(state: &SessionState, look: &Snapshot, what: ElementId) -> Option<DetailLine> {
    let structure = state.screens.map.drawn.structure.as_ref()?;
    let hosts =
        |node: NodeId| structure.switches.iter().find(|switch| switch.id == node).map(|one| &one.hosts);
    let words = |node: NodeId| {
        let name = |node| look.host_name(node).into_owned();
        match hosts(node).map(Vec::as_slice) {
            None | Some([]) => None,
            Some([one]) => Some(name(one.node)),
            Some(all @ [first, .., last]) => {
                Some(format!("{}: {}", all.len(), name_range(&name(first.node), &name(last.node))))
            }
        }
    };
    match what {
        ElementId::Node(node) => {
            let leaves = structure.cables.iter().filter(|cable| structure.switches[cable.upper].id == node);
            let mut below: Vec<usize> = leaves.map(|cable| cable.lower).collect();
            below.dedup();
            let below = count_words(below.len(), "switch below it", "switches below it");
            Some(("hosts", words(node).unwrap_or_else(|| format!("none; {below}"))))
        }
        ElementId::Link(link) => {
            let ends = [look.fabric().link(link).a, look.fabric().link(link).b];
            let behind = ends.into_iter().find_map(|port| words(look.fabric().port(port).node));
            Some(("hosts", behind?))
        }
        ElementId::Port(_) => None,
    }
}

/// The worst figures of a switch, or the errors of a cable: its lines have load and wait of each direction.
fn figure_line(state: &SessionState, what: ElementId) -> Option<DetailLine> {
    let figures = &state.screens.map.drawn.figures;
    let figures = match what {
        ElementId::Node(node) => figures.node(node),
        ElementId::Link(link) => {
            let errors = figures.link(link).text(MapQuantity::Errors)?;
            return Some(("errors", if errors == "0/h" { "none".to_owned() } else { errors }));
        }
        ElementId::Port(_) => return None,
    };
    let words: Vec<String> = [MapQuantity::Load, MapQuantity::Wait]
        .into_iter()
        .filter_map(|quantity| Some(format!("{} {}", quantity.word(), figures.text(quantity)?)))
        .collect();
    // The cables below have the worse of both ends.
    (!words.is_empty()).then(|| ("worst", format!("{} (its own ports)", words.join(", "))))
}

/// The cables of a switch, or the other cables at both ends of a cable, the worst first.
fn cables_of(state: &SessionState, look: &Snapshot, what: ElementId) -> Vec<(LinkId, MapFigures)> {
    let fabric = look.fabric();
    let nodes: Vec<NodeId> = match what {
        ElementId::Node(node) => vec![node],
        ElementId::Link(link) => {
            [fabric.link(link).a, fabric.link(link).b].map(|port| fabric.port(port).node).to_vec()
        }
        ElementId::Port(port) => vec![fabric.port(port).node],
    };
    let map = &state.screens.map.drawn;
    let ports = nodes.iter().flat_map(|node| fabric.ports_of(*node));
    let mut links: Vec<LinkId> = ports.filter_map(|(_, port)| port.link).collect();
    links.sort_unstable();
    links.dedup();
    links.retain(|link| ElementId::Link(*link) != what);
    let mut cables: Vec<(LinkId, MapFigures)> =
        links.into_iter().map(|link| (link, map.figures.link(link))).collect();
    cables.sort_by_key(|(link, figures)| (std::cmp::Reverse(figures.score(map.quantity)), *link));
    cables
}

/// Draws the worst cables around the element, and returns the row below them.
fn draw_cables(
    canvas: &mut Canvas<'_>,
    area: Rect,
    y: u16,
    state: &SessionState,
    look: &Snapshot,
    what: ElementId,
    rows: u16,
) -> u16 {
    let quantity = state.screens.map.drawn.quantity;
    let cables = cables_of(state, look, what);
    let which = if matches!(what, ElementId::Link(_)) { "beside" } else { "cables" };
    let count = match cables.len() {
        all if all > usize::from(rows) => format!("{rows} of {all}"),
        all => all.to_string(),
    };
    let title = format!("{count} {which}, by {}", quantity.word());
    let mut y = draw_rule(canvas, area, y, &title);
    let gauge = area.width.saturating_sub(GAUGE_WIDTH + FIGURE_WIDTH);
    let names = Rect { width: gauge.saturating_sub(1), ..area };
    for (link, figures) in cables.iter().take(rows.into()) {
        let ends = look.fabric().link(*link);
        // Of a switch's own cable, the other end tells it apart.
        let far = match what {
            ElementId::Node(node) if look.fabric().port(ends.a).node == node => ends.b,
            _ => ends.a,
        };
        canvas.draw_name(names, 0, y, &look.port_name(far), Role::Text);
        match (figures.share(quantity), figures.text(quantity)) {
            (Some(share), Some(text)) => {
                draw_gauge(canvas, area, (gauge, y), GAUGE_WIDTH, share, quantity.colours());
                let role = match figures.step(quantity) {
                    Some(step @ 1..) => step_role(quantity, step.max(2)),
                    _ => Role::Faint,
                };
                canvas.draw_right_aligned(area, gauge + GAUGE_WIDTH, y, &text, role);
            }
            _ => canvas.draw_right_aligned(area, gauge, y, canvas.signs.severity[3], Role::Dim),
        }
        y += 1;
    }
    y
}
