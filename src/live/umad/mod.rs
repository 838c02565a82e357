//! Real adapters, through libibumad, or through the kernel's files where that is missing. The library is loaded only when a
//! port or the list of adapters is needed.

mod adapter;
mod adapters;
mod driver;
mod kernel_device;
mod kernel_driver;
mod library;
mod management_pairs;
mod packet;
mod port;
mod port_choice;
mod refusal;

pub use adapter::{Adapter, AdapterPort, LinkLayer};
pub use adapters::adapters;
pub use driver::MadLibrary;
pub use management_pairs::describe_classes;
pub use port::open_umad_port;
