//! The tour: ten steps through the live screens. A step says what to look at and which keys to press, in a pane below the
//! screen, and the next one comes when that was done.

pub mod draw;
mod feature;
pub mod tour_state;
pub mod tour_steps;

pub(crate) use feature::FEATURE;
