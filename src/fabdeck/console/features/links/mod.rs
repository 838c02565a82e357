//! The screen Links: every cable, with the ports at its ends, and a page for each.

mod cable_meaning;
mod cable_page;
mod cable_panes;
mod counter_rows;
pub(crate) mod draw_cable;
mod feature;
pub(crate) mod link_errors;
pub(crate) mod screen;
pub(crate) mod wire_lines;

pub(crate) use feature::FEATURE;
