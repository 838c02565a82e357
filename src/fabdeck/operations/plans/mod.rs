//! Plans: made from a proposal, a phase or the service of a link, and compared with a fabric.

pub mod link_service;
pub mod phases;
pub mod plan_request;
pub(crate) mod plan_verdict;
pub mod proposal_plan;
