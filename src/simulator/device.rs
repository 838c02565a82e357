//! What one node of the simulated fabric is made of.

use std::collections::BTreeMap;

use fabdeck_fabric::{
    Guid, Lid, LinkSpeed, LinkWidth, Lmc, NodeKind, PhysicalState, PortState, Sl2Vl, VlWeight,
};
use fabdeck_mad::NodeDescription;

/// Where something is plugged in: the node's index and its port.
pub type Plug = (u32, u8);

/// A node.
#[derive(Clone, Debug)]
pub struct Device {
    pub kind: NodeKind,
    pub guid: Guid,
    pub system_image_guid: Guid,
    pub description: NodeDescription,
    pub vendor_id: u32,
    pub device_id: u16,
    pub revision: u32,
    pub enhanced_port0: bool,
    /// By number; entry 0 of an adapter is not used.
    pub ports: Vec<Socket>,
    pub tables: DeviceTables,
    /// Does not answer anything.
    pub silent: bool,
    /// Answers for all in-ports at once when asked for its SL2VL tables.
    pub optimized_lanes: bool,
    pub adaptive: AdaptiveProfile,
}

/// What a switch says when it is asked whether it chooses ports by itself. Its packets keep to its tables all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AdaptiveProfile {
    /// It has no such attribute.
    #[default]
    Plain,
    On,
    Off,
    /// It does not answer.
    Silent,
}

/// What a switch forwards by.
#[derive(Clone, Debug, Default)]
pub struct DeviceTables {
    pub linear: Vec<u8>,
    pub linear_top: u16,
    /// PortStateChange: a port's state changed, and no manager has taken that back.
    pub state_change: bool,
    /// 32 masks for the 16 ports at a position, by (block, position).
    pub multicast: BTreeMap<(u16, u8), [u16; 32]>,
    /// (In, out) that differ from the identity modulo the lanes in operation.
    pub lanes: BTreeMap<(u8, u8), Sl2Vl>,
}

/// A port.
#[derive(Clone, Debug)]
pub struct Socket {
    pub guid: Guid,
    pub lid: Option<Lid>,
    pub lmc: Lmc,
    pub state: PortState,
    pub physical: PhysicalState,
    pub width: LinkWidth,
    pub width_best: LinkWidth,
    pub speed: LinkSpeed,
    pub speed_best: LinkSpeed,
    pub lanes: u8,
    pub operational_lanes: u8,
    pub peer: Option<Plug>,
    pub key: KeyGuard,
    pub arbitration: Option<Box<ArbitrationTables>>,
}

/// The M_Key of a port and what became of those who had another.
#[derive(Clone, Copy, Default)]
pub struct KeyGuard {
    pub key: u64,
    pub protect: u8,
    pub violations: u16,
}

/// Never shows the key.
impl std::fmt::Debug for KeyGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyGuard")
            .field("protect", &self.protect)
            .field("violations", &self.violations)
            .finish()
    }
}

/// The arbitration of a port where somebody has set it.
#[derive(Clone, Debug, Default)]
pub struct ArbitrationTables {
    pub high_limit: u8,
    pub high: Vec<VlWeight>,
    pub low: Vec<VlWeight>,
}

impl Device {
    /// How many external ports it has.
    pub fn port_count(&self) -> u8 {
        (self.ports.len() - 1) as u8
    }

    pub fn is_switch(&self) -> bool {
        self.kind == NodeKind::Switch
    }

    /// The port that is managed when a packet came in at `ingress`: port 0 of a switch, the port itself elsewhere.
    pub fn managed(&self, ingress: u8) -> u8 {
        if self.is_switch() { 0 } else { ingress }
    }

    pub fn socket(&self, port: u8) -> Option<&Socket> {
        self.ports.get(usize::from(port)).filter(|_| port > 0 || self.is_switch())
    }

    pub fn socket_mut(&mut self, port: u8) -> Option<&mut Socket> {
        let switch = self.is_switch();
        self.ports.get_mut(usize::from(port)).filter(|_| port > 0 || switch)
    }

    /// Whether a LID is that of the port that a packet came in at, or of the switch.
    pub fn owns_at(&self, ingress: u8, lid: u16) -> bool {
        let base = self.socket(self.managed(ingress)).and_then(|socket| Some((socket.lid?, socket.lmc)));
        base.is_some_and(|(base, lmc)| (base.value()..base.value() + lmc.lids()).contains(&lid))
    }
}

impl Socket {
    /// Whether packets of management pass.
    pub fn passes(&self) -> bool {
        self.physical == PhysicalState::LinkUp && self.peer.is_some()
    }
}
