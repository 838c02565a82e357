//! The problems of a fabric, ranked: what is wrong, why, who is hit, and what to do next.

mod acknowledged_extent;
pub mod acknowledgements;
pub mod cable_overview;
pub mod cable_report;
mod cabling_problems;
pub(crate) mod congestion_problems;
pub(crate) mod health_check;
mod hits;
pub mod job_hits;
pub(crate) mod kept_annotations;
pub mod link_health_coverage;
pub mod link_history;
mod link_problems;
mod node_problems;
pub(crate) mod pending_changes;
mod plane_problems;
pub mod problem;
pub(crate) mod problem_list;
pub mod ranked_problems;
mod sensor_problems;
pub mod short_port_name;
pub mod table_certificate;
mod table_problems;
mod wire_problems;
