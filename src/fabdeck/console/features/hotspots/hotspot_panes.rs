//! The panes of Hot-spots at each size of the screen.
//!
//! ```text
//! ╭ Backlog of storage01 ───────╮╭ node01 ───────╮
//! │ tree of ports that wait     ││ wait          │
//! │ hosts behind them           ││ sends         │
//! ╭ ▸ Ports that wait ──────────╮├ Proof ────────┤
//! │ list                        ││ What helps    │
//! │                             ││ Roles         │
//! ╰─────────────────────────────╯╰───────────────╯
//! ```

use crate::console::model::layout::{Areas, Rect};
use crate::console::model::panes::{DETAILS, PanePlan, PaneTree};

/// Columns of the details at the right, and the least width of a screen that has them.
const DETAILS_WIDTH: u16 = 40;
const DETAILS_MIN_SCREEN: u16 = 110;
/// Rows of the backlog in short: the hot-spot, and its paths.
const SHORT_ROWS: u16 = 2;
/// Rows of the proof below the list on a narrow screen, with its rule.
const PROOF_ROWS: u16 = 5;
/// Least height of a screen with the proof below the list.
const PROOF_MIN_HEIGHT: u16 = 17;
/// Least rows of the list, with its heading and the summary above it.
const LIST_MIN_ROWS: u16 = 6;

/// The panes. Those that have no room are empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HotspotPanes {
    /// The backlog; empty without a hot-spot.
    pub backlog: Rect,
    pub list: Rect,
    /// At the right, or below the list.
    pub details: Rect,
    pub boxed: bool,
    /// Whether the backlog has two rows instead of a tree.
    pub is_short: bool,
}

/// The panes by their names.
const BACKLOG: &str = "backlog";
pub const LIST: &str = "list";

/// How Hot-spots is split, with a backlog that takes this many rows where it is drawn whole; 0 without a hot-spot.
pub fn hotspot_panes(areas: &Areas, backlog_rows: u16) -> PanePlan {
    let (all, boxed) = (areas.middle, areas.boxed);
    let borders = if boxed { 2 } else { 1 };
    let beside = match all.width {
        DETAILS_MIN_SCREEN.. => DETAILS_WIDTH.max(all.width / 3),
        _ => 0,
    };
    let below = match beside == 0 && all.height >= PROOF_MIN_HEIGHT {
        true => PROOF_ROWS + u16::from(boxed),
        false => 0,
    };
    let left = all.height - below;
    let short = SHORT_ROWS + borders;
    let least = LIST_MIN_ROWS + borders;
    let height = match backlog_rows {
        0 => 0,
        _ if boxed && left >= short + least + 4 => (backlog_rows + borders).min(left / 2),
        _ if left >= short + least => short,
        _ => 0,
    };
    let mut tree = PaneTree::Pane(LIST);
    if height > 0 {
        tree = PaneTree::rows("list", height, [PaneTree::Pane(BACKLOG), tree]).with_least([short, least]);
    }
    if beside > 0 {
        tree = PaneTree::columns("details", all.width - beside, [tree, PaneTree::Pane(DETAILS)]);
    } else if below > 0 {
        tree = PaneTree::fixed_rows(left, [tree, PaneTree::Pane(DETAILS)]);
    }
    tree.into()
}

impl HotspotPanes {
    pub fn new(areas: &Areas) -> Self {
        let [backlog, list, details] = [BACKLOG, LIST, DETAILS].map(|pane| areas.panes.area(pane));
        let boxed = areas.boxed;
        let is_short = !boxed || backlog.inside(boxed).height <= SHORT_ROWS;
        Self { backlog, list, details, boxed, is_short }
    }

    /// Rows of the list in sight, without its heading and the summary above it.
    pub fn rows_in_sight(&self) -> usize {
        usize::from(self.list.inside(self.boxed).height.saturating_sub(2)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn panes_fill_the_middle_at_any_size() {
        let sizes = (0..210).step_by(7).flat_map(|width| (0..64).map(move |height| (width, height)));
        for (width, height) in sizes {
            for rows in [0, 3, 17, 80] {
                let areas = Areas::new(Size { width, height }, false);
                let plan = hotspot_panes(&areas, rows);
                let areas = areas.with_panes(&plan, &|_| None, None);
                let panes = HotspotPanes::new(&areas);
                let cells = |pane: Rect| u32::from(pane.width) * u32::from(pane.height);
                let all = cells(panes.backlog) + cells(panes.list) + cells(panes.details);
                assert_eq!(all, cells(areas.middle), "{width}x{height} {rows}");
                assert!(height < 12 || width == 0 || panes.rows_in_sight() > 2, "{width}x{height} {rows}");
            }
        }
    }
}
