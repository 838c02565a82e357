//! What devices answer to HierarchyInfo: the labels of their ports.

use fabdeck_fabric::NodeId;
use fabdeck_fabric::observe::{HIERARCHY_WORDS, PortHierarchy};
use fabdeck_mad::{HierarchyInfo, PortCapabilities};

use super::attribute_refusal::AttributeRefusal;
use super::device::SimulatedDevice;
use super::simulated_fabric::SimulatedFabric;

/// What a device answers about the labels of its ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LabelProfile {
    /// The device does not have the attribute, and says so in its capabilities.
    #[default]
    Plain,
    /// Two ports in each cage: `1/2/1` for port 3 of a switch.
    Full,
    /// The device says that it has the attribute, and refuses it.
    Refusing,
    /// The device says that it has the attribute, and does not answer.
    Silent,
    /// A template that does not exist.
    Nonsense,
    /// All ports have the label of the first.
    Equal,
}

impl LabelProfile {
    /// All profiles but the plain one, with their names in the options of a simulator.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("labels", Self::Full),
        ("labels-refuse", Self::Refusing),
        ("labels-silent", Self::Silent),
        ("labels-nonsense", Self::Nonsense),
        ("labels-equal", Self::Equal),
    ];

    /// The bit of the capabilities.
    pub(super) fn capability(self) -> u32 {
        if self == Self::Plain { 0 } else { PortCapabilities::HIERARCHY_INFO }
    }
}

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
