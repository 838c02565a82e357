//! What-if: the marks, what they cost, and the engines side by side.

mod engines;
mod marks;
mod screen;

pub use screen::{WhatifPane, WhatifScreen};
