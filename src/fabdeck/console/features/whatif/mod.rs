//! The screen What-if: the marks, their cost, and the engines side by side.

pub(crate) mod draw;
mod draw_pairs;
mod draw_sides;
mod draw_victims;
pub(crate) mod engine_page;
pub mod engine_runs;
pub mod engines;
mod feature;
pub mod marking;
mod marks;
pub(crate) mod plan_file;
pub mod preview_paths;
mod proposal_outcome;
pub mod screen;
mod side_matrix;
pub(crate) mod victims_page;
pub(crate) mod whatif_layout;

pub(crate) use feature::{FEATURE, open_engines};
