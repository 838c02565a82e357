//! Hot-spots: ports under watch, what is wrong with them and why.

mod detail;
mod screen;

pub use detail::{hot_detail, hot_lines};
pub use screen::{HotView, HotspotsScreen};
