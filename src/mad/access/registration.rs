//! What machines tell each other of changes: whoever has one pending registers it with the subnet manager, where every
//! machine of the fabric finds it.

use std::time::Duration;

/// A pending change, as every machine of the fabric can see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// The id of the change.
    pub change: String,
    /// The machine that its guard runs on.
    pub host: String,
    /// The GID of the port that it was registered through; none: that of whoever registers it.
    pub port: Option<[u8; 16]>,
    /// Counts the guards that the change had.
    pub epoch: u64,
    /// Grows as long as the guard lives.
    pub beat: u32,
    /// How long it stays without its guard.
    pub lease: Duration,
}

/// What is registered of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Registered {
    Nothing,
    One(Registration),
    /// Of more than one machine: they came at the same moment.
    Several,
    /// Nobody keeps registrations, for this reason.
    NotKept(String),
}
