//! Commands for changes: apply, confirm, extend, roll back and list; and the guard process.

pub(crate) mod acceptance;
mod apply;
pub(crate) mod args;
pub(crate) mod change_comparison;
pub(crate) mod change_exit;
mod change_list;
pub(crate) mod change_steps;
pub(crate) mod change_store;
mod change_table;
pub mod console_changes;
pub(crate) mod decision_commands;
pub mod env;
mod foreign_changes;
pub(crate) mod guard;
mod guard_requests;
mod in_process;
mod lane_migration;
mod metrics;
mod other_machine;
pub(crate) mod overdue;
pub(crate) mod preparation;
pub(crate) mod refusal_audit;
pub(crate) mod schemas;
mod seen_changes;
pub(crate) mod service;
mod standby_guard;
pub(crate) mod verification;
