//! Who reads a fabric part by part, and who changes it so: only a port that writes makes an actuator.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::registration::{Registered, Registration};
use super::source::{SourceError, Wanted, Watch};
use crate::Repath;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{BLOCK_LIDS, Fabric, Guid, Lid, NodeId, NodeKind, ServiceLevel};

/// What of a switch, or of an adapter, one datagram sets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Part {
    /// 64 entries of the forwarding table, by the number of the block.
    #[serde(rename = "block")]
    Block(u16),
    /// The last LID that the forwarding table is used for: two bytes.
    #[serde(rename = "linear_top")]
    LinearTop(()),
    /// The lanes of packets from one port to another.
    #[serde(rename = "sl2vl")]
    Lanes([u8; 2]),
    /// 32 turns of a port's arbitration: the port, and 1 or 2 for low priority, 3 or 4 for high.
    #[serde(rename = "arbitration")]
    Arbitration([u8; 2]),
    /// Whether a port may have a link: one byte, 0 or 1.
    #[serde(rename = "port")]
    Port(u8),
}

impl Part {
    /// How many bytes it has.
    pub fn length(self) -> usize {
        match self {
            Self::Block(_) => BLOCK_LIDS.into(),
            Self::LinearTop(()) => 2,
            Self::Lanes(_) => 8,
            Self::Arbitration(_) => 64,
            Self::Port(_) => 1,
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) => {
                let first = u32::from(*block) * u32::from(BLOCK_LIDS);
                write!(f, "block {block} (LIDs {first} to {})", first + u32::from(BLOCK_LIDS) - 1)
            }
            Self::LinearTop(()) => f.write_str("LinearFDBTop"),
            Self::Lanes([from, to]) => write!(f, "SL2VL from port {from} to port {to}"),
            Self::Arbitration([port, part]) => write!(f, "arbitration of port {port}, part {part}"),
            Self::Port(port) => write!(f, "port {port}"),
        }
    }
}

/// Who holds a part. A switch and an adapter may have one GUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Device {
    Switch(Guid),
    Adapter(Guid),
}

impl Device {
    /// Whatever is no switch has the parts of an adapter.
    pub fn of(kind: NodeKind, guid: Guid) -> Self {
        if kind == NodeKind::Switch { Self::Switch(guid) } else { Self::Adapter(guid) }
    }

    pub fn guid(self) -> Guid {
        let (Self::Switch(guid) | Self::Adapter(guid)) = self;
        guid
    }

    pub fn kind(self) -> NodeKind {
        match self {
            Self::Switch(_) => NodeKind::Switch,
            Self::Adapter(_) => NodeKind::ChannelAdapter,
        }
    }

    /// The node that it is in a fabric that has it.
    pub fn node(self, fabric: &Fabric) -> Option<NodeId> {
        fabric.node_of(self.kind(), self.guid())
    }

    /// As plans have it: kind and GUID.
    pub fn key(self) -> String {
        format!("{} {}", self.kind().word(), self.guid())
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(guid) => write!(f, "switch {guid}"),
            Self::Adapter(guid) => write!(f, "adapter {guid}"),
        }
    }
}

/// Where a datagram has to arrive: at an adapter at this very port, at a switch at any, which is 0 here.
pub type DevicePort = (Device, u8);

/// A part of a switch, or of an adapter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slot {
    pub at: Device,
    pub part: Part,
}

impl Slot {
    /// A port of an adapter tells and takes only what is its own.
    pub fn arrival(&self) -> DevicePort {
        let port = match (self.at, self.part) {
            (Device::Switch(_), _) => 0,
            (_, Part::Lanes([_, port]) | Part::Arbitration([port, _]) | Part::Port(port)) => port,
            (_, Part::Block(_) | Part::LinearTop(())) => 0,
        };
        (self.at, port)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.part, self.at)
    }
}

/// Why something was not written, or not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The device did not answer: whether it was written is not known.
    #[error("{0}")]
    Silent(String),
    /// The device refused, or cannot be asked: it was not written.
    #[error("{0}")]
    Refused(String),
    /// The port that everything goes through is gone.
    #[error("{0}")]
    Gone(String),
    /// The device answered the Set, and its answer holds other bytes than were sent.
    #[error("{what}")]
    Altered { what: String, holds: Vec<u8> },
}

/// Reads a fabric part by part, now and again.
pub trait Surveyor {
    /// A look at the whole fabric; ways to switches and adapters are those that it found.
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError>;

    /// From now on no way leads over these ports of switches. Who cannot be reached then?
    fn keep_off(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort>;

    /// What stands there now, in the order of the slots; many are asked at once.
    fn read(&mut self, slots: &[Slot]) -> Vec<Result<Vec<u8>, WriteError>>;

    /// The service levels that the subnet manager of the last look gives from the first LID of each pair to the second;
    /// `None` where it gave none.
    fn levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        vec![None; pairs.len()]
    }

    /// The change that some machine has registered with the subnet manager of the last look.
    fn registered(&mut self) -> Registered {
        Registered::NotKept("this road asks no subnet manager".to_owned())
    }
}

/// Writes a fabric part by part.
pub trait Actuator: Surveyor {
    /// Sets one.
    fn write(&mut self, slot: &Slot, bytes: &[u8]) -> Result<(), WriteError>;

    /// Tells hosts through the subnet manager which flows to move, and waits no longer than `patience` for the answers of
    /// these; who answered. Where it could not be said to the manager, nobody heard of it.
    fn notify(
        &mut self,
        notices: &[Repath],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        let _ = (notices, whom, patience);
        Err(WriteError::Refused("this road sends no notices".to_owned()))
    }

    /// Registers a change, or renews what was registered of it. This and its end are the only things that are written
    /// beside a plan.
    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        let _ = registration;
        Err(WriteError::Refused("this road asks no subnet manager".to_owned()))
    }

    /// Ends what was registered of a change, through whatever port.
    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        let _ = registration;
        Ok(())
    }
}
