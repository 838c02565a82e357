//! The command `run`: runs the steps of a runbook with the functions of the commands.

pub(crate) mod command;
mod run_report;
