//! The panes of Lanes: the flows or tables, and below them the steps of a move and the hosts that wait.
//!
//! ```text
//! ╭─ ▸ Lanes ───────────────────────╮╭─ flow ──╮
//! ╰─────────────────────────────────╯│         │
//! ╭─ The move, in steps ╮╭─ Waits ──╮│         │
//! ╰─────────────────────╯╰──────────╯╰─────────╯
//! ```

use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, DETAILS, PanePlan, PaneTree};

/// The panes by their names.
pub const STEPS: &str = "steps";
pub const WAITS: &str = "waits";

/// Rows of the steps with their border, and on a narrow screen with their rule.
const STEP_ROWS: u16 = 17;
pub const SHORT_STEP_ROWS: u16 = 7;
/// Least height of the middle with panes of their own, and with rows below the list.
const MIN_HEIGHT: u16 = 30;
const MIN_SHORT_HEIGHT: u16 = 19;

/// Whether the screen has room for the panes below the list.
pub fn has_room(areas: &Areas) -> bool {
    areas.boxed && areas.middle.height >= MIN_HEIGHT
}

/// Rows below the list that stand for the panes of a larger screen.
pub fn rows_below(areas: &Areas) -> u16 {
    let is_high = areas.middle.height >= MIN_SHORT_HEIGHT;
    if is_high && !has_room(areas) { SHORT_STEP_ROWS } else { 0 }
}

pub fn lane_panes(areas: &Areas) -> PanePlan {
    if !has_room(areas) {
        return areas.list_and_details().into();
    }
    let width = areas.middle.width - areas.details_width();
    let below = PaneTree::columns("waits", width / 2, [PaneTree::Pane(STEPS), PaneTree::Pane(WAITS)]);
    let list = areas.middle.height - STEP_ROWS;
    let left = PaneTree::rows("steps", list, [PaneTree::Pane(BODY), below]);
    areas.beside(left, PaneTree::Pane(DETAILS)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn panes_fill_the_middle_where_they_have_room() {
        for (width, height) in [(120, 40), (200, 60), (100, 33)] {
            let areas = Areas::new(Size { width, height }, false);
            let areas = areas.clone().with_panes(&lane_panes(&areas), &|_| None, None);
            let [list, steps] = [BODY, STEPS].map(|pane| areas.panes.area(pane).height);
            assert_eq!((list + steps, steps), (height - 3, STEP_ROWS), "{width}x{height}");
            assert_eq!(rows_below(&areas), 0);
        }
        let areas = Areas::new(Size { width: 80, height: 24 }, false);
        assert_eq!(rows_below(&areas), SHORT_STEP_ROWS);
        assert_eq!(rows_below(&Areas::new(Size { width: 80, height: 14 }, false)), 0);
    }
}
