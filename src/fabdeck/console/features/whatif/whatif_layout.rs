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
//!
//! On the widest screens, the map is live beside preview above the victims, and beside them are the cables that change most.

use crate::console::features::screens::ScreenId;
use crate::console::model::layout::{Areas, Rect};
use crate::console::model::panes::{PanePlan, PaneTree};
use crate::console::model::state::SessionState;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WhatifPanes {
    /// The marks, and the pairs that they hit.
    pub pairs: Rect,
    /// The hosts and jobs that they hit. Empty on a low screen.
    pub victims: Rect,
    /// The map beside them. Empty where it has no room.
    pub map: Rect,
    /// The fabric as it is and under the proposal at the cursor, and the cables that differ most. Empty below the widest
    /// screens.
    pub live: Rect,
    pub preview: Rect,
    pub changes: Rect,
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

/// Least size of the panes with two maps, and the rows of the cables that change, with their border.
const SIDES_MIN_WIDTH: u16 = 180;
const SIDES_MIN_HEIGHT: u16 = 46;
const CHANGES_ROWS: u16 = 14;
/// Rows of the reasons below the table on such a screen, with their rule.
const SIDES_REASON_ROWS: u16 = 3;

/// The panes by their names.
const LIVE: &str = "live";
const PREVIEW: &str = "preview";
const CHANGES: &str = "changes";
pub const PAIRS: &str = "pairs";
pub const VICTIMS: &str = "victims";
const MAP: &str = "map";
pub const ROUTES: &str = "routes";

/// How What-if is split into panes.
pub fn whatif_panes(areas: &Areas) -> PanePlan {
    let (all, boxed) = (areas.middle, areas.boxed);
    let border = if boxed { 2 } else { 1 };
    let (pairs_rows, reason_rows) = if boxed { (3, 4) } else { (2, 2) };
    let mut pairs = border + pairs_rows;
    if all.height < pairs + border + TABLE_LEAST_ROWS {
        pairs = 0;
    }
    if boxed && all.width >= SIDES_MIN_WIDTH && all.height >= SIDES_MIN_HEIGHT {
        return side_panes(areas, pairs, border + TABLE_ROWS + SIDES_REASON_ROWS);
    }
    let below = all.height - pairs.min(all.height);
    let victims = below.saturating_sub(border + TABLE_ROWS + reason_rows);
    // The tour takes rows, and one of its steps is about the victims.
    let victims = match victims {
        rows if rows < border + VICTIMS_LEAST_ROWS && !areas.tour.is_empty() => {
            below.saturating_sub(border + TABLE_LEAST_ROWS)
        }
        rows => rows,
    };
    let victims = match victims {
        rows if rows < border + VICTIMS_LEAST_ROWS => 0,
        rows => rows.min(border + VICTIMS_MOST_ROWS),
    };
    let mut tree = PaneTree::Pane(ROUTES);
    if victims > 0 {
        let named = PaneTree::Pane(VICTIMS);
        let named = match all.width >= MAP_LEAST_SCREEN && victims >= MAP_LEAST_ROWS {
            true => PaneTree::columns("map", all.width - all.width * 9 / 20, [named, PaneTree::Pane(MAP)]),
            false => named,
        };
        let least = [border + VICTIMS_LEAST_ROWS, border + TABLE_LEAST_ROWS];
        tree = PaneTree::rows("routes", victims, [named, tree]).with_least(least);
    }
    if pairs > 0 {
        tree = PaneTree::fixed_rows(pairs, [PaneTree::Pane(PAIRS), tree]);
    }
    tree.into()
}

/// The panes with two maps: what is left by the rows of the pairs, the changes and the routes is that of the maps.
fn side_panes(areas: &Areas, pairs: u16, routes: u16) -> PanePlan {
    let [live, preview, changes, victims, routes_pane] =
        [LIVE, PREVIEW, CHANGES, VICTIMS, ROUTES].map(PaneTree::Pane);
    let half = areas.middle.width / 2;
    let maps = areas.middle.height - pairs - CHANGES_ROWS - routes;
    let middle = PaneTree::columns("victims", half, [changes, victims]);
    let below = PaneTree::rows("routes", CHANGES_ROWS, [middle, routes_pane]);
    let sides = PaneTree::columns("sides", half, [live, preview]);
    let tree = PaneTree::rows("maps", maps, [sides, below]).with_least([4, CHANGES_ROWS]);
    PaneTree::fixed_rows(pairs, [PaneTree::Pane(PAIRS), tree]).into()
}

impl WhatifPanes {
    pub fn new(areas: &Areas) -> Self {
        let [pairs, victims, map, routes] = [PAIRS, VICTIMS, MAP, ROUTES].map(|pane| areas.panes.area(pane));
        let [live, preview, changes] = [LIVE, PREVIEW, CHANGES].map(|pane| areas.panes.area(pane));
        let inside = routes.inside(areas.boxed);
        // On a low screen, the last engine gives way to the end of the reason.
        let low = inside.height > TABLE_LEAST_ROWS + 1 && inside.height <= TABLE_ROWS + 2;
        let (table, reasons) =
            inside.split_rows(if low { inside.height.min(TABLE_ROWS + 2) - 3 } else { TABLE_ROWS });
        Self { pairs, victims, map, live, preview, changes, routes, table, reasons }
    }
}

/// Whether the map beside its preview is drawn: both have the cursor of the screen Map.
pub fn shares_cursor(state: &SessionState) -> bool {
    let map = &state.screens.map;
    state.screen == ScreenId::Whatif
        && !state.areas().panes.area(PREVIEW).is_empty()
        && map.shows_map()
        && map.drawn.layout.is_some()
}

/// Whether one of both maps has the keys.
pub fn has_map_keys(state: &SessionState) -> bool {
    shares_cursor(state) && matches!(state.focused_pane(), LIVE | PREVIEW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    fn placed(width: u16, height: u16) -> Areas {
        let areas = Areas::new(Size { width, height }, false);
        let plan = whatif_panes(&areas);
        areas.with_panes(&plan, &|_| None, None)
    }

    #[test]
    fn panes_fill_the_middle_and_the_table_stays_longest() {
        for (width, height) in [(80, 24), (120, 40), (200, 60), (80, 12), (60, 8), (120, 16), (20, 3), (1, 1)]
        {
            let areas = placed(width, height);
            let panes = WhatifPanes::new(&areas);
            let rows = panes.pairs.height + panes.live.height + panes.victims.height + panes.routes.height;
            assert_eq!(rows, areas.middle.height, "{width}x{height}");
            assert!(panes.routes.height >= panes.pairs.height.min(1), "{width}x{height}");
        }
        let panes = |width, height| WhatifPanes::new(&placed(width, height));
        assert_eq!(panes(80, 24).victims.height, 6);
        assert_eq!((panes(120, 40).table.height, panes(120, 40).reasons.height), (9, 4));
        assert_eq!(panes(80, 12).victims.height, 0);
        // Two maps need the widest screen.
        let wide = panes(200, 60);
        assert_eq!((wide.live.width, wide.preview.width, wide.map.width), (100, 100, 0));
        assert_eq!((wide.live.height, wide.changes.height, wide.routes.height), (24, 14, 14));
        assert!(panes(170, 60).live.is_empty() && panes(200, 40).live.is_empty());
    }
}
