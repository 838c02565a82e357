//! The screen Map: the drawn map, the tree by rank, tables of switches and hosts, and the ports of a node.

pub(crate) mod draw_element;
pub mod draw_lines;
pub(crate) mod draw_map;
pub(crate) mod draw_matrix;
pub(crate) mod draw_pair;
pub(crate) mod draw_path;
pub(crate) mod draw_ring;
pub(crate) mod draw_slice;
pub mod drawn_map;
mod feature;
mod figure_task;
pub mod figures;
mod grid;
pub(crate) mod health;
pub mod line_layout;
pub mod lit_path;
pub mod map_part;
pub mod matrix;
mod member_page;
pub mod pair_table;
pub mod rank_task;
pub mod screen;
pub mod torus;
pub mod tree;

pub(crate) use feature::FEATURE;
