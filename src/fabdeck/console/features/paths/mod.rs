//! The screen Paths: the hops between two ports, and the destinations over a cable.

pub(crate) mod draw;
mod feature;
pub(crate) mod path_navigation;
pub(crate) mod screen;

pub(crate) use feature::FEATURE;
