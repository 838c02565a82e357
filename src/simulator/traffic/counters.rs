//! What ports have counted since the beginning, as their counters have it.

use super::network::TrafficRun;
use super::plant::{Far, NEVER};
use crate::fabric::{Fabric, NodeId, PortId, PortNum};
use crate::observe::{Counter, CounterValues};

/// One port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortCount {
    pub port: PortId,
    /// Words of four bytes.
    pub xmit_data: u64,
    pub rcv_data: u64,
    pub xmit_packets: u64,
    pub rcv_packets: u64,
    /// Ticks in which something was there to be sent and nothing was.
    pub xmit_wait: u64,
    /// The same in nanoseconds.
    pub waited_ns: u64,
    /// Packets for a port that is down.
    pub discards: u64,
    /// Packets that came in and have no way on: no path, no lane, or back where they came from.
    pub relay_errors: u64,
}

impl PortCount {
    /// As the 64-bit counters have it.
    pub fn values(&self) -> CounterValues {
        [
            (Counter::PortXmitDataExtended, Some(self.xmit_data)),
            (Counter::PortRcvDataExtended, Some(self.rcv_data)),
            (Counter::PortXmitPktsExtended, Some(self.xmit_packets)),
            (Counter::PortRcvPktsExtended, Some(self.rcv_packets)),
            (Counter::PortUnicastXmitPkts, Some(self.xmit_packets)),
            (Counter::PortUnicastRcvPkts, Some(self.rcv_packets)),
            (Counter::PortXmitWaitExt, Some(self.xmit_wait)),
            (Counter::PortXmitDiscardsExt, Some(self.discards)),
            (Counter::PortRcvSwitchRelayErrorsExt, Some(self.relay_errors)),
        ]
        .into_iter()
        .collect()
    }
}

impl TrafficRun {
    /// Every port of a fabric, the one that the run was made of, by its number there.
    pub fn counters(&self, fabric: &Fabric) -> Vec<PortCount> {
        let none = |(port, _)| PortCount {
            port,
            xmit_data: 0,
            rcv_data: 0,
            xmit_packets: 0,
            rcv_packets: 0,
            xmit_wait: 0,
            waited_ns: 0,
            discards: 0,
            relay_errors: 0,
        };
        let mut counts: Vec<PortCount> = fabric.ports().map(none).collect();
        let (words, now) = (self.settings.words(), self.wheel.now());
        let wires = self.plant.channels.iter().filter(|channel| channel.port != channel.peer);
        for channel in wires.filter(|channel| !matches!(channel.far, Far::Sends(_))) {
            let since = if channel.waits_since == NEVER { now } else { channel.waits_since };
            let waited = channel.waited + (now - since);
            if let Some(count) = counts.get_mut(channel.port.index()) {
                count.xmit_packets = channel.packets;
                count.xmit_data = channel.packets * words;
                count.xmit_wait = waited / u64::from(channel.tick.max(1));
                count.waited_ns = waited / 1000;
            }
            if let Some(count) = counts.get_mut(channel.peer.index()) {
                count.rcv_packets = channel.packets;
                count.rcv_data = channel.packets * words;
            }
        }
        let port = |(switch, port): &(u32, u8)| fabric.port_of(NodeId(*switch), PortNum(*port));
        for (at, packets) in &self.discarded {
            let count = port(at).and_then(|port| counts.get_mut(port.index()));
            count.into_iter().for_each(|count| count.discards = *packets);
        }
        for (at, packets) in &self.astray {
            let count = port(at).and_then(|port| counts.get_mut(port.index()));
            count.into_iter().for_each(|count| count.relay_errors = *packets);
        }
        counts
    }
}
