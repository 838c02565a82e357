//! The console's drawing: draws the state of a session and turns terminal events into keys. It decides nothing.

mod buffer_area;
mod canvas;
mod color_depth;
mod details;
mod dialogue;
mod draw;
mod footer;
mod header;
mod heat;
mod help;
mod hotspots;
mod jobs;
mod keys;
mod lanes;
mod list;
mod log;
mod map;
mod paths;
mod progress;
mod prompt;
mod symbols;
mod theme;
mod theme_file;
mod timeline;
mod tour;
mod whatif;

pub use color_depth::ColorDepth;
pub use draw::{Appearance, draw};
pub use keys::translate_event;
pub use symbols::Symbols;
pub use theme::{BUILT_IN, Role, Theme, theme_names};
pub use theme_file::ThemeError;
