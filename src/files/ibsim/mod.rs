//! Net files of ibsim: the fabric that ibsim simulates.

mod enabled;
mod read;
mod write;

pub use read::{ID, looks_like, read};
pub use write::write;
