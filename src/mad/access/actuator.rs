//! Traits that read and write a fabric attribute by attribute. Only a port that may write makes an actuator.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::registration::{Registration, RegistrationLookup};
use super::source::{ReadObserver, ReadOptions, SourceError};
use crate::PathNotice;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{BLOCK_LIDS, Fabric, Guid, Lid, NodeId, NodeKind, ServiceLevel};

/// The attribute of a switch or adapter that one datagram sets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum AttributePart {
    /// 64 entries of the forwarding table, by the number of the block.
    #[serde(rename = "block")]
    Block(u16),
    /// The last LID that the forwarding table holds (LinearFDBTop): two bytes.
    #[serde(rename = "linear_top")]
    LinearTop(()),
    /// The SL2VL table of packets that enter at the first port and leave at the second.
    #[serde(rename = "sl2vl")]
    Lanes([u8; 2]),
    /// 32 entries of a port's arbitration table: the port, and block 1 or 2 for low priority, 3 or 4 for high.
    #[serde(rename = "arbitration")]
    Arbitration([u8; 2]),
    /// Whether a port may have a link: one byte, 0 or 1.
    #[serde(rename = "port")]
    Port(u8),
}

impl AttributePart {
    /// Number of bytes of the attribute.
    pub fn byte_count(self) -> usize {
        match self {
            Self::Block(_) => BLOCK_LIDS.into(),
            Self::LinearTop(()) => 2,
            Self::Lanes(_) => 8,
            Self::Arbitration(_) => 64,
            Self::Port(_) => 1,
        }
    }
}

impl fmt::Display for AttributePart {
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

/// The device that holds an attribute. A switch and an adapter may have the same GUID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DeviceId {
    Switch(Guid),
    Adapter(Guid),
}

impl DeviceId {
    /// Every node that is no switch counts as an adapter.
    pub fn from_node(kind: NodeKind, guid: Guid) -> Self {
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

    /// The node of this device in a fabric.
    pub fn node(self, fabric: &Fabric) -> Option<NodeId> {
        fabric.node_of(self.kind(), self.guid())
    }

    /// The key of the device in plans: kind and GUID.
    pub fn plan_key(self) -> String {
        format!("{} {}", self.kind().word(), self.guid())
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch(guid) => write!(f, "switch {guid}"),
            Self::Adapter(guid) => write!(f, "adapter {guid}"),
        }
    }
}

/// The port at which a datagram has to arrive: this very port of an adapter; any port of a switch, written as 0.
pub type DevicePort = (DeviceId, u8);

/// An attribute of a switch or adapter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DeviceAttribute {
    pub at: DeviceId,
    pub part: AttributePart,
}

impl DeviceAttribute {
    /// The port where datagrams for this attribute have to arrive: a port of an adapter answers for its own attributes
    /// alone.
    pub fn destination(&self) -> DevicePort {
        let port = match (self.at, self.part) {
            (DeviceId::Switch(_), _) => 0,
            (
                _,
                AttributePart::Lanes([_, port])
                | AttributePart::Arbitration([port, _])
                | AttributePart::Port(port),
            ) => port,
            (_, AttributePart::Block(_) | AttributePart::LinearTop(())) => 0,
        };
        (self.at, port)
    }
}

impl fmt::Display for DeviceAttribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.part, self.at)
    }
}

/// Why an attribute was not written or not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The device did not answer: whether the attribute was written is not known.
    #[error("{0}")]
    Silent(String),
    /// The device refused or cannot be asked: the attribute was not written.
    #[error("{0}")]
    Refused(String),
    /// The local port, which all datagrams go through, is gone.
    #[error("{0}")]
    Gone(String),
    /// The device answered the Set, and its answer holds other bytes than were sent.
    #[error("{what}")]
    Altered { what: String, holds: Vec<u8> },
}

/// Reads a fabric attribute by attribute, any number of times.
pub trait Surveyor {
    /// Reads the whole fabric. Later reads use the routes to switches and adapters that this reading found.
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError>;

    /// Plans no route over these ports of switches from now on, and returns the device ports that cannot be reached
    /// then.
    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort>;

    /// Reads the current values, in the order of the slots; many requests are under way at once.
    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>>;

    /// The service levels that the subnet manager of the last snapshot gives from the first LID of each pair to the
    /// second. `None` where it gave none.
    fn read_levels(&mut self, pairs: &[(Lid, Lid)]) -> Vec<Option<ServiceLevel>> {
        vec![None; pairs.len()]
    }

    /// The change that a machine has registered with the subnet manager of the last snapshot.
    fn read_registration(&mut self) -> RegistrationLookup {
        RegistrationLookup::NotKept("this driver asks no subnet manager".to_owned())
    }
}

/// Writes a fabric attribute by attribute.
pub trait Actuator: Surveyor {
    /// Sets one attribute.
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError>;

    /// Sends notices to hosts through the subnet manager: which flows to move. Waits a limited time for the answers of
    /// the hosts listed, and returns those that answered. An error means that the manager did not take the notices, so
    /// no host received them.
    fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        patience: Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        let _ = (notices, whom, patience);
        Err(WriteError::Refused("this driver sends no notices".to_owned()))
    }

    /// Registers a change, or renews its registration. Registering and unregistering are the only writes outside a
    /// plan.
    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        let _ = registration;
        Err(WriteError::Refused("this driver asks no subnet manager".to_owned()))
    }

    /// Ends the registration of a change, whichever port it was registered through.
    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        let _ = registration;
        Ok(())
    }
}
