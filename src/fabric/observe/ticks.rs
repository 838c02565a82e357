//! The unit of PortXmitWait, as devices state it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Fabric, LinkSpeed, PortId};

/// A kind of device with a lane speed. All ports of one kind have the same tick.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TickKind {
    /// The vendor ID.
    pub vendor: Option<u32>,
    /// The device ID.
    pub device: Option<u32>,
    /// The hardware revision.
    pub revision: Option<u32>,
    /// The speed of a lane.
    pub speed: LinkSpeed,
}

/// The field Tick of PortSamplesControl by kind of device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ticks {
    /// The field; `None` where a port of the kind was asked and did not answer.
    pub by_kind: BTreeMap<TickKind, Option<u8>>,
}

impl TickKind {
    /// The kind of a port, where its speed is known.
    pub fn for_port(fabric: &Fabric, port: PortId) -> Option<Self> {
        let port = fabric.port(port);
        let node = &fabric.node(port.node).facts;
        let speed = port.facts.speed?;
        Some(Self { vendor: node.vendor_id, device: node.device_id, revision: node.revision, speed })
    }
}

impl Ticks {
    /// The field Tick for a port, and the lane speed that it refers to.
    pub(crate) fn of(&self, fabric: &Fabric, port: PortId) -> Option<(u8, LinkSpeed)> {
        let kind = TickKind::for_port(fabric, port)?;
        Some(((*self.by_kind.get(&kind)?)?, kind.speed))
    }
}
