//! Pairs that failures take until the fabric is rerouted, the losses that further failures would cause, and the load
//! of traffic patterns and jobs on channels.

mod cable_users;
mod connectivity;
mod expected_loss;
mod failed_parts;
mod flow_paths;
mod group_damage;
mod hit_ports;
mod jobs;
mod marked_paths;
mod path_index;
mod permutation_loads;
mod source_counts;

pub use cable_users::CableUse;
pub use connectivity::vertex_connectivity;
pub use expected_loss::ExpectedLoss;
pub use flow_paths::FlowPaths;
pub use group_damage::{GroupDamage, group_damage};
pub use hit_ports::{DegradedPort, HitPorts};
pub use jobs::{EffectiveIndex, JobLoads, JobMetrics};
pub use marked_paths::{CutOffPairs, MarkedPaths};
pub use path_index::{ElementLoss, PathIndex, PathLosses};
pub use permutation_loads::{AverageBandwidth, PermutationLoads, ShiftLoad, WorstPermutation};
