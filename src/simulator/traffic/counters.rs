//! Counts of ports since the beginning, in the form of their counters.

use std::collections::BTreeMap;

use super::channel_graph::{ChannelTarget, NEVER};
use super::network::TrafficRun;
use super::packets::NONE;
use fabdeck_fabric::observe::{Counter, CounterValues};
use fabdeck_fabric::{Fabric, PortId};

/// The counts of one port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortCount {
    pub port: PortId,
    /// In words of four bytes.
    pub xmit_data: u64,
    pub rcv_data: u64,
    pub xmit_packets: u64,
    pub rcv_packets: u64,
    /// Ticks in which a packet was ready and none was sent.
    pub xmit_wait: u64,
    /// The same in nanoseconds.
    pub waited_ns: u64,
    /// Packets for a port that is down.
    pub discards: u64,
    /// Packets that came in and cannot leave: no path, no lane, or back through the same port.
    pub relay_errors: u64,
    /// Packets sent, and in the next field received, that are still in the network; 0 in runs that keep no paths.
    pub xmit_stored: u64,
    pub rcv_stored: u64,
}

impl PortCount {
    /// All counts zero.
    pub const NONE: Self = Self {
        port: PortId(0),
        xmit_data: 0,
        rcv_data: 0,
        xmit_packets: 0,
        rcv_packets: 0,
        xmit_wait: 0,
        waited_ns: 0,
        discards: 0,
        relay_errors: 0,
        xmit_stored: 0,
        rcv_stored: 0,
    };

    /// The counts without the packets that are still in the network.
    pub fn settled(&self) -> Self {
        let rest = |packets: u64, data: u64, stored: u64| {
            let rest = packets.saturating_sub(stored);
            (rest, data.checked_div(packets).unwrap_or(0) * rest)
        };
        let (xmit_packets, xmit_data) = rest(self.xmit_packets, self.xmit_data, self.xmit_stored);
        let (rcv_packets, rcv_data) = rest(self.rcv_packets, self.rcv_data, self.rcv_stored);
        Self { xmit_packets, xmit_data, rcv_packets, rcv_data, xmit_stored: 0, rcv_stored: 0, ..*self }
    }

    /// The counts as 64-bit counters.
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

/// The channel that leaves each port and the channel that arrives there; `NONE` where there is none.
#[derive(Clone, Debug)]
pub struct PortChannels(Vec<[u32; 2]>);

impl TrafficRun {
    /// The channels of all ports, by port number. The fabric must be the one that the run was built from.
    pub fn port_channels(&self, fabric: &Fabric) -> PortChannels {
        let mut wires = vec![[NONE; 2]; fabric.ports().len()];
        let sends =
            |number: u32| matches!(self.graph.channels[number as usize].far, ChannelTarget::SendQueues(_));
        let of_ports = (0u32..).zip(&self.graph.sides).filter(|(_, side)| side.port != side.peer);
        for (number, side) in of_ports.filter(|(number, _)| !sends(*number)) {
            for (port, way) in [(side.port, 0), (side.peer, 1)] {
                if let Some(held) = wires.get_mut(port.index()) {
                    held[way] = number;
                }
            }
        }
        PortChannels(wires)
    }

    /// The counts of one port.
    pub fn count_port(&self, fabric: &Fabric, wires: &PortChannels, port: PortId) -> PortCount {
        let [out, back] = wires.0.get(port.index()).copied().unwrap_or([NONE; 2]);
        let (words, now) = (self.settings.packet_words(), self.wheel.now());
        let channel = |number: u32| self.graph.channels.get(number as usize);
        let sent = channel(out).map_or(0, |channel| channel.packets);
        let taken = channel(back).map_or(0, |channel| channel.packets);
        let stored = |number: u32| match self.settings.keeps_paths {
            true => {
                let settled = self.graph.sides.get(number as usize).map_or(0, |side| side.settled);
                channel(number).map_or(0, |channel| channel.packets.saturating_sub(settled))
            }
            false => 0,
        };
        let side = self.graph.sides.get(out as usize);
        let waited = channel(out).zip(side).map_or(0, |(channel, side)| {
            let since = if channel.waits_since == NEVER { now } else { channel.waits_since };
            side.waited + (now - since)
        });
        let tick = side.map_or(1, |side| u64::from(side.tick.max(1)));
        let held = fabric.port(port);
        let at = (held.node.0, held.number.value());
        let of_switch = |counted: &BTreeMap<(u32, u8), u64>| {
            let counted = counted.get(&at).filter(|_| fabric.node(held.node).is_switch());
            counted.copied().unwrap_or(0)
        };
        PortCount {
            port,
            xmit_data: sent * words,
            rcv_data: taken * words,
            xmit_packets: sent,
            rcv_packets: taken,
            xmit_wait: waited / tick,
            waited_ns: waited / 1000,
            discards: of_switch(&self.discarded),
            relay_errors: of_switch(&self.astray),
            xmit_stored: stored(out),
            rcv_stored: stored(back),
        }
    }

    /// The counts of all ports, by port number. The fabric must be the one that the run was built from.
    pub fn port_counts(&self, fabric: &Fabric) -> Vec<PortCount> {
        let wires = self.port_channels(fabric);
        fabric.ports().map(|(port, _)| self.count_port(fabric, &wires, port)).collect()
    }
}
