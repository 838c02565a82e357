//! The scroll position of lines.

/// The scroll position of lines; their number is known where they are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Scroll {
    pub top: usize,
}

impl Scroll {
    pub fn scroll_by(&mut self, by: isize, lines: usize, height: usize) {
        let last = lines.saturating_sub(height);
        // The content may have become shorter, or the screen smaller.
        self.top = self.top.min(last).saturating_add_signed(by).min(last);
    }
}
