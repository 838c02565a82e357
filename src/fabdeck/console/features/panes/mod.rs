//! The panes of all screens: zoom, borders that move and where their places are kept, details that stay on a row.

pub mod detail_scroll;
mod feature;
pub mod kept_sizes;
pub mod pane_actions;
pub mod pins;

pub(crate) use feature::FEATURE;
