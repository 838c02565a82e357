//! Draws the groups of a dragonfly on a ring: a bar for each switch of a group, and the bundles of cables between groups
//! that carry something. Those of the group at the cursor are always drawn.

use ratatui::layout::Rect;

use super::draw_matrix::{bar_of, draw_legend_at};
use super::draw_pair::PairPane;
use super::drawn_map::DrawnMap;
use super::figures::{MapFigures, MapQuantity, figure_role, port_figures, step_role};
use crate::console::drawing::braille::{CellSharing, DotGrid};
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::theme::Role;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;
use crate::operations::fabric_map::groups::MapGroups;
use crate::operations::fabric_map::structure::MapStructure;
use fabdeck_fabric::PortId;

/// Most groups on a ring, and its least size.
const MAX_GROUPS: usize = 24;
const MIN_SIZE: (u16, u16) = (70, 18);
/// Bundles from this step on are drawn.
const DRAWN_STEP: u8 = 1;
const CURSOR_WEIGHT: i32 = 100;
/// Most bundles that are drawn besides those of the group at the cursor.
const MAX_DRAWN: usize = 24;
/// Least columns of the names inside a group.
const INSIDE_NAME_WIDTH: u16 = 5;
/// Columns and rows of a group.
const GROUP_WIDTH: u16 = 14;
const GROUP_ROWS: u16 = 2;
/// Rows below the ring: what is not drawn, and the legend.
const ROWS_BELOW: u16 = 2;

/// Whether a ring has room for these groups.
pub fn ring_fits(groups: &MapGroups, (width, height): (u16, u16)) -> bool {
    let is_large = width >= MIN_SIZE.0 && height >= MIN_SIZE.1;
    groups.groups.len() <= MAX_GROUPS
        && is_large
        && group_places((width, height), groups.groups.len()).is_some()
}

/// The places of the groups: the upper left corner of the text of each, in columns and rows. They are on an ellipse,
/// or along the border of a small area; `None` where texts would lie over each other.
fn group_places((width, height): (u16, u16), count: usize) -> Option<Vec<(u16, u16)>> {
    let room = (width.checked_sub(GROUP_WIDTH)?, height.checked_sub(GROUP_ROWS + ROWS_BELOW)?);
    let ellipse: Vec<(u16, u16)> = (0..count)
        .map(|at| {
            let angle = std::f64::consts::TAU * at as f64 / count as f64;
            let x = f64::from(room.0) / 2.0 * (1.0 + angle.sin());
            let y = f64::from(room.1) / 2.0 * (1.0 - angle.cos());
            (x.round() as u16, y.round() as u16)
        })
        .collect();
    if are_apart(&ellipse) {
        return Some(ellipse);
    }
    let border = border_places(room);
    let chosen: Vec<(u16, u16)> =
        (0..count).filter_map(|at| border.get(at * border.len() / count).copied()).collect();
    (border.len() >= count && are_apart(&chosen)).then_some(chosen)
}

/// Places along the border, clockwise from the middle of the upper one, as many as have room.
fn border_places(room: (u16, u16)) -> Vec<(u16, u16)> {
    let along = |room: u16, step: u16| -> Vec<u16> {
        let last = (room / step).max(1);
        (0..=last).map(|at| at * room / last).collect()
    };
    let (columns, rows) = (along(room.0, GROUP_WIDTH + 1), along(room.1, GROUP_ROWS + 1));
    let inner = &rows[1..rows.len() - 1];
    let upper = columns.iter().map(|x| (*x, 0));
    let right = inner.iter().map(|y| (room.0, *y));
    let lower = columns.iter().rev().map(|x| (*x, room.1));
    let left = inner.iter().rev().map(|y| (0, *y));
    let mut places: Vec<(u16, u16)> = upper.chain(right).chain(lower).chain(left).collect();
    places.rotate_left(columns.len() / 2);
    places
}

/// Whether no text of a group lies over another one.
fn are_apart(places: &[(u16, u16)]) -> bool {
    let apart =
        |a: &(u16, u16), b: &(u16, u16)| a.0.abs_diff(b.0) > GROUP_WIDTH || a.1.abs_diff(b.1) >= GROUP_ROWS;
    places.iter().enumerate().all(|(at, a)| places[at + 1..].iter().all(|b| apart(a, b)))
}

/// The dot at which the bundles of a group end: beside its text, towards the middle.
fn group_anchor(area: Rect, (x, y): (u16, u16)) -> (i32, i32) {
    let middle = (i32::from(area.width), i32::from(area.height) * 2);
    let center = (i32::from(x) * 2 + i32::from(GROUP_WIDTH), i32::from(y) * 4 + i32::from(GROUP_ROWS) * 2);
    let towards = |from: i32, to: i32, by: i32| from + (to - from).clamp(-by, by);
    (
        towards(center.0, middle.0, i32::from(GROUP_WIDTH)),
        towards(center.1, middle.1, i32::from(GROUP_ROWS) * 4),
    )
}

pub fn draw(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    let drawn = &state.screens.map.drawn;
    let Some(structure) = &drawn.structure else { return };
    let (groups, matrix) = (&structure.groups, &drawn.matrix);
    let count = groups.groups.len();
    let Some(places) = group_places((area.width, area.height), count) else { return };
    let chosen = [matrix.cursor.0.min(matrix.cursor.1), matrix.cursor.0.max(matrix.cursor.1)];
    let mut dots = DotGrid::new(area.width, area.height, CellSharing::OneLine);
    let (mut below, mut behind, mut not_known) = (0, 0, 0);
    let least = least_drawn(&drawn.bundles, drawn.quantity);
    for (bundle, figures) in structure.bundles.iter().zip(&drawn.bundles) {
        let step = figures.step(drawn.quantity);
        let [from, to] = bundle.groups.map(|group| group_anchor(area, places[group]));
        if bundle.groups == chosen {
            dots.draw_line(from, to, Role::Key, CURSOR_WEIGHT, 0);
            continue;
        }
        let Some(step) = step else {
            not_known += 1;
            continue;
        };
        let is_of_cursor = bundle.groups.contains(&matrix.cursor.0);
        let is_worst = step >= DRAWN_STEP && figures.score(drawn.quantity) >= least;
        if is_of_cursor || is_worst {
            dots.draw_line(from, to, step_role(drawn.quantity, step), step.into(), 0);
        } else if step < DRAWN_STEP {
            below += 1;
        } else {
            behind += 1;
        }
    }
    dots.draw(canvas, area);
    for (group, place) in places.into_iter().enumerate() {
        draw_group(canvas, area, state, structure, (group, place));
    }
    let text = text_of_left_out(drawn.quantity, structure.bundles.len(), (below, behind, not_known));
    canvas.draw_right_aligned(area, 0, area.height.saturating_sub(2), &text, Role::Dim);
    draw_legend_at(canvas, area, state);
}

/// Says how many bundles are not drawn, and why: below the step from which on they are drawn, behind worse ones, or not
/// known.
fn text_of_left_out(
    quantity: MapQuantity,
    of: usize,
    (below, behind, not_known): (usize, usize, usize),
) -> String {
    let parts = [
        (below, format!("with little or no {}", quantity.word())),
        (behind, "behind worse ones".to_owned()),
        (not_known, "not known".to_owned()),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, why)| format!("{count} {why}"))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("not drawn of {of} bundles: {}", parts.join(", "))
}

/// The score from which on bundles are drawn, so that lines stay few; equal ones are all drawn, unless they are too many.
fn least_drawn(bundles: &[MapFigures], quantity: MapQuantity) -> Option<u64> {
    let mut scores: Vec<u64> = bundles.iter().filter_map(|figures| figures.score(quantity)).collect();
    scores.sort_unstable_by(|a, b| b.cmp(a));
    let least = *scores.get(MAX_DRAWN)?;
    let equal = scores.iter().filter(|score| **score >= least).count();
    Some(if equal > 2 * MAX_DRAWN { least + 1 } else { least })
}

fn draw_group(
    canvas: &mut Canvas<'_>,
    area: Rect,
    state: &SessionState,
    structure: &MapStructure,
    (group, (x, y)): (usize, (u16, u16)),
) {
    let drawn = &state.screens.map.drawn;
    let leaves = &structure.groups.leaves[structure.groups.groups[group].clone()];
    let role = match () {
        () if drawn.matrix.cursor.0 == group => Role::Cursor,
        () if drawn.matrix.cursor.1 == group => Role::Key,
        () => Role::Strong,
    };
    let room = Rect { x: area.x + x, width: GROUP_WIDTH.min(area.width - x), ..area };
    let whole = Rect { y: area.y + y, height: GROUP_ROWS, ..room };
    canvas.add_target(whole.intersection(area), ClickTarget::Cell(group, drawn.matrix.cursor.1));
    let name = format!("group {group}");
    canvas.draw_text(room, 0, y, &name, role);
    let worst = drawn.groups.get(group).copied().unwrap_or_default();
    let text = worst.text(drawn.quantity).unwrap_or_default();
    canvas.draw_right_aligned(room, width(&name) + 1, y, &text, figure_role(worst, drawn.quantity));
    // A group with more switches than columns shows the worst of each few.
    let join = leaves.len().div_ceil(usize::from(GROUP_WIDTH)).max(1);
    for (column, part) in leaves.chunks(join).enumerate() {
        let figures = part.iter().map(|at| drawn.figures.node(structure.switches[*at].id));
        let worst = figures.max_by_key(|figures| figures.score(drawn.quantity));
        let (sign, role) = bar_of(canvas, worst, drawn.quantity);
        canvas.draw_text(room, column as u16, y + 1, sign, role);
    }
}

/// Draws the pane of the bundle at the cursor: its cables, and the inside of the first group.
pub fn draw_bundle(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    use crate::console::drawing::pane::{PaneHead, draw_pane};
    let drawn = &state.screens.map.drawn;
    let (Some(structure), Some(look)) = (&drawn.structure, state.snapshot()) else { return };
    let (first, second) = drawn.matrix.cursor;
    let wanted = [first.min(second), first.max(second)];
    let bundle = structure.bundles.binary_search_by_key(&wanted, |bundle| bundle.groups).ok();
    let cables = bundle.map_or(&[][..], |at| &structure.bundles[at].cables);
    let title = format!("group {first} to group {second}");
    let count = format!("{} cables", cables.len());
    let right = [(count.as_str(), Role::Dim)];
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right: &right, focused: false }, true);
    if first == second {
        return draw_bundles_of(canvas, inside, drawn, structure, first);
    }
    let shown = cables
        .len()
        .min(usize::from(inside.height.saturating_sub(u16::from(cables.len() > usize::from(inside.height)))));
    for (y, at) in (0..).zip(&cables[..shown]) {
        let link = look.fabric().link(structure.cables[*at].link);
        let figures = drawn.figures.link(structure.cables[*at].link);
        let text = figures.text(drawn.quantity).unwrap_or_else(|| "not known".to_owned());
        let role =
            figures.step(drawn.quantity).map_or(Role::Dim, |step| step_role(drawn.quantity, step.max(1)));
        let name = format!("{} - {}", look.port_name(link.a), look.port_name(link.b));
        let room = Rect { width: inside.width.saturating_sub(width(&text) + 1), ..inside };
        canvas.draw_cable(room, 1, y, &name, Role::Text);
        canvas.draw_right_aligned(inside, 1, y, &text, role);
    }
    if shown < cables.len() {
        canvas.draw_text(
            inside,
            1,
            shown as u16,
            &format!("and {} of {} more", cables.len() - shown, cables.len()),
            Role::Dim,
        );
        return;
    }
    // The rest of the pane has the history of the worst cable, at its worse end.
    let score = |port: &PortId| port_figures(&state.known, *port).and_then(|all| all.score(drawn.quantity));
    let ends = cables.iter().map(|at| look.fabric().link(structure.cables[*at].link));
    let worst = ends.flat_map(|link| [link.a, link.b]).max_by_key(score);
    if let Some(port) = worst.filter(|port| score(port).is_some()) {
        PairPane { area: inside, y: shown as u16 }.draw_chart(canvas, state, look, port);
    }
}

/// Lists the bundles of a group, the worst first.
fn draw_bundles_of(
    canvas: &mut Canvas<'_>,
    area: Rect,
    drawn: &DrawnMap,
    structure: &MapStructure,
    group: usize,
) {
    let quantity = drawn.quantity;
    let mut all: Vec<(usize, MapFigures)> = structure
        .bundles
        .iter()
        .zip(&drawn.bundles)
        .filter(|(bundle, _)| bundle.groups.contains(&group))
        .map(|(bundle, figures)| (bundle.groups[0] + bundle.groups[1] - group, *figures))
        .collect();
    all.sort_by_key(|(other, figures)| (std::cmp::Reverse(figures.score(quantity)), *other));
    let title = format!("worst {} of its bundles", quantity.word());
    canvas.draw_name(area, 1, 0, &title, Role::Label);
    let last = area.height.saturating_sub(1);
    for (y, (other, figures)) in (1..last).zip(&all) {
        let text = figures.text(quantity).unwrap_or_else(|| "not known".to_owned());
        canvas.draw_text(area, 1, y, &format!("to group {other}"), Role::Text);
        canvas.draw_right_aligned(area, 14, y, &text, figure_role(*figures, quantity));
    }
    canvas.draw_name(area, 1, last, "up, down: one of them", Role::Dim);
}

/// Draws the pane of a group: a cell for each pair of its switches, with the worst cable between them.
pub fn draw_group_inside(canvas: &mut Canvas<'_>, area: Rect, state: &SessionState) {
    use crate::console::drawing::pane::{PaneHead, draw_pane};
    let drawn = &state.screens.map.drawn;
    let (Some(structure), Some(look)) = (&drawn.structure, state.snapshot()) else { return };
    let group = drawn.matrix.cursor.0;
    let Some(range) = structure.groups.groups.get(group) else { return };
    let leaves = &structure.groups.leaves[range.clone()];
    let title = format!("Inside group {group}");
    let size = format!("{0} x {0}", leaves.len());
    let right = [(size.as_str(), Role::Dim)];
    let inside = draw_pane(canvas, area, &PaneHead { title: &title, right: &right, focused: false }, true);
    let name_of = |at: &usize| look.name(structure.switches[*at].id);
    let widest = leaves.iter().map(|at| width(name_of(at))).max().unwrap_or(0);
    // Cells have a blank between them where there is room for that beside names of a fair width.
    let count = leaves.len() as u16;
    let wide = if INSIDE_NAME_WIDTH + 2 * count <= inside.width { 2 } else { 1 };
    let names = widest.min(inside.width.saturating_sub(wide * count + 1)).max(3) + 1;
    let rows = usize::from(inside.height.saturating_sub(1));
    for (y, row) in leaves.iter().take(rows).enumerate() {
        let y = y as u16;
        canvas.draw_name(Rect { width: names, ..inside }, 1, y, name_of(row), Role::Dim);
        for (x, column) in leaves.iter().enumerate() {
            let x = names + 1 + wide * x as u16;
            if row == column {
                canvas.draw_text(inside, x, y, canvas.signs.map[0], Role::Border);
                continue;
            }
            let key = (*row.min(column), *row.max(column));
            let from = structure.cables.partition_point(|cable| (cable.upper, cable.lower) < key);
            let between =
                structure.cables[from..].iter().take_while(|cable| (cable.upper, cable.lower) == key);
            let worst = between
                .map(|cable| drawn.figures.link(cable.link))
                .max_by_key(|figures| figures.score(drawn.quantity));
            let Some(worst) = worst else { continue };
            let (sign, role) = bar_of(canvas, Some(worst), drawn.quantity);
            canvas.draw_text(inside, x, y, sign, role);
        }
    }
    let below = inside.height.saturating_sub(1);
    if usize::from(below) >= leaves.len() {
        let text = format!("by {}, cable between two", drawn.quantity.word());
        canvas.draw_text(inside, 1, below, &text, Role::Dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_groups_never_lie_over_each_other() {
        for count in 1..=MAX_GROUPS {
            for size in [(70, 18), (78, 20), (80, 21), (86, 35), (118, 36), (180, 55)] {
                let Some(places) = group_places(size, count) else { continue };
                assert_eq!(places.len(), count);
                assert!(are_apart(&places), "{count} groups at {size:?}: {places:?}");
                let inside =
                    |(x, y): &(u16, u16)| x + GROUP_WIDTH <= size.0 && y + GROUP_ROWS + ROWS_BELOW <= size.1;
                assert!(places.iter().all(inside), "{count} groups at {size:?}: {places:?}");
            }
        }
        assert!(group_places((80, 20), 15).is_some(), "the groups of a dragonfly on a narrow screen");
        assert!(group_places((70, 18), 24).is_none(), "the matrix shows these");
    }

    #[test]
    fn lines_of_a_ring_stay_few_but_equal_bundles_are_drawn_together() {
        let bundles = |paths: &dyn Fn(u64) -> u64| -> Vec<MapFigures> {
            let bundle = |at: u64| {
                let mut figures = MapFigures::default();
                figures.set_paths(paths(at), 1000);
                figures
            };
            (0..100).map(bundle).collect()
        };
        let drawn = |bundles: &[MapFigures]| {
            let least = least_drawn(bundles, MapQuantity::Paths);
            bundles.iter().filter(|figures| figures.score(MapQuantity::Paths) >= least).count()
        };
        assert_eq!(drawn(&bundles(&|at| at)), MAX_DRAWN + 1, "the worst ones");
        let alike = |at: u64| if at < 40 { 7 } else { 1 };
        assert_eq!(drawn(&bundles(&alike)), 40, "equal ones are all drawn");
        assert_eq!(drawn(&bundles(&|_| 5)), 0, "unless they are too many: none of them is worse");
        assert_eq!(drawn(&bundles(&|at| at)[..10]), 10, "few are all drawn");
    }
}
