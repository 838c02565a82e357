//! Trees without a search: switches stand in a line, every path goes towards its front first and away from it after, so
//! that no paths close a cycle, whatever they are; trees are grown in it by what channels carry, and grown again as long
//! as the busiest channel gains.

pub(super) mod flat_graph;
mod passes;
mod switch_order;
mod tree_grower;
mod weighted_load;

pub(super) use passes::{SpreadTrees, TreeTask};
pub(super) use switch_order::{SwitchOrder, TurnLoads};
