//! An adapter of this machine and its ports, as the kernel describes them.

use std::fmt;

use fabdeck_fabric::{Guid, Lid, PhysicalState, PortNum, PortState};

/// One adapter. An adapter whose description could not be read has only a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adapter {
    pub name: String,
    pub node_guid: Option<Guid>,
    pub ports: Vec<AdapterPort>,
}

/// The kernel's description of a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdapterPort {
    pub number: PortNum,
    pub guid: Option<Guid>,
    pub lid: Option<Lid>,
    /// The LID of the master subnet manager.
    pub manager_lid: Option<Lid>,
    pub state: Option<PortState>,
    pub physical_state: Option<PhysicalState>,
    pub rate_gbps: u32,
    pub link_layer: LinkLayer,
    /// The port has no subnet management: a port of another device with the same GUID has it.
    pub is_manager_disabled: bool,
}

/// A port and its adapter.
#[derive(Clone, Copy, Debug)]
pub struct PortChoice<'a> {
    pub adapter: &'a Adapter,
    pub port: &'a AdapterPort,
}

impl PortChoice<'_> {
    /// The name for operators.
    pub fn name(&self) -> String {
        format!("{} port {}", self.adapter.name, self.port.number)
    }

    /// Whether both are the same port of the same adapter.
    pub fn is_same(&self, other: &Self) -> bool {
        self.adapter.name == other.adapter.name && self.port.number == other.port.number
    }

    /// A port that no subnet manager has made active still carries directed routes.
    pub fn is_up(&self) -> bool {
        matches!(self.port.state, Some(PortState::Init | PortState::Armed | PortState::Active))
    }

    pub fn is_active(&self) -> bool {
        self.port.state == Some(PortState::Active)
    }
}

/// The link layer of a port. Only InfiniBand has subnet management packets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LinkLayer {
    InfiniBand,
    Ethernet,
    Other(String),
}

impl LinkLayer {
    pub fn of(word: &str) -> Self {
        match word {
            // libibumad says IB if the kernel does not report the link layer.
            "InfiniBand" | "IB" => Self::InfiniBand,
            "Ethernet" => Self::Ethernet,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for LinkLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::InfiniBand => "InfiniBand",
            Self::Ethernet => "Ethernet",
            Self::Other(word) => word,
        })
    }
}
