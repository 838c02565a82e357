//! A report of a trap under way to its subscriber.

use fabdeck_mad::access::AddressedMad;

/// A report that is not acknowledged yet.
#[derive(Clone, Debug)]
pub struct PendingReport {
    /// The datagram, addressed to the subscriber's LID and queue pair.
    pub(super) parcel: AddressedMad,
    pub(super) left: u32,
}
