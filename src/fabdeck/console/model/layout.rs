//! The layout of a screen of a given size. Moving the cursor by a page and drawing the page use the same
//! computation.

use serde::{Deserialize, Serialize};

/// Columns and rows of a screen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Size {
    pub width: u16,
    pub height: u16,
}

impl Default for Size {
    fn default() -> Self {
        Self { width: 80, height: 24 }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rect {
    pub x: u16,
    pub y: u16,
    pub width: u16,
    pub height: u16,
}

impl Rect {
    pub fn new(x: u16, y: u16, width: u16, height: u16) -> Self {
        Self { x, y, width, height }
    }

    pub fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// Splits off the upper rows; returns them and the rest.
    pub fn split_rows(self, upper: u16) -> (Self, Self) {
        let upper = upper.min(self.height);
        (Self { height: upper, ..self }, Self { y: self.y + upper, height: self.height - upper, ..self })
    }

    /// The inside of a pane: without its border, or without the rule above it.
    pub fn inside(self, boxed: bool) -> Self {
        let side = u16::from(boxed && self.width > 1);
        let above = self.height.min(1);
        let below = u16::from(boxed && self.height > 1);
        Self {
            x: self.x + side,
            y: self.y + above,
            width: self.width - 2 * side,
            height: self.height - above - below,
        }
    }

    /// Splits off the left columns; returns them and the rest.
    pub fn split_columns(self, left: u16) -> (Self, Self) {
        let left = left.min(self.width);
        (Self { width: left, ..self }, Self { x: self.x + left, width: self.width - left, ..self })
    }
}

/// Minimum width of a screen whose panes are boxes; below, each has one titled rule.
pub const BOX_MIN_SCREEN: u16 = 100;
/// Minimum width of a screen with details beside the list.
pub const DETAILS_MIN_SCREEN: u16 = 110;
/// On wide screens, the details take a third of the width. On others, they leave the list the columns that
/// its signs of trouble need.
const DETAILS_SHARE: u16 = 3;
const LIST_MIN_WIDTH: u16 = 88;
const DETAILS_MIN_WIDTH: u16 = 30;

/// The areas that every screen has.
///
/// ```text
/// header    source, name, size                 problems, leave to write, how live it is
/// tabs      1 Health  2 Map  3 Links ...
/// ╭─ Links ───── 3 of 81 ─╮╭─ details ─────╮
/// │ body                  ││ details       │
/// ╰───────────────────────╯╰───────────────╯
/// tour      its step; only while it is taken
/// status    filter, progress, messages; only while there is one
/// footer    the keys that work here
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Areas {
    pub header: Rect,
    pub tabs: Rect,
    /// All between tabs and status, for screens with panes of their own.
    pub middle: Rect,
    /// The inside of one pane over all of the middle, for overlays.
    pub overlay: Rect,
    /// The pane of the screen, and its inside.
    pub body_pane: Rect,
    pub body: Rect,
    /// The pane of the details beside the body, and its inside; empty on narrow screens.
    pub details_pane: Rect,
    pub details: Rect,
    /// The pane of the tour, below all of the screen.
    pub tour: Rect,
    pub status: Rect,
    pub footer: Rect,
    /// Whether panes are boxes.
    pub boxed: bool,
}

impl Areas {
    /// The areas of a screen; `status` says whether the status line has something to show.
    pub fn new(size: Size, status: bool) -> Self {
        Self::with_tour(size, status, 0)
    }

    /// The same with a pane of this height for the tour.
    pub fn with_tour(size: Size, status: bool, tour: u16) -> Self {
        let all = Rect::new(0, 0, size.width, size.height);
        // On a screen that is too small for all areas, the body stays longest.
        let spare = size.height.saturating_sub(3);
        let (header, rest) = all.split_rows(spare.min(1));
        let (tabs, rest) = rest.split_rows(spare.saturating_sub(1).min(1));
        let below = spare.saturating_sub(2).min(1 + u16::from(status));
        let (middle, below) = rest.split_rows(rest.height - below);
        let (middle, tour) = middle.split_rows(middle.height.saturating_sub(tour));
        let (status, footer) = below.split_rows(below.height.saturating_sub(1));
        let details_width = match size.width {
            DETAILS_MIN_SCREEN.. => {
                size.width.saturating_sub(LIST_MIN_WIDTH).clamp(DETAILS_MIN_WIDTH, size.width / DETAILS_SHARE)
            }
            _ => 0,
        };
        let (body_pane, details_pane) = middle.split_columns(middle.width - details_width);
        let boxed = size.width >= BOX_MIN_SCREEN;
        let [overlay, body, details] = [middle, body_pane, details_pane].map(|pane| pane.inside(boxed));
        Self {
            header,
            tabs,
            middle,
            overlay,
            body_pane,
            body,
            details_pane,
            details,
            tour,
            status,
            footer,
            boxed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fill_the_screen_and_never_leave_it() {
        for (width, height) in (0..130).flat_map(|width| (0..40).map(move |height| (width, height))) {
            for status in [false, true] {
                let areas = Areas::new(Size { width, height }, status);
                let rows = [areas.header, areas.tabs, areas.middle, areas.status, areas.footer];
                assert_eq!(rows.iter().map(|area| area.height).sum::<u16>(), height);
                assert_eq!(areas.body_pane.width + areas.details_pane.width, width);
                assert!(height < 4 || areas.body_pane.height > 0, "{width}x{height}");
                for (inside, pane) in [(areas.body, areas.body_pane), (areas.details, areas.details_pane)] {
                    assert!(inside.x + inside.width <= pane.x + pane.width, "{width}x{height}");
                    assert!(inside.y + inside.height <= pane.y + pane.height, "{width}x{height}");
                }
            }
        }
    }
}
