//! The panes of What-if, one below the other.
//!
//! ```text
//! ╭─ What if ──────────────╮
//! │ the pairs as a bar     │
//! ╰────────────────────────╯
//! ╭─ Who is hit ╮╭─ Map ───╮
//! │ hosts, jobs ││         │
//! ╰─────────────╯╰─────────╯
//! ╭─ ▸ New routes ─────────╮
//! │ engines                │
//! ├─ why ──────────────────┤
//! │ of the engine chosen   │
//! ╰────────────────────────╯
//! ```

use crate::console::model::layout::{Areas, Rect};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WhatifPanes {
    /// The marks, and the pairs that they hit.
    pub pairs: Rect,
    /// The hosts and jobs that they hit. Empty on a low screen.
    pub victims: Rect,
    /// The map beside them. Empty where it has no room.
    pub map: Rect,
    /// The routes of engines, or the marks.
    pub routes: Rect,
    /// Inside of `routes`: the table with its headings, and the reasons below it with their rule.
    pub table: Rect,
    pub reasons: Rect,
}

/// Rows of the table of engines with its headings.
const TABLE_ROWS: u16 = 9;
/// The table keeps this many rows on a low screen.
const TABLE_LEAST_ROWS: u16 = 4;
/// Rows of the victims inside their pane on a high screen, and the least with which the pane is drawn.
const VICTIMS_MOST_ROWS: u16 = 18;
const VICTIMS_LEAST_ROWS: u16 = 2;
/// Width of a screen, and height of the victims, with a map beside them.
const MAP_LEAST_SCREEN: u16 = 110;
const MAP_LEAST_ROWS: u16 = 14;

impl WhatifPanes {
    pub fn new(areas: &Areas) -> Self {
        let (all, boxed) = (areas.middle, areas.boxed);
        let border = if boxed { 2 } else { 1 };
        let (pairs_rows, reason_rows) = if boxed { (3, 4) } else { (2, 2) };
        let mut pairs = border + pairs_rows;
        if all.height < pairs + border + TABLE_LEAST_ROWS {
            pairs = 0;
        }
        let below = all.height - pairs.min(all.height);
        let victims = below.saturating_sub(border + TABLE_ROWS + reason_rows);
        let victims = match victims {
            rows if rows < border + VICTIMS_LEAST_ROWS => 0,
            rows => rows.min(border + VICTIMS_MOST_ROWS),
        };
        let (pairs, rest) = all.split_rows(pairs);
        let (victims, routes) = rest.split_rows(victims);
        let (victims, map) = match victims.width >= MAP_LEAST_SCREEN && victims.height >= MAP_LEAST_ROWS {
            true => victims.split_columns(victims.width - victims.width * 9 / 20),
            false => (victims, Rect::default()),
        };
        let inside = routes.inside(boxed);
        let (table, reasons) = inside.split_rows(TABLE_ROWS);
        Self { pairs, victims, map, routes, table, reasons }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn panes_fill_the_middle_and_the_table_stays_longest() {
        for (width, height) in [(80, 24), (120, 40), (200, 60), (80, 12), (60, 8), (120, 16), (20, 3), (1, 1)]
        {
            let areas = Areas::new(Size { width, height }, false);
            let panes = WhatifPanes::new(&areas);
            let rows = panes.pairs.height + panes.victims.height + panes.routes.height;
            assert_eq!(rows, areas.middle.height, "{width}x{height}");
            assert!(panes.routes.height >= panes.pairs.height.min(1), "{width}x{height}");
        }
        let panes = |width, height| WhatifPanes::new(&Areas::new(Size { width, height }, false));
        assert_eq!(panes(80, 24).victims.height, 6);
        assert_eq!((panes(120, 40).table.height, panes(120, 40).reasons.height), (9, 4));
        assert_eq!(panes(80, 12).victims.height, 0);
    }
}
