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

    /// Splits off the left columns; returns them and the rest.
    pub fn split_columns(self, left: u16) -> (Self, Self) {
        let left = left.min(self.width);
        (Self { width: left, ..self }, Self { x: self.x + left, width: self.width - left, ..self })
    }
}

/// Minimum width of a screen with details beside the list.
pub const DETAILS_MIN_SCREEN: u16 = 110;
/// On wide screens, the details take a third of the width. On others, they leave the list the columns that
/// its signs of trouble need.
const DETAILS_SHARE: u16 = 3;
const LIST_MIN_WIDTH: u16 = 88;
const DETAILS_MIN_WIDTH: u16 = 28;

/// The areas that every screen has.
///
/// ```text
/// header   where, what, how much
/// crumbs   2 Map > leaf1  3 Links  4 Hot-spots
/// body     the screen
/// status   filter, progress, messages
/// footer   the keys that work here
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Areas {
    pub header: Rect,
    pub crumbs: Rect,
    pub body: Rect,
    /// The details beside the body; empty on narrow screens.
    pub details: Rect,
    pub status: Rect,
    pub footer: Rect,
}

impl Areas {
    pub fn new(size: Size) -> Self {
        let all = Rect::new(0, 0, size.width, size.height);
        // On a screen that is too small for all areas, the body stays longest.
        let spare = size.height.saturating_sub(3);
        let (header, rest) = all.split_rows(spare.min(1));
        let (crumbs, rest) = rest.split_rows(spare.saturating_sub(1).min(1));
        let below = spare.saturating_sub(2).min(2);
        let (middle, below) = rest.split_rows(rest.height - below);
        let (status, footer) = below.split_rows(below.height.saturating_sub(1));
        let details_width = match size.width {
            DETAILS_MIN_SCREEN.. => {
                size.width.saturating_sub(LIST_MIN_WIDTH).clamp(DETAILS_MIN_WIDTH, size.width / DETAILS_SHARE)
            }
            _ => 0,
        };
        let (body, details) = middle.split_columns(middle.width - details_width);
        Self { header, crumbs, body, details, status, footer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fill_the_screen_and_never_leave_it() {
        for width in 0..130 {
            for height in 0..40 {
                let areas = Areas::new(Size { width, height });
                let rows = [areas.header, areas.crumbs, areas.body, areas.status, areas.footer];
                assert_eq!(rows.iter().map(|area| area.height).sum::<u16>(), height);
                assert_eq!(areas.body.width + areas.details.width, width);
                assert!(height == 0 || areas.body.height > 0, "{width}x{height}");
            }
        }
    }
}
