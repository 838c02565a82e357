//! What changes need of the operating system: its disk, clocks, locks, sockets and processes. `LocalSystem` is this
//! machine. Tests use a simulated one, in which crashes, clocks and foreign users follow from a seed.

mod file;
mod local;
mod process;
pub(crate) mod process_status;
mod thread_progress;
pub(crate) mod traits;

pub use file::{FileKind, FileStatus, OpenFile, OpenMode};
pub use local::LocalSystem;
pub use process::LockHolder;
pub use process_status::ProcessStatus;
pub use thread_progress::{COMMAND_THREAD, ThreadProgress};
pub use traits::{ListeningSocket, System};
