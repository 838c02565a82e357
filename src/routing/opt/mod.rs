//! OPT (Nienaber, Mahapatra, Yuan): two-level trees, with the least worst permutation that single paths allow.

mod group_table;
mod opt_routes;
mod two_levels;

pub(super) use opt_routes::{ID, route, suits};
