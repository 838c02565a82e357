//! Commands for changes: apply, confirm, extend, roll back and list; and the guard process.

pub(crate) mod apply;
pub(crate) mod args;
mod change_table;
pub(crate) mod decision_commands;
pub(crate) mod guard;
mod metrics;
pub(crate) mod service;
pub(crate) mod undo;
