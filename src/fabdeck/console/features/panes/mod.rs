//! The panes of all screens: zoom, borders that move, and where their places are kept.

mod feature;
pub mod kept_sizes;
pub mod pane_actions;

pub(crate) use feature::FEATURE;
