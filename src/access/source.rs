//! Where a fabric can be seen. Reading only: what writes is another trait, so writing to a capture cannot compile.

use crate::observe::{Observation, Place};

/// Why a source could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The source's own words are wrong (`sim:nothing`): usage.
    #[error("{code}: {what}; {hint}")]
    Name { code: &'static str, what: String, hint: String },
    /// A file is damaged or not of a known format.
    #[error("{place}: {code}: {what}; {hint}")]
    Input { code: &'static str, place: Place, what: String, hint: String },
    /// It cannot be reached (no such file, no permission, no answer).
    #[error("{code}: {what}; {hint}")]
    Unreachable { code: &'static str, what: String, hint: String },
}

/// Something that can be looked at: a live fabric, the simulator, a capture, files.
pub trait Source {
    /// How the source is called in headers and JSON, as the operator wrote it.
    fn describe(&self) -> &str;

    /// One look.
    fn observe(&mut self) -> Result<Observation, SourceError>;
}
