//! The screen Paths: the hops between two ports, and the destinations over a cable.

pub(crate) mod draw;
mod draw_line;
mod draw_panes;
mod draw_times;
mod feature;
mod pair_facts;
mod pair_words;
pub(crate) mod path_navigation;
mod path_panes;
pub(crate) mod screen;

pub(crate) use feature::FEATURE;
