//! Pairs that failures take until the fabric is rerouted, the losses that further failures would cause, and the load
//! of traffic patterns and jobs on channels.

mod expected;
mod flows;
mod groups;
mod jobs;
mod loads;
mod marked;
mod paths;
mod struck;
mod users;

pub use expected::Expected;
pub use flows::Flows;
pub use groups::{GroupsCut, groups_cut};
pub use jobs::{Effective, JobLoads, JobMetrics};
pub use loads::{Average, Loads, Shift, Worst};
pub use marked::Marked;
pub use paths::{ElementLoss, Lost, Paths};
pub use users::Use;
