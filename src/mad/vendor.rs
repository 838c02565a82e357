//! Attributes of subnet management that NVIDIA's switches have besides those of the specification.

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
    const HASH_FORWARDING: u8 = 1 << 6 | 1 << 7;

    /// A state with adaptive routing on or off and all else zero.
    pub fn new(on: bool) -> Self {
        Self { state: if on { Self::ADAPTIVE } else { 0 }, ..Self::default() }
    }

    /// Whether packets may leave through other ports than the forwarding table says. The switch then chooses among a
    /// group of ports by load or by a hash, or because the port of the table is down (SHIELD).
    pub fn is_on(&self) -> bool {
        self.state & (Self::ADAPTIVE | Self::FAST_RECOVERY) != 0
            || self.hash_state & Self::HASH_FORWARDING != 0
    }
}
