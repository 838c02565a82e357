//! Subnet administration (IBA 15.2): records behind an RMPP header and a component mask.

use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Class, Mad, Method};
use super::subnet::{NodeDescription, NodeInfo};

const HEADER_AT: usize = 24;
/// Where the record of an SA MAD begins.
pub const RECORD_AT: usize = 56;

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct SaHeader {
    pub rmpp_version: u8,
    pub rmpp_type: u8,
    pub rmpp_flags: u8,
    pub rmpp_status: u8,
    pub segment: U32,
    pub payload_length: U32,
    /// Never shown and never stored.
    pub sm_key: U64,
    /// Distance of records in a table, in units of eight bytes.
    pub attribute_offset: U16,
    pub reserved: U16,
    pub component_mask: U64,
}

/// Leaves out the key.
impl std::fmt::Debug for SaHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SaHeader")
            .field("segment", &self.segment)
            .field("component_mask", &self.component_mask)
            .finish_non_exhaustive()
    }
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PathRecord {
    pub service_id: U64,
    pub destination_gid: [u8; 16],
    pub source_gid: [u8; 16],
    pub destination_lid: U16,
    pub source_lid: U16,
    pub hop_flow_raw: U32,
    pub traffic_class: u8,
    /// Reversible (1), NumbPath (7).
    pub reversible_count: u8,
    pub partition_key: U16,
    /// QoSClass (12), SL (4).
    pub qos_class_sl: U16,
    pub mtu: u8,
    pub rate: u8,
    pub packet_life: u8,
    pub preference: u8,
    pub reserved: [u8; 6],
}

impl PathRecord {
    pub const DESTINATION_LID: u64 = 1 << 4;
    pub const SOURCE_LID: u64 = 1 << 5;
    pub const COUNT: u64 = 1 << 12;

    pub fn service_level(&self) -> u8 {
        (self.qos_class_sl.get() & 0xF) as u8
    }
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct NodeRecord {
    pub lid: U16,
    pub reserved: U16,
    pub info: NodeInfo,
    pub description: NodeDescription,
    /// Records begin at multiples of eight bytes.
    pub padding: [u8; 4],
}

/// A subscription to traps (IBA 13.4.8.3), in its generic form.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct InformInfo {
    pub gid: [u8; 16],
    pub lid_begin: U16,
    pub lid_end: U16,
    pub reserved1: U16,
    pub is_generic: u8,
    pub subscribe: u8,
    pub trap_type: U16,
    pub trap_number: U16,
    /// QPN (24), reserved (3), RespTimeValue (5).
    pub qpn_response_time: U32,
    pub reserved2: u8,
    pub producer_type: [u8; 3],
}

impl InformInfo {
    /// Subscribes queue pair 1 of the sender to all generic traps of all devices, or ends that subscription.
    pub fn all_traps(subscribe: bool) -> Self {
        Self::single_trap(Self::ALL, subscribe)
    }

    /// The same for traps of one number.
    pub fn single_trap(number: u16, subscribe: bool) -> Self {
        /// Reports are acknowledged within about a second: 4.096 us times 2^18.
        const RESPONSE_TIME: u32 = 18;
        Self {
            gid: [0; 16],
            lid_begin: Self::ALL.into(),
            lid_end: 0.into(),
            reserved1: 0.into(),
            is_generic: 1,
            subscribe: subscribe.into(),
            trap_type: Self::ALL.into(),
            trap_number: number.into(),
            qpn_response_time: (1 << 8 | RESPONSE_TIME).into(),
            reserved2: 0,
            producer_type: [0xFF; 3],
        }
    }

    pub fn queue_pair(&self) -> u32 {
        self.qpn_response_time.get() >> 8
    }

    /// Whether the subscription includes a trap.
    pub fn has_trap(&self, number: u16) -> bool {
        let asked = self.trap_number.get();
        self.is_generic == 1 && (asked == Self::ALL || asked == number)
    }

    const ALL: u16 = 0xFFFF;
}

/// A subscription, as the manager stores it.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct InformInfoRecord {
    pub subscriber_gid: [u8; 16],
    pub subscriber_enum: U16,
    pub reserved: [u8; 6],
    pub inform: InformInfo,
    /// Records begin at multiples of eight bytes.
    pub padding: [u8; 4],
}

impl InformInfoRecord {
    pub const SUBSCRIBER_GID: u64 = 1;
    /// Number of records that fit in one packet.
    pub const MAX_PER_PACKET: usize = (super::MAD_SIZE - RECORD_AT) / size_of::<Self>();

    /// The records of a subscriber in a packet.
    pub fn list_of_subscriber(mad: &Mad, gid: &[u8; 16]) -> Vec<Self> {
        let records = mad.record::<[Self; Self::MAX_PER_PACKET]>();
        records.iter().copied().take_while(|record| record.subscriber_gid == *gid).collect()
    }
}

/// A service that a port offers (IBA 15.2.5.14): any port may look it up, and it ends with its lease.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct ServiceRecord {
    pub service_id: U64,
    /// The port that offers the service.
    pub service_gid: [u8; 16],
    pub partition_key: U16,
    pub reserved: U16,
    /// In seconds.
    pub lease: U32,
    pub key: [u8; 16],
    pub name: [u8; 64],
    pub data8: [u8; 16],
    pub data16: [U16; 8],
    pub data32: [U32; 4],
    pub data64: [U64; 2],
}

impl ServiceRecord {
    pub const ID: u64 = 1;
    pub const GID: u64 = 1 << 1;
    pub const PARTITION_KEY: u64 = 1 << 2;
    pub const LEASE: u64 = 1 << 4;
    pub const NAME: u64 = 1 << 6;
    /// Component mask of all data fields.
    pub const DATA: u64 = ((1 << 30) - 1) << 7;
}

impl Mad {
    pub fn administration(method: Method, attribute: u16, component_mask: u64) -> Self {
        let mut mad = Self::new(Class::SUBNET_ADMINISTRATION, method, attribute, 0);
        mad.administration_header_mut().component_mask = component_mask.into();
        mad
    }

    pub fn administration_header(&self) -> &SaHeader {
        self.view(HEADER_AT)
    }

    pub fn administration_header_mut(&mut self) -> &mut SaHeader {
        self.view_mut(HEADER_AT)
    }

    /// The attribute of an SA MAD (the first record of a table).
    pub fn record<T: FromBytes + KnownLayout + Immutable + Unaligned>(&self) -> &T {
        const { assert!(size_of::<T>() <= super::MAD_SIZE - RECORD_AT) };
        self.view(RECORD_AT)
    }

    pub fn record_mut<T: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned>(&mut self) -> &mut T {
        const { assert!(size_of::<T>() <= super::MAD_SIZE - RECORD_AT) };
        self.view_mut(RECORD_AT)
    }
}
