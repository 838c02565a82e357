//! Fabric: the tree by rank, tables of switches and hosts, the map, and what is inside a node.

mod screen;
mod tree;

pub use screen::{FabricScreen, FabricView};
pub use tree::{TreeItem, TreeRow};
