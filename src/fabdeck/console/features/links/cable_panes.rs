//! The panes of the page of a cable.
//!
//! ```text
//! title     Links › rack2-leaf[7] ─ spine-1[3]   1 of 2 parallel cables   runs at 1x of 4x
//! ╭─ one end ────╮   the cable    ╭─ other end ──╮
//! ╰──────────────╯                ╰──────────────╯
//! ╭─ sent ─────╮╭─ sent ─────╮╭─ link errors ────╮
//! ╰────────────╯╰────────────╯╰──────────────────╯
//! ╭─ ▸ Counters ─────────────────────────────────╮
//! ├─ Who uses it ─┬─ What it means ─┬ If it fails ┤
//! ╰──────────────────────────────────────────────╯
//! ```

use crate::console::model::layout::{Areas, Rect};
use crate::console::model::panes::{PanePlan, PaneTree};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CablePanes {
    pub title: Rect,
    pub ends: [Rect; 2],
    /// Between the ends, or below them on a narrow screen.
    pub cable: Rect,
    /// Empty on a low screen.
    pub charts: [Rect; 3],
    /// The pane of the counters, and inside of it the table and the texts below it: who uses it, what it means, what its
    /// failure costs.
    pub counters: Rect,
    pub table: Rect,
    pub texts: [Rect; 3],
}

/// Rows of the title, and of both ends and the cable on a narrow screen.
const TITLE_ROWS: u16 = 1;
const NARROW_END_ROWS: u16 = 3;
/// Rows of the facts of an end.
pub const END_ROWS: u16 = 5;
/// Largest width of an end.
const END_MAX_WIDTH: u16 = 40;
/// Rows of the texts below the counters, with their rule.
const TEXT_ROWS: u16 = 5;
const LOW_TEXT_ROWS: u16 = 3;
/// Height of the charts on a high screen, and on a low one.
const CHART_ROWS: u16 = 10;
const LOW_CHART_ROWS: u16 = 5;
/// Least height with charts, and with high ones.
const CHARTS_MIN_HEIGHT: u16 = 18;
const HIGH_CHARTS_MIN_HEIGHT: u16 = 32;

/// The panes by their names.
const ENDS: &str = "ends";
const CHARTS: &str = "charts";
pub const COUNTERS: &str = "counters";

/// How the page of a cable is split into panes. Its title, and on a narrow screen its ends, stay above all of them.
pub fn cable_page_panes(areas: &Areas) -> PanePlan {
    let chart_rows = match areas.middle.height {
        HIGH_CHARTS_MIN_HEIGHT.. => CHART_ROWS,
        CHARTS_MIN_HEIGHT.. => LOW_CHART_ROWS,
        _ => 0,
    };
    let mut tree = PaneTree::Pane(COUNTERS);
    if chart_rows > 0 {
        tree = PaneTree::rows("charts", chart_rows, [PaneTree::Pane(CHARTS), tree]);
    }
    match areas.boxed {
        true => {
            let tree = PaneTree::fixed_rows(END_ROWS + 2, [PaneTree::Pane(ENDS), tree]);
            PanePlan { head_rows: TITLE_ROWS, tree }
        }
        false => PanePlan { head_rows: TITLE_ROWS + NARROW_END_ROWS, tree },
    }
}

impl CablePanes {
    pub fn new(areas: &Areas) -> Self {
        let boxed = areas.boxed;
        let (title, narrow_rows) = areas.panes.head.split_rows(TITLE_ROWS);
        let (ends, cable) = if boxed { wide_ends(areas.panes.area(ENDS)) } else { narrow_ends(narrow_rows) };
        let [charts, counters] = [CHARTS, COUNTERS].map(|pane| areas.panes.area(pane));
        let third = charts.width / 3;
        let (first, others) = charts.split_columns(third);
        let (second, third) = others.split_columns(third);
        let inside = counters.inside(boxed);
        let has_columns = inside.height >= 3 * TEXT_ROWS;
        let rows = if has_columns { TEXT_ROWS } else { inside.height.min(LOW_TEXT_ROWS) };
        let (table, below) = inside.split_rows(inside.height - rows);
        // A low screen has a row for each text.
        let [(users, _), (meaning, cost)] = match has_columns {
            true => {
                let third = below.width / 3;
                let split = below.split_columns(third);
                [split, split.1.split_columns(third + below.width % 3)]
            }
            false => {
                let split = below.split_rows(1);
                [split, split.1.split_rows(1)]
            }
        };
        let texts = [users, meaning, cost];
        Self { title, ends, cable, charts: [first, second, third], counters, table, texts }
    }
}

/// Both ends as boxes with the cable between them.
fn wide_ends(row: Rect) -> ([Rect; 2], Rect) {
    let width = (row.width / 3).min(END_MAX_WIDTH);
    let (left, others) = row.split_columns(width);
    let (cable, right) = others.split_columns(others.width.saturating_sub(width));
    ([left, right], cable)
}

/// A row for each end, and one for the cable.
fn narrow_ends(area: Rect) -> ([Rect; 2], Rect) {
    let (first, rest) = area.split_rows(1);
    let (second, rest) = rest.split_rows(1);
    let (cable, _) = rest.split_rows(1);
    ([first, second], cable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    fn placed(width: u16, height: u16) -> Areas {
        let areas = Areas::new(Size { width, height }, false);
        let plan = cable_page_panes(&areas);
        areas.with_panes(&plan, &|_| None, None)
    }

    #[test]
    fn panes_fill_the_middle_at_any_size() {
        for (width, height) in
            [(80, 24), (120, 40), (200, 60), (100, 20), (60, 16), (120, 12), (20, 3), (1, 1)]
        {
            let areas = placed(width, height);
            let panes = CablePanes::new(&areas);
            let ends = if areas.boxed {
                panes.ends[0].height
            } else {
                panes.ends[0].height + panes.ends[1].height + panes.cable.height
            };
            let rows = panes.title.height + ends + panes.charts[0].height + panes.counters.height;
            assert_eq!(rows, areas.middle.height, "{width}x{height}");
            let charts: u16 = panes.charts.iter().map(|chart| chart.width).sum();
            assert!(charts == areas.middle.width || panes.charts[0].height == 0, "{width}x{height}");
        }
        let panes = CablePanes::new(&placed(80, 24));
        assert!(panes.table.height >= 8, "{panes:?}");
    }
}
