//! Moves ends between the halves of the LIDs of their destinations. An end that changes halves drains first, as queue
//! pairs do: its packets arrive before it makes new ones. So an end never has packets to both halves in flight.

use super::flow::FlowOrder;
use super::lid_selection::{LidRange, NextHalf};
use super::network::TrafficRun;
use fabdeck_fabric::PortId;

impl TrafficRun {
    /// Directs the packets of a port to high LIDs on this level, or back to base LIDs. The change happens when no
    /// packet of the port is in flight; returns whether it has happened.
    pub fn select_half(&mut self, port: PortId, high: Option<u8>) -> bool {
        let Some(end) = self.end_of_port(port) else { return true };
        let seat = &mut self.senders.selections[end as usize];
        let there = match (seat.half, high) {
            (LidRange::High, Some(level)) => seat.level == Some(level & 0xF),
            (LidRange::Base, None) => true,
            _ => false,
        };
        let next = high.map_or(NextHalf::Base, |level| NextHalf::High(level & 0xF));
        seat.pending = (!there || seat.is_draining()).then_some(next);
        if seat.is_draining() && seat.in_flight == 0 {
            self.drained.push(end);
            self.readdress_drained_ends();
        }
        !self.senders.selections[end as usize].is_draining()
    }

    /// Whether a port sends to the half that it was last directed to, with no packet to the other half in flight.
    pub fn has_switched_half(&self, port: PortId) -> bool {
        self.end_of_port(port).is_none_or(|end| !self.senders.selections[end as usize].is_draining())
    }

    /// Counts a packet of an end as no longer in flight.
    pub(crate) fn finish_packet(&mut self, end: u32) {
        let seat = &mut self.senders.selections[end as usize];
        seat.in_flight = seat.in_flight.saturating_sub(1);
        if seat.in_flight == 0 && seat.is_draining() {
            self.drained.push(end);
        }
    }

    /// Lets ends without a packet in flight send to the other half of the LIDs from now on.
    pub(crate) fn readdress_drained_ends(&mut self) {
        while let Some(end) = self.drained.pop() {
            let seat = &mut self.senders.selections[end as usize];
            let Some(wanted) = seat.pending.filter(|_| seat.in_flight == 0) else { continue };
            (seat.half, seat.level) = match wanted {
                NextHalf::Base => (LidRange::Base, None),
                NextHalf::High(level) => (LidRange::High, Some(level)),
            };
            seat.pending = None;
            if let NextHalf::High(level) = wanted {
                self.ensure_lane_of_level(level);
            }
            self.senders.readdress(end, &self.graph, &self.adapters);
            self.begin_sending(end);
        }
    }

    /// Delivery and order of the packets of each listed flow.
    pub fn flow_orders(&self) -> Vec<FlowOrder> {
        self.senders.flows.iter().map(|flow| flow.order).collect()
    }
}
