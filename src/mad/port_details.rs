//! Causes of errors and discards of a port (IBA 16.1.4): the optional attributes PortRcvErrorDetails and
//! PortXmitDiscardDetails, and the counters of links with an extended speed.

use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The number of lanes that PortExtendedSpeedsCounters has fields for.
pub const SPEED_LANES: usize = 12;

/// PortRcvErrorDetails (0x15): what PortRcvErrors and PortRcvSwitchRelayErrors are made of.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct PortRcvErrorDetails {
    pub reserved: u8,
    pub port_select: u8,
    pub counter_select: U16,
    pub local_physical: U16,
    pub malformed: U16,
    pub buffer_overrun: U16,
    pub dlid_mapping: U16,
    pub vl_mapping: U16,
    pub looping: U16,
}

/// PortXmitDiscardDetails (0x16): what PortXmitDiscards are made of.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct PortXmitDiscardDetails {
    pub reserved: u8,
    pub port_select: u8,
    pub counter_select: U16,
    pub port_inactive: U16,
    pub neighbor_mtu: U16,
    pub switch_lifetime: U16,
    pub head_of_queue: U16,
}

/// PortExtendedSpeedsCounters (0x1F). With RS-FEC the counts of a lane are corrected symbols, and the port has a count
/// of symbols; without it they are corrected blocks.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct PortExtendedSpeedsCounters {
    pub reserved: u8,
    pub port_select: u8,
    pub reserved_select: U16,
    pub reserved_word: U32,
    pub counter_select: U64,
    pub sync_header_errors: U16,
    pub unknown_blocks: U16,
    pub detected_lane_errors: [U16; SPEED_LANES],
    pub corrected_in_lane: [U32; SPEED_LANES],
    pub uncorrected_in_lane: [U32; SPEED_LANES],
    pub corrected_blocks: U32,
    pub uncorrected_blocks: U32,
    /// Only with RS-FEC.
    pub corrected_symbols: U32,
}

/// PortRcvConCtrl (0x31): packets with marks of congestion at a port.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct PortCongestionMarks {
    pub reserved: u8,
    pub port_select: u8,
    pub counter_select: U16,
    pub forward: U32,
    pub backward: U32,
}

impl PortCongestionMarks {
    pub const ATTRIBUTE: u16 = 0x31;
}

impl PortRcvErrorDetails {
    pub const ATTRIBUTE: u16 = 0x15;
}

impl PortXmitDiscardDetails {
    pub const ATTRIBUTE: u16 = 0x16;
}

impl PortExtendedSpeedsCounters {
    pub const ATTRIBUTE: u16 = 0x1F;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mad, Method};
    use std::mem::offset_of;

    #[test]
    fn details_lie_where_the_specification_has_them() {
        assert_eq!((size_of::<PortRcvErrorDetails>(), size_of::<PortXmitDiscardDetails>()), (16, 12));
        assert_eq!(size_of::<PortExtendedSpeedsCounters>(), 152);
        for (at, expected) in [
            (offset_of!(PortRcvErrorDetails, local_physical), 4),
            (offset_of!(PortRcvErrorDetails, looping), 14),
            (offset_of!(PortXmitDiscardDetails, port_inactive), 4),
            (offset_of!(PortXmitDiscardDetails, head_of_queue), 10),
            (offset_of!(PortCongestionMarks, forward), 4),
            (offset_of!(PortCongestionMarks, backward), 8),
            (offset_of!(PortExtendedSpeedsCounters, counter_select), 8),
            (offset_of!(PortExtendedSpeedsCounters, sync_header_errors), 16),
            (offset_of!(PortExtendedSpeedsCounters, detected_lane_errors), 20),
            (offset_of!(PortExtendedSpeedsCounters, corrected_in_lane), 44),
            (offset_of!(PortExtendedSpeedsCounters, uncorrected_in_lane), 92),
            (offset_of!(PortExtendedSpeedsCounters, corrected_blocks), 140),
            (offset_of!(PortExtendedSpeedsCounters, uncorrected_blocks), 144),
            (offset_of!(PortExtendedSpeedsCounters, corrected_symbols), 148),
        ] {
            assert_eq!(at, expected);
        }
    }

    #[test]
    fn a_query_selects_a_port_and_no_counter_to_clear() {
        for attribute in [
            PortRcvErrorDetails::ATTRIBUTE,
            PortXmitDiscardDetails::ATTRIBUTE,
            PortExtendedSpeedsCounters::ATTRIBUTE,
            PortCongestionMarks::ATTRIBUTE,
        ] {
            let mad = Mad::performance(Method::GET, attribute, 41);
            assert_eq!((mad.method(), mad.0[65]), (Method::GET, 41));
            assert!(mad.0[66..].iter().all(|byte| *byte == 0), "{attribute:#x}");
        }
    }
}
