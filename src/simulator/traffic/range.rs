//! Which of the LIDs of a port an end sends to: the lower half of them (base LIDs), the upper half (high LIDs), or all. An
//! end that changes over drains first, as queue pairs do: what it has made arrives, and until then it makes nothing more.
//! So no packet to one half is ever under way beside one of the same end to the other.

use super::flow::FlowOrder;
use super::network::TrafficRun;
use super::plant::End;
use fabdeck_fabric::{PortId, pick};

/// Which LIDs of a port are sent to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Half {
    /// Sources spread over all of them.
    All,
    Base,
    High,
}

/// How an end sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seat {
    half: Half,
    /// The level of all that it sends, while it sends to high LIDs.
    pub level: Option<u8>,
    /// What it turns to as soon as nothing of it is under way: high LIDs on a level, or base LIDs.
    wanted: Option<Option<u8>>,
    /// Its packets that are made, and neither arrived nor lost.
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

    /// The LID of a port that a source at this place among the hosts sends to.
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
    /// What a port sends is to go to high LIDs on this level from now on, or back to base LIDs. It does once nothing of the
    /// port is under way; whether that is so already.
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

    /// Whether a port sends to the half that it was told last, and nothing of it is on its way to the other.
    pub fn has_turned(&self, port: PortId) -> bool {
        self.end_at(port).is_none_or(|end| !self.senders.seats[end as usize].drains())
    }

    /// A packet of an end is under way no more.
    pub(super) fn landed(&mut self, end: u32) {
        let seat = &mut self.senders.seats[end as usize];
        seat.flying = seat.flying.saturating_sub(1);
        if seat.flying == 0 && seat.drains() {
            self.drained.push(end);
        }
    }

    /// Ends with nothing under way turn to what they were told.
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

    /// What became of the packets of each listed flow.
    pub fn order_of_flows(&self) -> Vec<FlowOrder> {
        self.senders.flows.iter().map(|flow| flow.order).collect()
    }
}
