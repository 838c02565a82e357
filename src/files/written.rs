//! What a writer hands back: the text, and what the format could not say.

use fabdeck_fabric::observe::Notes;

/// A file to be, and the notes on what had to be left out or renamed for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Written {
    pub text: String,
    pub notes: Notes,
}
