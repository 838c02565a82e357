//! Drivers: how the writes of a change get to a fabric.

mod direct;
mod opensm;
mod reopened;
mod road;

pub use direct::Direct;
pub use opensm::{Checked, Opensm, OpensmSite, Refusal};
pub use reopened::Reopened;
pub use road::{AlteredWrites, Driver, Halt, Heed, NOT_THROUGH_OPENSM, not_back, verify};
