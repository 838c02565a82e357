//! Applied changes, as rows and in words.

pub mod attestations;
pub mod change_row;
pub mod changer;
pub(crate) mod rows;
