//! The places of the dialog: over the screen from 100 columns on, otherwise instead of it.

use crate::console::model::layout::{Areas, BOX_MIN_SCREEN, Rect};

/// Width and height of the dialog at most, and its distance from the edges of the screen.
const MAX_WIDTH: u16 = 104;
const MAX_HEIGHT: u16 = 32;
/// The same from this width of the screen on, and the width of the preview.
const WIDE_SCREEN: u16 = 160;
const WIDE_MAX_WIDTH: u16 = 170;
const WIDE_MAX_HEIGHT: u16 = 48;
const WIDE_PREVIEW_WIDTH: u16 = 80;
const MARGIN: u16 = 2;
/// Width of the preview with its border.
const PREVIEW_WIDTH: u16 = 42;

/// The places of the dialog.
///
/// ```text
/// ╭─ ▸ Go to anything ──────── 14 of 135 names ─╮
/// │ › line                    ! problems ...    │
/// ├──────────────────────────────┬──────────────┤
/// │ list                         │ preview      │
/// ╰──────────────────────────────┴──────────────╯
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GotoLayout {
    /// The whole dialog with its border.
    pub dialog: Rect,
    pub line: Rect,
    /// The rule below the line; empty on a narrow screen.
    pub rule: Rect,
    pub list: Rect,
    /// Empty on a narrow screen.
    pub preview: Rect,
    /// Whether the dialog is a box over the screen.
    pub floats: bool,
}

impl GotoLayout {
    pub fn new(areas: &Areas) -> Self {
        let middle = areas.middle;
        let floats = middle.width >= BOX_MIN_SCREEN && middle.height >= 12;
        if !floats {
            let (line, list) = middle.inside(false).split_rows(1);
            return Self { dialog: middle, line, list, ..Self::default() };
        }
        let (most_width, most_height, preview_width) = match middle.width >= WIDE_SCREEN {
            true => (WIDE_MAX_WIDTH, WIDE_MAX_HEIGHT, WIDE_PREVIEW_WIDTH),
            false => (MAX_WIDTH, MAX_HEIGHT, PREVIEW_WIDTH),
        };
        let width = most_width.min(middle.width - 2 * MARGIN);
        let height = most_height.min(middle.height - MARGIN);
        let dialog = Rect { x: middle.x + (middle.width - width) / 2, y: middle.y + 1, width, height };
        let inside = dialog.inside(true);
        let (line, below) = inside.split_rows(1);
        let (rule, below) = below.split_rows(1);
        let (list, preview) = below.split_columns(below.width - preview_width.min(below.width / 2));
        Self { dialog, line, rule, list, preview, floats }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::layout::Size;

    #[test]
    fn the_dialog_stays_on_the_screen_at_any_size() {
        for (width, height) in (0..220).flat_map(|width| (0..70).map(move |height| (width, height))) {
            let layout = GotoLayout::new(&Areas::new(Size { width, height }, false));
            for area in [layout.dialog, layout.line, layout.rule, layout.list, layout.preview] {
                assert!(area.is_empty() || area.x + area.width <= width, "{width}x{height}: {area:?}");
                assert!(area.is_empty() || area.y + area.height <= height, "{width}x{height}: {area:?}");
            }
            assert_eq!(layout.floats, width >= BOX_MIN_SCREEN && height >= 15, "{width}x{height}");
            assert!(!layout.floats || !layout.preview.is_empty());
        }
    }
}
