//! The element that a text names.

use super::line_words::{rephrase_for_console, split_words};
use super::state::SessionState;
use crate::catalogue::severity::Severity;
use fabdeck_fabric::{Element, ElementId};

pub(crate) fn find_element(state: &mut SessionState, text: &str) -> Option<ElementId> {
    let look = state.known.look.clone()?;
    // A name with spaces may be quoted, but need not be.
    let whole = split_words(text);
    let text = if let [(_, only)] = whole.as_slice() { only } else { text };
    let found = Element::find(look.fabric(), &look.names, text);
    found.map_err(|error| state.log_message(Severity::Error, rephrase_for_console(&error.to_string()))).ok()
}
