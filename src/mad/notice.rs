//! Notices (IBA 13.4.8.2, 14.2.5.1): the generic form, 80 bytes with the issuer's GID.

use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::header::{Method, attribute};
use super::smp::{SMP_DATA, Smp};

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

    /// A generic notice, as the port at a LID issues it.
    pub fn generic(kind: u8, producer: u32, number: u16, issuer_lid: u16) -> Self {
        let [_, producer_type @ ..] = producer.to_be_bytes();
        Self {
            generic_type: 0x80 | kind,
            producer_type,
            trap_number: number.into(),
            issuer_lid: issuer_lid.into(),
            toggle_count: 0.into(),
            details: [0; 54],
            issuer_gid: [0; 16],
        }
    }

    pub fn producer(&self) -> u32 {
        let [a, b, c] = self.producer_type;
        u32::from_be_bytes([0, a, b, c])
    }

    /// The LID that the notice is about, where the trap has one in its details.
    pub fn subject_lid(&self) -> Option<u16> {
        let at = match self.trap_number.get() {
            trap::LINK_STATE_CHANGE => 0,
            129..=131 | trap::LOCAL_CHANGES | 145 | trap::M_KEY_VIOLATION..=259 => 2,
            _ => return None,
        };
        Some(u16::from_be_bytes([self.details[at], self.details[at + 1]]))
    }

    /// The port whose link has the problem, for traps 129 to 131.
    pub fn subject_port(&self) -> Option<u8> {
        matches!(self.trap_number.get(), 129..=131).then_some(self.details[4])
    }

    /// The GUID of the port that came or went, from its GID.
    pub fn subject_guid(&self) -> Option<u64> {
        let told = matches!(self.trap_number.get(), trap::GID_IN_SERVICE | trap::GID_OUT_OF_SERVICE);
        let guid = self.details.get(Self::GID_AT + 8..Self::GID_AT + 16)?;
        guid.try_into().ok().map(u64::from_be_bytes).filter(|_| told)
    }

    pub fn set_subject_lid(&mut self, lid: u16) {
        self.details[..2].copy_from_slice(&lid.to_be_bytes());
    }

    pub fn set_subject_gid(&mut self, gid: &[u8; 16]) {
        self.details[Self::GID_AT..Self::GID_AT + 16].copy_from_slice(gid);
    }

    /// Offset of the GID in traps 64 to 67, behind reserved bytes.
    const GID_AT: usize = 6;
    /// Producer types of traps, and types of notices (IBA 13.4.8.2).
    pub const SWITCH: u32 = 2;
    pub const MANAGER: u32 = 4;
    pub const URGENT: u8 = 1;
    pub const INFORMATIONAL: u8 = 4;
}

impl Smp {
    /// A trap as a port sends it to its manager. An SMP has no room for the GID of the issuer.
    pub fn trap(notice: &Notice) -> Self {
        let mut smp = Self::by_lid(Method::TRAP, attribute::NOTICE, 0);
        smp.data_mut::<[u8; SMP_DATA]>().copy_from_slice(&notice.as_bytes()[..SMP_DATA]);
        smp
    }

    /// The notice that a trap carries.
    pub fn notice(&self) -> Notice {
        let mut notice = Notice::generic(0, 0, 0, 0);
        notice.as_mut_bytes()[..SMP_DATA].copy_from_slice(self.data::<[u8; SMP_DATA]>());
        notice
    }
}
