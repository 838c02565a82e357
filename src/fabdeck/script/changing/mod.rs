//! Commands for changes: apply, confirm, extend, roll back and list; and the guard process.

mod accept;
mod apply;
mod args;
mod asking;
mod attested;
mod carried;
mod clerk;
mod foreign_changes;
mod guard;
mod home;
mod laned;
mod list;
mod listed;
mod means;
mod metrics;
mod other_machine;
mod own;
mod pending;
mod prepared;
mod refused;
mod schemas;
mod second_keeper;
mod seen;
mod service;
mod told;
mod verified;

pub use accept::NAMES as FINDINGS;
pub use args::{
    ApplyArgs, ChangesArgs, ConfirmArgs, ExtendArgs, GuardArgs, RollbackArgs, ServiceArgs, Via, WhenSilent,
};
pub use attested::{Comparison, compare};
pub use carried::{
    Terms, apply as apply_step, confirm as confirm_step, exit_code, folder as state_folder,
    look as look_at_change, refuse_findings, refuse_unwritable, refuse_without_right, road,
    roll_back as roll_back_step, status as change_status,
};
pub use clerk::Clerk;
pub use home::{in_force, resume};
pub use means::{Given, Means};
pub use pending::{changes, confirm, extend, roll_back};
pub use prepared::{Road, switches};
pub use schemas::{change, changes as changes_schema};
pub use told::user;
pub use verified::{drifted, hides, hides_nodes, open_findings};

pub use guard::run as guard;
pub use refused::apply;
pub use service::run as service;
