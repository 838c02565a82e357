//! Orders the writes of a plan: the blocks one after another, and the switches within each block. The aim is few pairs
//! without a path while some switches have their new entries and others do not. Reports the worst state.

mod block_order;
mod constraints;
mod destination_tree;
mod order_context;
mod packet_fates;
mod sequence;
mod transient_loss;

pub use sequence::{OrderedWrites, measure_writes, order_writes};
pub use transient_loss::{TransientLoss, UnfailedLoss};
