//! Who keeps a change: applies it, keeps its time, and takes it back when nobody confirms.

mod ask;
mod door;
mod keeper;
mod outlook;

pub use ask::{Answer, Ask, Order, Status};
pub use door::{Door, DoorError, call};
pub use keeper::{Errand, Guard};
pub use outlook::{Outlook, Wrong, wrong};
