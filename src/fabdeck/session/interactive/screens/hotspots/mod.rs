//! The screen Hot-spots: ports during a watch, their troubles and the reasons.

mod detail;
mod screen;

pub use detail::{hot_detail, hot_lines};
pub use screen::{HotspotsScreen, HotspotsView};
