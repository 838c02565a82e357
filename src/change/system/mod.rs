//! What changes ask of the machine they run on: its disk, clocks, locks, sockets and processes. `LocalSystem` is the machine
//! itself; tests bring a simulated one, on which every crash, clock and foreign user follows from a seed.

mod file;
mod local;
mod process;
mod traits;

pub use file::{FileKind, FileStatus, OpenFile, OpenMode};
pub use local::LocalSystem;
pub use process::LockHolder;
pub use traits::{OpenDoor, System};
