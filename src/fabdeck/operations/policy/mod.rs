//! What a watch may do by itself: a policy takes bad links between switches out of use and back, and drains nodes behind
//! bad cables. Decisions are pure (`link_decisions`, `node_decisions`); what is done is a change like every other.

pub mod isolation_plan;
pub mod link_decisions;
pub mod link_troubles;
pub mod node_decisions;
mod node_runner;
pub mod policy_actions;
pub mod policy_file;
pub mod policy_notice;
pub mod policy_observation;
pub mod policy_runner;
pub mod policy_store;
pub mod policy_switch;
pub(crate) mod policy_writer;
