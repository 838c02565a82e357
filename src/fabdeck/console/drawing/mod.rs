//! Draws the state of the console into a buffer. It decides nothing.

pub(crate) mod braille;
pub(crate) mod buffer_area;
pub mod canvas;
pub(crate) mod chart;
pub mod color_depth;
pub(crate) mod details;
mod footer;
pub mod frame;
pub(crate) mod gauge;
mod header;
pub(crate) mod heat;
mod help;
pub(crate) mod list;
mod log;
pub(crate) mod overlay_pane;
pub(crate) mod pane;
mod progress;
mod prompt;
pub mod screen_svg;
pub mod symbols;
pub(crate) mod terminal_keys;
pub mod theme;
pub(crate) mod theme_choice;
mod theme_file;
