//! The fabric as packets meet it: channels, the queues behind them, and the ends that send and take in.
//!
//! ```text
//!   sends ──► out ──► [switch] ──► [switch] ──► in ──► (drain)
//!   the queues of     a queue for each lane     an end takes in at the speed of its link,
//!   an end's lanes    behind each channel       or at its own through a drain
//! ```

use fabdeck_fabric::{Arbitration, Fabric, Lid, Lmc, NodeId, PortId, PortNum, SwitchGraph, Tables};

use super::arbiter::{Turn, Turns};
use super::packets::NONE;
use super::settings::Settings;
use crate::performance::TICK;
use fabdeck_routing::Problem;

/// Nothing waits.
pub(super) const NEVER: u64 = u64::MAX;

/// What lies behind a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Far {
    Switch(u32),
    /// Whatever comes is taken in.
    Sink(u32),
    /// What comes waits for the drain of an end.
    Adapter(u32),
    /// No wire: behind it are the send queues of an end.
    Sends(u32),
}

/// One direction of a cable, a drain, or what stands before the send queues of an end. What every packet needs of it is
/// one line of the processor's cache; the rest is its `Side`.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(super) struct Channel {
    pub far: Far,
    /// The port number that packets come in by.
    pub entry: u8,
    pub lane: u8,
    /// Lanes that some queue asks for.
    pub asked: u16,
    /// Picoseconds of a packet on the wire; until the next may begin; of its header until it can go on.
    pub wire: u32,
    pub pace: u32,
    pub latency: u32,
    /// The packet under way and the queue that it leaves; `NONE` when idle.
    pub packet: u32,
    pub from: u32,
    /// When the wire is free again, exactly.
    pub free_at: u64,
    /// Since when something waits that could not go; `NEVER`: nothing does.
    pub waits_since: u64,
    pub packets: u64,
    /// Its cable is down: nothing begins to leave by it.
    pub down: bool,
    /// A cable, and no drain.
    pub is_hop: bool,
}

const _: () = assert!(size_of::<Channel>() == 64);

/// What a channel is besides: needed where packets wait, where lanes take turns, and by counters.
#[derive(Clone, Debug)]
pub(super) struct Side {
    pub waited: u64,
    pub turns: u32,
    pub turn: Turn,
    /// Where it begins and ends, and the length of a tick there, in picoseconds.
    pub port: PortId,
    pub peer: PortId,
    pub tick: u32,
}

/// What sends and takes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct End {
    pub port: PortId,
    pub switch: u32,
    pub lid: Lid,
    pub lmc: Lmc,
    /// The switch itself, at its port 0.
    pub is_switch: bool,
    /// An adapter that patterns over all hosts mean.
    pub is_host: bool,
    /// What it can send at the most, payload in Mb/s.
    pub mbps: u32,
}

/// Channels of an end, in this order behind those between switches.
pub(super) const OUT: u32 = 0;
pub(super) const IN: u32 = 1;
pub(super) const SENDS: u32 = 2;
pub(super) const DRAIN: u32 = 3;
pub(super) const PER_END: u32 = 4;

#[derive(Debug)]
pub(super) struct Plant {
    pub channels: Vec<Channel>,
    pub sides: Vec<Side>,
    pub between_switches: u32,
    pub ends: Vec<End>,
    /// By switch and port: the channel that leaves there. Every switch has room for the port with the highest number.
    exits: Vec<u32>,
    ports: usize,
    pub turns: Vec<Turns>,
}

impl Plant {
    /// `switches` send and take in too.
    pub fn new(problem: &Problem<'_>, tables: &Tables, settings: &Settings, switches: &[PortId]) -> Self {
        let (fabric, graph) = (problem.fabric, &problem.graph);
        let switches_ports = fabric.switches().flat_map(|(id, _)| fabric.ports_of(id));
        let ports = switches_ports.map(|(_, port)| port.number.index() + 1).max().unwrap_or(1);
        let mut plant = Self {
            channels: Vec::new(),
            sides: Vec::new(),
            between_switches: graph.channels().len() as u32,
            ends: ends(fabric, graph, settings, switches),
            exits: vec![NONE; graph.switch_count() * ports],
            ports,
            turns: vec![],
        };
        plant.cable_switches(fabric, graph, settings);
        for end in 0..plant.ends.len() as u32 {
            plant.cable_end(fabric, end, settings);
        }
        plant.take_turns(fabric, tables);
        plant
    }

    pub fn of_end(&self, end: u32, which: u32) -> u32 {
        self.between_switches + end * PER_END + which
    }

    /// Both directions of the cable at a port.
    pub fn cable(&self, port: PortId) -> Vec<u32> {
        let wire = |side: &Side| side.port != side.peer && (side.port == port || side.peer == port);
        (0u32..).zip(&self.sides).filter(|(_, side)| wire(side)).map(|(number, _)| number).collect()
    }

    /// The switch and the port that a channel leaves by; none for what an adapter sends by.
    pub fn leaves(&self, channel: u32) -> Option<(u32, u8)> {
        let place = self.exits.iter().position(|exit| *exit == channel)?;
        Some(((place / self.ports) as u32, (place % self.ports) as u8))
    }

    /// The channel that leaves a switch by a port; `NONE` where nothing is cabled or what is has failed.
    pub fn exit(&self, switch: u32, port: u8) -> u32 {
        match usize::from(port) < self.ports {
            true => self.exits[switch as usize * self.ports + usize::from(port)],
            false => NONE,
        }
    }

    fn leave(&mut self, switch: u32, port: PortNum, channel: u32) {
        self.exits[switch as usize * self.ports + port.index()] = channel;
    }

    fn lay(&mut self, (channel, side): (Channel, Side)) {
        self.channels.push(channel);
        self.sides.push(side);
    }

    fn cable_switches(&mut self, fabric: &Fabric, graph: &SwitchGraph, settings: &Settings) {
        for (number, channel) in (0u32..).zip(graph.channels()) {
            self.leave(channel.from, channel.from_port, number);
            let port = |switch, port| fabric.port_of(NodeId(switch), port).unwrap_or(PortId(u32::MAX));
            let ends = (port(channel.from, channel.from_port), port(channel.to, channel.to_port));
            let far = Far::Switch(channel.to);
            self.lay(cabled(fabric, far, ends, settings));
        }
    }

    /// The four channels of an end. A switch has no cable to itself: what it sends comes in by its port 0.
    fn cable_end(&mut self, fabric: &Fabric, number: u32, settings: &Settings) {
        let end = self.ends[number as usize];
        let limit = if end.is_switch { Some(settings.switch_limit_mbps) } else { settings.host_limit_mbps };
        let at_switch = fabric.peer(end.port).filter(|_| !end.is_switch).unwrap_or(end.port);
        let behind = if limit.is_some() { Far::Adapter(number) } else { Far::Sink(number) };
        let (mut out, out_side) = cabled(fabric, Far::Switch(end.switch), (end.port, at_switch), settings);
        let (mut back, back_side) = cabled(fabric, behind, (at_switch, end.port), settings);
        let (mut drain, drain_side) = cabled(fabric, Far::Sink(number), (end.port, end.port), settings);
        back.latency = flight(settings);
        (drain.latency, drain.entry) = (0, 0);
        if let Some(mbps) = limit {
            let pace = Settings::time(settings.payload, mbps);
            out.pace = out.wire.max(pace);
            drain.wire = pace;
            drain.pace = pace;
        }
        if end.is_switch {
            (out.wire, back.wire) = (out.pace, out.pace);
            back.pace = back.wire;
        }
        self.leave(end.switch, fabric.port(at_switch).number, self.of_end(number, IN));
        let sends = Channel { far: Far::Sends(number), wire: 0, pace: 0, ..drain.clone() };
        self.lay((out, out_side));
        self.lay((back, back_side));
        self.lay((sends, drain_side.clone()));
        self.lay((drain, drain_side));
    }

    /// The arbitration of every port; what nobody has set gives each lane its turn.
    pub fn take_turns(&mut self, fabric: &Fabric, tables: &Tables) {
        self.turns = vec![Turns::even(16)];
        let none = Arbitration::default();
        for (channel, side) in self.channels.iter().zip(&mut self.sides) {
            (side.turns, side.turn) = (0, Turn::default());
            if !matches!(channel.far, Far::Switch(_)) && side.port == side.peer {
                continue;
            }
            let port = fabric.port(side.port);
            let held = tables.nodes.get(&port.node);
            let held = held.and_then(|held| {
                let own = held.arbitration.get(&port.number);
                // Tables of an adapter may be kept under port 0, whichever of its ports they are for.
                let whole = || held.arbitration.get(&PortNum::MANAGEMENT);
                own.or_else(|| whole().filter(|_| !fabric.node(port.node).is_switch()))
            });
            let Some(held) = held.filter(|held| **held != none) else { continue };
            let turns = Turns::new(held);
            let known = self.turns.iter().position(|known| *known == turns);
            side.turns = known.unwrap_or(self.turns.len()) as u32;
            if known.is_none() {
                self.turns.push(turns);
            }
        }
    }
}

fn ends(fabric: &Fabric, graph: &SwitchGraph, settings: &Settings, switches: &[PortId]) -> Vec<End> {
    let hosts = graph.terminals().iter().filter_map(|terminal| {
        let (node, lid) = (fabric.port(terminal.port).node, terminal.lid?);
        let wire = Settings::time(settings.bytes(), mbps(fabric, terminal.port));
        let of_link = u64::from(settings.payload) * 8_000_000 / u64::from(wire.max(1));
        let most = settings.host_limit_mbps.unwrap_or(u32::MAX);
        Some(End {
            port: terminal.port,
            switch: terminal.switch,
            lid,
            lmc: terminal.lmc,
            is_switch: false,
            is_host: !fabric.node(node).facts.is_aggregation(),
            mbps: most.min(of_link as u32),
        })
    });
    let own = switches.iter().filter_map(|port| {
        let held = fabric.port(*port);
        Some(End {
            port: *port,
            switch: held.node.0,
            lid: held.facts.lid.filter(|_| graph.alive(held.node.0))?,
            lmc: held.facts.lmc,
            is_switch: true,
            is_host: false,
            mbps: settings.switch_limit_mbps,
        })
    });
    hosts.chain(own).collect()
}

fn cabled(fabric: &Fabric, far: Far, (port, peer): (PortId, PortId), settings: &Settings) -> (Channel, Side) {
    let wire = Settings::time(settings.bytes(), mbps(fabric, port));
    let forwarding = settings.forwarding.as_nanos() as u64 * 1000;
    let channel = Channel {
        far,
        entry: fabric.port(peer).number.value(),
        lane: 0,
        asked: 0,
        wire,
        pace: wire,
        latency: flight(settings) + u32::try_from(forwarding).unwrap_or(0),
        packet: NONE,
        from: NONE,
        free_at: 0,
        waits_since: NEVER,
        packets: 0,
        down: false,
        is_hop: port != peer,
    };
    let tick = tick(fabric, port);
    (channel, Side { waited: 0, turns: 0, turn: Turn::default(), port, peer, tick })
}

fn flight(settings: &Settings) -> u32 {
    u32::try_from(settings.flight.as_nanos() * 1000).unwrap_or(0)
}

/// Speed and width of a cable: the lesser of what its ends say; 4x EDR where nobody does, as devices of the simulator.
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

/// A tick of PortXmitWait: as many byte times of one physical lane as PortSamplesControl says (IBA 16.1.3.2).
fn tick(fabric: &Fabric, port: PortId) -> u32 {
    (u32::from(TICK) + 1) * (8_000_000 / rate(fabric, port).0)
}
