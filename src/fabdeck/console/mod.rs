//! The console's drawing: draws the state of a session and turns terminal events into keys. It decides nothing.

mod area;
mod canvas;
mod depth;
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
mod signs;
mod theme;
mod theme_file;
mod timeline;
mod tour;
mod whatif;

pub use depth::Depth;
pub use draw::{Appearance, draw};
pub use keys::happening;
pub use signs::Signs;
pub use theme::{BUILT_IN, Role, Theme, theme_names};
pub use theme_file::ThemeError;
