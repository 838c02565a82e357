//! Commands for changes: apply, confirm, extend, roll back and list; and the guard process.

mod acceptance;
mod apply;
mod args;
mod change_comparison;
mod change_exit;
mod change_list;
mod change_steps;
mod change_store;
mod change_table;
mod console_changes;
mod decision_commands;
mod env;
mod foreign_changes;
mod guard;
mod guard_requests;
mod in_process;
mod lane_migration;
mod metrics;
mod other_machine;
mod preparation;
mod refusal_audit;
mod schemas;
mod seen_changes;
mod service;
mod standby_guard;
mod verification;

pub use acceptance::FINDING_NAMES as FINDINGS;
pub use args::{
    ApplyArgs, ChangesArgs, ConfirmArgs, DriverChoice, ExtendArgs, GuardArgs, RollbackArgs, ServiceArgs,
    SilentHostChoice,
};
pub use change_comparison::{ChangeComparison, compare};
pub use change_exit::user;
pub use change_steps::{
    ApplyOptions, apply as apply_step, change_folder as state_folder, confirm as confirm_step,
    driver_options, exit_code, guard_status as look_at_change, journal_status as change_status,
    refuse_findings, refuse_unwritable, refuse_without_right, roll_back as roll_back_step,
};
pub use change_store::{all_migrations_in_force, resume_abandoned};
pub use console_changes::ConsoleChanges;
pub use decision_commands::{changes, confirm, extend, roll_back};
pub use env::{ChangeOptions, Env};
pub use preparation::{DriverOptions, switch_guids};
pub use schemas::{change, changes as changes_schema};
pub use verification::{drift_message, hides_nodes, hides_part, open_findings};

pub use guard::run as guard;
pub use refusal_audit::apply_with_audit;
pub use service::run as service;
