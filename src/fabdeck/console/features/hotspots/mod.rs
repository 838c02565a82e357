//! The screen Hot-spots: ports during a watch, their troubles and the reasons.

pub(crate) mod detail;
pub(crate) mod draw;
mod draw_backlog;
mod draw_proof;
mod feature;
mod hotspot_panes;
mod relief;
pub(crate) mod screen;

pub(crate) use feature::FEATURE;
