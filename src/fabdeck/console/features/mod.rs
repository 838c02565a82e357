//! The features of the console, a folder each: a screen with its actions, background tasks and drawing. Files are what
//! several of them share.

pub mod awaited;
pub mod changes;
pub mod chart_axes;
pub mod chart_time;
pub mod completion;
pub mod details;
pub(crate) mod feature;
pub(crate) mod feature_table;
pub mod goto;
pub mod health;
pub(crate) mod hotspots;
pub mod jobs;
pub mod lanes;
mod links;
pub mod map;
pub mod name_completion;
pub mod outputs;
pub mod panes;
pub(crate) mod paths;
pub mod plan_commands;
pub(crate) mod preconditions;
pub mod refresh;
pub mod row_selection;
mod row_table;
pub mod screen;
pub mod screen_change;
pub(crate) mod screen_table;
pub mod screens;
pub mod snapshot_change;
pub(crate) mod snapshot_outcomes;
pub mod target_id;
pub mod timeline;
pub mod tour;
pub mod views;
pub mod watch;
pub mod whatif;
