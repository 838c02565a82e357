//! The state of the console as data: the fabric, lists, messages, tasks and the input line.

pub mod action;
pub mod background_task;
pub mod console_options;
pub mod detail_page;
pub mod digest;
pub mod effect;
pub mod element_search;
pub mod fabric_model;
pub mod key;
pub mod keymap;
pub mod layout;
pub mod line_speed;
pub(crate) mod line_words;
pub mod messages;
pub mod mouse;
pub mod overlay;
pub mod pane_sizes;
pub mod panes;
pub mod prompt;
pub mod scroll;
pub mod state;
pub(crate) mod table;
pub mod task_services;
pub mod tasks;
