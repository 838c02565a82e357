//! The screen Links: every cable, with the ports at its ends.

pub(crate) mod link_errors;
pub(crate) mod screen;
