//! The step of the tour that is shown.

/// Rows of the pane of the tour, with its border or its rule.
const PANE_ROWS: u16 = 5;
/// Rows that the screen keeps at least.
const MIN_BODY_ROWS: u16 = 9;

/// The tour of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TourState {
    /// The step; `None` while no tour is taken.
    pub step: Option<usize>,
    /// Whether the step was done before it was shown. Then only the operator goes on.
    pub done_before: bool,
}

impl TourState {
    /// Number of rows of the pane on a screen of this height.
    pub fn pane_rows(self, height: u16) -> u16 {
        match self.step {
            Some(_) => PANE_ROWS.min(height.saturating_sub(MIN_BODY_ROWS)),
            None => 0,
        }
    }
}
