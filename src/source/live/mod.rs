//! Reading a live fabric over a port: discovery, tables, lanes, counters, and who did not answer.

mod counters;
mod discovery;
mod exchange;
mod found;
mod keys;
mod lanes;
mod levels;
mod look;
mod manager;
mod policy;
mod reader;
mod set;
mod sweep;
mod tables;

pub use keys::Keys;
pub use look::{LiveSource, Remarks, look};
pub use policy::Policy;
pub use set::{Done, SetError, Setter, Target};
