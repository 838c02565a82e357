//! Reading a live fabric over a port: discovery, tables, lanes, counters, and who did not answer.

mod actuate;
mod counters;
mod discovery;
mod drift;
mod exchange;
mod flaps;
mod follow;
mod found;
mod keys;
mod lanes;
mod levels;
mod look;
mod manager;
mod news;
mod notify;
mod policy;
mod question;
mod reader;
mod rotation;
mod round;
mod set;
mod states;
mod subscribers;
mod survey;
mod sweep;
mod tables;
mod ticks;
mod traps;
mod turned;
mod ways;

pub use actuate::LiveActuator;
pub use keys::Keys;
pub use look::{LiveSource, Remarks, look};
pub use policy::Policy;
pub use set::{Done, SetError, Setter, Target};
pub use survey::LiveSurveyor;
