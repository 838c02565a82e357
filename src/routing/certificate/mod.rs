//! The certificate: properties of routes from any source, derived from the tables alone.

mod certify;
mod choice_proof;
mod choice_sets;
mod choice_sources;
mod choice_walk;
mod choices;
mod cycle_search;
pub(super) mod dependencies;
pub(super) mod hop_lanes;
pub(super) mod lane_dependencies;
mod lane_mapping;
mod lost_pairs;
mod picked_paths;
mod report;
pub(super) mod service;

pub use certify::{certify, certify_partitioned, pairs_in_scope};
pub use choices::{
    ChoiceCertificate, ChoicePath, LostChoice, adaptive_doubts, certify_choices, choices_differ_by_level,
};
pub use hop_lanes::levels_of;
pub use lane_mapping::{LaneHop, LaneMapping, data_lane_count};
pub use report::{
    Certificate, DependencyCycle, DependencyProof, ForwardingIndex, ForwardingLoop, ForwardingLoops,
    LaneKnowledge, LostPair, LostPairs, PairKind, PathLengths, RouteScope,
};
pub use service::{CreditLoop, MissingLane, ServiceCertificate, certify_service};
