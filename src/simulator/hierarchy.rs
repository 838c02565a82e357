//! What devices answer to HierarchyInfo: the labels of their ports.

use fabdeck_fabric::observe::{DeviceAnswer, HIERARCHY_WORDS, PortHierarchies, PortHierarchy, device_labels};
use fabdeck_fabric::{Element, ElementId, NameMap, Names, NodeId};
use fabdeck_mad::HierarchyInfo;

use super::attribute_refusal::AttributeRefusal;
use super::device::{PortRef, SimulatedDevice};
use super::label_profile::LabelProfile;
use super::simulated_fabric::SimulatedFabric;

impl SimulatedFabric {
    /// Sets what a device answers about the labels of its ports.
    pub fn set_labels(&mut self, node: NodeId, profile: LabelProfile) {
        if let Some(device) = self.devices.get_mut(node.index()) {
            device.labels = profile;
        }
    }

    /// The same by name; false if no node has that name.
    pub fn set_labels_at(&mut self, text: &str, profile: LabelProfile) -> bool {
        let node = self.find_port(text);
        node.inspect(|(node, _)| self.set_labels(NodeId(*node), profile)).is_some()
    }
}

impl SimulatedFabric {
    /// The port that a text names by its number in brackets, or by its label: `leaf0[1/2/1]`, `leaf0/1/2/1`.
    pub(super) fn port_by_label(&self, text: &str) -> Option<PortRef> {
        let (labels, _) = device_labels(&self.snapshot, &self.stated_hierarchies());
        let names = Names::new(&self.snapshot, &NameMap { labels, ..NameMap::default() });
        match Element::find(&self.snapshot, &names, &format!("port:{text}")) {
            Ok(ElementId::Port(port)) => {
                let port = self.snapshot.port(port);
                Some((port.node.0, port.number.value()))
            }
            _ => None,
        }
    }

    /// What devices that answer state about the labels of their ports.
    fn stated_hierarchies(&self) -> PortHierarchies {
        let mut stated = PortHierarchies::default();
        for (_, port) in self.snapshot.ports() {
            let device = self.device(port.node.0);
            if device.labels == LabelProfile::Silent {
                continue;
            }
            if let Ok(answer) = hierarchy_info(device, u32::from(port.number.value())) {
                let at = (self.snapshot.node(port.node).guid(), port.number);
                stated.ports.insert(at, DeviceAnswer::Known(answer.hierarchy()));
            }
        }
        stated
    }
}

/// The answer of a device of a plane: the aggregated port has the number of the port.
fn plane_hierarchy(device: &SimulatedDevice, number: u8, (plane, planes): (u8, u8)) -> PortHierarchy {
    const IN_USE: u32 = 1 << 31;
    let (port, plane, planes) = (u32::from(number), u32::from(plane), u32::from(planes));
    let of_plane = [plane, planes, port];
    let (template, levels) = match device.is_switch() {
        true => {
            let head = [1, plane, port, port.div_ceil(2), 2 - port % 2, 0, 0, 0, 0];
            (PortHierarchy::XDR_SWITCH, [&head[..], &of_plane].concat())
        }
        false => (PortHierarchy::XDR_ADAPTER, [&[1, 1, 1, 1, 0, 0, 0, 0, 0, 0][..], &of_plane].concat()),
    };
    let mut words = [0; HIERARCHY_WORDS];
    for (word, value) in words.iter_mut().zip(&levels) {
        *word = IN_USE | value;
    }
    PortHierarchy { template, active_levels: levels.len() as u8, words }
}

/// The answer about a port.
pub(super) fn hierarchy_info(
    device: &SimulatedDevice,
    modifier: u32,
) -> Result<HierarchyInfo, AttributeRefusal> {
    /// The selector of a level in use.
    const IN_USE: u32 = 1 << 31;
    let number = (modifier & 0xFF) as u8;
    if modifier > 0xFF || device.port(number).is_none() {
        return Err(AttributeRefusal::InvalidField);
    }
    let (template, shown) = match device.labels {
        LabelProfile::Plane { plane, planes } => {
            return Ok(HierarchyInfo::new(&plane_hierarchy(device, number, (plane, planes))));
        }
        LabelProfile::Plain | LabelProfile::Refusing | LabelProfile::Silent => {
            return Err(AttributeRefusal::UnsupportedAttribute);
        }
        LabelProfile::Full => (PortHierarchy::TO_NDR, number),
        LabelProfile::Equal => (PortHierarchy::TO_NDR, 1),
        LabelProfile::Nonsense => (u64::MAX, number),
    };
    // Split, port, cage, chip, and of adapters the slot.
    let port = u32::from(shown);
    let levels = [0, 2 - port % 2, port.div_ceil(2), 1, 1];
    let active = if device.is_switch() { 4 } else { 5 };
    let mut words = [0; HIERARCHY_WORDS];
    for (word, value) in words.iter_mut().zip(&levels[..active]) {
        *word = IN_USE | value;
    }
    Ok(HierarchyInfo::new(&PortHierarchy { template, active_levels: active as u8, words }))
}
