//! The screens: their content, their cursor, and the effect of Enter and Esc. A screen is a folder or file,
//! and a line in `SCREENS`.

mod changes;
mod details;
mod fabric;
mod hotspots;
mod jobs;
mod lanes;
mod link_errors;
mod links;
mod paths;
mod screen;
mod table_of;
mod timeline;
mod whatif;

pub use changes::{ChangesScreen, change_detail};
pub use details::{Detail, PortLine, Whole, rows_of_page};
pub use fabric::{FabricScreen, FabricView, TreeItem, TreeRow, per_line};
pub use hotspots::{HotView, HotspotsScreen, hot_lines};
pub use jobs::{JobView, JobsScreen, channel_steps, job_detail};
pub use lanes::{LaneView, LanesScreen, lane_detail};
pub use links::LinksScreen;
pub use paths::PathsScreen;
pub use screen::{Direction, Entered, SCREENS, Screen, ScreenId, ScreenTitle, Screens};
pub use timeline::{TimelineScreen, event_detail};
pub use whatif::{WhatifPane, WhatifScreen, engine_lines, loss_lines};
