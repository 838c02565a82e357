//! Converts areas of the session to areas of a buffer.

use ratatui::layout::Rect;

use crate::console::model::layout;

pub fn buffer_area(rect: layout::Rect) -> Rect {
    Rect::new(rect.x, rect.y, rect.width, rect.height)
}
