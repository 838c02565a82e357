//! The screen Hot-spots: ports during a watch, their troubles and the reasons.

pub(crate) mod detail;
pub(crate) mod draw;
mod feature;
pub(crate) mod screen;

pub(crate) use feature::FEATURE;
