//! The panes of Paths.
//!
//! ```text
//! ╭─ ▸ Paths ───────────────────────╮╭─ cable ─╮
//! │ ends, the path as a line, hops  ││         │
//! ╰─────────────────────────────────╯│         │
//! ╭─ Way back ──────────────────────╮│         │
//! ╰─────────────────────────────────╯│         │
//! ╭─ Other ways ───╮╭─ What changes ╮│         │
//! ╰────────────────╯╰───────────────╯╰─────────╯
//! ```
//!
//! A screen without room for them has one row of each below the hops.

use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, PanePlan, PaneTree};

/// The panes by their names.
pub const BACK: &str = "back";
pub const WAYS: &str = "ways";
pub const PREVIEW: &str = "preview";
pub const TIMES: &str = "times";

/// Rows of both ends and the verdict.
pub const HEAD_ROWS: u16 = 4;
/// Rows of a path that is drawn as a line: its nodes, the cables, lanes, wait, load and paths; and on a narrow screen.
pub const LINE_ROWS: u16 = 6;
pub const SHORT_LINE_ROWS: u16 = 3;
/// Rows below the hops on a screen without panes for them.
pub const SUMMARY_ROWS: u16 = 7;

/// Least height of the middle with panes of their own.
const MIN_HEIGHT: u16 = 30;
/// Most hops in sight; the list scrolls.
const MAX_HOPS: u16 = 12;
/// Least rows of the lower panes with their border.
const LEAST_LOWER: u16 = 8;
/// Least rows of what is below the way back with the waits over time, and least columns.
const TIMES_MIN_HEIGHT: u16 = 22;
const TIMES_MIN_WIDTH: u16 = 120;

/// Whether the screen has room for the panes of a pair.
pub fn has_room(areas: &Areas) -> bool {
    areas.boxed && areas.middle.height >= MIN_HEIGHT
}

/// How a path with this many hops is split.
pub fn path_panes(areas: &Areas, hops: usize) -> PanePlan {
    if !has_room(areas) {
        return areas.list_and_details().into();
    }
    let hops = u16::try_from(hops).unwrap_or(u16::MAX).clamp(1, MAX_HOPS);
    let height = areas.middle.height;
    let back = LINE_ROWS + 3;
    // Border, the head, the line and an empty row, the heading of the list.
    let body = (2 + HEAD_ROWS + LINE_ROWS + 1 + 1 + hops).min(height - back - LEAST_LOWER);
    let width = areas.middle.width - areas.details_width();
    let mut lower = PaneTree::columns("ways", width / 2, [PaneTree::Pane(WAYS), PaneTree::Pane(PREVIEW)]);
    let left = height - body - back;
    if left >= TIMES_MIN_HEIGHT && width >= TIMES_MIN_WIDTH {
        // Both directions, the axis and the border.
        let rows = (2 * hops + 3).min(left / 2);
        lower = PaneTree::rows("times", left - rows, [lower, PaneTree::Pane(TIMES)]);
    }
    let below = PaneTree::rows("back", back, [PaneTree::Pane(BACK), lower]);
    let left = PaneTree::rows("pair", body, [PaneTree::Pane(BODY), below]);
    areas.beside(left, PaneTree::Pane(crate::console::model::panes::DETAILS)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn panes_fill_the_middle_where_they_have_room() {
        for (width, height) in [(100, 34), (120, 40), (200, 60)] {
            for hops in [0, 4, 40] {
                let areas = Areas::new(Size { width, height }, false);
                let plan = path_panes(&areas, hops);
                let areas = areas.with_panes(&plan, &|_| None, None);
                let panes = [BODY, BACK, WAYS, TIMES].map(|pane| areas.panes.area(pane).height);
                let [_, _, ways, times] = panes;
                assert_eq!(panes.iter().sum::<u16>(), height - 3, "{width}x{height}, {hops} hops");
                assert_eq!(times > 0, width == 200, "{width}x{height}, {hops} hops");
                assert!(ways >= LEAST_LOWER, "{width}x{height}, {hops} hops: {ways}");
            }
        }
        for (width, height) in [(80, 40), (120, 30)] {
            let areas = Areas::new(Size { width, height }, false);
            let areas = areas.clone().with_panes(&path_panes(&areas, 4), &|_| None, None);
            assert!(areas.panes.area(BACK).is_empty());
        }
    }
}
