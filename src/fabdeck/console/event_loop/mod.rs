//! Inputs in, effects out: keys and their actions, the input line, results of tasks. No part of it depends on a terminal,
//! so tests drive it with the same keys as an operator.

pub mod actions;
pub(crate) mod command_lines;
pub mod event;
pub(crate) mod goto_keys;
pub(crate) mod help;
pub mod keymap;
pub(crate) mod line_input;
pub(crate) mod mouse_input;
pub(crate) mod navigation;
pub(crate) mod overlays;
pub mod page_rows;
mod palette;
pub(crate) mod results;
pub mod run_action;
pub mod theme_choice;
pub mod update;
pub mod welcome_text;
