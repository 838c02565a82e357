//! Real adapters, through libibumad. It is loaded when a port or the list of adapters is asked for, so one binary also
//! runs where it is not installed.

mod adapters;
mod choice;
mod library;
mod port;
mod refusal;

pub use adapters::{Adapter, AdapterPort, LinkLayer, adapters};
pub use port::open;
