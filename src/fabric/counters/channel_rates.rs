//! The rate of each channel in an interval, and where the forwarding tables lead packets.

use super::rates::Rates;
use crate::{Fabric, Lid, NodeId, PortId, Tables};

/// A packet has no more bytes, headers included.
const MAX_PACKET_BYTES: f64 = 4300.0;

/// What an input buffer holds for one lane at most: 2,048 credits of 64 bytes (IBA 7.9.4.4).
const LANE_BUFFER_BYTES: f64 = 131_072.0;

/// The data lanes of a port that does not state how many it has (IBA 7.6).
const MAX_DATA_LANES: u8 = 15;

/// The counters of channels with the tables that led their packets. Rates are in bytes per second.
pub(super) struct ChannelRates<'f> {
    pub fabric: &'f Fabric,
    pub tables: &'f Tables,
    pub rates: &'f Rates,
    /// What switches threw away, at the most.
    pub lost: f64,
    /// The shortest time between two readings of a port.
    seconds: f64,
}

impl<'f> ChannelRates<'f> {
    pub fn new(fabric: &'f Fabric, tables: &'f Tables, rates: &'f Rates) -> Self {
        let of_switches = rates.ports.iter().filter(|port| {
            let port = fabric.port(port.port);
            port.peer.is_some() && fabric.node(port.node).is_switch()
        });
        let thrown_away = of_switches.map(|port| {
            let packets = port.discarded.lower_bound().filter(|_| !port.discarded.is_lower_bound());
            packets.map_or(f64::INFINITY, |packets| packets as f64 * MAX_PACKET_BYTES / port.seconds)
        });
        let seconds = rates.ports.iter().map(|port| port.seconds).fold(f64::INFINITY, f64::min);
        Self { fabric, tables, rates, lost: thrown_away.sum(), seconds }
    }

    /// What the input buffer behind a channel can hold, over the time between two readings. At the most so much came
    /// over the channel and did not go on, or went on and had come before.
    pub fn buffered_rate(&self, port: PortId) -> f64 {
        let ends = [Some(port), self.fabric.peer(port)].into_iter().flatten();
        let lanes = ends.filter_map(|port| self.fabric.port(port).facts.operational_lanes);
        let lanes = lanes.filter(|lanes| *lanes > 0).min().unwrap_or(MAX_DATA_LANES).min(MAX_DATA_LANES);
        LANE_BUFFER_BYTES * f64::from(lanes) / self.seconds
    }

    /// What the buffers behind all channels that carried something can hold.
    pub fn all_buffered_rate(&self) -> f64 {
        let carried = self.rates.ports.iter().map(|port| port.port);
        let carried = carried.filter(|port| self.fabric.peer(*port).is_some() && self.sent_rate(*port) > 0.0);
        carried.map(|port| self.buffered_rate(port)).sum()
    }

    /// What a port sent of multicast packets at the most; their paths are not in forwarding tables of unicast.
    pub fn multicast_rate(&self, port: PortId) -> f64 {
        let packets = self.rates.port(port).and_then(|rates| rates.multicast_sent.lower_bound());
        packets.map_or(0.0, |packets| packets as f64 * MAX_PACKET_BYTES / self.seconds)
    }

    /// The ports of adapters on a switch.
    pub fn adapters(&self, switch: NodeId) -> impl Iterator<Item = PortId> {
        let peers = self.fabric.ports_of(switch).filter_map(|(_, port)| port.peer);
        peers.filter(|peer| !self.fabric.node(self.fabric.port(*peer).node).is_switch())
    }

    /// What the adapters on a switch sent, one of them left out.
    pub fn sent_by_adapters(&self, switch: NodeId, but: Option<PortId>) -> f64 {
        let adapters = self.adapters(switch).filter(|adapter| Some(*adapter) != but);
        adapters.map(|adapter| self.sent_rate(adapter)).sum()
    }

    /// What a port sent in a second at the most.
    pub fn sent_rate(&self, port: PortId) -> f64 {
        let rates = self.rates.port(port).filter(|rates| !rates.sent.is_lower_bound());
        rates.and_then(|rates| rates.bandwidth()).unwrap_or(f64::INFINITY)
    }

    /// What an adapter took in at the most: it or its switch counts it.
    pub fn received_rate(&self, adapter: PortId) -> f64 {
        let own = self.rates.port(adapter).filter(|rates| !rates.received.is_lower_bound());
        let own = own.and_then(|rates| rates.receive_bandwidth()).unwrap_or(f64::INFINITY);
        self.fabric.peer(adapter).map_or(0.0, |port| own.min(self.sent_rate(port)))
    }

    pub fn lids(&self, adapter: PortId) -> impl Iterator<Item = Lid> + use<> {
        let facts = &self.fabric.port(adapter).facts;
        let (lid, count) = (facts.lid, 1u32 << facts.lmc.value());
        lid.into_iter()
            .flat_map(move |lid| (0..count).filter_map(move |more| Lid::new(u32::from(lid.value()) + more)))
    }

    /// The port of a switch through which it leads packets for a LID.
    pub fn egress(&self, switch: NodeId, lid: Lid) -> Option<PortId> {
        self.fabric.port_of(switch, self.tables.lft(switch)?.get(lid)?)
    }

    pub fn switch_at(&self, port: PortId) -> Option<NodeId> {
        let node = self.fabric.port(self.fabric.peer(port)?).node;
        self.fabric.node(node).is_switch().then_some(node)
    }
}
