//! The guard of a change: it applies the change, watches the deadline, and rolls back without a confirmation.

mod ask;
mod door;
mod drift;
mod keeper;
mod notices;
mod outlook;
mod phases;
mod process;
mod reach;
mod refusals;
mod registering;
mod request;
mod rights;
mod second;
mod socket_folder;
mod taken_over;
mod trail;
mod window;

pub use ask::{Answer, Ask, Description, Order, Status, decided};
pub use door::{AccessPolicy, Door, DoorError, call, call_within, describe, is_listening};
pub use keeper::{ALL_LEFT, Errand, Guard};
pub use outlook::{Outlook, Wrong, switched, unreached, wrong};
pub use process::{GuardMode, GuardProcess, StartGuard, take_keeping};
pub use reach::OUT_OF_REACH;
pub use refusals::Refusals;
pub use registering::{host_name, stands_against};
pub use request::{RequestError, request, request_status};
pub use rights::{Caller, Grantee, Rights};
pub use second::{GuardReplaced, wait_beside};
pub use socket_folder::{socket_in, sockets};
pub use window::{deadline_now, window_left};
