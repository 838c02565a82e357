//! The command `run`: runs the steps of a runbook with the functions of the commands.

pub(crate) mod args;
mod change_steps;
pub(crate) mod command;
mod compare_step;
mod external_steps;
mod fabric_check;
mod job_steps;
mod plan_steps;
mod run_journal;
mod run_report;
mod runner;
pub(crate) mod schema;
mod snapshot_steps;
