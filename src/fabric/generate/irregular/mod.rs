//! Irregular trees, as production fabrics are: no two alike, each drawn from a seed.
//!
//! A family says how the tree came to be; what happens to any fabric in operation comes on top
//! (`TreeDraft::apply_accidents`): missing cables, links within a level, leaves without hosts, hosts on spines, numbers
//! in no order.

pub mod draw_tree;
mod families;
pub mod parameters;
mod tree_draft;
