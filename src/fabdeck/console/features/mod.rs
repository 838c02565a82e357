//! The features of the console, a folder each: a screen with its actions, background tasks and drawing.

pub mod changes;
pub mod details;
pub mod fabric;
pub(crate) mod hotspots;
pub mod jobs;
pub mod lanes;
mod links;
pub(crate) mod paths;
mod row_table;
pub mod screen;
pub mod timeline;
pub mod watch;
pub mod whatif;
