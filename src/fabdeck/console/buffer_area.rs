//! Converts areas of the session to areas of a buffer.

use ratatui::layout::Rect;

use crate::session::interactive;

pub fn buffer_area(rect: interactive::Rect) -> Rect {
    Rect::new(rect.x, rect.y, rect.width, rect.height)
}
