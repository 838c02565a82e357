//! Which LIDs of a destination port an end sends to: the lower half (base LIDs), the upper half (high LIDs), or all.
//! An end that changes halves drains first, as queue pairs do: its packets arrive before it makes new ones. So an end
//! never has packets to both halves in flight.

use super::flow::FlowOrder;
use super::network::TrafficRun;
use super::plant::End;
use fabdeck_fabric::{PortId, pick};

/// The LIDs of a port that an end sends to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    /// All LIDs, spread over the sources.
    All,
    Base,
    High,
}

/// How an end addresses its packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seat {
    half: Half,
    /// The level of all its packets while it sends to high LIDs.
    pub level: Option<u8>,
    /// The change to make when no packet is in flight: to high LIDs on a level, or to base LIDs.
    wanted: Option<Option<u8>>,
    /// Packets made that have neither arrived nor been lost.
    pub flying: u32,
}

impl Seat {
    pub fn new(base_lids: bool) -> Self {
        let half = if base_lids { Half::Base } else { Half::All };
        Self { half, level: None, wanted: None, flying: 0 }
    }

    pub fn drains(&self) -> bool {
        self.wanted.is_some()
    }

    /// The LID of a port that the source with this index sends to.
    pub fn lid(&self, place: u32, to: &End) -> u16 {
        let lids = to.lmc.lids();
        let half = (lids / 2).max(1);
        // A port with one LID has no other half.
        let (base, of) = match self.half {
            Half::All => (0, lids),
            Half::Base => (0, half),
            Half::High => (lids - half, half),
        };
        pick(place, to.lid, of).value() + base
    }
}

impl TrafficRun {
    /// Directs the packets of a port to high LIDs on this level, or back to base LIDs. The change happens when no
    /// packet of the port is in flight; returns whether it has happened.
    pub fn turn_to_half(&mut self, port: PortId, high: Option<u8>) -> bool {
        let Some(end) = self.end_at(port) else { return true };
        let seat = &mut self.senders.seats[end as usize];
        let there = match (seat.half, high) {
            (Half::High, Some(level)) => seat.level == Some(level & 0xF),
            (Half::Base, None) => true,
            _ => false,
        };
        seat.wanted = (!there || seat.drains()).then_some(high.map(|level| level & 0xF));
        if seat.drains() && seat.flying == 0 {
            self.drained.push(end);
            self.turn_drained();
        }
        !self.senders.seats[end as usize].drains()
    }

    /// Whether a port sends to the half that it was last directed to, with no packet to the other half in flight.
    pub fn has_turned(&self, port: PortId) -> bool {
        self.end_at(port).is_none_or(|end| !self.senders.seats[end as usize].drains())
    }

    /// Counts a packet of an end as no longer in flight.
    pub(super) fn landed(&mut self, end: u32) {
        let seat = &mut self.senders.seats[end as usize];
        seat.flying = seat.flying.saturating_sub(1);
        if seat.flying == 0 && seat.drains() {
            self.drained.push(end);
        }
    }

    /// Makes the wanted change at ends that have no packet in flight.
    pub(super) fn turn_drained(&mut self) {
        while let Some(end) = self.drained.pop() {
            let seat = &mut self.senders.seats[end as usize];
            let Some(wanted) = seat.wanted.filter(|_| seat.flying == 0) else { continue };
            (seat.half, seat.level) = (if wanted.is_some() { Half::High } else { Half::Base }, wanted);
            seat.wanted = None;
            wanted.into_iter().for_each(|level| self.widen_for(level));
            self.senders.readdress(end, &self.plant, &self.adapters);
            self.begin_sending(end);
        }
    }

    /// Delivery and order of the packets of each listed flow.
    pub fn order_of_flows(&self) -> Vec<FlowOrder> {
        self.senders.flows.iter().map(|flow| flow.order).collect()
    }
}
