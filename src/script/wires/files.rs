//! Ties `convert --to` to the formats that can be written. A line each.

use crate::script::{WriteError, Writer, Written, csv};
use crate::session::Look;

/// In the order of help.
pub static WRITERS: &[Writer] =
    &[Writer { id: "csv", title: "every port with its peer, comma-separated", topology: false, write: csv }];

fn csv(look: &Look) -> Result<Written, WriteError> {
    Ok(Written { bytes: csv::ports(look), ..Written::default() })
}
