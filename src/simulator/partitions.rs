//! The P_Key tables of devices, and what their agents answer about them.

use fabdeck_fabric::{NodeId, NodeKind, PartitionKey, Partitions, PortId, PortNum};
use fabdeck_mad::{PKeyBlock, PortInfo};

use super::attribute_refusal::AttributeRefusal;
use super::device::{PortRef, SimulatedDevice};
use super::partition_profile::PartitionProfile;
use super::simulated_fabric::SimulatedFabric;

/// The P_Keys of a port without others: it is a full member of the default partition.
const DEFAULT_KEYS: &[PartitionKey] = &[PartitionKey::DEFAULT_FULL];

impl SimulatedDevice {
    /// The number of entries of the tables, but for those of external ports of a switch: full blocks.
    pub fn partition_capacity(&self) -> u16 {
        let longest = self.ports.iter().filter_map(|socket| socket.keys.as_ref()).map(Vec::len).max();
        let blocks = longest.unwrap_or(0).div_ceil(usize::from(PKeyBlock::ENTRIES)).max(1) as u16;
        blocks * PKeyBlock::ENTRIES
    }

    /// The P_Keys of a port that sends and receives packets itself.
    fn own_keys(&self, port: u8) -> &[PartitionKey] {
        if self.partitions == PartitionProfile::Empty {
            return &[];
        }
        self.port(self.managed_port(port)).and_then(|socket| socket.keys.as_deref()).unwrap_or(DEFAULT_KEYS)
    }

    fn enforces(&self) -> bool {
        matches!(self.partitions, PartitionProfile::Enforcing | PartitionProfile::Lacking)
    }
}

impl SimulatedFabric {
    /// Gives the member ports of partitions their P_Keys. Ports in no partition get an empty table.
    pub fn set_partitions(&mut self, partitions: &Partitions) {
        let members: Vec<(PortId, PortRef)> = self
            .snapshot
            .ports()
            .map(|(id, port)| (id, (port.node.0, port.number.value())))
            .filter(|(_, (node, number))| self.device(*node).is_switch() == (*number == 0))
            .collect();
        for (id, (node, number)) in members {
            let mut keys: Vec<PartitionKey> =
                partitions.keys(id).map(|(number, full)| PartitionKey::from_parts(number, full)).collect();
            // A subnet manager puts the default partition first.
            keys.sort_by_key(|key| (key.number() != PartitionKey::DEFAULT_NUMBER, key.number()));
            self.set_port_keys(NodeId(node), PortNum(number), keys);
        }
    }

    /// Sets the P_Keys of a port.
    pub fn set_port_keys(&mut self, node: NodeId, port: PortNum, keys: Vec<PartitionKey>) {
        let device = self.devices.get_mut(node.index());
        if let Some(socket) = device.and_then(|device| device.port_mut(port.value())) {
            socket.keys = Some(keys);
        }
    }

    /// Sets what a device answers about partitions.
    pub fn set_partition_profile(&mut self, node: NodeId, profile: PartitionProfile) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.partitions = profile;
        }
    }

    /// The same by name; false if no node has that name.
    pub fn set_partition_profile_at(&mut self, text: &str, profile: PartitionProfile) -> bool {
        let node = self.find_port(text);
        node.inspect(|(node, _)| self.set_partition_profile(NodeId(*node), profile)).is_some()
    }

    /// A block of a P_Key table.
    pub(super) fn read_key_block(
        &self,
        (node, ingress): PortRef,
        modifier: u32,
    ) -> Result<PKeyBlock, AttributeRefusal> {
        let device = self.device(node);
        if device.partitions == PartitionProfile::Absent {
            return Err(AttributeRefusal::UnsupportedAttribute);
        }
        let (block, port) = (modifier as u16, (modifier >> 16) as u8);
        let external = device.is_switch() && port > 0;
        let entries = match external {
            true => device.partitions.enforcement_capacity(),
            false => device.partition_capacity(),
        };
        if block >= entries.div_ceil(PKeyBlock::ENTRIES) {
            return Err(AttributeRefusal::InvalidField);
        }
        let keys = match external {
            true => self.keys_at_switch(device, port)?,
            false => device.own_keys(ingress).to_vec(),
        };
        let before = usize::from(block) * usize::from(PKeyBlock::ENTRIES);
        Ok(PKeyBlock::of_keys(keys.into_iter().skip(before)))
    }

    /// The table of an external port: the P_Keys of the host behind it.
    fn keys_at_switch(
        &self,
        device: &SimulatedDevice,
        port: u8,
    ) -> Result<Vec<PartitionKey>, AttributeRefusal> {
        let socket = device.port(port).ok_or(AttributeRefusal::InvalidField)?;
        let Some(peer) = socket.peer.filter(|_| device.enforces()) else { return Ok(Vec::new()) };
        let keys = self.device(peer.0).own_keys(peer.1).iter().copied();
        let lacks = device.partitions == PartitionProfile::Lacking;
        Ok(keys.filter(|key| !lacks || key.number() == PartitionKey::DEFAULT_NUMBER).collect())
    }

    /// Sets the bits of enforcement in the PortInfo of an external port of a switch.
    pub(super) fn fill_enforcement(&self, (node, port): PortRef, info: &mut PortInfo) {
        let device = self.device(node);
        let to_host = || {
            let peer = device.port(port).and_then(|socket| socket.peer);
            peer.is_some_and(|(peer, _)| self.device(peer).kind != NodeKind::Switch)
        };
        if device.is_switch() && port > 0 && device.enforces() && to_host() {
            info.set_partition_enforcement(true, true);
        }
    }

    /// The P_Key of a partition that two ports share, one of them as a full member.
    pub(super) fn shared_key(&self, a: PortRef, b: PortRef) -> Option<u16> {
        let [a, b] = [a, b].map(|(node, port)| self.device(node).own_keys(port));
        let shares = |key: &&PartitionKey| {
            b.iter().any(|other| other.number() == key.number() && (key.is_full() || other.is_full()))
        };
        a.iter().find(shares).map(|key| PartitionKey::from_parts(key.number(), true).bits())
    }
}
