//! dFtree: which flows move to the slow lane and which go back, the slow twins of the levels and lanes in use, and the
//! SL2VL and VL arbitration tables that every port on the path needs for them.

mod hot_spot_paths;
mod moves;
mod refusal;
mod slow_twin_tables;
mod slow_twins;

pub use hot_spot_paths::{HotSpotPaths, PortHop, hot_spot_paths};
pub use moves::{FlowMoves, HotSpotMoves, MissingEnd, MovePhase, MovedFlows, lids_of, propose_moves};
pub use refusal::SlowLaneRefusal;
pub use slow_twin_tables::{ArbitrationChange, Sl2VlChange, SlowTwinTables, prepare_tables};
pub use slow_twins::{SlowTwins, fast_levels};
