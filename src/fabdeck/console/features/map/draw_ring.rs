//! Draws the groups of a dragonfly on a ring: a bar for each switch of a group, and the bundles of cables between groups
//! that carry something. The bundle at the cursor is always drawn.

use ratatui::layout::Rect;

use super::draw_matrix::{bar_of, draw_legend_at};
use super::figures::{MapFigures, MapQuantity, step_role};
use crate::console::drawing::braille::{CellSharing, DotGrid};
use crate::console::drawing::canvas::{Canvas, width};
use crate::console::drawing::theme::Role;
use crate::console::model::mouse::ClickTarget;
use crate::console::model::state::SessionState;
use crate::operations::fabric_map::groups::MapGroups;
use crate::operations::fabric_map::structure::MapStructure;

/// Most groups on a ring, and its least size.
const MAX_GROUPS: usize = 24;
const MIN_SIZE: (u16, u16) = (70, 18);
/// Bundles from this step on are drawn.
const DRAWN_STEP: u8 = 2;
const CURSOR_WEIGHT: i32 = 100;
/// Most bundles that are drawn besides those of the group at the cursor.
const MAX_DRAWN: usize = 24;
/// Least columns of the names inside a group.
const INSIDE_NAME_WIDTH: u16 = 5;
/// Columns and rows of a group.
const GROUP_WIDTH: u16 = 14;
const GROUP_ROWS: u16 = 2;

/// Whether a ring has room for these groups.
pub fn ring_fits(groups: &MapGroups, (width, height): (u16, u16)) -> bool {
    groups.groups.len() <= MAX_GROUPS && width >= MIN_SIZE.0 && height >= MIN_SIZE.1
}

/// The place of a group: the upper left corner of its text, in columns and rows.
fn group_place(area: Rect, at: usize, count: usize) -> (u16, u16) {
    let angle = std::f64::consts::TAU * at as f64 / count as f64;
    let room = (f64::from(area.width - GROUP_WIDTH), f64::from(area.height - GROUP_ROWS - 2));
    let x = room.0 / 2.0 * (1.0 + angle.sin());
    let y = room.1 / 2.0 * (1.0 - angle.cos());
    (x.round() as u16, y.round() as u16)
}

/// The dot at which the bundles of a group end: beside its text, towards the middle.
fn group_anchor(area: Rect, at: usize, count: usize) -> (i32, i32) {
    let (x, y) = group_place(area, at, count);
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
    let chosen = [matrix.cursor.0.min(matrix.cursor.1), matrix.cursor.0.max(matrix.cursor.1)];
    let mut dots = DotGrid::new(area.width, area.height, CellSharing::OneLine);
    let (mut left_out, mut not_known) = (0, 0);
    let least = least_drawn(&drawn.bundles, drawn.quantity);
    for (bundle, figures) in structure.bundles.iter().zip(&drawn.bundles) {
        let step = figures.step(drawn.quantity);
        let [from, to] = bundle.groups.map(|group| group_anchor(area, group, count));
        if bundle.groups == chosen {
            dots.draw_line(from, to, Role::Key, CURSOR_WEIGHT, 0);
        } else if step.is_some_and(|step| step >= DRAWN_STEP)
            && (figures.score(drawn.quantity) >= least || bundle.groups.contains(&matrix.cursor.0))
        {
            let step = step.unwrap_or(0);
            dots.draw_line(from, to, step_role(drawn.quantity, step), step.into(), 0);
        } else if step.is_some() {
            left_out += 1;
        } else {
            not_known += 1;
        }
    }
    dots.draw(canvas, area);
    for group in 0..count {
        draw_group(canvas, area, state, structure, group);
    }
    let of = structure.bundles.len();
    let text = match (left_out, not_known) {
        (0, 0) => String::new(),
        (_, 0) => format!("{left_out} of {of} bundles are not drawn: others are worse"),
        (0, _) => format!("not known of {not_known} of {of} bundles"),
        _ => format!("{left_out} of {of} bundles are not drawn, not known of {not_known}"),
    };
    canvas.draw_right_aligned(area, 0, area.height.saturating_sub(2), &text, Role::Dim);
    draw_legend_at(canvas, area, state);
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
    group: usize,
) {
    let drawn = &state.screens.map.drawn;
    let (x, y) = group_place(area, group, structure.groups.groups.len());
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
    canvas.draw_right_aligned(room, width(&name) + 1, y, &text, drawn.quantity.colours().figure_role());
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
        canvas.draw_name(inside, 1, 0, "up and down choose the second group", Role::Dim);
        return;
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
        let room = Rect { width: inside.width.saturating_sub(width(&text) + 2), ..inside };
        canvas.draw_name(room, 1, y, &name, Role::Text);
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
    }
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
        let text = format!("by {}, the cable between two", drawn.quantity.word());
        canvas.draw_text(inside, 1, below, &text, Role::Dim);
    }
}
