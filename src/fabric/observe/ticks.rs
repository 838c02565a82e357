//! In what PortXmitWait counts, as devices say it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Fabric, LinkSpeed, PortId};

/// A kind of device, and the speed of a lane: what one port of that kind says holds for all of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TickKind {
    pub vendor: Option<u32>,
    pub device: Option<u32>,
    pub revision: Option<u32>,
    pub speed: LinkSpeed,
}

/// The field Tick of PortSamplesControl by kind; `None` where one was asked and did not say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ticks {
    pub by_kind: BTreeMap<TickKind, Option<u8>>,
}

impl TickKind {
    /// That of a port whose speed is known.
    pub fn of(fabric: &Fabric, port: PortId) -> Option<Self> {
        let port = fabric.port(port);
        let node = &fabric.node(port.node).facts;
        let speed = port.facts.speed?;
        Some(Self { vendor: node.vendor_id, device: node.device_id, revision: node.revision, speed })
    }
}

impl Ticks {
    /// What a port's kind said, and the speed that it is meant for.
    pub fn of(&self, fabric: &Fabric, port: PortId) -> Option<(u8, LinkSpeed)> {
        let kind = TickKind::of(fabric, port)?;
        Some(((*self.by_kind.get(&kind)?)?, kind.speed))
    }
}
