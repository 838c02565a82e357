//! Findings about cabling: what is wrong, and with which cables.

use super::cable_end::CableEnd;
use super::moved_ports::MovedPorts;
use crate::catalogue::json_type::json_type;
use fabdeck_fabric::LinkId;

json_type! {
    /// What is wrong with cabling. Findings come in this order.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
    #[serde(rename_all = "kebab-case")]
    pub enum CablingFault {
        /// The cables of two devices are exchanged.
        Exchanged,
        /// The cables of a device are at another one.
        Replaced,
        /// A row of ports has its cables some ports further.
        Shifted,
        /// A row of ports of one device has its cables at another one.
        Moved,
        /// A device of the plan is not in the fabric.
        MissingDevice,
        /// A device in the fabric is not in the plan.
        ExtraDevice,
        /// Cables are exchanged with each other.
        Swapped,
        /// A host is at another switch than planned.
        OffRail,
        /// A cable leads to another device than planned.
        WrongPeer,
        /// A cable is in another port of the right device.
        WrongPort,
        Missing,
        Extra,
        /// Fewer lanes than planned.
        Narrower,
        /// A lower speed than planned.
        Slower,
    }
}

impl CablingFault {
    const WORDS: &'static [&'static str] = &[
        "exchanged",
        "replaced",
        "shifted",
        "moved",
        "missing-device",
        "extra-device",
        "swapped",
        "off-rail",
        "wrong-peer",
        "wrong-port",
        "missing",
        "extra",
        "narrower",
        "slower",
    ];

    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

/// A planned cable and where it is found: either may be missing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CableFault {
    pub planned: Option<[CableEnd; 2]>,
    pub found: Option<[CableEnd; 2]>,
    /// The link of the found cable.
    pub link: Option<LinkId>,
    /// Whether the planned cable is there and an end of it reports that it is down.
    pub is_down: bool,
}

/// Something that is wrong, as one finding however many cables it has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CablingFinding {
    /// Identifies the finding in every reading: the fault, with GUID or name and port of its first cable.
    pub id: String,
    pub fault: CablingFault,
    pub title: String,
    /// What a technician does about it, a step each.
    pub steps: Vec<RepairStep>,
    pub cables: Vec<CableFault>,
    /// What moved, where that is more than single cables.
    pub moved: Option<MovedPorts>,
}

impl CablingFinding {
    /// The links of the cables that are found and wrong.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        self.cables.iter().filter_map(|cable| cable.link)
    }
}

/// A step of a repair, done at one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepairStep {
    /// Where the technician stands.
    pub at: CableEnd,
    pub text: String,
}
