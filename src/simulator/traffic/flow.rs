//! Flows by list.

use fabdeck_fabric::{PortId, ServiceLevel};

/// One end sends to another for as long as the run lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// A port of an adapter, or port 0 of a switch.
    pub from: PortId,
    pub to: PortId,
    /// The service level; without one it is what the paths are sent on.
    pub level: Option<ServiceLevel>,
    /// Payload that it offers, in Mb/s; without one as much as gets through. With 0 it sends nothing until it is told.
    pub mbps: Option<u32>,
}

impl Flow {
    pub fn new(from: PortId, to: PortId) -> Self {
        Self { from, to, level: None, mbps: None }
    }
}

/// What became of a flow since measuring began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowCount {
    pub from: PortId,
    pub to: PortId,
    pub level: ServiceLevel,
    pub mbps: u64,
    pub packets: u64,
}

/// What the packets of a flow tell of the way, since the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowOrder {
    pub arrived: u64,
    /// Packets that came behind one that had left its source later.
    pub overtaken: u64,
    pub lost: u64,
}

/// A flow under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Course {
    pub from: u32,
    pub to: u32,
    pub lid: u16,
    pub level: u8,
    /// What it was before its end was told to send to other LIDs.
    pub usual: Option<u8>,
    /// When its next packet may be made, and how long after the one before; 0: at once.
    pub due: u64,
    pub interval: u64,
    pub delivered: u64,
    pub order: FlowOrder,
    /// When the latest packet that arrived had left its source.
    pub latest: u64,
}
