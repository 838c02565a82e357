//! Traffic: packets over virtual lanes with credits, through input-buffered cut-through switches, under SL2VL and
//! arbitration tables. Head-of-line blocking, unfair shares and deadlock follow from these rules; no table states
//! them. Deterministic by seed, with its own clock.

mod arbiter;
mod audit;
mod changes;
mod circle;
mod counters;
mod error;
mod flow;
mod lanes;
mod levels;
mod load;
mod network;
mod packets;
mod pattern;
mod plant;
mod range;
mod senders;
mod settings;
mod steady;
mod tables;
mod tally;
mod wheel;
mod words;

pub use circle::{Deadlock, Held};
pub use counters::{PortCount, Wires};
pub use error::TrafficError;
pub use flow::{Flow, FlowCount, FlowOrder};
pub use lanes::Service;
pub use load::{Given, Load};
pub use network::TrafficRun;
pub use pattern::Pattern;
pub use settings::Settings;
pub use tally::{EndCount, Latency};
pub use words::{Details, PATTERNS, Word};
