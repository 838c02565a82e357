//! Whether a change may be confirmed.

use crate::journal::JournalError;

/// What becomes of a request to confirm a change.
pub(crate) enum Confirmation {
    Allowed,
    NotYet,
    /// The change went back, or could not.
    TakenBack(Result<(), JournalError>),
}
