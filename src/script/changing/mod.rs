//! Changes from the command line: apply, confirm, extend, roll back, list, and the process that keeps one.

mod accept;
mod apply;
mod args;
mod guard;
mod home;
mod pending;
mod schemas;
mod service;
mod told;

pub use args::{ApplyArgs, ExtendArgs, GuardArgs, RollbackArgs, ServiceArgs};
pub use home::resume;
pub use pending::{changes, confirm, extend, roll_back};
pub use schemas::{change, row};

pub use apply::run as apply;
pub use guard::run as guard;
pub use service::run as service;
