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
mod row_table;
mod screen;
mod timeline;
mod whatif;

pub use changes::{ChangesScreen, change_detail};
pub use details::{DetailPage, ElementDetail, PortDetail, rows_of_page};
pub use fabric::{FabricScreen, FabricView, TreeItem, TreeRow, switches_per_line};
pub use hotspots::{HotspotsScreen, HotspotsView, hot_lines};
pub use jobs::{JobView, JobsScreen, channel_steps, job_detail};
pub use lanes::{LaneView, LanesScreen, lane_detail};
pub use links::LinksScreen;
pub use paths::PathsScreen;
pub use screen::{CursorDirection, EnterResult, SCREENS, Screen, ScreenId, ScreenTitle, Screens};
pub use timeline::{TimelineScreen, event_detail};
pub use whatif::{WhatifPane, WhatifScreen, engine_lines, loss_lines};
