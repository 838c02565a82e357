//! Net files of ibsim: the fabric that the simulator is to play.

mod enabled;
mod read;
mod write;

pub use read::{ID, looks_like, read};
pub use write::write;
