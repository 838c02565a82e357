//! Why the store of a watch cannot be used.

use std::io;

use fabdeck_change::ChainError;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "{place}: FD-7350: the store of events cannot be {what}: {error}; check that its disk has space and works"
    )]
    Disk { place: String, what: &'static str, error: io::Error },
    #[error(
        "{place}: FD-7351: another watch stores the events of this fabric: {holder}; end it, or watch without a store (--store no)"
    )]
    Taken { place: String, holder: String },
    #[error(
        "{place}/ledger: {error}: the ledger is damaged; move the folder aside, then the next watch begins a new one"
    )]
    Damaged { place: String, error: ChainError },
    #[error("{place}: FD-7352: {what}; a newer fabdeck may have written it, or move the folder aside")]
    Foreign { place: String, what: String },
}
