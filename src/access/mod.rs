//! Traits between what reads a fabric and everything above it.

mod source;

pub use source::{Source, SourceError};
