//! Views as lines: what a screen shows, in words that another session opens.

pub mod console_view;
mod feature;
pub mod open_view;
pub mod view_line;

pub(crate) use feature::FEATURE;
