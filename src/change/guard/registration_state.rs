//! What a guard has registered with the subnet manager, and which registrations of others keep it from beginning.

use crate::clock::BootTime;
use fabdeck_mad::access::{Registration, RegistrationLookup};

/// What this guard has registered.
#[derive(Debug, Default)]
pub(crate) struct RegistrationState {
    pub held: Option<Registration>,
    /// When the subnet manager last took the registration.
    pub renewed: Option<BootTime>,
    /// Whether the registration was removed.
    pub ended: bool,
    pub due: Option<BootTime>,
    /// What is wrong with the registration.
    pub trouble: Option<String>,
    /// Whether a newer guard keeps the change.
    pub superseded: bool,
}

/// Why a change may not begin beside what is registered.
pub fn registration_conflict(found: &RegistrationLookup, id: &str) -> Option<String> {
    match found {
        RegistrationLookup::One(other) if other.change != id => Some(format!(
            "FD-5643: machine {} has change {} of this fabric pending and registered with the subnet manager: confirm it or roll it \
             back there first",
            other.host, other.change
        )),
        RegistrationLookup::Several => Some(
            "FD-5644: several machines have registered a change of this fabric with the subnet manager: try again when \
             they are confirmed or rolled back"
                .to_owned(),
        ),
        _ => None,
    }
}
