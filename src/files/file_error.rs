//! Errors of files: what is wrong, where, and what to do.

use fabdeck_fabric::observe::NotePlace;

/// A file that cannot be read, with the place of the first error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {code}: {what}; {hint}")]
pub struct FileError {
    /// Stable: `FD-2xxx`.
    pub code: &'static str,
    pub place: NotePlace,
    pub what: String,
    pub hint: String,
}

impl FileError {
    pub fn new(
        code: &'static str,
        place: NotePlace,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) -> Box<Self> {
        Box::new(Self { code, place, what: what.into(), hint: hint.into() })
    }
}

impl From<Box<FileError>> for fabdeck_mad::access::SourceError {
    fn from(e: Box<FileError>) -> Self {
        Self::Input { code: e.code, place: e.place, what: e.what, hint: e.hint }
    }
}
