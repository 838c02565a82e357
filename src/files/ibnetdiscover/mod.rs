//! The topology text of `ibnetdiscover`.

mod read;
mod write;

pub use read::{ID, looks_like, read};
pub use write::write;
