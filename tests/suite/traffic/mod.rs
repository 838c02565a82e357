//! Traffic in the simulator: nothing comes from nowhere, and what networks are known for happens by itself.

mod adaptive;
mod changes;
mod conservation;
mod deadlock;
mod lane_table_changes;
mod link_shares;
mod mlid_gains;
pub mod mlid_paper;
mod papers;
mod random_loads;
mod spread_lanes;
pub mod test_bed;
mod torus_lanes;
mod verdicts;
