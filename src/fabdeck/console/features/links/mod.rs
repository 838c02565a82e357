//! The screen Links: every cable, with the ports at its ends.

mod feature;
pub(crate) mod link_errors;
pub(crate) mod screen;

pub(crate) use feature::FEATURE;
