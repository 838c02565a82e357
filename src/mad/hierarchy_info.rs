//! HierarchyInfo (0x1E), a subnet management attribute: the place of a port on its device, level by level. Which devices
//! have it, CapabilityMask says. Which bits of a word are selector and value is not public.

use fabdeck_fabric::observe::{HIERARCHY_WORDS, PortHierarchy};
use zerocopy::network_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct HierarchyInfo {
    pub template: U64,
    pub max_index: u8,
    pub max_index_active: u8,
    /// The number of levels in use, in the upper half.
    pub levels: u8,
    pub reserved: u8,
    pub words: [U32; HIERARCHY_WORDS],
}

impl HierarchyInfo {
    pub const ATTRIBUTE: u16 = 0x001E;

    /// The modifier for a port; further indices hold further words.
    pub fn modifier(port: u8, index: u8) -> u32 {
        u32::from(index) << 8 | u32::from(port)
    }

    /// An answer with these levels.
    pub fn new(hierarchy: &PortHierarchy) -> Self {
        Self {
            template: hierarchy.template.into(),
            levels: hierarchy.active_levels << 4,
            words: hierarchy.words.map(U32::new),
            ..Self::default()
        }
    }

    /// The levels in an answer.
    pub fn hierarchy(&self) -> PortHierarchy {
        PortHierarchy {
            template: self.template.get(),
            active_levels: self.levels >> 4,
            words: self.words.map(U32::get),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Port 3 of a switch up to NDR: no split, port 1 of cage 2, chip 1.
    const BYTES: [u8; 28] =
        [0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0x80, 0, 0, 1, 0x80, 0, 0, 2, 0x80, 0, 0, 1];

    #[test]
    fn the_bytes_of_an_answer_are_read_and_written() {
        let mut bytes = [0; 64];
        bytes[..BYTES.len()].copy_from_slice(&BYTES);
        let info = HierarchyInfo::read_from_bytes(&bytes).unwrap();
        let read = info.hierarchy();
        assert_eq!((read.template, read.active_levels), (PortHierarchy::TO_NDR, 4));
        assert_eq!(read.words[..5], [0x8000_0000, 0x8000_0001, 0x8000_0002, 0x8000_0001, 0]);
        assert_eq!(HierarchyInfo::new(&read).as_bytes(), bytes);
        assert_eq!((HierarchyInfo::modifier(7, 0), HierarchyInfo::modifier(7, 2)), (7, 0x0207));
    }
}
