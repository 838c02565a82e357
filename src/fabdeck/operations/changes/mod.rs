//! Applied changes, as rows and in words.

pub mod change_row;
pub(crate) mod rows;
