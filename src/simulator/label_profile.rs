//! What a device answers about the labels of its ports.

use fabdeck_mad::PortCapabilities;

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
    /// A device of one of several planes, with the templates of XDR.
    Plane { plane: u8, planes: u8 },
}

impl LabelProfile {
    /// All profiles but the plain one and that of planes, with their names in the options of a simulator.
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
