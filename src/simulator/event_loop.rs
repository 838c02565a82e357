//! Datagrams in simulated time: from a client to the device that it addresses, and the answer back.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use fabdeck_fabric::{Lid, PortNum};
use fabdeck_mad::access::{AddressedMad, LocalPort, MadAddress, MadTraffic};
use fabdeck_mad::{Class, Mad, Method, PathNotice, Smp, attribute};

use super::delivery::Delivery;
use super::device::PortRef;
use super::line_faults::{LineFaults, SimulatorRng};
use super::log::EventLog;
use super::pending_report::PendingReport;
use super::simulated_fabric::SimulatedFabric;

/// Time that a device takes to answer, and that a packet takes for a hop.
const ANSWER_TIME: Duration = Duration::from_micros(5);
const HOP_TIME: Duration = Duration::from_nanos(500);

/// Most events that may be planned at once, over all clients.
const MAX_EVENTS: usize = 1 << 18;

/// A client of the simulator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClientId(u32);

/// No node has that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("FD-4401: the simulated fabric has no node '{0}'; give the name or GUID of a node, or NAME/PORT")]
pub struct AttachError(pub String);

/// An event at a point in time.
#[derive(Debug)]
pub(super) enum SimulatorEvent {
    /// A request arrives at a device.
    Request { seat: ClientId, parcel: AddressedMad, at: PortRef },
    /// A datagram arrives at a client.
    Deliver { seat: ClientId, parcel: AddressedMad },
    /// A report of a trap goes to its subscriber, for the first time or repeated.
    Report(u64),
    /// A notice arrives at an agent inside the simulator.
    Notice { at: PortRef, told: Box<PathNotice> },
}

/// A simulated fabric with its clients. It uses no wall clock: callers pass the time.
#[derive(Debug)]
pub struct Simulator {
    pub(super) fabric: SimulatedFabric,
    line_faults: LineFaults,
    rng: SimulatorRng,
    pub(super) now: Duration,
    pub(super) clients: BTreeMap<ClientId, PortRef>,
    /// Reports by their transaction id.
    pub(super) reports: BTreeMap<u64, PendingReport>,
    pub(super) next_report: u64,
    next_client: u32,
    /// Events by time; events of the same time in the order in which they were planned.
    agenda: BinaryHeap<Reverse<(Duration, u64)>>,
    events: rustc_hash::FxHashMap<u64, SimulatorEvent>,
    planned: u64,
    traffic: MadTraffic,
    log: EventLog,
}

impl Simulator {
    pub fn new(world: SimulatedFabric, line: LineFaults, seed: u64) -> Self {
        Self {
            fabric: world,
            line_faults: line,
            rng: SimulatorRng::new(seed),
            now: Duration::ZERO,
            clients: BTreeMap::new(),
            reports: BTreeMap::new(),
            next_report: 1,
            next_client: 0,
            agenda: BinaryHeap::new(),
            events: rustc_hash::FxHashMap::default(),
            planned: 0,
            traffic: MadTraffic::default(),
            log: EventLog::default(),
        }
    }

    pub fn fabric(&self) -> &SimulatedFabric {
        &self.fabric
    }

    /// The fabric, for changes between two datagrams. Packets are moved up to now first.
    pub fn fabric_mut(&mut self) -> &mut SimulatedFabric {
        self.fabric.move_packets(self.now);
        &mut self.fabric
    }

    /// Starts the log: one line for each event.
    pub fn enable_log(&mut self) {
        self.log.enable();
    }

    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// Counts of the datagrams that clients sent.
    pub fn traffic(&self) -> &MadTraffic {
        &self.traffic
    }

    /// Adds a client at a node, given by name or GUID, or at `NAME/PORT`; without one at the manager's port.
    pub fn attach(&mut self, at: Option<&str>) -> Result<ClientId, AttachError> {
        let plug = match at {
            None => self.fabric.manager,
            Some(text) => {
                self.fabric.find_port(text).ok_or_else(|| AttachError(text.chars().take(80).collect()))?
            }
        };
        let seat = ClientId(self.next_client);
        self.next_client += 1;
        self.clients.insert(seat, plug);
        Ok(seat)
    }

    /// Removes a client; datagrams under way to it are lost.
    pub fn detach(&mut self, seat: ClientId) {
        self.clients.remove(&seat);
    }

    pub fn local_port(&self, seat: ClientId) -> LocalPort {
        let plug = self.clients.get(&seat).copied().unwrap_or(self.fabric.manager);
        let device = self.fabric.device(plug.0);
        let lid = |lid: u16| Lid::new(lid.into());
        LocalPort {
            name: format!("{} port {}", device.description.as_text(), plug.1),
            number: PortNum(plug.1),
            guid: device.port(plug.1).map(|socket| socket.guid),
            lid: lid(self.fabric.lid_of(plug)),
            manager_lid: lid(self.fabric.manager_lid()),
            simulated: true,
        }
    }

    /// Accepts a datagram from a client.
    pub fn send(&mut self, seat: ClientId, now: Duration, parcel: &AddressedMad) {
        self.now = self.now.max(now);
        self.fabric.play_story(self.now);
        self.notify_subscribers();
        let Some(from) = self.clients.get(&seat).copied() else { return };
        self.traffic.count(parcel.mad.method());
        self.log.add(self.now, seat.0, "sends", &parcel.mad);
        let mut parcel = parcel.clone();
        let arrived = self.find_destination(from, &mut parcel);
        let lost = self.is_lost(arrived.map_or(0, |arrived| arrived.hops));
        match arrived.filter(|_| !lost) {
            None => self.log.add(self.now, seat.0, "loses a request", &parcel.mad),
            Some(arrived) => {
                let late = self.rng.draw_delay(&self.line_faults);
                let time = self.now + HOP_TIME * (arrived.hops + 1) + ANSWER_TIME + late;
                self.schedule(time, SimulatorEvent::Request { seat, parcel, at: arrived.at });
            }
        }
    }

    /// Whether a line loses a packet. A packet that stays within a device crosses no line.
    pub(super) fn is_lost(&mut self, hops: u32) -> bool {
        hops > 0 && self.rng.draw_share(self.line_faults.loss)
    }

    /// The port where a request arrives. A directed route is followed, and its return path written into the MAD. A
    /// request by LID follows the tables, which are filled at the first request to a LID that the sender does not own.
    fn find_destination(&mut self, from: PortRef, parcel: &mut AddressedMad) -> Option<Delivery> {
        if parcel.mad.class() == Class::SUBNET_DIRECTED {
            let mut smp = Smp(parcel.mad.clone());
            let arrived = self.fabric.follow_route(from, &mut smp);
            parcel.mad = smp.0;
            return arrived;
        }
        if !self.fabric.device(from.0).has_lid_at(from.1, parcel.address.lid) {
            self.fabric.fill_tables();
        }
        self.fabric.follow_lid(from, parcel.address.lid)
    }

    /// Plans an event, unless too many are planned. So a client that sends without end into a long delay loses
    /// packets.
    pub(super) fn schedule(&mut self, time: Duration, event: SimulatorEvent) {
        if self.events.len() >= MAX_EVENTS {
            return;
        }
        self.agenda.push(Reverse((time, self.planned)));
        self.events.insert(self.planned, event);
        self.planned += 1;
    }

    /// The time of the next event.
    pub fn next_event_time(&self) -> Option<Duration> {
        let planned = self.agenda.peek().map(|Reverse((time, _))| *time);
        [planned, self.fabric.next_visible_step()].into_iter().flatten().min()
    }

    /// Advances time to the next datagram for any client, or to `until` if there is none.
    pub fn deliver(&mut self, until: Duration) -> Option<(Duration, ClientId, AddressedMad)> {
        loop {
            self.notify_subscribers();
            let Some(next) = self.next_event_time().filter(|time| *time <= until) else { break };
            if self.fabric.next_visible_step().is_some_and(|scene| scene <= next) {
                self.now = self.now.max(next);
                self.fabric.play_story(self.now);
                continue;
            }
            let Some(Reverse((time, number))) = self.agenda.pop() else { break };
            let Some(event) = self.events.remove(&number) else { continue };
            self.now = self.now.max(time);
            match event {
                SimulatorEvent::Request { seat, parcel, at } => self.answer_request(seat, &parcel, at),
                SimulatorEvent::Report(number) => self.send_report(number),
                SimulatorEvent::Notice { at, told } => self.deliver_notice(at, &told),
                SimulatorEvent::Deliver { seat, parcel } if self.clients.contains_key(&seat) => {
                    self.log.add(self.now, seat.0, "receives", &parcel.mad);
                    return Some((self.now, seat, parcel));
                }
                SimulatorEvent::Deliver { .. } => {}
            }
        }
        self.now = self.now.max(until);
        None
    }

    /// Lets a device answer; the answer takes its own way back.
    fn answer_request(&mut self, seat: ClientId, request: &AddressedMad, at: PortRef) {
        let Some(home) = self.clients.get(&seat).copied() else { return };
        let home_lid = self.fabric.lid_of(home);
        self.fabric.play_story(self.now);
        let method = request.mad.method();
        let notice = request.mad.header().attribute.get() == attribute::NOTICE;
        let answer = match request.mad.class() {
            Class::SUBNET_LID if method == Method::TRAP && notice && at == self.fabric.manager => {
                self.receive_trap(&request.mad)
            }
            Class::SUBNET_LID if self.fabric.directed_only => None,
            Class::SUBNET_DIRECTED | Class::SUBNET_LID => {
                if method == Method::SET {
                    self.fabric.advance_before_set(self.now);
                }
                self.fabric.answer_subnet(at, &Smp(request.mad.clone())).map(|smp| smp.0)
            }
            Class::PERFORMANCE => {
                self.fabric.move_packets(self.now);
                self.fabric.answer_performance(at, &request.mad, self.now)
            }
            Class::VENDOR_DIAGNOSTICS => self.fabric.answer_diagnostics(at, &request.mad, self.now),
            Class::SUBNET_ADMINISTRATION if at.0 == self.fabric.manager.0 && method != Method::REPORT => {
                if method == Method::REPORT_RESPONSE {
                    self.acknowledge_report(&request.mad);
                }
                self.fabric.answer_administration(&request.mad, home_lid, self.now)
            }
            Class::SUBNET_ADMINISTRATION if matches!(method, Method::REPORT | Method::REPORT_RESPONSE) => {
                self.forward_to_clients(seat, request, at);
                None
            }
            Class::HOST_AGENTS => self.answer_host(seat, request, at),
            _ => None,
        };
        let Some(mad) = answer else {
            self.log.add(self.now, seat.0, "gets no answer to", &request.mad);
            return;
        };
        let directed = mad.class() == Class::SUBNET_DIRECTED;
        let back = match directed {
            // A directed answer returns over the way out, which still has to exist.
            true => self.fabric.follow_route(home, &mut Smp(request.mad.clone())).map(|arrived| arrived.hops),
            false => self
                .fabric
                .follow_lid((at.0, self.fabric.device(at.0).managed_port(at.1)), home_lid)
                .map(|a| a.hops),
        };
        let lost = self.is_lost(back.unwrap_or(0));
        let Some(hops) = back.filter(|_| !lost) else {
            self.log.add(self.now, seat.0, "loses an answer", &mad);
            return;
        };
        let mad = if directed { complete_return_path(mad) } else { mad };
        let lid = if directed { MadAddress::directed().lid } else { request.address.lid };
        let parcel = AddressedMad { mad, address: MadAddress { lid, ..request.address } };
        self.send_answer(seat, parcel, hops);
    }

    /// Applies the faults of the line to one answer: late, twice, or with an answer to another transaction beside it.
    pub(super) fn send_answer(&mut self, seat: ClientId, parcel: AddressedMad, hops: u32) {
        let way = self.now + HOP_TIME * (hops + 1);
        if self.rng.draw_share(self.line_faults.foreign) {
            let mut stranger = parcel.clone();
            let transaction = stranger.mad.header().transaction.get() ^ 0x5A5A_0000;
            stranger.mad.header_mut().transaction = transaction.into();
            self.schedule(way, SimulatorEvent::Deliver { seat, parcel: stranger });
        }
        if self.rng.draw_share(self.line_faults.duplicate) {
            let late = self.rng.draw_delay(&self.line_faults);
            self.schedule(way + late, SimulatorEvent::Deliver { seat, parcel: parcel.clone() });
        }
        let late = self.rng.draw_delay(&self.line_faults);
        self.schedule(way + late, SimulatorEvent::Deliver { seat, parcel });
    }
}

/// Sets the hop pointer to 0: each node on the way back counts it down, to 0 at the sender (IBA 14.2.2.4).
fn complete_return_path(mad: Mad) -> Mad {
    let mut smp = Smp(mad);
    smp.set_hop_pointer(0);
    smp.0
}
