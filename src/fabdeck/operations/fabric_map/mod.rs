//! The map of a fabric as data: ranks, groups, coordinates and cables of its switches, and the figures of each.
//! The console draws it in cells, the report in vectors.

pub mod figures;
pub mod groups;
pub mod pair_detail;
pub mod pair_table;
pub mod ranks;
mod sender_lids;
pub mod structure;
pub mod torus;
