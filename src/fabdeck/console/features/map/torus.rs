//! The slice of a torus or mesh that the map shows.

use crate::console::features::screen::CursorDirection;
pub use crate::operations::fabric_map::torus::TorusShape;

/// The slice and the place of the cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SliceCursor {
    pub slice: usize,
    pub at: (usize, usize),
}

impl SliceCursor {
    pub fn move_by(&mut self, shape: &TorusShape, direction: CursorDirection) {
        let (columns, rows) = shape.size();
        let (x, y) = &mut self.at;
        match direction {
            CursorDirection::Left => *x = x.saturating_sub(1),
            CursorDirection::Right => *x = (*x + 1).min(columns.saturating_sub(1)),
            CursorDirection::Up => *y = y.saturating_sub(1),
            CursorDirection::Down => *y = (*y + 1).min(rows.saturating_sub(1)),
        }
    }

    /// Goes to the next slice, or to the previous one; the first follows the last.
    pub fn turn(&mut self, shape: &TorusShape, forward: bool) {
        let count = shape.slice_count().max(1);
        self.slice = (self.slice + if forward { 1 } else { count - 1 }) % count;
    }
}
