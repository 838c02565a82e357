//! The overlays, which Esc closes: help, the log, details, and dialogs.

use super::scroll::Scroll;
use crate::console::features::changes::dialogue::Dialogue;

/// The help, filtered by the search text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Help {
    pub search: String,
    pub scroll: Scroll,
    /// The details that were open before, which open again.
    pub above_details: Option<Scroll>,
}

#[derive(Clone, Debug)]
pub enum Overlay {
    Help(Help),
    Log(Scroll),
    /// The details of the element at the cursor.
    Details(Scroll),
    /// The questions before an action on the fabric.
    Dialogue(Box<Dialogue>),
}
