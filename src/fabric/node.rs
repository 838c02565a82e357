//! Facts about one node and one port, as a reader or a generator states them.

use super::{Guid, Lid, LinkSpeed, LinkWidth, Lmc, PhysicalState, PortState};

/// The type of a node. Switches sort first, so the index of a switch in its fabric is its index among the switches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NodeKind {
    /// A switch.
    Switch,
    /// A host channel adapter; the program calls it a host.
    ChannelAdapter,
    /// A router to another subnet.
    Router,
}

impl NodeKind {
    /// All types, in the order of a fabric.
    pub const ALL: [Self; 3] = [Self::Switch, Self::ChannelAdapter, Self::Router];

    /// The word of the program for it: `switch`, `host`, `router`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::ChannelAdapter => "host",
            Self::Router => "router",
        }
    }
}

/// The properties of a node. What the source did not state is `None`, never a default that looks like a reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeFacts {
    /// The type of the node.
    pub kind: NodeKind,
    /// The node GUID.
    pub guid: Guid,
    /// The NodeDescription, exactly as the node sends it, with trailing blanks.
    pub description: String,
    /// The number of external ports (NumPorts).
    pub port_count: u8,
    /// The vendor ID.
    pub vendor_id: Option<u32>,
    /// The device ID.
    pub device_id: Option<u32>,
    /// The hardware revision.
    pub revision: Option<u32>,
    /// The GUID of the system image, which nodes in one box share.
    pub system_image_guid: Option<Guid>,
    /// Whether port 0 of a switch is an enhanced one, with a terminal behind it.
    pub enhanced_port0: Option<bool>,
    /// Whether the node answered. `false` for a node that only its peer states, and for one that answered once and
    /// is silent now.
    pub answered: bool,
}

impl NodeFacts {
    /// Makes the properties of a node that answered.
    pub fn new(kind: NodeKind, guid: Guid, port_count: u8, description: impl Into<String>) -> Self {
        Self {
            kind,
            guid,
            description: description.into(),
            port_count,
            vendor_id: None,
            device_id: None,
            revision: None,
            system_image_guid: None,
            enhanced_port0: None,
            answered: true,
        }
    }

    /// Whether the node is the aggregation node (SHARP) of a switch, by its device ID or its description.
    pub fn is_aggregation(&self) -> bool {
        const AGGREGATION_DEVICE: u32 = 0xcf09;
        self.kind == NodeKind::ChannelAdapter
            && (self.device_id == Some(AGGREGATION_DEVICE) || self.description.contains("Aggregation Node"))
    }

    /// Makes the properties of a node that only its peer states.
    pub fn known_from_peer(kind: NodeKind, guid: Guid, description: impl Into<String>) -> Self {
        Self { answered: false, ..Self::new(kind, guid, 0, description) }
    }
}

/// The properties of a port. On a switch the LID and LMC are those of port 0; on adapters and routers each port has
/// its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortFacts {
    /// The port GUID.
    pub guid: Option<Guid>,
    /// The first LID.
    pub lid: Option<Lid>,
    /// The LMC.
    pub lmc: Lmc,
    /// The logical state.
    pub state: Option<PortState>,
    /// The physical state.
    pub physical_state: Option<PhysicalState>,
    /// The width in use.
    pub width: Option<LinkWidth>,
    /// The speed in use.
    pub speed: Option<LinkSpeed>,
    /// The best width that the port supports.
    pub width_supported: Option<LinkWidth>,
    /// The best speed that the port supports.
    pub speed_supported: Option<LinkSpeed>,
    /// The number of operational data lanes: VL0 to VL n-1.
    pub operational_lanes: Option<u8>,
    /// The number of data lanes that the port supports (VLCap).
    pub lanes_supported: Option<u8>,
}
