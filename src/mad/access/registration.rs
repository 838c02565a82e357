//! Registrations of changes: a machine with a pending change registers it with the subnet manager, where all machines
//! of the fabric find it.

use std::time::Duration;

/// A pending change, as all machines of the fabric see it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registration {
    /// The id of the change.
    pub change: String,
    /// The machine that its guard runs on.
    pub host: String,
    /// The GID of the port that the change was registered through; `None`: that of the port that registers it now.
    pub port: Option<[u8; 16]>,
    /// Number of guards that the change has had.
    pub epoch: u64,
    /// Counts up as long as the guard lives.
    pub beat: u32,
    /// How long the registration stays without its guard.
    pub lease: Duration,
}

/// What a fabric has registered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegistrationLookup {
    Nothing,
    One(Registration),
    /// Changes of more than one machine, which registered at the same moment.
    Several,
    /// No subnet manager keeps registrations, for this reason.
    NotKept(String),
}
