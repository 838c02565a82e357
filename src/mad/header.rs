//! The 24 bytes that every MAD begins with (IBA 13.4.3), and the 256-byte datagram as a whole.

use std::fmt;

use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

pub const MAD_SIZE: usize = 256;

/// Management classes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class(pub u8);

impl Class {
    pub const SUBNET_LID: Class = Class(0x01);
    pub const SUBNET_DIRECTED: Class = Class(0x81);
    pub const SUBNET_ADMINISTRATION: Class = Class(0x03);
    pub const PERFORMANCE: Class = Class(0x04);
    /// fabdeck's own class, between senders of notices and the agents of hosts. It is in the range for vendors, and
    /// not one of the two classes there that adapters answer themselves.
    pub const HOST_AGENTS: Class = Class(0x0D);

    /// Version of the class's own format: SA has version 2.
    pub fn version(self) -> u8 {
        if self == Self::SUBNET_ADMINISTRATION { 2 } else { 1 }
    }
}

/// Methods; the response bit (0x80) included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Method(pub u8);

impl Method {
    pub const GET: Method = Method(0x01);
    pub const SET: Method = Method(0x02);
    pub const SEND: Method = Method(0x03);
    pub const TRAP: Method = Method(0x05);
    pub const REPORT: Method = Method(0x06);
    pub const TRAP_REPRESS: Method = Method(0x07);
    /// Deletes a record of subnet administration.
    pub const DELETE: Method = Method(0x15);
    pub const GET_TABLE: Method = Method(0x12);
    pub const GET_RESPONSE: Method = Method(0x81);
    pub const REPORT_RESPONSE: Method = Method(0x86);
    pub const GET_TABLE_RESPONSE: Method = Method(0x92);

    pub fn is_response(self) -> bool {
        self.0 & 0x80 != 0 || self == Self::TRAP_REPRESS
    }
}

/// Attribute identifiers by class.
pub mod attribute {
    pub const CLASS_PORT_INFO: u16 = 0x0001;
    pub const NOTICE: u16 = 0x0002;
    pub const INFORM_INFO: u16 = 0x0003;
    pub const NODE_DESCRIPTION: u16 = 0x0010;
    pub const NODE_INFO: u16 = 0x0011;
    pub const SWITCH_INFO: u16 = 0x0012;
    pub const PORT_INFO: u16 = 0x0015;
    pub const P_KEY_TABLE: u16 = 0x0016;
    pub const SL_TO_VL: u16 = 0x0017;
    pub const VL_ARBITRATION: u16 = 0x0018;
    pub const LINEAR_FORWARDING: u16 = 0x0019;
    pub const MULTICAST_FORWARDING: u16 = 0x001B;
    pub const SM_INFO: u16 = 0x0020;
    pub const SWITCH_PORT_STATES: u16 = 0x0034;
    /// Attributes of NVIDIA: capabilities of a device, adaptive routing of a switch, and its tables.
    pub const PRIVATE_TABLE_INFO: u16 = 0xFF10;
    pub const PORT_LEVEL_TABLES: u16 = 0xFF14;
    pub const GENERAL_INFO: u16 = 0xFF17;
    pub const ADAPTIVE_ROUTING_INFO: u16 = 0xFF20;
    pub const ADAPTIVE_GROUPS: u16 = 0xFF21;
    pub const ADAPTIVE_FORWARDING: u16 = 0xFF23;
    pub const EXTENDED_NODE_INFO: u16 = 0xFF91;

    pub const PORT_SAMPLES_CONTROL: u16 = 0x0010;
    pub const PORT_COUNTERS: u16 = 0x0012;
    pub const PORT_COUNTERS_EXTENDED: u16 = 0x001D;

    pub const NODE_RECORD: u16 = 0x0011;
    pub const SERVICE_RECORD: u16 = 0x0031;
    pub const PATH_RECORD: u16 = 0x0035;
    pub const MC_MEMBER_RECORD: u16 = 0x0038;
    pub const INFORM_INFO_RECORD: u16 = 0x00F3;

    /// Attributes of the class for hosts: the status of a notice, and in simulators the flows of a host.
    pub const FOLLOW: u16 = 0x0010;
    pub const HOST_FLOWS: u16 = 0x0011;
}

/// The status field. Directed-route answers carry the direction in its top bit, which is no error.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MadStatus(pub u16);

impl MadStatus {
    const DIRECTION: u16 = 0x8000;

    pub fn from_raw(class: Class, raw: u16) -> Self {
        if class == Class::SUBNET_DIRECTED { Self(raw & !Self::DIRECTION) } else { Self(raw) }
    }

    pub fn is_busy(self) -> bool {
        self.0 & 1 != 0
    }

    pub fn is_ok(self) -> bool {
        self.0 == 0
    }

    /// Whether the device does not support the class, method or attribute, so that a retry is useless.
    pub fn is_unsupported(self) -> bool {
        matches!(self.reason(), 1..=3)
    }

    /// Whether the device has the attribute, but does not accept a field or the modifier.
    pub fn is_invalid_field(self) -> bool {
        self.reason() == 7
    }

    fn reason(self) -> u16 {
        (self.0 >> 2) & 7
    }
}

impl fmt::Display for MadStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy = if self.0 & 1 != 0 { "busy, " } else { "" };
        let reason = match self.reason() {
            0 => "",
            1 => "unsupported class or version",
            2 => "unsupported method",
            3 => "unsupported attribute",
            7 => "invalid field in attribute or modifier",
            _ => "reserved reason",
        };
        match (self.0, reason) {
            (0, _) => f.write_str("ok"),
            (raw, "") => write!(f, "{busy}status 0x{raw:04x}"),
            (raw, reason) => write!(f, "{busy}{reason} (status 0x{raw:04x})"),
        }
    }
}

/// The common header. In directed-route packets hop pointer and hop count lie in `class_specific`.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct MadHeader {
    pub base_version: u8,
    pub class: u8,
    pub class_version: u8,
    pub method: u8,
    pub status: U16,
    pub class_specific: U16,
    pub transaction: U64,
    pub attribute: U16,
    pub reserved: U16,
    pub modifier: U32,
}

/// A datagram as it goes over the wire.
#[derive(Clone, PartialEq, Eq)]
pub struct Mad(pub [u8; MAD_SIZE]);

impl Default for Mad {
    fn default() -> Self {
        Self([0; MAD_SIZE])
    }
}

impl Mad {
    pub fn new(class: Class, method: Method, attribute: u16, modifier: u32) -> Self {
        let mut mad = Self::default();
        let header = mad.header_mut();
        header.base_version = 1;
        header.class = class.0;
        header.class_version = class.version();
        header.method = method.0;
        header.attribute = attribute.into();
        header.modifier = modifier.into();
        mad
    }

    pub fn header(&self) -> &MadHeader {
        self.view(0)
    }

    pub fn header_mut(&mut self) -> &mut MadHeader {
        self.view_mut(0)
    }

    pub fn class(&self) -> Class {
        Class(self.header().class)
    }

    pub fn method(&self) -> Method {
        Method(self.header().method)
    }

    pub fn status(&self) -> MadStatus {
        MadStatus::from_raw(self.class(), self.header().status.get())
    }

    /// The bytes from `offset` on as a wire structure. All structures here fit behind the offset that they are used
    /// with; `layout` in the tests checks each.
    #[allow(clippy::expect_used, reason = "offset + size <= 256 for each structure of this module")]
    pub(super) fn view<T: FromBytes + KnownLayout + Immutable + Unaligned>(&self, offset: usize) -> &T {
        T::ref_from_prefix(&self.0[offset..]).expect("structure fits in the datagram").0
    }

    #[allow(clippy::expect_used, reason = "offset + size <= 256 for each structure of this module")]
    pub(super) fn view_mut<T: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned>(
        &mut self,
        offset: usize,
    ) -> &mut T {
        T::mut_from_prefix(&mut self.0[offset..]).expect("structure fits in the datagram").0
    }
}

/// Leaves out the key field.
impl fmt::Debug for Mad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mad").field("header", self.header()).finish_non_exhaustive()
    }
}
