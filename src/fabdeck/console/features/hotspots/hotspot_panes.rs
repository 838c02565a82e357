//! The panes of Hot-spots at each size of the screen.
//!
//! ```text
//! ╭ Backlog of storage01 ───────╮╭ node01 ───────╮
//! │ tree of ports that wait     ││ wait          │
//! │ hosts behind them           ││ sends         │
//! ╭ ▸ Ports that wait ──────────╮├ Proof ────────┤
//! │ list                        ││ Roles         │
//! ╰─────────────────────────────╯╰───────────────╯
//! ```

use crate::console::model::layout::{Areas, Rect};

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

impl HotspotPanes {
    /// The panes for a backlog that takes this many rows where it is drawn whole; 0 without a hot-spot.
    pub fn new(areas: &Areas, backlog_rows: u16) -> Self {
        let (all, boxed) = (areas.middle, areas.boxed);
        let borders = if boxed { 2 } else { 1 };
        let (left, details) = match all.width {
            DETAILS_MIN_SCREEN.. => all.split_columns(all.width - DETAILS_WIDTH.max(all.width / 3)),
            _ => (all, Rect::default()),
        };
        let below = match details.width == 0 && all.height >= PROOF_MIN_HEIGHT {
            true => PROOF_ROWS + u16::from(boxed),
            false => 0,
        };
        let (left, proof) = left.split_rows(left.height - below);
        let details = if below > 0 { proof } else { details };
        let short = SHORT_ROWS + borders;
        let whole = backlog_rows + borders;
        let least = LIST_MIN_ROWS + borders;
        let fits = boxed && left.height >= short + least + 4;
        let height = match backlog_rows {
            0 => 0,
            _ if fits => whole.min(left.height / 2),
            _ if left.height >= short + least => short,
            _ => 0,
        };
        let (backlog, list) = left.split_rows(height);
        Self { backlog, list, details, boxed, is_short: !fits }
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
                let panes = HotspotPanes::new(&areas, rows);
                let cells = |pane: Rect| u32::from(pane.width) * u32::from(pane.height);
                let all = cells(panes.backlog) + cells(panes.list) + cells(panes.details);
                assert_eq!(all, cells(areas.middle), "{width}x{height} {rows}");
                assert!(height < 12 || width == 0 || panes.rows_in_sight() > 2, "{width}x{height} {rows}");
            }
        }
    }
}
