//! A multicast group, or a member of one, as subnet administration has it (IBA 15.2.5.17).

use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use fabdeck_fabric::{Guid, PartitionKey};

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct McMemberRecord {
    pub mgid: [u8; 16],
    /// All zero in the record of a group.
    pub port_gid: [u8; 16],
    pub queue_key: U32,
    pub mlid: U16,
    /// Selector (2), MTU (6).
    pub mtu: u8,
    pub traffic_class: u8,
    pub partition_key: U16,
    /// Selector (2), rate (6).
    pub rate: u8,
    /// Selector (2), packet life (6).
    pub packet_life: u8,
    /// SL (4), flow label (20), hop limit (8).
    pub level_flow_hop: U32,
    /// Scope (4), join state (4).
    pub scope_state: u8,
    /// Proxy join (1), reserved (7).
    pub proxy_join: u8,
    pub reserved: [u8; 2],
    /// Records begin at multiples of eight bytes.
    pub padding: [u8; 4],
}

impl McMemberRecord {
    pub const PORT_GID: u64 = 1 << 1;
    pub const MLID: u64 = 1 << 3;

    /// The GUID of the port of a member; `None` in the record of a group.
    pub fn port_guid(&self) -> Option<Guid> {
        let guid = u64::from_be_bytes(*self.port_gid.last_chunk()?);
        (self.port_gid != [0; 16]).then_some(Guid(guid))
    }

    pub fn key(&self) -> PartitionKey {
        PartitionKey::new(self.partition_key.get())
    }

    pub fn service_level(&self) -> u8 {
        (self.level_flow_hop.get() >> 28) as u8
    }

    /// The bits of the join state: 1 full member, 2 non-member, 4 send-only.
    pub fn join_state(&self) -> u8 {
        self.scope_state & 0xF
    }

    /// Whether it can be a record: multicast GIDs and LIDs have ranges of their own.
    pub fn is_plausible(&self) -> bool {
        self.mgid[0] == 0xFF && (0xC000..=0xFFFE).contains(&self.mlid.get())
    }
}
