//! The smaller attributes of subnet management (IBA 14.2.5).

use zerocopy::network_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use fabdeck_fabric::{Guid, Lane, NodeKind, PartitionKey, PortNum, ServiceLevel, Sl2Vl, VlWeight};

/// 64 bytes of text; unused bytes are zero.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct NodeDescription {
    pub text: [u8; 64],
}

impl NodeDescription {
    /// Cuts text that is longer than 64 bytes at a character boundary.
    pub fn new(description: &str) -> Self {
        let mut end = description.len().min(64);
        while !description.is_char_boundary(end) {
            end -= 1;
        }
        let mut text = [0; 64];
        text[..end].copy_from_slice(&description.as_bytes()[..end]);
        Self { text }
    }

    pub fn as_text(&self) -> String {
        let end = self.text.iter().position(|b| *b == 0).unwrap_or(self.text.len());
        String::from_utf8_lossy(&self.text[..end]).into_owned()
    }
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct NodeInfo {
    pub base_version: u8,
    pub class_version: u8,
    pub node_type: u8,
    pub port_count: u8,
    pub system_image_guid: U64,
    pub node_guid: U64,
    pub port_guid: U64,
    pub partition_capacity: U16,
    pub device_id: U16,
    pub revision: U32,
    pub local_port: u8,
    pub vendor_id: [u8; 3],
}

impl NodeInfo {
    pub fn kind(&self) -> Option<NodeKind> {
        match self.node_type {
            1 => Some(NodeKind::ChannelAdapter),
            2 => Some(NodeKind::Switch),
            3 => Some(NodeKind::Router),
            _ => None,
        }
    }

    pub fn type_of(kind: NodeKind) -> u8 {
        match kind {
            NodeKind::ChannelAdapter => 1,
            NodeKind::Switch => 2,
            NodeKind::Router => 3,
        }
    }

    pub fn guid(&self) -> Guid {
        Guid(self.node_guid.get())
    }

    pub fn vendor(&self) -> u32 {
        let [a, b, c] = self.vendor_id;
        u32::from_be_bytes([0, a, b, c])
    }
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct SwitchInfo {
    pub linear_capacity: U16,
    pub random_capacity: U16,
    pub multicast_capacity: U16,
    pub linear_top: U16,
    pub default_port: u8,
    pub default_multicast_primary: u8,
    pub default_multicast_not_primary: u8,
    /// LifeTimeValue (5 bits), PortStateChange (1), OptimizedSLtoVLMappingProgramming (2).
    pub life_state: u8,
    pub lids_per_port: U16,
    pub partition_enforcement_capacity: U16,
    pub flags: u8,
    pub reserved: u8,
    pub multicast_top: U16,
}

impl SwitchInfo {
    pub fn has_port_state_change(&self) -> bool {
        self.life_state & 0x04 != 0
    }

    /// Whether one SLtoVL MAD can address all in-ports or all out-ports.
    pub fn has_optimized_sl_to_vl(&self) -> bool {
        self.life_state & 0x03 != 0
    }

    pub fn has_enhanced_port0(&self) -> bool {
        self.flags & 0x08 != 0
    }
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct SmInfo {
    pub guid: U64,
    /// Never shown and never stored.
    pub sm_key: U64,
    pub activity: U32,
    /// Priority in the upper four bits, state in the lower.
    pub priority_state: u8,
}

impl std::fmt::Debug for SmInfo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (priority, state) = (self.priority_state >> 4, self.state());
        write!(f, "SmInfo {{ guid: {}, priority: {priority}, state: {state:?} }}", Guid(self.guid.get()))
    }
}

impl SmInfo {
    pub fn priority(&self) -> u8 {
        self.priority_state >> 4
    }

    pub fn state(&self) -> Option<&'static str> {
        match self.priority_state & 0xF {
            0 => Some("NOTACTIVE"),
            1 => Some("DISCOVERING"),
            2 => Some("STANDBY"),
            3 => Some("MASTER"),
            _ => None,
        }
    }
}

/// 64 entries of a linear forwarding table; the modifier counts blocks.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct LftBlock {
    pub ports: [u8; 64],
}

/// 32 port masks of a multicast forwarding table: 16 ports (modifier bits 28 to 31) of 32 multicast LIDs.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct MftBlock {
    pub masks: [U16; 32],
}

impl MftBlock {
    pub fn modifier(block: u32, position: u8) -> u32 {
        (block & 0x1FF) | (u32::from(position & 0xF) << 28)
    }

    /// The ports of entry `at` when this block is for the 16 ports at `position`.
    pub fn ports(&self, at: usize, position: u8) -> impl Iterator<Item = PortNum> {
        let mask = self.masks.get(at).map_or(0, |mask| mask.get());
        (0..16u8).filter(move |bit| mask & (1 << bit) != 0).map(move |bit| PortNum(position * 16 + bit))
    }
}

/// 32 entries of the P_Key table of a port (IBA 14.2.5.7). The modifier counts blocks; of a switch its upper half is the
/// port.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct PKeyBlock {
    pub entries: [U16; Self::ENTRIES as usize],
}

impl PKeyBlock {
    pub const ENTRIES: u16 = 32;

    /// The modifier of a block; `switch_port` is `None` at a node that is no switch.
    pub fn modifier(switch_port: Option<u8>, block: u16) -> u32 {
        u32::from(switch_port.unwrap_or(0)) << 16 | u32::from(block)
    }

    /// The entries in use.
    pub fn keys(&self) -> impl Iterator<Item = PartitionKey> {
        self.entries.iter().map(|entry| PartitionKey::new(entry.get())).filter(|key| !key.is_empty())
    }

    /// A block with these entries first, and empty ones behind them.
    pub fn of_keys(keys: impl IntoIterator<Item = PartitionKey>) -> Self {
        let mut entries = [U16::ZERO; Self::ENTRIES as usize];
        entries.iter_mut().zip(keys).for_each(|(entry, key)| *entry = key.bits().into());
        Self { entries }
    }
}

/// SL2VL table: two service levels a byte, the even one in the upper half.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct SlToVl {
    pub pairs: [u8; 8],
}

impl SlToVl {
    pub fn table(&self) -> Sl2Vl {
        let mut table = Sl2Vl::default();
        for sl in 0..16u32 {
            let pair = self.pairs[sl as usize / 2];
            let lane = if sl.is_multiple_of(2) { pair >> 4 } else { pair & 0xF };
            table.set(ServiceLevel::new(sl).unwrap_or_default(), Lane::new(lane.into()).unwrap_or_default());
        }
        table
    }

    pub fn from_table(table: Sl2Vl) -> Self {
        let lane = |sl: u32| table.lane(ServiceLevel::new(sl).unwrap_or_default()).value();
        let mut pairs = [0; 8];
        for (at, pair) in pairs.iter_mut().enumerate() {
            *pair = lane(2 * at as u32) << 4 | lane(2 * at as u32 + 1);
        }
        Self { pairs }
    }
}

/// 32 entries of an arbitration table. Modifier: block (1, 2 low; 3, 4 high) in the upper half, port in the lower.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned, Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct VlArbitrationBlock {
    pub entries: [[u8; 2]; 32],
}

impl VlArbitrationBlock {
    /// The first `count` entries.
    pub fn weights(&self, count: u8) -> Vec<VlWeight> {
        let entries = self.entries.iter().take(count.into());
        let weight = |[lane, weight]: &[u8; 2]| VlWeight {
            lane: Lane::new(u32::from(lane & 0xF)).unwrap_or_default(),
            weight: *weight,
        };
        entries.map(weight).collect()
    }
}
