//! Traffic in the simulator: nothing comes from nowhere, and what networks are known for happens by itself.

mod books;
mod changes;
mod papers;
mod relaned;
mod shares;
pub mod stage;
mod standstill;
mod verdicts;
