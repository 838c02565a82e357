//! The multicast groups of a simulated fabric, and tables of them that are under way.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;
use std::time::Duration;

use fabdeck_fabric::PartitionKey;
use fabdeck_mad::Mad;

use super::device::PortRef;

/// A group, with the join state of each member. Members of the broadcast group are all hosts, which have none here.
#[derive(Clone, Debug)]
pub struct SimulatedGroup {
    pub mgid: Ipv6Addr,
    pub mlid: u16,
    pub key: PartitionKey,
    pub level: u8,
    pub members: BTreeMap<PortRef, u8>,
}

/// How the manager sends tables of more than one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TransferFault {
    #[default]
    None,
    /// The transfer is aborted instead of this segment.
    Abort(u32),
    /// This segment and all later ones never come.
    Silence(u32),
    /// The last segment states this length.
    Length(u32),
    /// Segments have no number, as over ibsim, and further ones never come.
    Unnumbered,
    /// Records lie this number of bytes apart.
    Stride(u16),
    /// The manager refuses with this status.
    Refuse(u16),
    /// Every segment is the first one again.
    Repeat,
}

/// Groups beside the broadcast group, and the transfers under way.
#[derive(Clone, Debug, Default)]
pub struct GroupRecords {
    pub groups: Vec<SimulatedGroup>,
    pub fault: TransferFault,
    /// The tables that were not acknowledged to their end, by LID and transaction of the query.
    pub transfers: BTreeMap<(u16, u64), PendingTable>,
}

/// A table under way.
#[derive(Clone, Debug)]
pub struct PendingTable {
    pub segments: Vec<Mad>,
    /// The number of segments that were acknowledged, and when the next one was sent.
    pub acknowledged: u32,
    pub sent_at: Duration,
}
