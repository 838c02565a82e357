//! The record of the health of links and devices: the answers that changed since the record before.

use serde::{Deserialize, Serialize};

use fabdeck_fabric::observe::{DeviceAnswer, DeviceSensors, NodeStatements, PortWire, WireHealth};
use fabdeck_fabric::{Guid, PortNum};

/// Most entries of a record. A port takes up to 2 KB of it.
const MAX_ENTRIES: usize = 256;

/// Ports and devices, each with all that is known of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WireRecord {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<WirePortEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<WireDeviceEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<StatementEntry>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WirePortEntry {
    pub node: Guid,
    pub port: u8,
    pub said: PortWire,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WireDeviceEntry {
    pub node: Guid,
    pub said: DeviceSensors,
}

/// What a file states about a node.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct StatementEntry {
    pub node: Guid,
    pub columns: NodeStatements,
}

impl WireRecord {
    /// The records of what changed. Answers are added and replaced, never taken back.
    pub fn of_changes(before: &WireHealth, now: &WireHealth) -> Vec<Self> {
        let ports = now.ports.iter().filter(|(at, said)| before.ports.get(at) != Some(said));
        let ports: Vec<WirePortEntry> = ports
            .map(|((node, port), said)| WirePortEntry { node: *node, port: port.value(), said: said.clone() })
            .collect();
        let devices = now.devices.iter().filter(|(node, said)| before.devices.get(node) != Some(said));
        let devices: Vec<WireDeviceEntry> =
            devices.map(|(node, said)| WireDeviceEntry { node: *node, said: said.clone() }).collect();
        let of_ports = ports.chunks(MAX_ENTRIES).map(|some| Self { ports: some.to_vec(), ..Self::default() });
        let of_devices =
            devices.chunks(MAX_ENTRIES).map(|some| Self { devices: some.to_vec(), ..Self::default() });
        let stated = now.stated.iter().filter(|(node, columns)| before.stated.get(node) != Some(columns));
        let stated: Vec<StatementEntry> =
            stated.map(|(node, columns)| StatementEntry { node: *node, columns: columns.clone() }).collect();
        let of_nodes =
            stated.chunks(MAX_ENTRIES).map(|some| Self { stated: some.to_vec(), ..Self::default() });
        of_ports.chain(of_devices).chain(of_nodes).collect()
    }

    pub fn apply(self, health: &mut WireHealth) {
        health.ports.extend(self.ports.into_iter().map(|one| ((one.node, PortNum(one.port)), one.said)));
        health.devices.extend(self.devices.into_iter().map(|one| (one.node, one.said)));
        health.stated.extend(self.stated.into_iter().map(|one| (one.node, one.columns)));
    }

    /// The same with other GUIDs, and without serial numbers and the makers' own identifiers.
    pub fn anonymize(mut self, guid: impl Fn(Guid) -> Guid) -> Self {
        for WirePortEntry { node, said, .. } in &mut self.ports {
            *node = guid(*node);
            said.map_devices(&guid);
            if let DeviceAnswer::Known(module) = &mut said.module {
                (module.serial, module.vendor, module.part, module.revision) = (None, None, None, None);
            }
            // The firmware may write anything there.
            if let DeviceAnswer::Known(page) = &mut said.troubleshooting {
                page.text = None;
            }
        }
        for WireDeviceEntry { node, said } in &mut self.devices {
            *node = guid(*node);
            said.map_devices(&guid);
            if let DeviceAnswer::Known(system) = &mut said.system {
                (system.serial, system.part, system.product) = (None, None, None);
            }
            if let DeviceAnswer::Known(supplies) = &mut said.power_supplies {
                supplies.values_mut().for_each(|supply| supply.serial = None);
            }
            if let DeviceAnswer::Known(firmware) = &mut said.firmware {
                firmware.psid = None;
            }
        }
        for StatementEntry { node, .. } in &mut self.stated {
            *node = guid(*node);
        }
        self
    }
}
