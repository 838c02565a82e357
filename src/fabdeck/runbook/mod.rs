//! The interpreter of runbooks: reads a runbook, checks it, and runs its steps with the guards between them and the
//! steps on failure. The caller supplies the executor of the steps.

pub mod execute;
pub mod fields;
mod guard;
pub mod reader;
pub mod report;
pub mod row_condition;
mod step_kinds;
pub(crate) mod step_runner;
pub mod steps;
mod validation;
pub mod value_names;
pub mod values;
