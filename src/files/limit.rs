//! The size limit of a fabric.

use super::FileError;
use fabdeck_fabric::observe::Place;

/// Most nodes. A subnet has 49,151 LIDs; the rest is for nodes without a LID (down, or not addressed yet).
pub(crate) const MOST_NODES: usize = 60_000;

/// Refuses a file at the first node beyond the limit. `count` includes that node.
pub(super) fn check_nodes(count: usize, place: impl FnOnce() -> Place) -> Result<(), Box<FileError>> {
    if count <= MOST_NODES {
        return Ok(());
    }
    let what = format!("more than {MOST_NODES} nodes; one subnet has 49151 LIDs");
    Err(FileError::new("FD-2003", place(), what, "give the dump of one subnet, not of several in one file"))
}
