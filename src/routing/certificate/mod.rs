//! The certificate: properties of routes from any source, derived from the tables alone.

pub(super) mod dependencies;
mod judge;
mod mapping;
mod pairs;
mod service;
mod verdict;
mod waits;

pub use dependencies::{Cycle, Proof};
pub use judge::{certify, certify_among, pairs_in_scope};
pub use mapping::{Hop, Mapping, room};
pub use service::{Circle, Limit, Served, serve};
pub use verdict::{
    Certificate, ForwardingIndex, Kind, LaneKnowledge, Loop, Loops, LostPair, LostPairs, PathLengths, Scope,
};
