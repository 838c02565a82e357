//! Facts about one node and one port, as a reader or a generator states them.

use super::{Guid, Lid, LinkSpeed, LinkWidth, Lmc, PhysicalState, PortState};

/// What a node is. Switches sort first, so that a switch's index in the fabric is its index among the switches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NodeKind {
    Switch,
    ChannelAdapter,
    Router,
}

impl NodeKind {
    pub const ALL: [Self; 3] = [Self::Switch, Self::ChannelAdapter, Self::Router];

    pub fn word(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::ChannelAdapter => "host",
            Self::Router => "router",
        }
    }
}

/// One node. What nobody said is `None`, never a default that looks like a reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeFacts {
    pub kind: NodeKind,
    pub guid: Guid,
    /// The NodeDescription, exactly as the node says it (trailing blanks included).
    pub description: String,
    /// How many external ports the node has (its NumPorts).
    pub port_count: u8,
    pub vendor_id: Option<u32>,
    pub device_id: Option<u32>,
    /// The hardware revision.
    pub revision: Option<u32>,
    pub system_image_guid: Option<Guid>,
    /// Whether port 0 of a switch is an enhanced one, with a terminal behind it.
    pub enhanced_port0: Option<bool>,
    /// False for a node that is known by its peer only (it did not answer, or the dump has no record of it), and for one
    /// that answered once and does not any more.
    pub answered: bool,
}

impl NodeFacts {
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

    /// Whether it is the aggregation node (SHARP) that sits on a switch: by its device, or by what it calls itself.
    pub fn is_aggregation(&self) -> bool {
        const AGGREGATION_DEVICE: u32 = 0xcf09;
        self.kind == NodeKind::ChannelAdapter
            && (self.device_id == Some(AGGREGATION_DEVICE) || self.description.contains("Aggregation Node"))
    }

    /// A node that only its peer tells of.
    pub fn unheard(kind: NodeKind, guid: Guid, description: impl Into<String>) -> Self {
        Self { answered: false, ..Self::new(kind, guid, 0, description) }
    }
}

/// One port. On a switch the LID and LMC stand on port 0 alone; on adapters and routers on each port.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PortFacts {
    pub guid: Option<Guid>,
    pub lid: Option<Lid>,
    pub lmc: Lmc,
    pub state: Option<PortState>,
    pub physical_state: Option<PhysicalState>,
    /// Width and speed in use.
    pub width: Option<LinkWidth>,
    pub speed: Option<LinkSpeed>,
    /// The best that the port says it can do.
    pub width_supported: Option<LinkWidth>,
    pub speed_supported: Option<LinkSpeed>,
    /// Operational virtual lanes (VL0 to VL n-1), and the lanes that the port has (VLCap).
    pub operational_lanes: Option<u8>,
    pub lanes_supported: Option<u8>,
}
