//! The parts of a node of the simulated fabric.

use std::collections::BTreeMap;

use fabdeck_fabric::{
    Guid, Lid, LinkSpeed, LinkWidth, Lmc, NodeKind, PartitionKey, PhysicalState, PortState, Sl2Vl, VlWeight,
};
use fabdeck_mad::NodeDescription;

use super::adaptive_tables::DeviceGroups;
use super::label_profile::LabelProfile;
use super::linear_table::LinearTable;
use super::partition_profile::PartitionProfile;
use super::port_speeds::{PortInfoForm, PortStatesForm};
use super::wire_profile::WireProfile;

/// The first multicast LID.
pub const FIRST_GROUP: u16 = 0xC000;

/// The length of a tick, as a code of PortSamplesControl.
pub const TICK_CODE: u8 = 1;

/// A port of the simulator: the node's index and the port number.
pub type PortRef = (u32, u8);

/// A node.
#[derive(Clone, Debug)]
pub struct SimulatedDevice {
    pub kind: NodeKind,
    pub guid: Guid,
    pub system_image_guid: Guid,
    pub description: NodeDescription,
    pub vendor_id: u32,
    pub device_id: u16,
    pub revision: u32,
    pub enhanced_port0: bool,
    /// By port number; entry 0 of an adapter is unused.
    pub ports: Vec<PortModel>,
    pub tables: DeviceTables,
    /// Whether the device answers nothing.
    pub silent: bool,
    /// Whether one answer covers the SL2VL tables of all in-ports.
    pub optimized_lanes: bool,
    pub adaptive: AdaptiveProfile,
    pub port_info_form: PortInfoForm,
    pub port_states: PortStatesForm,
    pub wire: WireProfile,
    pub partitions: PartitionProfile,
    pub labels: LabelProfile,
    /// The groups of its adaptive tables.
    pub groups: DeviceGroups,
}

/// What a switch answers about adaptive routing. Its packets follow the linear tables in each case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AdaptiveProfile {
    /// The switch has no such attribute.
    #[default]
    Plain,
    /// Free entries with groups of equally near ports.
    On,
    Off,
    /// The switch does not answer.
    Silent,
    /// The switch is on and refuses its tables.
    Withheld,
    /// Its forwarding tables have another layout.
    OddPacking,
    /// Fast recovery alone, with static entries.
    RecoveryOnly,
    /// Two private tables, of which service levels from 8 on use the second.
    TwoTables,
    /// Two private tables, and no adaptive routing.
    TablesOnly,
    /// Groups of all ports to switches, which close loops.
    Loop,
    /// SL2VL tables are selected by virtual lane.
    ByLane,
}

/// The tables of a switch.
#[derive(Clone, Debug, Default)]
pub struct DeviceTables {
    pub linear: LinearTable,
    pub linear_top: u16,
    /// PortStateChange: a port's state changed, and no manager has cleared the bit.
    pub state_change: bool,
    /// 32 masks for the 16 ports at a position, by (block, position).
    pub multicast: BTreeMap<(u16, u8), [u16; 32]>,
    /// The (in, out) pairs that differ from the identity modulo the operational lanes.
    pub lanes: BTreeMap<(u8, u8), Sl2Vl>,
}

/// A port.
#[derive(Clone, Debug)]
pub struct PortModel {
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
    pub peer: Option<PortRef>,
    pub key: KeyGuard,
    pub arbitration: Option<Box<ArbitrationTables>>,
    /// The P_Keys, if they were set.
    pub keys: Option<Vec<PartitionKey>>,
}

/// The M_Key of a port, and the number of requests with another key.
#[derive(Clone, Copy, Default)]
pub struct KeyGuard {
    pub key: u64,
    pub protect: u8,
    pub violations: u16,
}

/// Leaves out the key.
impl std::fmt::Debug for KeyGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyGuard")
            .field("protect", &self.protect)
            .field("violations", &self.violations)
            .finish()
    }
}

/// The arbitration tables of a port, if they were set.
#[derive(Clone, Debug, Default)]
pub struct ArbitrationTables {
    pub high_limit: u8,
    pub high: Vec<VlWeight>,
    pub low: Vec<VlWeight>,
}

impl SimulatedDevice {
    /// Number of external ports.
    pub fn port_count(&self) -> u8 {
        (self.ports.len() - 1) as u8
    }

    pub fn is_switch(&self) -> bool {
        self.kind == NodeKind::Switch
    }

    /// The managed port when a packet came in at `ingress`: port 0 of a switch, the port itself elsewhere.
    pub fn managed_port(&self, ingress: u8) -> u8 {
        if self.is_switch() { 0 } else { ingress }
    }

    pub fn port(&self, port: u8) -> Option<&PortModel> {
        self.ports.get(usize::from(port)).filter(|_| port > 0 || self.is_switch())
    }

    pub fn port_mut(&mut self, port: u8) -> Option<&mut PortModel> {
        let switch = self.is_switch();
        self.ports.get_mut(usize::from(port)).filter(|_| port > 0 || switch)
    }

    /// Whether a LID belongs to the port where a packet came in, or to the switch.
    pub fn has_lid_at(&self, ingress: u8, lid: u16) -> bool {
        let base = self.port(self.managed_port(ingress)).and_then(|socket| Some((socket.lid?, socket.lmc)));
        base.is_some_and(|(base, lmc)| (base.value()..base.value() + lmc.lid_count()).contains(&lid))
    }
}

impl PortModel {
    /// Whether management packets pass.
    pub fn is_passing_mads(&self) -> bool {
        self.physical == PhysicalState::LinkUp && self.peer.is_some()
    }
}
