//! The screen Fabric: the tree by rank, tables of switches and hosts, the map, and the ports of a node.

mod map;
mod screen;
mod tree;

pub use map::switches_per_line;
pub use screen::{FabricScreen, FabricView};
pub use tree::{TreeItem, TreeRow};
