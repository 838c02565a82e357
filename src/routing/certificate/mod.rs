//! The certificate: properties of routes from any source, derived from the tables alone.

mod certify;
pub(super) mod dependencies;
mod lane_dependencies;
mod lane_mapping;
mod lost_pairs;
mod report;
mod service;

pub use certify::{certify, certify_partitioned, pairs_in_scope};
pub use lane_mapping::{LaneHop, LaneMapping, data_lane_count};
pub use report::{
    Certificate, DependencyCycle, DependencyProof, ForwardingIndex, ForwardingLoop, ForwardingLoops,
    LaneKnowledge, LostPair, LostPairs, PairKind, PathLengths, RouteScope,
};
pub use service::{CreditLoop, MissingLane, ServiceCertificate, certify_service};
