//! The screen Paths: the hops between two ports, and the destinations over a cable.

pub(crate) mod draw;
pub(crate) mod path_navigation;
pub(crate) mod screen;
