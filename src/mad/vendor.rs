//! Attributes of subnet management that NVIDIA's switches have besides those of the specification.

use fabdeck_fabric::AdaptiveSettings;
use zerocopy::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Mellanox, Voltaire and Bull. On devices of other vendors these attributes may mean something else.
const VENDORS: [u32; 3] = [0x00_02C9, 0x00_08F1, 0x00_119F];

/// Whether devices of a vendor support these attributes.
pub fn has_vendor_attributes(vendor: u32) -> bool {
    VENDORS.contains(&vendor)
}

/// GeneralInfo (0xff17) with the modifier for capabilities: bit n is in word n / 32, bit n % 32.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct GeneralInfo {
    pub capabilities: [U32; 4],
}

impl GeneralInfo {
    /// The modifier that asks for capabilities; others ask for hardware, firmware and software.
    pub const CAPABILITIES: u32 = 4;
    /// Bits for adaptive routing with the old form of its tables, and with the form that subnet managers use.
    pub const ADAPTIVE_ROUTING_OLD: usize = 1;
    pub const ADAPTIVE_ROUTING: usize = 2;
    /// Bits for PrivateTableInfo, PortLevelTables and ExtendedNodeInfo.
    pub const PRIVATE_TABLES: usize = 0;
    pub const PORT_LEVEL_TABLES: usize = 12;
    pub const EXTENDED_NODE_INFO: usize = 13;

    pub fn with(mut self, bit: usize) -> Self {
        if let Some(word) = self.capabilities.get_mut(bit / 32) {
            *word = (word.get() | 1 << (bit % 32)).into();
        }
        self
    }

    pub fn has(&self, bit: usize) -> bool {
        self.capabilities.get(bit / 32).is_some_and(|word| word.get() >> (bit % 32) & 1 == 1)
    }

    /// Whether the switch supports adaptive routing and AdaptiveRoutingInfo.
    pub fn has_adaptive_routing(&self) -> bool {
        self.has(Self::ADAPTIVE_ROUTING) || self.has(Self::ADAPTIVE_ROUTING_OLD)
    }
}

/// AdaptiveRoutingInfo (0xff20); modifier 0 asks for the state in force.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct AdaptiveRoutingInfo {
    /// From bit 0: no fallback, IS4 mode, global groups, can be limited by SL, is limited by SL, can leave out transports.
    pub limits: u8,
    pub directions: u8,
    /// Group copy (4 bits), sub-groups in use less one (4).
    pub sub_groups: u8,
    /// Bit 0: adaptive routing is on; bit 4: fast recovery (SHIELD) is on; the other bits say what is supported.
    pub state: u8,
    /// String width (4 bits), group tables (4), top group (12), group capacity (12).
    pub groups: U32,
    /// The service levels with adaptive routing, where it is limited by SL.
    pub service_levels: U16,
    pub sub_groups_supported: u8,
    pub versions: u8,
    pub reserved: [u8; 3],
    pub transports: u8,
    pub ageing_us: U32,
    pub hash_supported: u8,
    pub reserved_hash: u8,
    /// Bit 4: notifications of remote failures; bit 6: weighted hash forwarding; bit 7: hash forwarding by SL.
    pub hash_state: u8,
    pub reserved_weights: u8,
    pub weights: u8,
    pub reserved_levels: u8,
    pub hash_service_levels: U16,
}

impl AdaptiveRoutingInfo {
    const ADAPTIVE: u8 = 1;
    const FAST_RECOVERY: u8 = 1 << 4;
    const FAILURE_NOTICES: u8 = 1 << 4;
    const WEIGHTED_HASH: u8 = 1 << 6;
    const HASH_FORWARDING: u8 = 1 << 7;
    const LIMITED_BY_LEVEL: u8 = 1 << 4;

    /// A state with adaptive routing on or off and all else zero.
    pub fn new(on: bool) -> Self {
        Self { state: if on { Self::ADAPTIVE } else { 0 }, ..Self::default() }
    }

    /// The state that these settings describe, with room for `capacity` groups.
    pub fn from_settings(settings: &AdaptiveSettings, capacity: u16) -> Self {
        let bit = |on: bool, bit: u8| if on { bit } else { 0 };
        let limited = settings.levels != u16::MAX;
        let groups = 1 << 24 | u32::from(settings.group_top & 0xFFF) << 12 | u32::from(capacity & 0xFFF);
        Self {
            limits: bit(limited, Self::LIMITED_BY_LEVEL) | 1 << 3,
            sub_groups: settings.sub_groups.saturating_sub(1) & 0xF,
            state: bit(settings.adaptive, Self::ADAPTIVE) | bit(settings.fast_recovery, Self::FAST_RECOVERY),
            groups: groups.into(),
            service_levels: if limited { settings.levels.into() } else { 0.into() },
            hash_state: bit(settings.failure_notices, Self::FAILURE_NOTICES)
                | bit(settings.weighted_hash, Self::WEIGHTED_HASH)
                | bit(settings.hash_forwarding, Self::HASH_FORWARDING),
            hash_service_levels: settings.hash_levels.into(),
            ..Self::default()
        }
    }

    /// The settings that the state describes. What other attributes state is not known yet.
    pub fn settings(&self) -> AdaptiveSettings {
        let limited = self.limits & Self::LIMITED_BY_LEVEL != 0;
        AdaptiveSettings {
            absent: false,
            adaptive: self.state & Self::ADAPTIVE != 0,
            levels: if limited { self.service_levels.get() } else { u16::MAX },
            fast_recovery: self.state & Self::FAST_RECOVERY != 0,
            hash_forwarding: self.hash_state & Self::HASH_FORWARDING != 0,
            weighted_hash: self.hash_state & Self::WEIGHTED_HASH != 0,
            hash_levels: self.hash_service_levels.get(),
            failure_notices: self.hash_state & Self::FAILURE_NOTICES != 0,
            sub_groups: (self.sub_groups & 0xF) + 1,
            group_top: self.group_top(),
            private_tables: None,
            lane_input: None,
        }
    }

    /// The highest group in use.
    pub fn group_top(&self) -> u16 {
        (self.groups.get() >> 12 & 0xFFF) as u16
    }

    /// The number of groups that the switch has room for.
    pub fn group_capacity(&self) -> u16 {
        (self.groups.get() & 0xFFF) as u16
    }

    /// The number of group tables.
    pub fn group_tables(&self) -> u8 {
        (self.groups.get() >> 24 & 0xF) as u8
    }

    /// Whether packets may leave through other ports than the forwarding table says. The switch then chooses among a
    /// group of ports by load or by a hash, or because the port of the table is down (SHIELD).
    pub fn is_on(&self) -> bool {
        self.settings().has_choice()
    }
}
