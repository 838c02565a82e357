//! Datagrams in simulated time: from a client to the device that it addresses, and the answer back.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use fabdeck_fabric::{Lid, PortNum};
use fabdeck_mad::access::{Address, LocalPort, Parcel, Traffic};
use fabdeck_mad::{Class, Mad, Method, Repath, Smp, attribute};

use super::device::Plug;
use super::journey::Arrived;
use super::line::{Dice, Line};
use super::log::EventLog;
use super::reports::Report;
use super::world::World;

/// Time that a device takes to answer, and that a packet takes for a hop.
const ANSWER: Duration = Duration::from_micros(5);
const HOP: Duration = Duration::from_nanos(500);

/// Most events that may be planned at once, over all clients.
const EVENTS_MOST: usize = 1 << 18;

/// A client of the simulator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Seat(u32);

/// No node has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("FD-4401: the simulated fabric has no node '{0}'; give the name or GUID of a node, or NAME/PORT")]
pub struct AttachError(pub String);

/// An event at a point in time.
#[derive(Debug)]
pub(super) enum Event {
    /// A request arrives at a device.
    Reach { seat: Seat, parcel: Parcel, at: Plug },
    /// A datagram arrives at a client.
    Deliver { seat: Seat, parcel: Parcel },
    /// A report of a trap goes to its subscriber, for the first time or repeated.
    Report(u64),
    /// A notice arrives at an agent inside the simulator.
    Heed { at: Plug, told: Box<Repath> },
}

/// A simulated fabric with its clients. It uses no wall clock: callers pass the time.
#[derive(Debug)]
pub struct Simulator {
    pub(super) world: World,
    line: Line,
    dice: Dice,
    pub(super) now: Duration,
    pub(super) seats: BTreeMap<Seat, Plug>,
    /// Reports by their transaction id.
    pub(super) reports: BTreeMap<u64, Report>,
    pub(super) next_report: u64,
    next_seat: u32,
    /// Events by time; events of the same time in the order in which they were planned.
    agenda: BinaryHeap<Reverse<(Duration, u64)>>,
    events: rustc_hash::FxHashMap<u64, Event>,
    planned: u64,
    traffic: Traffic,
    log: EventLog,
}

impl Simulator {
    pub fn new(world: World, line: Line, seed: u64) -> Self {
        Self {
            world,
            line,
            dice: Dice::new(seed),
            now: Duration::ZERO,
            seats: BTreeMap::new(),
            reports: BTreeMap::new(),
            next_report: 1,
            next_seat: 0,
            agenda: BinaryHeap::new(),
            events: rustc_hash::FxHashMap::default(),
            planned: 0,
            traffic: Traffic::default(),
            log: EventLog::default(),
        }
    }

    pub fn world(&self) -> &World {
        &self.world
    }

    /// The fabric, for changes between two datagrams. Packets are moved up to now first.
    pub fn world_mut(&mut self) -> &mut World {
        self.world.move_packets(self.now);
        &mut self.world
    }

    /// Starts the log: one line for each event.
    pub fn keep_log(&mut self) {
        self.log.keep();
    }

    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// Counts of the datagrams that clients sent.
    pub fn traffic(&self) -> &Traffic {
        &self.traffic
    }

    /// Adds a client at a node, given by name or GUID, or at `NAME/PORT`; without one at the manager's port.
    pub fn attach(&mut self, at: Option<&str>) -> Result<Seat, AttachError> {
        let plug = match at {
            None => self.world.manager,
            Some(text) => {
                self.world.find(text).ok_or_else(|| AttachError(text.chars().take(80).collect()))?
            }
        };
        let seat = Seat(self.next_seat);
        self.next_seat += 1;
        self.seats.insert(seat, plug);
        Ok(seat)
    }

    /// Removes a client; datagrams under way to it are lost.
    pub fn detach(&mut self, seat: Seat) {
        self.seats.remove(&seat);
    }

    pub fn local(&self, seat: Seat) -> LocalPort {
        let plug = self.seats.get(&seat).copied().unwrap_or(self.world.manager);
        let device = self.world.device(plug.0);
        let lid = |lid: u16| Lid::new(lid.into());
        LocalPort {
            name: format!("{} port {}", device.description.as_text(), plug.1),
            number: PortNum(plug.1),
            guid: device.socket(plug.1).map(|socket| socket.guid),
            lid: lid(self.world.lid_of(plug)),
            manager_lid: lid(self.world.manager_lid()),
            simulated: true,
        }
    }

    /// Accepts a datagram from a client.
    pub fn send(&mut self, seat: Seat, now: Duration, parcel: &Parcel) {
        self.now = self.now.max(now);
        self.world.play(self.now);
        self.tell_subscribers();
        let Some(from) = self.seats.get(&seat).copied() else { return };
        self.traffic.count(parcel.mad.method());
        self.log.add(self.now, seat.0, "sends", &parcel.mad);
        let mut parcel = parcel.clone();
        let arrived = self.travel(from, &mut parcel);
        let lost = self.loses(arrived.map_or(0, |arrived| arrived.hops));
        match arrived.filter(|_| !lost) {
            None => self.log.add(self.now, seat.0, "loses a request", &parcel.mad),
            Some(arrived) => {
                let late = self.dice.lateness(&self.line);
                let time = self.now + HOP * (arrived.hops + 1) + ANSWER + late;
                self.plan(time, Event::Reach { seat, parcel, at: arrived.at });
            }
        }
    }

    /// Whether a line loses a packet. A packet that stays within a device crosses no line.
    pub(super) fn loses(&mut self, hops: u32) -> bool {
        hops > 0 && self.dice.falls(self.line.loss)
    }

    /// The port where a request arrives. Requests by LID follow the current tables.
    fn travel(&mut self, from: Plug, parcel: &mut Parcel) -> Option<Arrived> {
        if parcel.mad.class() == Class::SUBNET_DIRECTED {
            let mut smp = Smp(parcel.mad.clone());
            let arrived = self.world.follow_route(from, &mut smp);
            parcel.mad = smp.0;
            return arrived;
        }
        if !self.world.device(from.0).owns_at(from.1, parcel.address.lid) {
            self.world.route();
        }
        self.world.follow_lid(from, parcel.address.lid)
    }

    /// Plans an event, unless too many are planned. So a client that sends without end into a long delay loses
    /// packets.
    pub(super) fn plan(&mut self, time: Duration, event: Event) {
        if self.events.len() >= EVENTS_MOST {
            return;
        }
        self.agenda.push(Reverse((time, self.planned)));
        self.events.insert(self.planned, event);
        self.planned += 1;
    }

    /// The time of the next event.
    pub fn next(&self) -> Option<Duration> {
        let planned = self.agenda.peek().map(|Reverse((time, _))| *time);
        [planned, self.world.awaited_scene()].into_iter().flatten().min()
    }

    /// Advances time to the next datagram for any client, or to `until` if there is none.
    pub fn deliver(&mut self, until: Duration) -> Option<(Duration, Seat, Parcel)> {
        loop {
            self.tell_subscribers();
            let Some(next) = self.next().filter(|time| *time <= until) else { break };
            if self.world.awaited_scene().is_some_and(|scene| scene <= next) {
                self.now = self.now.max(next);
                self.world.play(self.now);
                continue;
            }
            let Some(Reverse((time, number))) = self.agenda.pop() else { break };
            let Some(event) = self.events.remove(&number) else { continue };
            self.now = self.now.max(time);
            match event {
                Event::Reach { seat, parcel, at } => self.answer(seat, &parcel, at),
                Event::Report(number) => self.report(number),
                Event::Heed { at, told } => self.heed(at, &told),
                Event::Deliver { seat, parcel } if self.seats.contains_key(&seat) => {
                    self.log.add(self.now, seat.0, "receives", &parcel.mad);
                    return Some((self.now, seat, parcel));
                }
                Event::Deliver { .. } => {}
            }
        }
        self.now = self.now.max(until);
        None
    }

    /// Lets a device answer; the answer takes its own way back.
    fn answer(&mut self, seat: Seat, request: &Parcel, at: Plug) {
        let Some(home) = self.seats.get(&seat).copied() else { return };
        let home_lid = self.world.lid_of(home);
        self.world.play(self.now);
        let method = request.mad.method();
        let notice = request.mad.header().attribute.get() == attribute::NOTICE;
        let answer = match request.mad.class() {
            Class::SUBNET_LID if method == Method::TRAP && notice && at == self.world.manager => {
                self.take_trap(&request.mad)
            }
            Class::SUBNET_DIRECTED | Class::SUBNET_LID => {
                if method == Method::SET {
                    self.world.settle(self.now);
                }
                self.world.answer_subnet(at, &Smp(request.mad.clone())).map(|smp| smp.0)
            }
            Class::PERFORMANCE => {
                self.world.move_packets(self.now);
                self.world.answer_performance(at, &request.mad)
            }
            Class::SUBNET_ADMINISTRATION if at.0 == self.world.manager.0 && method != Method::REPORT => {
                if method == Method::REPORT_RESPONSE {
                    self.report_came(&request.mad);
                }
                self.world.answer_administration(&request.mad, home_lid, self.now)
            }
            Class::SUBNET_ADMINISTRATION if matches!(method, Method::REPORT | Method::REPORT_RESPONSE) => {
                self.hand_over(seat, request, at);
                None
            }
            Class::HOSTS => self.answer_host(seat, request, at),
            _ => None,
        };
        let Some(mad) = answer else {
            self.log.add(self.now, seat.0, "gets no answer to", &request.mad);
            return;
        };
        let directed = mad.class() == Class::SUBNET_DIRECTED;
        let back = match directed {
            // A directed answer returns over the way out, which still has to exist.
            true => self.world.follow_route(home, &mut Smp(request.mad.clone())).map(|arrived| arrived.hops),
            false => {
                self.world.follow_lid((at.0, self.world.device(at.0).managed(at.1)), home_lid).map(|a| a.hops)
            }
        };
        let lost = self.loses(back.unwrap_or(0));
        let Some(hops) = back.filter(|_| !lost) else {
            self.log.add(self.now, seat.0, "loses an answer", &mad);
            return;
        };
        let mad = if directed { come_home(mad) } else { mad };
        let lid = if directed { Address::directed().lid } else { request.address.lid };
        let parcel = Parcel { mad, address: Address { lid, ..request.address } };
        self.send_back(seat, parcel, hops);
    }

    /// Applies the faults of the line to one answer: late, twice, or with an answer to another transaction beside it.
    pub(super) fn send_back(&mut self, seat: Seat, parcel: Parcel, hops: u32) {
        let way = self.now + HOP * (hops + 1);
        if self.dice.falls(self.line.foreign) {
            let mut stranger = parcel.clone();
            let transaction = stranger.mad.header().transaction.get() ^ 0x5A5A_0000;
            stranger.mad.header_mut().transaction = transaction.into();
            self.plan(way, Event::Deliver { seat, parcel: stranger });
        }
        if self.dice.falls(self.line.duplicate) {
            let late = self.dice.lateness(&self.line);
            self.plan(way + late, Event::Deliver { seat, parcel: parcel.clone() });
        }
        let late = self.dice.lateness(&self.line);
        self.plan(way + late, Event::Deliver { seat, parcel });
    }
}

/// Sets the hop pointer to 0: each node on the way back counts it down, to 0 at the sender (IBA 14.2.2.4).
fn come_home(mad: Mad) -> Mad {
    let mut smp = Smp(mad);
    smp.set_hop_pointer(0);
    smp.0
}
