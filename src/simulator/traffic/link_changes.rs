//! Changes under traffic: cables that go down, come up, or run slower, and flows whose rate changes.
//!
//! The packet on a cable that goes down still arrives. The switch discards and counts packets that wait for the cable
//! then or come later. An adapter holds packets back until the cable is up.

use super::channel_graph::NEVER;
use super::network::TrafficRun;
use super::packets::NONE;
use super::queue::QueueStage;
use super::settings::TrafficSettings;
use super::traffic_senders::interval;
use fabdeck_fabric::PortId;

impl TrafficRun {
    /// Takes the cable at a port down or up.
    pub fn set_link(&mut self, port: PortId, up: bool) {
        for number in self.graph.cable_channels(port) {
            let now = self.wheel.now();
            let channel = &mut self.graph.channels[number as usize];
            if channel.down != up {
                continue;
            }
            channel.down = !up;
            if up {
                self.try_send(number);
                continue;
            }
            if channel.waits_since != NEVER {
                self.graph.sides[number as usize].waited += now - channel.waits_since;
                channel.waits_since = NEVER;
            }
            if let Some(exit) = self.graph.egress_port(number) {
                // Output buffers first: what leaves them makes room for packets that ask for them.
                self.discard_request(number, exit);
                if let Some(crossing) = self.graph.crossing(number) {
                    self.discard_request(crossing, exit);
                }
            }
        }
    }

    /// Discards the packets that ask for a channel that went down.
    fn discard_request(&mut self, number: u32, exit: (u32, u8)) {
        let mut waiting = Vec::new();
        for lane in 0..self.lanes {
            let wanted = self.queue(number, lane) as usize;
            let mut at = self.queues[wanted].first_asking;
            while at != NONE {
                waiting.push(at);
                at = self.queues[at as usize].next_asking;
            }
            (self.queues[wanted].first_asking, self.queues[wanted].last_asking) = (NONE, NONE);
        }
        self.graph.channels[number as usize].asked = 0;
        // Every queue stops asking before room is made, because room lets other packets move.
        waiting.iter().for_each(|queue| self.queues[*queue as usize].stage = QueueStage::Leaving);
        for queue in waiting {
            *self.discarded.entry(exit).or_default() += 1;
            self.discard_first(queue);
            self.request_exit(queue);
        }
    }

    /// Sets the rate of the cable at a port, in Mb/s; the packet on it arrives at its old time.
    pub fn set_rate(&mut self, port: PortId, mbps: u32) {
        let wire = TrafficSettings::wire_picoseconds(self.settings.packet_bytes(), mbps);
        let limit = self
            .settings
            .host_limit_mbps
            .map(|limit| TrafficSettings::wire_picoseconds(self.settings.payload, limit));
        for number in self.graph.cable_channels(port) {
            let from_end = self.graph.egress_port(number).is_none();
            let channel = &mut self.graph.channels[number as usize];
            channel.wire = wire;
            channel.pace = limit.filter(|_| from_end).map_or(wire, |limit| limit.max(wire));
            if let Some(crossing) = self.graph.crossing(number) {
                let crossing = &mut self.graph.channels[crossing as usize];
                (crossing.wire, crossing.pace) = (wire, wire);
            }
        }
    }

    /// Sets the rate of a flow, given by its index, in Mb/s; with 0 it ends after the packet that is made already.
    pub fn set_flow_rate(&mut self, flow: usize, mbps: u32) {
        let (now, payload) = (self.wheel.now(), self.settings.payload);
        let Some(held) = self.senders.flows.get_mut(flow) else { return };
        held.interval = interval(payload, f64::from(mbps));
        held.due = if mbps == 0 { NEVER } else { now };
        let (end, level) = (held.from, held.level);
        let lane = self.adapters[end as usize][usize::from(level)];
        if lane < self.lanes && self.is_idle(end, lane) {
            self.queue_next_packet(end, lane);
        }
    }
}
