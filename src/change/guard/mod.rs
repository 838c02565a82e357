//! Who keeps a change: applies it, keeps its time, and takes it back when nobody confirms.

mod ask;
mod door;
mod drift;
mod keeper;
mod notices;
mod outlook;
mod phases;
mod reach;
mod trail;

pub use ask::{Answer, Ask, Order, Status};
pub use door::{Door, DoorError, call, call_within};
pub use keeper::{ALL_LEFT, Errand, Guard};
pub use outlook::{Outlook, Wrong, switched, unreached, wrong};
pub use reach::OUT_OF_REACH;
