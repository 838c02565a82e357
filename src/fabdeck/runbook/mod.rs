//! The interpreter of runbooks: reads a runbook, checks it, and runs its steps with the guards between them and the
//! steps on failure. The caller supplies the executor of the steps.

mod execute;
mod fields;
mod guard;
mod reader;
mod report;
mod row_condition;
mod step_kinds;
mod steps;
mod validation;
pub mod value_names;
mod values;

pub use execute::{
    PendingRollback, RunMark, StepFailure, StepObservation, StepOutput, StepRunner, run_steps,
};
pub use fields::RunbookFault;
pub use guard::{Bound, GuardVerdict, StepGuard};
pub use reader::{ReaderOptions, read};
pub use report::{GuardReport, RunReport, RunState, StepReport, StepState};
pub use row_condition::{Aggregate, RowClaim, RowCondition, RowResult, TABLES};
pub use steps::{
    ApplyTask, ExpectTask, JobsTask, ProgramTask, ProposeTask, RouteTask, Runbook, RunbookStep, StepTask,
    WaitTask,
};
pub use values::{StepValue, Values};
