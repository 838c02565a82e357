//! Drivers: how the writes of a change get to a fabric.

mod direct_driver;
mod opensm;
mod reconnecting;
mod transport;

pub use direct_driver::DirectDriver;
pub use opensm::{OpensmCheck, OpensmDriver, OpensmRefusal};
pub use reconnecting::Reconnecting;
pub use transport::{Driver, Halt, NOT_VIA_OPENSM, ProgressCheck, find_unrestored, verify_writes};
