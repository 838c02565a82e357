//! The fabric as packets see it: channels, the queues behind them, and the ends that send and receive.
//!
//! ```text
//!   sends ──► out ──► [switch] ──► [switch] ──► in ──► (drain)
//!   the queues of     a queue for each lane     an end takes in at the speed of its link,
//!   an end's lanes    behind each channel       or at its own through a drain
//! ```
//!
//! With output buffers a crossing inside the switch leads to each of its cables. The queues behind the crossing are the
//! output buffers of the port.

use fabdeck_fabric::{Arbitration, Fabric, Lid, Lmc, NodeId, PathBits, PortId, PortNum, SwitchGraph, Tables};

use super::arbiter::{Arbiter, ArbiterState};
use super::packets::NONE;
use super::settings::TrafficSettings;
use crate::device::TICK_CODE;
use fabdeck_routing::Problem;

/// A time that never comes.
pub(crate) const NEVER: u64 = u64::MAX;

/// What a channel leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChannelTarget {
    Switch(u32),
    /// An end that receives at the speed of its link.
    Sink(u32),
    /// An end whose packets wait for its drain.
    Adapter(u32),
    /// No wire: the send queues of an end.
    SendQueues(u32),
    /// The output buffers before a cable, which is a channel.
    OutputBuffers(u32),
}

/// One direction of a cable, a drain, or the pseudo channel of an end's send queues. The part that each packet needs,
/// in one cache line; the rest is in a struct beside it.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct TrafficChannel {
    pub far: ChannelTarget,
    /// Number of the port where packets come in.
    pub entry: u8,
    pub lane: u8,
    /// Lanes that queues ask for, as bits.
    pub asked: u16,
    /// Picoseconds: of a packet on the wire, until the next packet may start, and of the header until it can be
    /// forwarded.
    pub wire: u32,
    pub pace: u32,
    pub latency: u32,
    /// The packet under way and the queue it leaves; `NONE` when idle.
    pub packet: u32,
    pub from: u32,
    /// When the wire is free, exact to the picosecond.
    pub free_at: u64,
    /// Since when a ready packet could not leave; `NEVER`: none waits.
    pub waits_since: u64,
    pub packets: u64,
    /// Whether the cable is down: no packet starts.
    pub down: bool,
    /// Whether the channel is a cable, not a drain.
    pub is_hop: bool,
}

const _: () = assert!(size_of::<TrafficChannel>() == 64);

/// The rest of a channel: for waiting packets, arbitration and counters.
#[derive(Clone, Debug)]
pub(crate) struct ChannelDetails {
    pub waited: u64,
    /// Packets that crossed the cable and have arrived or were lost since, in runs that keep paths.
    pub settled: u64,
    pub turns: u32,
    pub turn: ArbiterState,
    /// The ports at both ends, and the length of a tick there, in picoseconds.
    pub port: PortId,
    pub peer: PortId,
    pub tick: u32,
}

/// An end, which sends and receives.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TrafficEnd {
    pub port: PortId,
    pub switch: u32,
    pub lid: Lid,
    pub lmc: Lmc,
    /// What the end adds to base LIDs.
    pub path_bits: u8,
    /// Whether the end is a switch itself, at its port 0.
    pub is_switch: bool,
    /// Whether patterns over all hosts include this adapter.
    pub is_host: bool,
    /// Most payload that the end can send, in Mb/s.
    pub mbps: u32,
}

/// Channels of an end, in this order, after those between switches.
pub(crate) const OUT: u32 = 0;
pub(crate) const IN: u32 = 1;
pub(crate) const SENDS: u32 = 2;
pub(crate) const DRAIN: u32 = 3;
pub(crate) const PER_END: u32 = 4;

#[derive(Debug)]
pub(crate) struct ChannelGraph {
    pub channels: Vec<TrafficChannel>,
    pub sides: Vec<ChannelDetails>,
    pub between_switches: u32,
    pub ends: Vec<TrafficEnd>,
    /// The channel that leaves a switch by a port. Each switch has room for the highest port number in the fabric.
    exits: Vec<u32>,
    ports: usize,
    /// The crossing to the output buffers of each channel that leaves a switch, `NONE` for other channels; empty
    /// without output buffers.
    crossings: Vec<u32>,
    pub turns: Vec<Arbiter>,
}

impl ChannelGraph {
    /// Builds the channels; `switches` are switches that send and receive.
    pub fn new(
        problem: &Problem<'_>,
        (tables, path_bits): (&Tables, &PathBits),
        settings: &TrafficSettings,
        switches: &[PortId],
    ) -> Self {
        let (fabric, graph) = (problem.fabric, &problem.graph);
        let switches_ports = fabric.switches().flat_map(|(id, _)| fabric.ports_of(id));
        let ports = switches_ports.map(|(_, port)| port.number.index() + 1).max().unwrap_or(1);
        let mut plant = Self {
            channels: Vec::new(),
            sides: Vec::new(),
            between_switches: graph.channels().len() as u32,
            ends: ends(problem, path_bits, settings, switches),
            exits: vec![NONE; graph.switch_count() * ports],
            ports,
            crossings: Vec::new(),
            turns: vec![],
        };
        plant.add_switch_cables(fabric, graph, settings);
        for end in 0..plant.ends.len() as u32 {
            plant.add_end_channels(fabric, end, settings);
        }
        if settings.output_buffer > 0 {
            plant.add_crossings();
        }
        plant.set_arbitration(fabric, tables);
        plant
    }

    pub fn end_channel(&self, end: u32, which: u32) -> u32 {
        self.between_switches + end * PER_END + which
    }

    /// Both directions of the cable at a port.
    pub fn cable_channels(&self, port: PortId) -> Vec<u32> {
        let wire = |side: &ChannelDetails| side.port != side.peer && (side.port == port || side.peer == port);
        (0u32..).zip(&self.sides).filter(|(_, side)| wire(side)).map(|(number, _)| number).collect()
    }

    /// The switch and the port that a channel leaves by; `None` if an adapter sends over it.
    pub fn egress_port(&self, channel: u32) -> Option<(u32, u8)> {
        let place = self.exits.iter().position(|exit| *exit == channel)?;
        Some(((place / self.ports) as u32, (place % self.ports) as u8))
    }

    /// The channel that leaves a switch by a port; `NONE` without a cable or with a failed one.
    pub fn exit_channel(&self, switch: u32, port: u8) -> u32 {
        match usize::from(port) < self.ports {
            true => self.exits[switch as usize * self.ports + usize::from(port)],
            false => NONE,
        }
    }

    /// The channel that packets for a cable ask for: the crossing to its output buffers, or without them the cable.
    pub fn entrance(&self, cable: u32) -> u32 {
        self.crossing(cable).unwrap_or(cable)
    }

    /// The crossing to the output buffers of a cable.
    pub fn crossing(&self, cable: u32) -> Option<u32> {
        self.crossings.get(cable as usize).copied().filter(|crossing| *crossing != NONE)
    }

    /// Number of packets that a queue behind a channel holds.
    pub fn capacity(&self, channel: u32, settings: &TrafficSettings) -> u32 {
        match self.channels[channel as usize].far {
            ChannelTarget::SendQueues(_) => 0,
            ChannelTarget::OutputBuffers(_) => u32::from(settings.output_buffer),
            _ => settings.buffer_packets(),
        }
    }

    fn set_exit(&mut self, switch: u32, port: PortNum, channel: u32) {
        self.exits[switch as usize * self.ports + port.index()] = channel;
    }

    fn add_channel(&mut self, (channel, side): (TrafficChannel, ChannelDetails)) {
        self.channels.push(channel);
        self.sides.push(side);
    }

    fn add_switch_cables(&mut self, fabric: &Fabric, graph: &SwitchGraph, settings: &TrafficSettings) {
        for (number, channel) in (0u32..).zip(graph.channels()) {
            self.set_exit(channel.from, channel.from_port, number);
            let port = |switch, port| fabric.port_of(NodeId(switch), port).unwrap_or(PortId(u32::MAX));
            let ends = (port(channel.from, channel.from_port), port(channel.to, channel.to_port));
            let far = ChannelTarget::Switch(channel.to);
            self.add_channel(cable_channel(fabric, far, ends, settings));
        }
    }

    /// Adds the four channels of an end. A switch has no cable to itself: its own packets come in at port 0.
    fn add_end_channels(&mut self, fabric: &Fabric, number: u32, settings: &TrafficSettings) {
        let end = self.ends[number as usize];
        let limit = if end.is_switch { Some(settings.switch_limit_mbps) } else { settings.host_limit_mbps };
        let at_switch = fabric.peer(end.port).filter(|_| !end.is_switch).unwrap_or(end.port);
        let behind =
            if limit.is_some() { ChannelTarget::Adapter(number) } else { ChannelTarget::Sink(number) };
        let (mut out, out_side) =
            cable_channel(fabric, ChannelTarget::Switch(end.switch), (end.port, at_switch), settings);
        let (mut back, back_side) = cable_channel(fabric, behind, (at_switch, end.port), settings);
        let (mut drain, drain_side) =
            cable_channel(fabric, ChannelTarget::Sink(number), (end.port, end.port), settings);
        back.latency = wire_time(settings);
        (drain.latency, drain.entry) = (0, 0);
        if let Some(mbps) = limit {
            let pace = TrafficSettings::wire_picoseconds(settings.payload, mbps);
            out.pace = out.wire.max(pace);
            drain.wire = pace;
            drain.pace = pace;
        }
        if end.is_switch {
            (out.wire, back.wire) = (out.pace, out.pace);
            back.pace = back.wire;
        }
        self.set_exit(end.switch, fabric.port(at_switch).number, self.end_channel(number, IN));
        let sends =
            TrafficChannel { far: ChannelTarget::SendQueues(number), wire: 0, pace: 0, ..drain.clone() };
        self.add_channel((out, out_side));
        self.add_channel((back, back_side));
        self.add_channel((sends, drain_side.clone()));
        self.add_channel((drain, drain_side));
    }

    /// Adds the crossing to the output buffers of each cable that leaves a switch. It is as fast as the cable, and the
    /// time through the switch is that of its input.
    fn add_crossings(&mut self) {
        self.crossings = vec![NONE; self.channels.len()];
        let mut exits: Vec<u32> = self.exits.iter().copied().filter(|exit| *exit != NONE).collect();
        exits.sort_unstable();
        for cable in exits {
            let (held, side) = (self.channels[cable as usize].clone(), self.sides[cable as usize].clone());
            self.crossings[cable as usize] = self.channels.len() as u32;
            let far = ChannelTarget::OutputBuffers(cable);
            let crossing =
                TrafficChannel { far, entry: 0, latency: 0, pace: held.wire, is_hop: false, ..held };
            self.add_channel((crossing, ChannelDetails { peer: side.port, ..side }));
        }
    }

    /// Sets the arbitration of all ports; without tables all lanes have equal weights.
    pub fn set_arbitration(&mut self, fabric: &Fabric, tables: &Tables) {
        self.turns = vec![Arbiter::with_even_weights(16)];
        let none = Arbitration::default();
        for (channel, side) in self.channels.iter().zip(&mut self.sides) {
            (side.turns, side.turn) = (0, ArbiterState::default());
            if !matches!(channel.far, ChannelTarget::Switch(_)) && side.port == side.peer {
                continue;
            }
            let port = fabric.port(side.port);
            let held = tables.nodes.get(&port.node);
            let held = held.and_then(|held| {
                let own = held.arbitration.get(&port.number);
                // Tables of an adapter may be stored under port 0, whichever of its ports they are for.
                let whole = || held.arbitration.get(&PortNum::MANAGEMENT);
                own.or_else(|| whole().filter(|_| !fabric.node(port.node).is_switch()))
            });
            let Some(held) = held.filter(|held| **held != none) else { continue };
            let turns = Arbiter::new(held);
            let known = self.turns.iter().position(|known| *known == turns);
            side.turns = known.unwrap_or(self.turns.len()) as u32;
            if known.is_none() {
                self.turns.push(turns);
            }
        }
    }
}

fn ends(
    problem: &Problem<'_>,
    path_bits: &PathBits,
    settings: &TrafficSettings,
    switches: &[PortId],
) -> Vec<TrafficEnd> {
    let (fabric, graph) = (problem.fabric, &problem.graph);
    let hosts = graph.terminals().iter().filter_map(|terminal| {
        let (node, lid) = (fabric.port(terminal.port).node, terminal.lid?);
        let wire = TrafficSettings::wire_picoseconds(settings.packet_bytes(), mbps(fabric, terminal.port));
        let of_link = u64::from(settings.payload) * 8_000_000 / u64::from(wire.max(1));
        let most = settings.host_limit_mbps.unwrap_or(u32::MAX);
        Some(TrafficEnd {
            port: terminal.port,
            switch: terminal.switch,
            lid,
            lmc: terminal.lmc,
            path_bits: path_bits.get(terminal.port),
            is_switch: false,
            is_host: !fabric.node(node).facts.is_aggregation(),
            mbps: most.min(of_link as u32),
        })
    });
    let own = switches.iter().filter_map(|port| {
        let held = fabric.port(*port);
        Some(TrafficEnd {
            port: *port,
            switch: held.node.0,
            lid: held.facts.lid.filter(|_| graph.is_alive(held.node.0))?,
            lmc: held.facts.lmc,
            path_bits: path_bits.get(*port),
            is_switch: true,
            is_host: false,
            mbps: settings.switch_limit_mbps,
        })
    });
    hosts.chain(own).collect()
}

fn cable_channel(
    fabric: &Fabric,
    far: ChannelTarget,
    (port, peer): (PortId, PortId),
    settings: &TrafficSettings,
) -> (TrafficChannel, ChannelDetails) {
    let wire = TrafficSettings::wire_picoseconds(settings.packet_bytes(), mbps(fabric, port));
    let forwarding = settings.forwarding.as_nanos() as u64 * 1000;
    let channel = TrafficChannel {
        far,
        entry: fabric.port(peer).number.value(),
        lane: 0,
        asked: 0,
        wire,
        pace: wire,
        latency: wire_time(settings) + u32::try_from(forwarding).unwrap_or(0),
        packet: NONE,
        from: NONE,
        free_at: 0,
        waits_since: NEVER,
        packets: 0,
        down: false,
        is_hop: port != peer,
    };
    let tick = tick(fabric, port);
    (
        channel,
        ChannelDetails { waited: 0, settled: 0, turns: 0, turn: ArbiterState::default(), port, peer, tick },
    )
}

fn wire_time(settings: &TrafficSettings) -> u32 {
    u32::try_from(settings.flight.as_nanos() * 1000).unwrap_or(0)
}

/// Speed and width of a cable: the lower of both ends; 4x EDR if neither end states it, as in the simulator's devices.
fn rate(fabric: &Fabric, port: PortId) -> (u32, u32) {
    use fabdeck_fabric::{LinkSpeed, LinkWidth};
    let ends = [Some(port), fabric.peer(port)].map(|port| port.map(|port| &fabric.port(port).facts));
    let ends = ends.into_iter().flatten();
    let speed = ends.clone().filter_map(|facts| facts.speed).min().unwrap_or(LinkSpeed::Edr);
    let width = ends.filter_map(|facts| facts.width).map(LinkWidth::lanes).min();
    (speed.data_mbps(), width.unwrap_or(LinkWidth::X4.lanes()))
}

fn mbps(fabric: &Fabric, port: PortId) -> u32 {
    let (speed, width) = rate(fabric, port);
    speed * width
}

/// A tick of PortXmitWait: the byte times of one physical lane that PortSamplesControl gives (IBA 16.1.3.2).
fn tick(fabric: &Fabric, port: PortId) -> u32 {
    (u32::from(TICK_CODE) + 1) * (8_000_000 / rate(fabric, port).0)
}
