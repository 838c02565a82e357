//! The panes of the Timeline.
//!
//! ```text
//! ╭─ ▸ Timeline ─────────────────────────────────╮
//! │ 14:28:22  sample 5 of 31                     │  where the screens stand
//! │               14:26      ▼ 14:27       now   │  axis, with the cursor
//! │ wait     88 % ▂▂▂▄▄▆▆▇▇▇▇│▇▇▇▇▇              │  strips of the fabric, then of the worst ports
//! │ hot-spots           ◆━━━━│━━━━━              │  lanes of events
//! ╰──────────────────────────────────────────────╯
//! ╭─ Events ─────────────────╮╭─ the event ──────╮
//! ╰──────────────────────────╯╰──────────────────╯
//! ```

use super::event_rows::EventLane;
use crate::console::model::layout::{Areas, DETAILS_MIN_SCREEN, Rect};

/// Strips of the whole fabric.
pub const FABRIC_STRIPS: u16 = 5;
/// Rows above them: position, axis, legend.
const HEAD_ROWS: u16 = 3;
/// Rows of the text of an event, where there are no details beside the list.
const TEXT_ROWS: u16 = 3;
/// Least height of a screen with that text.
const TEXT_MIN_HEIGHT: u16 = 18;
/// Rows for ports and lanes from which each lane has a row, and both have headings.
const LANES_MIN_ROOM: u16 = 12;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimelinePanes {
    pub strips: Rect,
    pub list: Rect,
    /// The text of the event at the cursor; empty where details are beside the list.
    pub text: Rect,
    pub details: Rect,
    pub boxed: bool,
    /// Whether there is room for position and legend.
    pub has_head: bool,
    /// Rows of the fabric, of ports, and of lanes.
    pub fabric_rows: u16,
    pub port_rows: u16,
    pub lane_rows: u16,
    /// Whether ports and lanes have headings.
    pub has_headings: bool,
}

impl TimelinePanes {
    pub fn new(areas: &Areas) -> Self {
        let (all, boxed) = (areas.middle, areas.boxed);
        let list_rows = match all.height {
            50.. => 18,
            30.. => 13,
            18.. => 9,
            height => height / 2 + 1,
        };
        let (strips, below) = all.split_rows(all.height.saturating_sub(list_rows));
        let (list, details) = match all.width {
            DETAILS_MIN_SCREEN.. => below.split_columns(below.width - areas.details_pane.width),
            _ => (below, Rect::default()),
        };
        let text = if details.is_empty() && all.height >= TEXT_MIN_HEIGHT { TEXT_ROWS } else { 0 };
        let (list, text) = list.split_rows(list.height.saturating_sub(text));
        let inner = strips.inside(boxed).height;
        let has_head = inner >= HEAD_ROWS + FABRIC_STRIPS;
        let head = if has_head { HEAD_ROWS } else { 1 };
        let fabric_rows = inner.saturating_sub(head).min(FABRIC_STRIPS);
        let room = inner.saturating_sub(head + fabric_rows);
        let has_headings = room >= LANES_MIN_ROOM;
        let lane_rows = if has_headings { EventLane::ALL.len() as u16 } else { room.min(1) };
        let headings = if has_headings { 2 } else { 0 };
        let port_rows = room.saturating_sub(lane_rows + headings);
        Self { strips, list, text, details, boxed, has_head, fabric_rows, port_rows, lane_rows, has_headings }
    }

    /// Number of rows of the list in sight, below its headings.
    pub fn list_rows(&self) -> usize {
        usize::from(self.list.inside(self.boxed).height.saturating_sub(1)).max(1)
    }

    /// Columns of the labels of strips, and in the next field of the values at the cursor.
    pub fn label_columns(&self) -> (u16, u16) {
        if self.boxed { (17, 10) } else { (12, 9) }
    }

    /// Columns of the strips.
    pub fn plot_columns(&self) -> u16 {
        let (label, value) = self.label_columns();
        self.strips.inside(self.boxed).width.saturating_sub(label + value + 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn panes_fill_the_middle_at_any_size() {
        for (width, height) in
            [(80, 24), (120, 40), (200, 60), (100, 20), (60, 16), (40, 12), (20, 3), (1, 1)]
        {
            let areas = Areas::new(Size { width, height }, false);
            let panes = TimelinePanes::new(&areas);
            let rows = panes.strips.height + panes.list.height + panes.text.height;
            assert_eq!(rows, areas.middle.height, "{width}x{height}");
            assert_eq!(panes.list.width + panes.details.width, areas.middle.width, "{width}x{height}");
            let head = if panes.has_head { 3 } else { 1 };
            let headings = if panes.has_headings { 2 } else { 0 };
            let drawn = head + panes.fabric_rows + panes.port_rows + panes.lane_rows + headings;
            let inner = panes.strips.inside(panes.boxed).height;
            assert!(drawn == inner || inner < head, "{width}x{height}: {drawn} of {inner}");
        }
        let of = |width, height| {
            let panes = TimelinePanes::new(&Areas::new(Size { width, height }, false));
            (panes.fabric_rows, panes.port_rows, panes.lane_rows)
        };
        assert_eq!([of(80, 24), of(120, 40)], [(5, 2, 1), (5, 8, 4)]);
    }
}
