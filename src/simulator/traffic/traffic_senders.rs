//! What ends send: the flows, draws or messages that each end makes packets of.

use std::collections::{BTreeMap, VecDeque};

use super::arbiter::bits_of;
use super::channel_graph::{ChannelGraph, NEVER, TrafficEnd};
use super::error::TrafficError;
use super::flow::{AnsweredMessages, Flow, FlowOrder, FlowState};
use super::lanes::{LaneRow, NO_LANE, lane_of};
use super::lid_selection::LidSelection;
use super::packets::NONE;
use super::pattern::{
    MixedPattern, TrafficPattern, permutation_flows, ping_pong_flows, ring_flows, shift_steps,
};
use super::setup::{NetworkSetup, TrafficLoad};
use crate::{Share, SimulatorRng};
use fabdeck_fabric::{Fabric, PortId, PortNum};

/// What an end sends.
#[derive(Debug)]
pub(crate) enum SendScript {
    Silent,
    /// Flows that take turns, by lane.
    Turns(Vec<LaneFlows>),
    /// Packets drawn at a rate, whether they can leave or not.
    Drawn(RandomTraffic),
    /// A shift exchange: the step, and the packets left of its message.
    Shift {
        step: u32,
        left: u32,
    },
}

#[derive(Debug)]
pub(crate) struct LaneFlows {
    pub lane: u8,
    pub flows: Vec<u32>,
    pub next: usize,
}

#[derive(Debug)]
pub(crate) struct RandomTraffic {
    /// When the next packet is drawn, and the time between two, in picoseconds.
    pub due: u64,
    pub interval: u64,
    /// The hot-spot of the group, an index of an end; `NONE` without one.
    pub spot: u32,
    /// Lanes in use, as bits, and the packets drawn for each: destination end and level.
    pub lanes: u16,
    pub waiting: Vec<VecDeque<(u32, u8)>>,
    /// Lanes with a packet that is in their send queue or leaving it.
    pub sending: u16,
    /// Number of packets drawn, for levels in turns.
    pub drawn: u32,
}

#[derive(Debug)]
pub(crate) struct TrafficSenders {
    pub flows: Vec<FlowState>,
    pub scripts: Vec<SendScript>,
    /// The ends that patterns over all hosts include, and the index of each end among them.
    pub hosts: Vec<u32>,
    pub place: Vec<u32>,
    pub rng: SimulatorRng,
    pub share: Share,
    pub spot_level: Option<u8>,
    /// The switches that draw destinations among themselves, in ascending order of ends, and the level of their packets.
    pub switches: Vec<u32>,
    pub switch_level: Option<u8>,
    /// Packets of each message of a shift exchange.
    pub message: u32,
    /// The number of shifts of a sampled exchange; `None` for all.
    pub sample: Option<u32>,
    /// Packets of hosts that the pattern chose, and the arrival of the last one.
    pub pattern_arrivals: u64,
    pub last_arrival: u64,
    /// Levels that were set for drawn packets, by end and destination LID.
    pub kept: BTreeMap<(u32, u16), u8>,
    /// Which LIDs each end sends to, and whether it drains first.
    pub selections: Vec<LidSelection>,
}

impl TrafficSenders {
    /// The switches where flows begin or end.
    pub fn switches_of(fabric: &Fabric, pattern: &TrafficPattern) -> Vec<PortId> {
        let beside = match pattern {
            TrafficPattern::Mixed(mixed) if !mixed.switch_load.is_zero() => {
                let own = |(id, _)| fabric.port_of(id, PortNum::MANAGEMENT);
                return fabric.switches().filter_map(own).collect();
            }
            TrafficPattern::Mixed(mixed) => mixed.beside.as_slice(),
            _ => &[],
        };
        let flows = match pattern.main() {
            TrafficPattern::Flows(flows) => flows.as_slice(),
            _ => &[],
        };
        let ends = flows.iter().chain(beside).flat_map(|flow| [flow.from, flow.to]);
        let mut own: Vec<PortId> =
            ends.filter(|port| fabric.port(*port).number == PortNum::MANAGEMENT).collect();
        own.sort_unstable();
        own.dedup();
        own
    }

    pub fn new(
        given: NetworkSetup<'_>,
        load: &TrafficLoad,
        plant: &ChannelGraph,
        adapters: &[LaneRow],
    ) -> Result<Self, TrafficError> {
        let ends = (0u32..).zip(&plant.ends);
        let mixed = match &load.pattern {
            TrafficPattern::Mixed(mixed) => Some(mixed.as_ref()),
            _ => None,
        };
        let among = mixed.map_or(&[][..], |mixed| &mixed.among);
        let is_asked = |end: &TrafficEnd| end.is_host && (among.is_empty() || among.contains(&end.port));
        let hosts: Vec<u32> = ends.filter(|(_, end)| is_asked(end)).map(|(number, _)| number).collect();
        let mut place = vec![0; plant.ends.len()];
        (0u32..).zip(&hosts).for_each(|(at, end)| place[*end as usize] = at);
        let selection = |end: &TrafficEnd| LidSelection::new(load.settings.base_lids, end.path_bits);
        let listed = matches!(load.pattern.main(), TrafficPattern::Flows(_));
        if hosts.len() < 2 && !listed {
            return Err(TrafficError::FewHosts(hosts.len()));
        }
        let mut senders = Self {
            flows: Vec::new(),
            scripts: plant.ends.iter().map(|_| SendScript::Silent).collect(),
            hosts,
            place,
            rng: SimulatorRng::new(load.settings.seed),
            share: Share::default(),
            spot_level: None,
            switches: Vec::new(),
            switch_level: mixed.and_then(|mixed| mixed.switch_level).map(|level| level.value()),
            message: 0,
            sample: None,
            pattern_arrivals: 0,
            last_arrival: 0,
            kept: BTreeMap::new(),
            selections: plant.ends.iter().map(selection).collect(),
        };
        senders.add_pattern(given, load, (plant, adapters))?;
        if let Some(mixed) = mixed {
            senders.add_mixed_traffic(given, load, (plant, adapters), mixed)?;
        }
        Ok(senders)
    }

    /// Adds what hosts send by the pattern.
    fn add_pattern(
        &mut self,
        given: NetworkSetup<'_>,
        load: &TrafficLoad,
        (plant, adapters): (&ChannelGraph, &[LaneRow]),
    ) -> Result<(), TrafficError> {
        let ports: Vec<PortId> = self.hosts.iter().map(|end| plant.ends[*end as usize].port).collect();
        match load.pattern.main() {
            TrafficPattern::Flows(flows) => self.add_listed_flows(given, load, (plant, adapters), flows)?,
            TrafficPattern::Permutation => {
                let flows = permutation_flows(&ports, &mut self.rng);
                self.add_listed_flows(given, load, (plant, adapters), &flows)?;
            }
            TrafficPattern::Ring => {
                let flows = ring_flows(&ports, &mut self.rng, ports.len() > 2);
                self.add_listed_flows(given, load, (plant, adapters), &flows)?;
            }
            TrafficPattern::PingPong { packets } => {
                let pairs = ping_pong_flows(&ports, &mut self.rng);
                self.add_ping_pong(given, load, (plant, adapters), (&pairs, *packets))?;
            }
            TrafficPattern::Uniform => self.add_random_traffic(given, load, (plant, adapters), 0)?,
            TrafficPattern::HotSpots { spots, share, level } => {
                self.share = *share;
                self.spot_level = level.map(|level| level.value());
                self.add_random_traffic(given, load, (plant, adapters), *spots)?;
            }
            TrafficPattern::Shift { packets, shifts } => {
                (self.message, self.sample) = ((*packets).max(1), *shifts);
                for end in &self.hosts {
                    self.scripts[*end as usize] = SendScript::Shift { step: 0, left: self.message };
                }
            }
            TrafficPattern::Mixed(_) => return Err(TrafficError::NestedPattern),
        }
        Ok(())
    }

    /// Adds what is beside the pattern: listed flows of ends that the pattern leaves out, and traffic of switches.
    fn add_mixed_traffic(
        &mut self,
        given: NetworkSetup<'_>,
        load: &TrafficLoad,
        (plant, adapters): (&ChannelGraph, &[LaneRow]),
        mixed: &MixedPattern,
    ) -> Result<(), TrafficError> {
        let in_pattern = |end: &TrafficEnd| mixed.beside.iter().any(|flow| flow.from == end.port);
        for (number, end) in (0u32..).zip(&plant.ends).filter(|(_, end)| in_pattern(end)) {
            if self.is_random(number) {
                let name = &given.fabric.node(given.fabric.port(end.port).node).facts.description;
                return Err(TrafficError::TwoPatterns(name.clone()));
            }
        }
        self.add_listed_flows(given, load, (plant, adapters), &mixed.beside)?;
        if mixed.switch_load.is_zero() {
            return Ok(());
        }
        let ends = (0u32..).zip(&plant.ends);
        self.switches = ends.filter(|(_, end)| end.is_switch).map(|(number, _)| number).collect();
        let levels = given.service.all_levels(given.routes) | self.levels();
        for (at, end) in (0u32..).zip(self.switches.clone()) {
            self.place[end as usize] = at;
            // A switch without flows of its own draws, if there is another one.
            if !matches!(self.scripts[end as usize], SendScript::Silent) || self.switches.len() < 2 {
                continue;
            }
            let most = f64::from(plant.ends[end as usize].mbps) * mixed.switch_load.fraction();
            let interval = interval(load.settings.payload, most);
            self.scripts[end as usize] = SendScript::Drawn(RandomTraffic {
                due: self.rng.draw_below(interval),
                interval,
                spot: NONE,
                lanes: lanes_of(&adapters[end as usize], levels),
                waiting: vec![VecDeque::new(); 16],
                sending: 0,
                drawn: 0,
            });
        }
        Ok(())
    }

    /// Service levels in use besides those of paths, as bits.
    pub fn levels(&self) -> u16 {
        let own = self.flows.iter().map(|flow| flow.level).chain(self.spot_level).chain(self.switch_level);
        let own = own.chain(self.kept.values().copied());
        own.fold(0, |levels, level| levels | 1 << level)
    }

    fn add_listed_flows(
        &mut self,
        given: NetworkSetup<'_>,
        load: &TrafficLoad,
        (plant, adapters): (&ChannelGraph, &[LaneRow]),
        flows: &[Flow],
    ) -> Result<(), TrafficError> {
        let ends: BTreeMap<PortId, u32> = plant.ends.iter().map(|end| end.port).zip(0..).collect();
        let number = |port: PortId| {
            let held = given.fabric.port(port);
            let name = &given.fabric.node(held.node).facts.description;
            ends.get(&port).copied().ok_or_else(|| TrafficError::NoEnd(format!("{name}[{}]", held.number)))
        };
        let mut of_end = vec![0u32; plant.ends.len()];
        for flow in flows {
            of_end[number(flow.from)? as usize] += 1;
        }
        for flow in flows {
            let (from, to) = (number(flow.from)?, number(flow.to)?);
            let (source, target) = (&plant.ends[from as usize], &plant.ends[to as usize]);
            let level = flow.level.map(|level| level.value());
            let course = self.flows.len() as u32;
            let usual = || given.service.path_level(given.routes, (source.switch, target.lid), course);
            let level = level.unwrap_or_else(usual);
            // The flows of an end share its load equally.
            let part = (load.settings.load < 1.0).then(|| {
                let all = f64::from(source.mbps) * load.settings.load;
                (all / f64::from(of_end[from as usize])) as u32
            });
            let interval = match flow.mbps.or(part) {
                Some(mbps) => interval(load.settings.payload, f64::from(mbps)),
                None => 0,
            };
            let lid = self.lid(from, target);
            let due = if flow.mbps == Some(0) { NEVER } else { 0 };
            self.flows.push(FlowState {
                from,
                to,
                lid,
                level,
                usual: None,
                due,
                interval,
                delivered: 0,
                order: FlowOrder::default(),
                latest: 0,
                messages: None,
            });
            self.add_flow(course, lane_of(adapters, from, level));
        }
        Ok(())
    }

    /// Adds a flow to the flows of its end on the same lane.
    fn add_flow(&mut self, course: u32, lane: u8) {
        let script = &mut self.scripts[self.flows[course as usize].from as usize];
        if matches!(script, SendScript::Silent) {
            *script = SendScript::Turns(Vec::new());
        }
        let SendScript::Turns(turns) = script else { return };
        match turns.iter_mut().find(|turns| turns.lane == lane) {
            Some(turns) => turns.flows.push(course),
            // A level without a lane at its adapter is never sent.
            None if lane == NO_LANE => {}
            None => turns.push(LaneFlows { lane, flows: vec![course], next: 0 }),
        }
    }

    /// Maps the levels of adapters to new lanes; `levels` are all levels in use.
    pub fn remap_lanes(&mut self, adapters: &[LaneRow], levels: u16) {
        for (script, row) in self.scripts.iter_mut().zip(adapters) {
            match script {
                SendScript::Turns(turns) => turns.clear(),
                SendScript::Drawn(drawn) => {
                    drawn.lanes = lanes_of(row, levels);
                    let waiting = std::mem::replace(&mut drawn.waiting, vec![VecDeque::new(); 16]);
                    for (to, level) in waiting.into_iter().flatten() {
                        let lane = row[usize::from(level & 0xF)];
                        if lane != NO_LANE {
                            drawn.waiting[usize::from(lane)].push_back((to, level));
                        }
                    }
                }
                SendScript::Silent | SendScript::Shift { .. } => {}
            }
        }
        for course in 0..self.flows.len() as u32 {
            let FlowState { from, level, .. } = self.flows[course as usize];
            self.add_flow(course, lane_of(adapters, from, level));
        }
    }

    fn add_random_traffic(
        &mut self,
        given: NetworkSetup<'_>,
        load: &TrafficLoad,
        (plant, adapters): (&ChannelGraph, &[LaneRow]),
        spots: u32,
    ) -> Result<(), TrafficError> {
        let hosts = self.hosts.len();
        let many = spots as usize;
        if many * 2 > hosts {
            return Err(TrafficError::ManySpots { spots, hosts });
        }
        let levels = given.service.all_levels(given.routes) | self.levels();
        for (at, end) in self.hosts.clone().into_iter().enumerate() {
            // Groups are as equal as whole numbers allow.
            let spot = match many {
                0 => NONE,
                _ => self.hosts[(at * many / hosts * hosts).div_ceil(many)],
            };
            let most = f64::from(plant.ends[end as usize].mbps) * load.settings.load;
            let interval = interval(load.settings.payload, most);
            self.scripts[end as usize] = SendScript::Drawn(RandomTraffic {
                // Random start times: hosts that start together would collide at each turn.
                due: self.rng.draw_below(interval),
                interval,
                spot,
                lanes: lanes_of(&adapters[end as usize], levels),
                waiting: vec![VecDeque::new(); 16],
                sending: 0,
                drawn: 0,
            });
        }
        Ok(())
    }

    /// Whether an end has no listed flows, so that its pattern chooses destinations.
    pub fn is_random(&self, end: u32) -> bool {
        matches!(self.scripts[end as usize], SendScript::Drawn(_) | SendScript::Shift { .. })
    }

    /// The LID and the level of the packets that an end draws for another, given the usual level.
    pub fn random_flow(&self, end: u32, to: u32, target: &TrafficEnd, usual: u8) -> (u16, u8) {
        let lid = self.lid(end, target);
        let spot = matches!(&self.scripts[end as usize], SendScript::Drawn(drawn) if drawn.spot == to);
        let level = self.spot_level.filter(|_| spot).unwrap_or(usual);
        let own = self.selections[end as usize].level.or_else(|| self.kept.get(&(end, lid)).copied());
        (lid, own.unwrap_or(level))
    }

    /// Sets the level and lane of drawn packets from an end to a LID.
    pub fn set_random_level(&mut self, end: u32, lid: u16, (level, lane): (u8, u8)) {
        self.kept.insert((end, lid), level);
        if let (SendScript::Drawn(drawn), true) = (&mut self.scripts[end as usize], lane != NO_LANE) {
            drawn.lanes |= 1 << lane;
        }
    }

    /// Moves the listed flows of an end to a LID to this lane; returns how many were on another level.
    pub fn move_flows(&mut self, end: u32, lid: u16, (level, lane): (u8, u8), adapters: &[LaneRow]) -> usize {
        let mut moved = 0;
        for course in 0..self.flows.len() as u32 {
            let flow = &mut self.flows[course as usize];
            if flow.from != end || flow.lid != lid || flow.level == level {
                continue;
            }
            let before = lane_of(adapters, end, flow.level);
            flow.level = level;
            moved += 1;
            if before == lane {
                continue;
            }
            if let SendScript::Turns(all) = &mut self.scripts[end as usize] {
                for turns in all.iter_mut() {
                    turns.flows.retain(|known| *known != course);
                    turns.next = if turns.next < turns.flows.len() { turns.next } else { 0 };
                }
            }
            self.add_flow(course, lane);
        }
        moved
    }

    /// Moves all flows of an end to other LIDs of the same ports, and to their level. No packet of the end is in
    /// flight.
    pub fn readdress(&mut self, end: u32, plant: &ChannelGraph, adapters: &[LaneRow]) {
        let level = self.selections[end as usize].level;
        let mut own: Vec<u32> = Vec::new();
        for course in 0..self.flows.len() as u32 {
            let flow = &self.flows[course as usize];
            if flow.from == end {
                let lid = self.lid(end, &plant.ends[flow.to as usize]);
                let flow = &mut self.flows[course as usize];
                let usual = *flow.usual.get_or_insert(flow.level);
                (flow.lid, flow.level) = (lid, level.unwrap_or(usual));
                if level.is_none() {
                    flow.usual = None;
                }
                own.push(course);
            }
        }
        match &mut self.scripts[end as usize] {
            SendScript::Turns(turns) => turns.clear(),
            SendScript::Drawn(drawn) => {
                // Packets drawn meanwhile have the old level: they are dropped and drawn again.
                drawn.waiting.iter_mut().for_each(VecDeque::clear);
                let lane = level.map_or(NO_LANE, |level| adapters[end as usize][usize::from(level & 0xF)]);
                if lane != NO_LANE {
                    drawn.lanes |= 1 << lane;
                }
            }
            SendScript::Silent | SendScript::Shift { .. } => {}
        }
        for course in own {
            let FlowState { from, level, .. } = self.flows[course as usize];
            self.add_flow(course, lane_of(adapters, from, level));
        }
    }

    /// The LID to send to; sources are spread over the LIDs of a port.
    pub fn lid(&self, from: u32, to: &TrafficEnd) -> u16 {
        self.selections[from as usize].select_lid(to)
    }

    /// Counts an arrival, and returns the end that answers a message. `flow` is `NONE` for patterns without listed flows, and
    /// those choose destinations of hosts only.
    pub fn record_arrival(
        &mut self,
        (flow, of_host): (u32, bool),
        (left, arrives): (u64, u64),
    ) -> Option<u32> {
        let mut answered_by = None;
        if let Some(flow) = self.flows.get_mut(flow as usize) {
            answered_by = flow.count_arrived();
            flow.delivered += 1;
            flow.order.arrived += 1;
            flow.order.overtaken += u64::from(left < flow.latest);
            flow.latest = flow.latest.max(left);
        }
        if flow == NONE && of_host {
            self.pattern_arrivals += 1;
            self.last_arrival = self.last_arrival.max(arrives);
        }
        let answer = self.flows.get_mut(answered_by? as usize)?;
        answer.begin_message();
        Some(answer.from)
    }

    /// Adds pairs of hosts that send messages there and back, one at a time.
    fn add_ping_pong(
        &mut self,
        given: NetworkSetup<'_>,
        load: &TrafficLoad,
        (plant, adapters): (&ChannelGraph, &[LaneRow]),
        (pairs, packets): (&[[Flow; 2]], u32),
    ) -> Result<(), TrafficError> {
        let first = self.flows.len();
        self.add_listed_flows(given, load, (plant, adapters), pairs.as_flattened())?;
        for (number, flow) in (0u32..).zip(&mut self.flows).skip(first) {
            let is_answer = (number as usize - first) % 2 == 1;
            let answered_by = if is_answer { number - 1 } else { number + 1 };
            // Nothing but its answer holds a message up.
            flow.interval = 0;
            flow.messages =
                Some(AnsweredMessages { answered_by, packets: packets.max(1), left: 0, arrived: 0 });
            match is_answer {
                true => flow.due = NEVER,
                false => flow.begin_message(),
            }
        }
        Ok(())
    }

    /// Whether every packet of a pattern that ends has arrived.
    pub fn has_finished_exchange(&self) -> bool {
        self.expected_packets().is_some_and(|expected| self.pattern_arrivals >= expected)
    }

    /// Number of packets of a pattern that ends.
    pub fn expected_packets(&self) -> Option<u64> {
        let hosts = self.hosts.len() as u64;
        let shifts = u64::from(shift_steps(self.hosts.len() as u32, self.sample));
        (self.message > 0).then(|| hosts * shifts * u64::from(self.message))
    }
}

/// The lanes of these levels, as bits.
fn lanes_of(row: &LaneRow, levels: u16) -> u16 {
    let used = bits_of(levels).map(|level| row[level as usize]);
    used.filter(|lane| *lane != NO_LANE).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// Time between two packets, in picoseconds.
pub(crate) fn interval(payload: u32, mbps: f64) -> u64 {
    (f64::from(payload) * 8e6 / mbps.max(1e-3)).max(1.0) as u64
}
