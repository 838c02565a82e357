//! The author and time of a plan.

use crate::operations::changes::change_exit::user;
use crate::operations::environment::OperationOptions;

/// The author and time of a plan, where the plan states them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PlanOrigin {
    pub created: Option<String>,
    pub author: Option<String>,
}

impl PlanOrigin {
    /// The origin of a plan that is made now, unless `--no-times` leaves it out. The author is the user of the process,
    /// as in the journal of a change, because any user can set `$USER`.
    pub fn now(options: &OperationOptions) -> Self {
        let times = !options.no_times;
        Self { created: times.then(|| jiff::Timestamp::now().to_string()), author: times.then(user) }
    }
}
