//! The screen What-if: the marks, their cost, and the engines side by side.

mod engine_page;
mod engines;
mod marks;
mod screen;

pub use engine_page::{engine_lines, loss_lines};
pub use screen::{WhatifPane, WhatifScreen};
