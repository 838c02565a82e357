//! What routes cost when parts fail: pairs lost until somebody reroutes, what further failures would take, and what
//! patterns and jobs put on channels.

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
