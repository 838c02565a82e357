//! Executes the steps of runbooks with the operations that commands and the console use.

pub mod change_steps;
pub mod compare_step;
pub mod external_steps;
pub mod fabric_check;
pub mod job_steps;
pub mod plan_steps;
pub mod run_journal;
pub mod runner;
pub mod snapshot_steps;
