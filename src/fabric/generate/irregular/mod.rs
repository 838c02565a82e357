//! Irregular trees, as production fabrics are: no two alike, each drawn from a seed.
//!
//! A family says how the tree came to be; what happens to any fabric in operation comes on top (`Site::accidents`):
//! missing cables, links within a level, leaves without hosts, hosts on spines, numbers in no order.

mod drawn;
mod families;
mod site;

pub(super) use self::drawn::{ANY, Family, Scale, has_aggregation, irregular};
