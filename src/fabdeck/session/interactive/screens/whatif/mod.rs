//! The screen What-if: the marks, their cost, and the engines side by side.

mod engines;
mod marks;
mod page;
mod screen;

pub use page::{engine_lines, loss_lines};
pub use screen::{WhatifPane, WhatifScreen};
