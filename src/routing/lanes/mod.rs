//! dFtree: which flows go to the slow lane and which come back, the levels and lanes that are slow twins of those in use, and
//! what every port on the way has to hold for them.

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
