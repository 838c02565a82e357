//! Real adapters, through libibumad. The library is loaded only when a port or the list of adapters is needed, so the
//! binary also runs without it.

mod adapter;
mod adapters;
mod library;
mod management_pairs;
mod port;
mod port_choice;
mod refusal;

pub use adapter::{Adapter, AdapterPort, LinkLayer};
pub use adapters::adapters;
pub use management_pairs::describe_classes;
pub use port::{open_umad_planes, open_umad_port};
