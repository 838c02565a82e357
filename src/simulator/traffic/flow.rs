//! Listed flows.

use fabdeck_fabric::{PortId, ServiceLevel};

/// A flow from one end to another for the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flow {
    /// A port of an adapter, or port 0 of a switch.
    pub from: PortId,
    pub to: PortId,
    /// The service level; `None`: that of the path.
    pub level: Option<ServiceLevel>,
    /// Payload rate in Mb/s; `None`: as much as possible. With 0 the flow sends nothing until its rate is set.
    pub mbps: Option<u32>,
}

impl Flow {
    pub fn new(from: PortId, to: PortId) -> Self {
        Self { from, to, level: None, mbps: None }
    }
}

/// What a flow has delivered since measuring began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowCount {
    pub from: PortId,
    pub to: PortId,
    pub level: ServiceLevel,
    pub mbps: u64,
    pub packets: u64,
}

/// Delivery and order of the packets of a flow, since the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlowOrder {
    pub arrived: u64,
    /// Packets that arrived after one that left the source later.
    pub overtaken: u64,
    pub lost: u64,
}

/// The state of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FlowState {
    pub from: u32,
    pub to: u32,
    pub lid: u16,
    pub level: u8,
    /// The level before the end moved to high LIDs.
    pub usual: Option<u8>,
    /// When the next packet may be made, and the time between two packets; 0: at once.
    pub due: u64,
    pub interval: u64,
    pub delivered: u64,
    pub order: FlowOrder,
    /// The latest time at which an arrived packet had left its source.
    pub latest: u64,
}
