//! Plans: what exactly would be written to which fabric, as a file that can be read, compared and checked.

mod essence;
mod failed;
mod fingerprint;
mod lanes;
mod plan;
mod standing;
mod transition;
mod writes;

pub use failed::{FailedElement, FailedEnd};
pub use fingerprint::{Change, Fingerprint, LanePrint};
pub use lanes::PlanLanes;
pub use plan::{Drift, Drifted, Plan, PlanFileError, SCHEMA, Scope};
pub use standing::Standing;
pub use transition::TransitionReport;
pub use writes::{BlockWrite, PlanError, writes};
