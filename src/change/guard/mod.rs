//! The guard of a change: it applies the change, watches the deadline, and rolls back without a confirmation.
//!
//! `protocol`, `access_policy` and `guard_socket` lie below `system`, whose trait opens a guard's socket and sends requests
//! to it. They import values and `system::traits` alone; the other files use `system`, and `guard_run` is above them.

pub(crate) mod access_policy;
mod access_rights;
mod clock_steps;
mod drift;
mod drift_state;
mod guard_client;
mod guard_process;
mod guard_run;
pub(crate) mod guard_socket;
mod notices;
mod phase_notices;
pub(crate) mod protocol;
mod refusal_log;
mod refusal_trail;
mod registration;
mod registration_state;
mod rollback_outlook;
mod rollback_retry;
mod socket_folder;
mod standby;
mod takeover;
mod trail_writer;
mod window;

pub use access_policy::AccessPolicy;
pub use access_rights::{Caller, Grantee, Rights};
pub use guard_client::{RequestError, current_phase, request_status, send_with_restart};
pub use guard_process::{GuardProcess, GuardRole, StartGuard, take_guard_lock};
pub use guard_run::{EVERYTHING_LEFT, Guard, GuardMemory, GuardMode};
pub use guard_socket::{GuardSocket, is_listening, request_description, send_request, send_request_within};
pub use protocol::{
    ChangeDescription, ChangeStatus, GuardAnswer, GuardRequest, GuardSocketError, QueuedRequest,
    already_decided,
};
pub use refusal_log::RefusalLog;
pub use registration::host_name;
pub use registration_state::registration_conflict;
pub use rollback_outlook::{
    RollbackOutlook, RolledBackTables, RoutingDefects, find_defects, find_rollback_defects, first_unreached,
    switched_ports, tables_after_rollback,
};
pub use rollback_retry::UNREACHABLE_TIMEOUT;
pub use socket_folder::{list_sockets, socket_path};
pub use standby::{GuardTakeover, wait_as_standby};
pub use window::{deadline_now, window_left};
