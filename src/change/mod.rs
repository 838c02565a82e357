//! Plans: what exactly would be written to which fabric, as a file that can be read, compared and checked.

mod fingerprint;
mod lanes;
mod plan;
mod transition;
mod writes;

pub use fingerprint::Fingerprint;
pub use lanes::PlanLanes;
pub use plan::{Plan, PlanFileError, SCHEMA};
pub use transition::TransitionReport;
pub use writes::{BlockWrite, PlanError, writes};
