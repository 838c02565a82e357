//! The tables of adaptive routing, block by block: groups, forwarding tables, private tables. Which bits of a modifier
//! hold what is not documented; a reader compares the static ports with the linear table.

use fabdeck_fabric::{AdaptiveEntry, EntryState, NO_PATH, PortNum, PortSet};
use zerocopy::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// PrivateTableInfo (0xff10): how many private forwarding tables (PLFTs) a switch has.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct PrivateTableInfo {
    pub reserved: u8,
    /// 0 stands for 36.
    pub tables: u8,
    pub modes_supported: u8,
    /// 0: private tables are off.
    pub mode: u8,
}

impl PrivateTableInfo {
    /// The number of tables in force; 0 while they are off.
    pub fn tables_in_force(&self) -> u8 {
        match (self.mode, self.tables) {
            (0, _) => 0,
            (_, 0) => 36,
            (_, tables) => tables,
        }
    }
}

/// PortLevelTables (0xff14): the private table of each service level, for four ingress ports.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PortLevelTables {
    pub tables: [[u8; 16]; Self::PORTS],
}

impl PortLevelTables {
    /// The number of ports of a block. The modifier is the number of the block.
    pub const PORTS: usize = 4;
}

/// AdaptiveGroupBlock (0xff21): the port masks of two entries.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct AdaptiveGroupBlock {
    /// Port p is bit p % 8 of byte 31 - p / 8.
    pub masks: [[u8; 32]; Self::ENTRIES],
}

impl AdaptiveGroupBlock {
    /// The number of entries of a block.
    pub const ENTRIES: usize = 2;

    /// The number of blocks that a modifier can name.
    pub const BLOCKS: u32 = 0x1000;

    /// The modifier of a block of a group table, a block below [`Self::BLOCKS`]: block, table and private table.
    pub fn modifier(block: u16, table: u8, private_table: u8) -> u32 {
        u32::from(private_table) << 24 | u32::from(table) << 16 | u32::from(block & 0xFFF)
    }

    /// The ports of an entry.
    pub fn ports(&self, entry: usize) -> PortSet {
        let mask = self.masks.get(entry).copied().unwrap_or_default();
        let word =
            |at: usize| (0..8).fold(0, |word, byte| word | u64::from(mask[31 - at * 8 - byte]) << (8 * byte));
        PortSet::from_words(std::array::from_fn(word))
    }

    pub fn set_ports(&mut self, entry: usize, ports: PortSet) {
        let Some(mask) = self.masks.get_mut(entry) else { return };
        for (byte, place) in mask.iter_mut().rev().enumerate() {
            *place = (ports.words()[byte / 8] >> (8 * (byte % 8))) as u8;
        }
    }
}

/// AdaptiveLftBlock (0xff23): the entries of 16 LIDs.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct AdaptiveLftBlock {
    pub entries: [AdaptiveLftEntry; Self::LIDS],
}

impl AdaptiveLftBlock {
    /// The number of LIDs of a block.
    pub const LIDS: usize = 16;

    /// The modifier of a block of a private table.
    pub fn modifier(block: u32, private_table: u8) -> u32 {
        u32::from(private_table) << 24 | block & 0x00FF_FFFF
    }
}

/// An entry of an AdaptiveLftBlock.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct AdaptiveLftEntry {
    /// State (2 bits, from the highest), reserved (2), group table (4).
    pub state: u8,
    pub port: u8,
    pub group: U16,
}

impl AdaptiveLftEntry {
    /// The entry, and the number of its group table.
    pub fn decode(&self) -> (AdaptiveEntry, u8) {
        let state = EntryState::ALL[usize::from(self.state >> 6)];
        let port = Some(self.port).filter(|port| *port != NO_PATH).map(PortNum);
        (AdaptiveEntry { port, state, group: self.group.get() }, self.state & 0xF)
    }

    pub fn encode(entry: AdaptiveEntry, table: u8) -> Self {
        Self {
            state: entry.state.code() << 6 | table & 0xF,
            port: entry.port.map_or(NO_PATH, PortNum::value),
            group: entry.group.into(),
        }
    }
}

/// ExtendedNodeInfo (0xff91), as far as forwarding depends on it.
#[derive(
    FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug, Default,
)]
#[repr(C)]
pub struct ExtendedNodeInfo {
    pub reserved: [u8; 2],
    /// 0: SL2VL and private tables are selected by service level; otherwise by virtual lane.
    pub lane_input: u8,
    pub lane_inputs_supported: u8,
    pub reserved_anycast: [u8; 9],
    pub anycast_top: u8,
    pub reserved_type: u8,
    pub node_type: u8,
    /// Bit 7: asymmetry of planes; bit 6: automatic retraining.
    pub flags: u8,
    pub reserved_planes: [u8; 2],
    pub planes: u8,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AdaptiveRoutingInfo, GeneralInfo};
    use fabdeck_fabric::AdaptiveSettings;

    #[test]
    fn entries_are_the_bytes_of_made_vectors() {
        let free = AdaptiveEntry { port: Some(PortNum(7)), state: EntryState::Free, group: 18 };
        let fixed = AdaptiveEntry { port: Some(PortNum(3)), ..AdaptiveEntry::default() };
        let none = AdaptiveEntry { port: None, state: EntryState::Hash, group: 0x0102 };
        for (entry, table, bytes) in [
            (free, 0, [0x40, 7, 0, 0x12]),
            (fixed, 0, [0x80, 3, 0, 0]),
            (none, 5, [0xC5, 0xFF, 1, 2]),
            (AdaptiveEntry { state: EntryState::Bounded, ..free }, 15, [0x0F, 7, 0, 0x12]),
        ] {
            let encoded = AdaptiveLftEntry::encode(entry, table);
            assert_eq!(encoded.as_bytes(), bytes);
            assert_eq!(AdaptiveLftEntry::read_from_bytes(&bytes).unwrap().decode(), (entry, table));
        }
        assert_eq!(size_of::<AdaptiveLftBlock>(), 64);
        assert_eq!(AdaptiveLftBlock::modifier(0xBFF, 2), 0x0200_0BFF);
    }

    #[test]
    fn a_port_mask_begins_with_the_highest_ports() {
        let ports: PortSet = [1, 2, 41].map(PortNum).into_iter().collect();
        let mut block = AdaptiveGroupBlock { masks: [[0; 32]; 2] };
        block.set_ports(1, ports);
        let mut expected = [0; 64];
        (expected[32 + 31], expected[32 + 26]) = (0x06, 0x02);
        assert_eq!(block.as_bytes(), expected);
        assert_eq!((block.ports(1), block.ports(0), block.ports(2)), (ports, PortSet::EMPTY, PortSet::EMPTY));
        let all: PortSet = (0..=255).map(PortNum).collect();
        block.set_ports(0, all);
        assert_eq!((block.masks[0], block.ports(0)), ([0xFF; 32], all));
        assert_eq!(AdaptiveGroupBlock::modifier(0xFFF, 3, 1), 0x0103_0FFF);
    }

    #[test]
    fn the_state_of_adaptive_routing_is_the_bytes_of_the_made_vector() {
        let mut bytes = [0; 28];
        bytes[..23].copy_from_slice(&[
            0x18, 0x01, 0x11, 0x1F, 0x01, 0x0F, 0xF8, 0x00, 0x00, 0xFF, 0x01, 0x12, 0, 0, 0, 0, 0, 0, 0, 0,
            0x02, 0, 0x10,
        ]);
        let info = AdaptiveRoutingInfo::read_from_bytes(&bytes).unwrap();
        let settings = info.settings();
        assert_eq!(
            settings,
            AdaptiveSettings {
                adaptive: true,
                levels: 0x00FF,
                fast_recovery: true,
                failure_notices: true,
                sub_groups: 2,
                group_top: 255,
                ..AdaptiveSettings::default()
            }
        );
        assert_eq!((info.group_capacity(), info.group_tables(), info.is_on()), (2048, 1, true));
        let back = AdaptiveRoutingInfo::from_settings(&settings, 2048);
        assert_eq!((back.settings(), back.group_capacity()), (settings, 2048));
        // Without the bit for a limit the mask of service levels means nothing.
        let all = AdaptiveSettings {
            levels: u16::MAX,
            hash_forwarding: true,
            hash_levels: 3,
            weighted_hash: true,
            ..settings
        };
        let back = AdaptiveRoutingInfo::from_settings(&all, 0);
        assert_eq!((back.settings(), back.service_levels.get()), (all, 0));
    }

    #[test]
    fn capabilities_and_private_tables_are_read_from_their_bytes() {
        let bytes = [0, 0, 0x36, 0x15, 0, 0x10, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let info = GeneralInfo::read_from_bytes(&bytes).unwrap();
        let bits = [0, 2, 4, 9, 10, 12, 13, 44, 52];
        assert!(bits.iter().all(|bit| info.has(*bit)) && !info.has(1));
        assert_eq!(bits.iter().fold(GeneralInfo::default(), |info, bit| info.with(*bit)), info);
        for (bytes, tables) in [([0, 2, 3, 1], 2), ([0, 2, 3, 0], 0), ([0, 0, 1, 1], 36)] {
            let info = PrivateTableInfo::read_from_bytes(&bytes).unwrap();
            assert_eq!((info.tables_in_force(), info.as_bytes()), (tables, &bytes[..]));
        }
        let ports = PortLevelTables { tables: std::array::from_fn(|port| [port as u8; 16]) };
        assert_eq!((size_of::<PortLevelTables>(), ports.as_bytes()[16], ports.as_bytes()[63]), (64, 1, 3));
        let mut node = [0; 20];
        (node[2], node[3], node[13], node[15], node[16], node[19]) = (1, 2, 3, 4, 0x80, 5);
        let node = ExtendedNodeInfo::read_from_bytes(&node).unwrap();
        assert_eq!(
            (
                node.lane_input,
                node.lane_inputs_supported,
                node.anycast_top,
                node.node_type,
                node.flags,
                node.planes
            ),
            (1, 2, 3, 4, 0x80, 5)
        );
    }
}
