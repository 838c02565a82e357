//! The certificate: what is true of routes, from the tables alone, whoever made them.

pub(super) mod dependencies;
mod judge;
mod pairs;
mod verdict;

pub use dependencies::{Cycle, Proof};
pub use judge::certify;
pub use verdict::{
    Certificate, ForwardingIndex, Kind, LaneKnowledge, Loop, Loops, LostPair, LostPairs, PathLengths, Scope,
};
