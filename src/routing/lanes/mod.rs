//! dFtree: which flows move to the slow lane and which go back, the slow twins of the levels and lanes in use, and the
//! SL2VL and VL arbitration tables that every port on the path needs for them.

mod moves;
mod refused;
mod tables;
mod twins;
mod ways;

pub use moves::{Gone, Moved, Moves, Phase, SpotMoves, lids_of, propose};
pub use refused::Refused;
pub use tables::{Prepared, Row, Weights, prepare};
pub use twins::{Twins, fast_levels};
pub use ways::{Hop, Ways, ways};
