//! Plans: what exactly would be written to which fabric, as a file that can be read, compared and checked.

mod fingerprint;
mod plan;
mod writes;

pub use fingerprint::Fingerprint;
pub use plan::{Plan, PlanFileError, PlanLanes, SCHEMA};
pub use writes::{BlockWrite, PlanError, writes};
