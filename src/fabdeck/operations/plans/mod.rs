//! Plans: made from a proposal, a phase or the service of a link, and compared with a fabric.

pub(crate) mod adaptive_refusal;
pub mod link_service;
pub(crate) mod phased_routing;
pub mod phases;
pub(crate) mod plan_check;
pub(crate) mod plan_file;
mod plan_json;
pub mod plan_origin;
pub(crate) mod plan_overview;
pub mod plan_request;
pub(crate) mod plan_snapshot;
pub(crate) mod plan_verdict;
pub(crate) mod planned_routes;
pub mod proposal_plan;
pub(crate) mod route_plan;
pub(crate) mod tables_proposal;
pub(crate) mod undo_plan;
pub mod write_mode_offer;
