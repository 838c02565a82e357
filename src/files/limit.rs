//! The size limit of a fabric.

use super::FileError;
use fabdeck_fabric::observe::{NotePlace, digits_in_groups};

/// Most nodes. A subnet has 49,151 LIDs; the rest is for nodes without a LID (down, or not addressed yet).
pub(crate) const MAX_NODES: usize = 60_000;

/// Refuses a file at the first node beyond the limit. `count` includes that node.
pub(super) fn check_node_count(
    count: usize,
    place: impl FnOnce() -> NotePlace,
) -> Result<(), Box<FileError>> {
    if count <= MAX_NODES {
        return Ok(());
    }
    let what = format!("more than {} nodes; one subnet has 49,151 LIDs", digits_in_groups(MAX_NODES));
    Err(FileError::new("FD-2003", place(), what, "give the dump of one subnet, not of several in one file"))
}
