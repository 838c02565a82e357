//! Go to anything: one line that finds nodes, cables, ports, problems, actions, jobs, changes and times, and goes there.

pub mod cost_tasks;
pub(crate) mod draw;
mod draw_preview;
mod entry_rows;
mod failure_cost;
mod feature;
pub mod goto_layout;
pub mod goto_rows;
pub mod goto_state;
pub mod jump;
mod map_rows;
mod member_rows;
pub mod name_index;
pub mod name_rows;
pub mod name_search;
pub mod name_tasks;
mod preview;
pub mod text_match;

pub(crate) use feature::FEATURE;
