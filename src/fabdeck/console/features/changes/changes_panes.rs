//! The panes of Changes.
//!
//! ```text
//! ╭─ ▸ Changes ──────────────────────────────╮
//! │ all changes, the last one first          │
//! ╰──────────────────────────────────────────╯
//! ╭─ Its course ──────╮╭─ What became of it ─╮
//! │ journal, next     ││ figures, what now   │
//! ╰───────────────────╯╰─────────────────────╯
//! ```
//!
//! A wide screen has all of the change, and what can be done with it, in a third column; a narrow one has the last steps below the list.

use crate::console::model::layout::Areas;
use crate::console::model::panes::{BODY, DETAILS, PanePlan, PaneTree};

/// The panes by their names.
pub const COURSE: &str = "course";
pub const EFFECT: &str = "effect";
pub const CHOICES: &str = "choices";

/// Least height of the middle with panes below the list, and of one with rows there.
const MIN_HEIGHT: u16 = 24;
pub const MIN_SUMMARY_HEIGHT: u16 = 14;
/// Least width of a screen with three panes below the list.
const WIDE_WIDTH: u16 = 180;
/// Rows of what can be done, with its border.
const CHOICE_ROWS: u16 = 18;
/// Border and heading of the list, and an empty row.
const LIST_FRAME: u16 = 4;
const LIST_LEAST: u16 = 6;

/// Whether the screen has room for panes below the list.
pub fn has_room(areas: &Areas) -> bool {
    areas.boxed && areas.middle.height >= MIN_HEIGHT
}

/// Whether what can be done has a pane of its own.
pub fn has_choices(areas: &Areas) -> bool {
    has_room(areas) && areas.middle.width >= WIDE_WIDTH
}

/// How a list with this many changes is split.
pub fn changes_panes(areas: &Areas, changes: usize) -> PanePlan {
    if !has_room(areas) {
        return areas.list_and_details().into();
    }
    let rows = u16::try_from(changes).unwrap_or(u16::MAX).saturating_add(LIST_FRAME);
    let list = rows.clamp(LIST_LEAST, areas.middle.height / 3);
    let pane = PaneTree::Pane;
    let width = areas.middle.width;
    if !has_choices(areas) {
        let below = PaneTree::columns("course", width / 2, [pane(COURSE), pane(EFFECT)]);
        return PaneTree::rows("changes", list, [pane(BODY), below]).into();
    }
    // The row of the list in full, and what can be done with it, stand beside all.
    let left = width - width / 3;
    let below = PaneTree::columns("course", left / 2, [pane(COURSE), pane(EFFECT)]);
    let left_side = PaneTree::rows("changes", list, [pane(BODY), below]);
    let choices = areas.middle.height.saturating_sub(CHOICE_ROWS);
    let right_side = PaneTree::rows("choices", choices, [pane(DETAILS), pane(CHOICES)]);
    PaneTree::columns("details", left, [left_side, right_side]).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn panes_fill_the_middle_where_they_have_room() {
        for (width, height, panes) in [(120, 40, 3), (200, 60, 5), (100, 30, 3)] {
            for changes in [1, 5, 500] {
                let areas = Areas::new(Size { width, height }, false);
                let areas = areas.clone().with_panes(&changes_panes(&areas, changes), &|_| None, None);
                let list = areas.panes.area(BODY);
                assert_eq!(list.height + areas.panes.area(COURSE).height, height - 3, "{width}x{height}");
                assert_eq!(areas.panes.names().len(), panes, "{width}x{height}");
                assert!(list.height <= areas.middle.height / 3, "{width}x{height}, {changes}");
            }
        }
        let areas = Areas::new(Size { width: 80, height: 24 }, false);
        let areas = areas.clone().with_panes(&changes_panes(&areas, 3), &|_| None, None);
        assert_eq!(areas.panes.names(), [BODY]);
    }
}
