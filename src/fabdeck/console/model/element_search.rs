//! The element that a text names.

use super::line_words::{rephrase_for_console, split_words};
use super::state::SessionState;
use crate::catalogue::severity::Severity;
use fabdeck_fabric::{Element, ElementId, FoundElement};

pub(crate) fn find_element(state: &mut SessionState, text: &str) -> Option<ElementId> {
    let look = state.known.look.clone()?;
    // A name with spaces may be quoted, but need not be.
    let whole = split_words(text);
    let text = if let [(_, only)] = whole.as_slice() { only } else { text };
    match Element::find_noted(look.fabric(), &look.names, text) {
        Ok(FoundElement { id, guess }) => {
            if let Some(guess) = guess {
                state.log_message(Severity::Warning, guess);
            }
            Some(id)
        }
        Err(error) => {
            state.log_message(Severity::Error, rephrase_for_console(&error.to_string()));
            None
        }
    }
}
