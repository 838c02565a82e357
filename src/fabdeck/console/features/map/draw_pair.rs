//! Draws the pane beside the matrix: what lies between the two parts at the cursor, where the worst ports are, and what a
//! lit row or column says.

use ratatui::layout::Rect;

use super::figures::{MapQuantity, figure_role, step_role};
use super::matrix::MatrixState;
use super::pair_table::PairDetail;
use crate::catalogue::snapshot::Snapshot;
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::gauge::draw_gauge;
use crate::console::drawing::pane::{PaneHead, draw_pane, draw_rule};
use crate::console::drawing::theme::Role;
use crate::console::features::chart_axes::{LABEL_WIDTH, chart_marks, draw_time_chart, worst_columns};
use crate::console::features::chart_time::chart_window;
use crate::console::model::state::SessionState;
use crate::operations::check::certificate_text::wrap_text;
use crate::operations::fabric_map::structure::MapStructure;
use crate::operations::watch::port_values::PortQuantity;
use fabdeck_fabric::PortId;
use fabdeck_fabric::observe::digits_in_groups;

/// The step from which on a cell counts as lit.
const LIT_STEP: u8 = 2;
/// Columns of a gauge, and of the figure behind it.
const GAUGE_WIDTH: u16 = 6;
const FIGURE_WIDTH: u16 = 7;
/// Most hot-spots that are named.
const MAX_HOT_SPOTS: usize = 3;
/// Column of the texts behind their labels.
const TEXT_X: u16 = 9;
/// Rows of a chart: the least, and the most.
const CHART_ROWS: [u16; 2] = [6, 12];

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    if area.width < 6 {
        return;
    }
    let drawn = &state.screens.map.drawn;
    let (Some(structure), Some(look)) = (&drawn.structure, state.snapshot()) else { return };
    let matrix = &drawn.matrix;
    let Some(parts) = matrix.chosen().filter(|_| !matrix.stale) else {
        draw_pane(canvas, area, &PaneHead::default(), true);
        return;
    };
    let names = parts.map(|part| structure.groups.title(structure, look, &part.leaves));
    let title = format!("{} to {}", names[0], names[1]);
    let cell = matrix.table.cell(matrix.cursor.0, matrix.cursor.1);
    let figure = cell.and_then(|(_, figures)| figures.text(drawn.quantity)).unwrap_or_default();
    let role = cell.map_or(Role::Dim, |(_, figures)| figure_role(figures, drawn.quantity));
    let right = [(figure.as_str(), role)];
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right: &right, focused: false }, true);
    let mut pane = PairPane { area: inside, y: 0 };
    if let Some(detail) = matrix.detail() {
        let top = state.known.tiers.first().map_or("top switches", |tier| tier.name.as_str());
        pane.draw_facts(canvas, detail, (parts.map(|part| part.leaves.clone()), top), (structure, look));
        let is_known = cell.is_some_and(|(_, figures)| figures.step(drawn.quantity).is_some());
        pane.draw_worst(canvas, detail, look, (drawn.quantity, is_known));
    } else {
        pane.draw_line(canvas, "the paths of this pair are being followed", Role::Dim);
    }
    pane.draw_pattern(canvas, state, &names);
    pane.draw_keys(canvas, matrix);
    if let Some((port, _)) = cell {
        pane.draw_chart(canvas, state, look, port);
    }
}

/// The inside of the pane, and its next free row.
pub(super) struct PairPane {
    pub(super) area: Rect,
    pub(super) y: u16,
}

impl PairPane {
    fn draw_line(&mut self, canvas: &mut Canvas<'_>, text: &str, role: Role) {
        for line in wrap_text(text, usize::from(self.area.width.saturating_sub(2))) {
            canvas.draw_text(self.area, 1, self.y, &line, role);
            self.y += 1;
        }
    }

    fn draw_rule(&mut self, canvas: &mut Canvas<'_>, title: &str) {
        self.y = draw_rule(canvas, self.area, self.y + 1, title);
    }

    fn draw_pair(&mut self, canvas: &mut Canvas<'_>, label: &str, text: &str, role: Role) {
        canvas.draw_text(self.area, 1, self.y, label, Role::Label);
        canvas.draw_name(self.area, TEXT_X, self.y, text, role);
        self.y += 1;
    }

    fn draw_facts(
        &mut self,
        canvas: &mut Canvas<'_>,
        detail: &PairDetail,
        (leaves, top): ([std::ops::Range<usize>; 2], &str),
        (structure, look): (&MapStructure, &Snapshot),
    ) {
        let [from, to] = detail.hosts.map(digits_in_groups);
        self.draw_pair(canvas, "hosts", &format!("{from} to {to}"), Role::Text);
        let range = |of: std::ops::Range<usize>| {
            let bucket = structure.groups.buckets(structure, look, &of, 1).into_iter().next();
            let name = |at: usize| look.name(structure.switches[structure.groups.leaves[at]].id);
            match bucket {
                Some(_) if of.len() > 1 => {
                    crate::operations::fabric_map::groups::name_range(name(of.start), name(of.end - 1))
                }
                _ => name(of.start).to_owned(),
            }
        };
        let [first, second] = leaves.map(range);
        self.draw_pair(canvas, "from", &first, Role::Text);
        self.draw_pair(canvas, "to", &second, Role::Text);
        let over = match detail.tops {
            0 => String::new(),
            tops => format!(" over {} {top}", digits_in_groups(tops)),
        };
        self.draw_pair(canvas, "paths", &format!("{}{over}", digits_in_groups(detail.paths)), Role::Text);
        if detail.broken > 0 {
            let text = format!("{} do not arrive", digits_in_groups(detail.broken));
            self.draw_pair(canvas, "", &text, Role::Warning);
        }
    }

    /// Draws the worst ports of the pair.
    fn draw_worst(
        &mut self,
        canvas: &mut Canvas<'_>,
        detail: &PairDetail,
        look: &Snapshot,
        (quantity, is_known): (MapQuantity, bool),
    ) {
        let [title, nothing] = match quantity {
            MapQuantity::Wait => ["Where it waits", "no port on these paths waits"],
            MapQuantity::Load => ["Where the load is", "no port on these paths carries anything"],
            MapQuantity::Errors => ["Where errors are", "no port on these paths counts errors"],
            MapQuantity::Paths => ["The busiest ports", "no path is known"],
        };
        self.draw_rule(canvas, title);
        if detail.worst.is_empty() {
            let unknown = format!("{} not known", canvas.signs.severity[3]);
            let text = match () {
                () if detail.paths == 0 => "no path between switches: packets of its hosts stay in it",
                () if is_known => nothing,
                () => &unknown,
            };
            self.draw_line(canvas, text, Role::Dim);
        }
        for port in &detail.worst {
            let gauge = self.area.width.saturating_sub(GAUGE_WIDTH + FIGURE_WIDTH + 2);
            let names = Rect { width: gauge.saturating_sub(1), ..self.area };
            canvas.draw_name(names, 1, self.y, &look.port_name(port.port), Role::Text);
            let share = port.figures.share(quantity).unwrap_or(0.0);
            draw_gauge(canvas, self.area, (gauge, self.y), GAUGE_WIDTH, share, quantity.colours());
            let text = port.figures.text(quantity).unwrap_or_default();
            let role = step_role(quantity, port.figures.step(quantity).unwrap_or(0).max(2));
            let ends = Rect { width: self.area.width.saturating_sub(1), ..self.area };
            canvas.draw_right_aligned(ends, gauge + GAUGE_WIDTH, self.y, &text, role);
            self.y += 1;
        }
    }

    /// Says what a lit row or column is a sign of.
    fn draw_pattern(&mut self, canvas: &mut Canvas<'_>, state: &SessionState, names: &[String; 2]) {
        let drawn = &state.screens.map.drawn;
        let (matrix, quantity) = (&drawn.matrix, drawn.quantity);
        if quantity == MapQuantity::Paths {
            return;
        }
        let [rows, columns] = [matrix.table.rows.len(), matrix.table.columns.len()];
        let (row, column) = matrix.cursor;
        let across = lit_cells(matrix, quantity, (0..columns).map(|column| (row, column)));
        let down = lit_cells(matrix, quantity, (0..rows).map(|row| (row, column)));
        let every = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let [lit, of] = lit_cells(matrix, quantity, every);
        // Where most pairs are lit, a lit row or column says nothing of its part.
        if of >= 6 && lit * 2 >= of {
            self.draw_rule(canvas, "Most pairs are lit");
            let text = format!("{lit} of {of} other cells: their paths share the ports that are full");
            self.draw_line(canvas, &text, Role::Text);
            return self.draw_hot_spots(canvas, state, None);
        }
        for (name, [lit, of], verb, cells, cause) in [
            (&names[1], down, "is slow to receive", "column", "one slow receiver, or what leads to it"),
            (&names[0], across, "sends badly to all", "row", "one bad sender, or its own cables"),
        ] {
            if of < 3 || lit * 2 < of {
                continue;
            }
            self.draw_rule(canvas, &format!("{name} {verb}"));
            let text = format!("{lit} of {of} other cells of its {cells} are lit: {cause}");
            self.draw_line(canvas, &text, Role::Text);
            if cells == "column" {
                self.draw_hot_spots(canvas, state, Some(column));
            }
        }
    }

    /// Names the hot-spots, or those among the hosts of a column.
    fn draw_hot_spots(&mut self, canvas: &mut Canvas<'_>, state: &SessionState, column: Option<usize>) {
        let drawn = &state.screens.map.drawn;
        let (Some(reading), Some(look)) = (&state.known.watch.reading, state.snapshot()) else { return };
        let Some(structure) = &drawn.structure else { return };
        let bucket = column.and_then(|column| drawn.matrix.table.columns.get(column));
        let leaves = match bucket {
            Some(bucket) => &structure.groups.leaves[bucket.leaves.clone()],
            None => &structure.groups.leaves[..],
        };
        let fabric = look.fabric();
        for spot in reading.watched.verdict.hot_spots.iter().take(MAX_HOT_SPOTS) {
            let adapter = fabric.port(spot.adapter).node;
            let is_inside = leaves
                .iter()
                .any(|leaf| structure.switches[*leaf].hosts.iter().any(|host| host.node == adapter));
            if is_inside {
                let text = format!("{} {} is a hot-spot", canvas.signs.severity[0], look.host_name(adapter));
                self.draw_line(canvas, &text, Role::Danger);
            }
        }
    }

    /// Draws what Enter and Esc do here.
    fn draw_keys(&mut self, canvas: &mut Canvas<'_>, matrix: &MatrixState) {
        let Some([from, to]) = matrix.chosen() else { return };
        let enter = match [from.leaves.len(), to.leaves.len()] {
            [1, 1] => format!("the ports of {}", from.name),
            [rows, columns] => format!("{rows} x {columns} switches"),
        };
        self.y += 1;
        let back = if matrix.is_whole() { "" } else { "the part around" };
        for (key, text) in [("enter", enter.as_str()), ("esc", back)] {
            if !text.is_empty() && self.y < self.area.height {
                let x = canvas.draw_text(self.area, 1, self.y, key, Role::Key);
                canvas.draw_name(self.area, x + 1, self.y, text, Role::Dim);
                self.y += 1;
            }
        }
    }

    /// Draws the history of the worst port in the rest of the pane.
    pub(super) fn draw_chart(
        &mut self,
        canvas: &mut Canvas<'_>,
        state: &SessionState,
        look: &Snapshot,
        port: PortId,
    ) {
        let quantity = state.screens.map.drawn.quantity;
        let of = match quantity {
            MapQuantity::Wait => PortQuantity::Wait,
            MapQuantity::Load => PortQuantity::Sent,
            MapQuantity::Errors => PortQuantity::Errors,
            MapQuantity::Paths => return,
        };
        let [least, most] = CHART_ROWS;
        let room = self.area.height.saturating_sub(self.y + 2);
        if room < least || self.area.width < LABEL_WIDTH + 10 {
            return;
        }
        self.draw_rule(canvas, &chart_title(canvas, quantity, look, port, self.area.width));
        let rows = room.min(most);
        let area = Rect { y: self.area.y + self.y, height: rows, ..self.area };
        let plot = area.width.saturating_sub(LABEL_WIDTH);
        let values = worst_columns(state, look, of, &[port], plot);
        let marks = chart_marks(canvas, state, chart_window(&state.known, plot), true);
        draw_time_chart(canvas, area, state, plot, quantity.colours(), &values, &marks);
        self.y += rows;
    }
}

fn chart_title(
    canvas: &Canvas<'_>,
    quantity: MapQuantity,
    look: &Snapshot,
    port: PortId,
    room: u16,
) -> String {
    let word = match quantity {
        MapQuantity::Wait => "Wait of",
        MapQuantity::Errors => "Errors of",
        MapQuantity::Load | MapQuantity::Paths => "Sent by",
    };
    let name = look.port_name(port);
    let room = room.saturating_sub(width(word) + 6);
    format!("{word} {}", crate::console::drawing::canvas::shorten_name(&name, room, canvas.signs.more))
}

/// Of these cells, how many are lit, and how many there are; pairs of a part with itself do not count.
fn lit_cells(
    matrix: &MatrixState,
    quantity: MapQuantity,
    cells: impl Iterator<Item = (usize, usize)>,
) -> [usize; 2] {
    let other = |cell: &(usize, usize)| {
        matrix.table.rows[cell.0].leaves != matrix.table.columns[cell.1].leaves && *cell != matrix.cursor
    };
    let steps = cells.filter(other).map(|(row, column)| {
        matrix.table.cell(row, column).and_then(|(_, figures)| figures.step(quantity)).unwrap_or(0)
    });
    steps.fold([0, 0], |[lit, of], step| [lit + usize::from(step >= LIT_STEP), of + 1])
}
