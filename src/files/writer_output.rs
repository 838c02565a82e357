//! The result of a writer: the text, and what the format cannot express.

use fabdeck_fabric::observe::Notes;

/// The text of a file to write, and notes on what was left out or renamed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WriterOutput {
    pub text: String,
    pub notes: Notes,
}
