//! Performance management (IBA 16.1): its attribute lies behind 40 reserved bytes of the class header.

use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Class, Mad, Method};

const DATA_AT: usize = 64;

/// What a class can do and how fast it answers; subnet administration has the same attribute.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct ClassPortInfo {
    pub base_version: u8,
    pub class_version: u8,
    pub capability_mask: U16,
    /// CapabilityMask2 (27 bits), RespTimeValue (5).
    pub capability_mask2_response: U32,
    pub redirect: [u8; 32],
    pub trap: [u8; 32],
}

impl ClassPortInfo {
    const EXTENDED_WIDTH: u16 = 0x0200;
    const EXTENDED_WIDTH_NO_IETF: u16 = 0x0400;
    const ALL_PORT_SELECT: u16 = 0x0100;
    const RS_FEC_LAYOUT: u16 = 0x4000;
    const XMIT_WAIT: u16 = 0x1000;
    const QP1_DROPPED: u16 = 0x8000;

    fn has(&self, bits: u16) -> bool {
        self.capability_mask.get() & bits != 0
    }

    pub fn has_extended_counters(&self) -> bool {
        self.has(Self::EXTENDED_WIDTH | Self::EXTENDED_WIDTH_NO_IETF)
    }

    /// Whether unicast and multicast packets are counted separately.
    pub fn has_cast_counters(&self) -> bool {
        self.has(Self::EXTENDED_WIDTH)
    }

    /// Whether errors and waiting have 64-bit counters too (CapabilityMask2, above the five bits of the response
    /// time).
    pub fn has_additional_extended(&self) -> bool {
        self.capability_mask2_response.get() >> 5 & 2 != 0
    }

    /// Whether port 255 selects all ports of a node.
    pub fn has_all_port_select(&self) -> bool {
        self.has(Self::ALL_PORT_SELECT)
    }

    /// Whether PortExtendedSpeedsCounters can have the form for RS-FEC; a port has it if its FEC mode is one.
    pub fn has_rs_fec_layout(&self) -> bool {
        self.has(Self::RS_FEC_LAYOUT)
    }

    /// Whether the agent may answer only with a key (CapabilityMask2).
    pub fn has_performance_key(&self) -> bool {
        self.capability_mask2_response.get() >> 5 & 1 != 0
    }

    pub fn has_xmit_wait(&self) -> bool {
        self.has(Self::XMIT_WAIT)
    }

    pub fn has_qp1_dropped(&self) -> bool {
        self.has(Self::QP1_DROPPED)
    }
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PortCounters {
    pub reserved: u8,
    pub port_select: u8,
    pub counter_select: U16,
    pub symbol_errors: U16,
    pub link_recoveries: u8,
    pub link_downed: u8,
    pub receive_errors: U16,
    pub receive_remote_physical_errors: U16,
    pub receive_switch_relay_errors: U16,
    pub transmit_discards: U16,
    pub transmit_constraint_errors: u8,
    pub receive_constraint_errors: u8,
    pub counter_select2: u8,
    /// LocalLinkIntegrityErrors (4), ExcessiveBufferOverrunErrors (4).
    pub integrity_overrun: u8,
    pub qp1_dropped: U16,
    pub vl15_dropped: U16,
    pub transmit_data: U32,
    pub receive_data: U32,
    pub transmit_packets: U32,
    pub receive_packets: U32,
    pub transmit_wait: U32,
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PortCountersExtended {
    pub reserved: u8,
    pub port_select: u8,
    pub counter_select: U16,
    pub counter_select2: U32,
    pub transmit_data: U64,
    pub receive_data: U64,
    pub transmit_packets: U64,
    pub receive_packets: U64,
    pub unicast_transmit_packets: U64,
    pub unicast_receive_packets: U64,
    pub multicast_transmit_packets: U64,
    pub multicast_receive_packets: U64,
    pub symbol_errors: U64,
    pub link_recoveries: U64,
    pub link_downed: U64,
    pub receive_errors: U64,
    pub receive_remote_physical_errors: U64,
    pub receive_switch_relay_errors: U64,
    pub transmit_discards: U64,
    pub transmit_constraint_errors: U64,
    pub receive_constraint_errors: U64,
    pub integrity_errors: U64,
    pub buffer_overruns: U64,
    pub vl15_dropped: U64,
    pub transmit_wait: U64,
    pub qp1_dropped: U64,
}

/// The head of PortSamplesControl, which holds the length of a tick: the unit of PortXmitWait.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PortSamplesControl {
    pub op_code: u8,
    pub port_select: u8,
    pub tick: u8,
    pub counter_width: u8,
    pub counter_masks: [u8; 6],
    pub sample_mechanisms: u8,
    pub sample_status: u8,
    pub option_mask: U64,
    pub vendor_mask: U64,
    pub sample_start: U32,
    pub sample_interval: U32,
    pub tag: U16,
    pub counter_select: [U16; 15],
}

impl Mad {
    /// A performance query for one port (255: all ports at once).
    pub fn performance(method: Method, attribute: u16, port: u8) -> Self {
        let mut mad = Self::new(Class::PERFORMANCE, method, attribute, 0);
        // In every attribute but ClassPortInfo the second byte selects the port.
        if attribute != super::attribute::CLASS_PORT_INFO {
            mad.0[DATA_AT + 1] = port;
        }
        mad
    }

    /// The attribute of a performance MAD.
    pub fn performance_data<T: FromBytes + KnownLayout + Immutable + Unaligned>(&self) -> &T {
        const { assert!(size_of::<T>() <= super::MAD_SIZE - DATA_AT) };
        self.view(DATA_AT)
    }

    pub fn performance_data_mut<T: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned>(
        &mut self,
    ) -> &mut T {
        const { assert!(size_of::<T>() <= super::MAD_SIZE - DATA_AT) };
        self.view_mut(DATA_AT)
    }
}
