//! Listed flows.

use super::channel_graph::NEVER;
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
    /// Messages that are answered; `None` where the flow sends on and on.
    pub messages: Option<AnsweredMessages>,
}

/// Messages of a flow, of which each waits for the answer to the one before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AnsweredMessages {
    /// The flow that answers.
    pub answered_by: u32,
    /// Packets of a message.
    pub packets: u32,
    /// Packets of the message under way that are not made yet.
    pub left: u32,
    /// Packets of the message under way that have arrived.
    pub arrived: u32,
}

impl FlowState {
    /// Begins a message.
    pub fn begin_message(&mut self) {
        if let Some(messages) = &mut self.messages {
            (messages.left, messages.arrived) = (messages.packets, 0);
            self.due = 0;
        }
    }

    /// Counts a packet that is made: behind the last one of a message the flow waits.
    pub fn count_made(&mut self) {
        if let Some(messages) = &mut self.messages {
            messages.left -= 1;
            if messages.left == 0 {
                self.due = NEVER;
            }
        }
    }

    /// Counts an arrival, and returns the flow that answers when a message is there as a whole.
    pub fn count_arrived(&mut self) -> Option<u32> {
        let messages = self.messages.as_mut()?;
        messages.arrived += 1;
        (messages.arrived == messages.packets).then_some(messages.answered_by)
    }
}
