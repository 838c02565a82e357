//! Applied changes, as rows and in words, and the interface through which a console makes them.

pub mod attestations;
pub mod change_row;
pub mod changer;
pub(crate) mod rows;
