//! Notices (IBA 13.4.8.2, 14.2.5.1): the generic form, 80 bytes with the issuer's GID.

use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Numbers of generic traps.
pub mod trap {
    pub const GID_IN_SERVICE: u16 = 64;
    pub const GID_OUT_OF_SERVICE: u16 = 65;
    /// dFtree: leave the slow lane, go back to the fast one.
    pub const UNPATH: u16 = 68;
    /// dFtree: move flows to a destination to the slow lane.
    pub const REPATH: u16 = 69;
    pub const LINK_STATE_CHANGE: u16 = 128;
    pub const LOCAL_CHANGES: u16 = 144;
    pub const M_KEY_VIOLATION: u16 = 256;
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Notice {
    /// IsGeneric (1), Type (7).
    pub generic_type: u8,
    pub producer_type: [u8; 3],
    pub trap_number: U16,
    pub issuer_lid: U16,
    /// NoticeToggle (1), NoticeCount (15).
    pub toggle_count: U16,
    pub details: [u8; 54],
    pub issuer_gid: [u8; 16],
}

impl Notice {
    pub fn is_generic(&self) -> bool {
        self.generic_type & 0x80 != 0
    }

    /// The LID that a notice is about, where the trap has one in its details.
    pub fn about_lid(&self) -> Option<u16> {
        let at = match self.trap_number.get() {
            trap::LINK_STATE_CHANGE => 0,
            trap::LOCAL_CHANGES | trap::M_KEY_VIOLATION => 2,
            _ => return None,
        };
        Some(u16::from_be_bytes([self.details[at], self.details[at + 1]]))
    }
}
