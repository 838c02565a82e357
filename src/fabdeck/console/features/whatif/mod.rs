//! The screen What-if: the marks, their cost, and the engines side by side.

pub(crate) mod draw;
pub(crate) mod engine_page;
mod engines;
mod marks;
pub mod screen;
