//! The screen Map: the tree by rank, tables of switches and hosts, the map, and the ports of a node.

pub(crate) mod draw_map;
mod feature;
mod grid;
pub(crate) mod health;
pub(crate) mod rank_task;
pub(crate) mod ranks;
pub mod screen;
pub mod tree;

pub(crate) use feature::FEATURE;
