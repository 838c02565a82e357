//! Irregular trees, as production fabrics are: no two alike, each drawn from a seed.
//!
//! A family says how the tree came to be; what happens to any fabric in operation comes on top (`Site::accidents`):
//! missing cables, links within a level, leaves without hosts, hosts on spines, numbers in no order.

mod families;
mod parameters;
mod tree_draft;

pub(super) use self::parameters::{ANY, Family, Scale, draw_aggregation, irregular};
