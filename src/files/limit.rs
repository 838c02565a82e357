//! How large a fabric may be.

use super::FileError;
use fabdeck_fabric::observe::Place;

/// More nodes than LIDs cannot be in one subnet; those without a LID (down, or not yet addressed) have room besides.
pub(crate) const MOST_NODES: usize = 60_000;

/// Refuses a file at the node that is one too many. `count` is with that node.
pub(super) fn check_nodes(count: usize, place: impl FnOnce() -> Place) -> Result<(), Box<FileError>> {
    if count <= MOST_NODES {
        return Ok(());
    }
    let what = format!("more than {MOST_NODES} nodes; one subnet has 49151 LIDs");
    Err(FileError::new("FD-2003", place(), what, "give the dump of one subnet, not of several in one file"))
}
