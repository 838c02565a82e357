//! A simulated fabric that answers management datagrams byte for byte, in simulated time and deterministic by seed. It
//! answers subnet packets by directed route, and by LID through its own tables. It has performance counters, M_Key
//! protection, path records, and a stand-in for the subnet manager. Lines may lose, delay, repeat and reorder packets.
//! `traffic` moves packets over virtual lanes, and ports count them.

mod administration;
mod arbitration;
mod build;
mod device;
mod hosts;
mod journey;
mod line;
mod log;
mod manager;
mod notices;
mod performance;
mod port;
mod reports;
mod services;
mod simulate;
mod story;
mod subnet;
pub mod traffic;
mod underway;
mod world;

pub use device::AdaptiveProfile;
pub use line::{Dice, Line, Share};
pub use log::EventLog;
pub use manager::with_lmc;
pub use port::SimulatedPort;
pub use simulate::{AttachError, Seat, Simulator};
pub use story::{Change, Demo, Scene};
pub use underway::{Behind, Ratio, Underway};
pub use world::{Carried, World};
