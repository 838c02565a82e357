//! Trees of destinations whose channel dependencies stay free of cycles while the trees change, lane by lane: what is used
//! is counted, and nothing is taken that would close a cycle, whatever the fabric looks like.

mod complete;
pub(super) mod dependency_order;
pub(super) mod escape_paths;
mod forest;
mod load_relief;
mod table_balance;
pub(super) mod tree_search;

pub(super) use complete::CompletionScope;
pub(super) use table_balance::{TableBalance, balance_tables, choose_reading, is_large};
