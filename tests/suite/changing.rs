//! Changes: what is written is what was planned, and what goes wrong on the way is taken back.

mod adapters;
mod again;
mod altered;
mod asked;
mod attested;
mod bounded;
mod clerk;
mod consoles;
mod crashes;
pub mod drifting;
mod everyday;
mod exact;
mod faulty;
mod flooded;
mod hosts;
mod hung;
mod hung_up;
mod keyed;
mod lives;
mod notices;
mod old_journals;
mod other_machines;
mod other_users;
mod ownership;
mod phases;
mod phases_crashes;
mod phases_decided;
mod phases_lives;
pub mod processes;
mod racing;
mod reach;
mod returning;
mod serviced;
mod shown;
mod slow_lanes;
mod staged;
mod stale;
mod systemd_units;
mod trail;
mod troubled;
mod window;
mod world;

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

use fabdeck::session::{Asked, Look, Made, Sent, plan_of, propose, settled};
use fabdeck_change::{
    Begun, BootTime, Clocks, Direct, Disk, Driver, Errand, Follows, Guard, Journal, JournalError, Migration,
    OUT_OF_REACH, Order, Plan, PlanFlow, PlanPort, Record, Standing, SystemClocks, Told, Towards, Unanswered,
    Write, wrong,
};
use fabdeck_fabric::generate::{Spec, generate};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Guid, Lid, PortFacts, Tables};
use fabdeck_live::{Keys, LiveActuator, Policy, look};
use fabdeck_mad::Repath;
use fabdeck_mad::access::{
    Actuator, Device, DevicePort, Part, Slot, SourceError, Surveyor, Unwatched, Wanted, Watch, WriteError,
    WriteToken,
};
use fabdeck_routing::{NoPulse, Request};
use fabdeck_simulator::{Line, SimulatedPort, Simulator, World};
use jiff::{SignedDuration, Timestamp};

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<Spec>().unwrap()).unwrap().fabric
}

/// The same fabric with LIDs so far apart that each has a block of its own: few nodes, and many writes.
fn spread(fabric: &Fabric) -> Fabric {
    let mut builder = FabricBuilder::new();
    let keys: Vec<_> =
        fabric.nodes().map(|(_, node)| builder.add_node(node.facts.clone()).unwrap()).collect();
    for (_, port) in fabric.ports() {
        let lid = port.facts.lid.and_then(|lid| Lid::new(u32::from(lid.value()) * 64));
        *builder.port(keys[port.node.index()], port.number) = PortFacts { lid, ..port.facts.clone() };
    }
    for (link, _) in fabric.links() {
        let [a, b] = fabric.ends(link).map(|(node, number)| (keys[node.index()], number));
        builder.connect(a, b).unwrap();
    }
    builder.finish()
}

fn simulated(fabric: &Fabric) -> SimulatedPort {
    let world = World::new(fabric, &Tables::default()).unwrap();
    SimulatedPort::new(Simulator::new(world, Line::default(), 1))
}

fn seen(simulator: &SimulatedPort) -> Observation {
    let wanted = Wanted { tables: true, ..Wanted::default() };
    let mut port = simulator.open(None).unwrap();
    look("sim", &mut port, Policy::default(), &Keys::default(), wanted, &mut Unwatched).unwrap()
}

/// The same with lanes.
fn seen_whole(simulator: &SimulatedPort) -> Observation {
    let wanted = Wanted { tables: true, lanes: true, ..Wanted::default() };
    let mut port = simulator.open(None).unwrap();
    look("sim", &mut port, Policy::default(), &Keys::default(), wanted, &mut Unwatched).unwrap()
}

/// A plan that writes the lanes and the arbitration of some adapters besides, each at its own ports.
fn with_adapters(simulator: &SimulatedPort, mut plan: Plan, adapters: usize) -> Plan {
    let look = seen_whole(simulator);
    let (fabric, mut hands) = (&look.fabric, actuator(simulator));
    hands.look(Wanted::default(), &mut Unwatched).unwrap();
    let cabled =
        fabric.ports().filter(|(_, port)| port.peer.is_some() && !fabric.node(port.node).is_switch());
    for (_, port) in cabled.take(adapters) {
        let (guid, number) = (fabric.node(port.node).guid(), port.number.value());
        for part in [Part::Lanes([0, number]), Part::Arbitration([number, 1])] {
            let old = hands.read(&[Slot { at: Device::Adapter(guid), part }]).remove(0).unwrap();
            let mut new = old.clone();
            match part {
                Part::Lanes(_) => new.rotate_left(1),
                _ => new[1] = new[1].wrapping_add(1),
            }
            plan.writes.insert(0, Write::of_adapter(guid, part, &old, &new));
        }
    }
    let faults = plan.faults(fabric);
    let manager = look.subnet_manager.as_ref().map(|manager| manager.guid);
    plan.cover_adapters(&Standing::new(fabric, &faults, manager), &look.tables);
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// A plan that moves the flows of the first hosts to the last one to the slow lane; an agent runs on each of them.
fn with_migration(simulator: &SimulatedPort, mut plan: Plan, hosts: usize) -> Plan {
    let fabric = seen(simulator).fabric;
    let ends = fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch());
    let ports: Vec<PlanPort> = ends
        .filter_map(|(_, port)| {
            let guid = port.facts.guid?.to_string();
            Some(PlanPort { guid, name: format!("host{}", port.node.0), lid: port.facts.lid?.value() })
        })
        .collect();
    let flow = |port: &PlanPort| PlanFlow { host: port.clone(), follows: Follows::Agent };
    let flows = ports.iter().take(hosts).map(flow).collect();
    let hot_spot = ports.last().unwrap().clone();
    plan.migrations = vec![Migration { towards: Towards::Slow, hot_spot, fast: 0, slow: 1, flows }];
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// A plan of an engine for what a simulator holds.
fn planned(simulator: &SimulatedPort, engine: &str, faults: &Faults) -> Plan {
    let look = Look::new("sim", seen(simulator), &Default::default());
    let request = Request::default();
    let engine = fabdeck_routing::engine(engine).unwrap();
    let tables = &look.observation.tables;
    let proposal = propose(&look, tables, faults, engine, Asked::of(&request), &NoPulse).unwrap();
    let proposal = settled(&look, faults, proposal, Sent::Unknown, &NoPulse).unwrap();
    let plan = plan_of(&look, faults, engine.id, &proposal, Sent::Unknown, Made::default()).unwrap();
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// A simulator and a plan that writes to it.
fn staged(name: &str, engine: &str) -> (SimulatedPort, Plan) {
    staged_on(&fabric(name), engine)
}

fn staged_on(fabric: &Fabric, engine: &str) -> (SimulatedPort, Plan) {
    let simulator = simulated(fabric);
    let plan = planned(&simulator, engine, &Faults::default());
    assert!(!plan.writes.is_empty(), "{engine}");
    (simulator, plan)
}

fn actuator(simulator: &SimulatedPort) -> LiveActuator {
    let port = simulator.open(None).unwrap().unlock(&WriteToken::simulation()).unwrap();
    LiveActuator::new("sim", port, Policy::default(), Keys::default())
}

/// What the process did so far, and when it is killed or its disk fails.
#[derive(Debug, Default)]
struct Course {
    /// Moments passed: before and behind each thing that is done.
    moments: usize,
    killed_at: Option<usize>,
    /// Operations on the disk; from the first to behind the last of these they fail.
    operations: usize,
    failing: std::ops::Range<usize>,
    /// What a failing append writes before it fails.
    half: bool,
    bytes: Vec<u8>,
    durable: usize,
    sets: Vec<(Slot, Vec<u8>)>,
    /// What went out before its record was durable.
    early: usize,
    /// Sets while some host that is to leave base LIDs had not.
    at_base: usize,
    /// Notices, with the number of Sets before them, and the moments when they went out.
    notices: Vec<(usize, Vec<Repath>)>,
    notified_at: Vec<usize>,
}

/// The hosts of a fabric, as far as they listen.
#[derive(Debug)]
struct Listeners {
    /// Flows that are on another lane: hot-spot and host.
    moved: BTreeSet<(Option<Lid>, Lid)>,
    /// Agents that say nothing, and notices that the manager does not take.
    mute: BTreeSet<Lid>,
    refuses: fn(&Repath) -> bool,
    /// The port goes away once notices are sent.
    goes: bool,
}

/// The process is gone at once: nothing of it runs any more but what a stack gives back.
struct Killed;

#[derive(Clone, Debug, Default)]
struct Witness(Arc<Mutex<Course>>);

impl Witness {
    fn course(&self) -> MutexGuard<'_, Course> {
        self.0.lock().unwrap()
    }

    fn moment(&self) {
        let mut course = self.course();
        course.moments += 1;
        if course.killed_at == Some(course.moments) {
            drop(course);
            std::panic::resume_unwind(Box::new(Killed));
        }
    }

    /// What the disk still has when the machine went down: what was durable, and of the rest this share.
    fn left(&self, share: usize) -> Vec<u8> {
        let course = self.course();
        let more = (course.bytes.len() - course.durable) * share / 2;
        course.bytes[..course.durable + more].to_vec()
    }
}

struct Recorder(Witness);

impl Recorder {
    fn fails(&self) -> bool {
        let mut course = self.0.course();
        course.operations += 1;
        course.failing.contains(&course.operations)
    }
}

impl Disk for Recorder {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.moment();
        if self.fails() {
            let mut course = self.0.course();
            if course.half {
                course.bytes.extend_from_slice(&bytes[..bytes.len() / 2]);
            }
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.course().bytes.extend_from_slice(bytes);
        self.0.moment();
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.moment();
        if self.fails() {
            return Err(io::Error::other("input/output error"));
        }
        let mut course = self.0.course();
        course.durable = course.bytes.len();
        drop(course);
        self.0.moment();
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        if self.fails() {
            return Err(io::Error::other("input/output error"));
        }
        let mut course = self.0.course();
        course.bytes.truncate(length as usize);
        course.durable = course.bytes.len();
        Ok(())
    }
}

/// An actuator that is watched at its wire.
struct Watched {
    inner: LiveActuator,
    witness: Witness,
    /// What stands in the journal by now, of what it is asked to write.
    planned: Vec<Slot>,
    /// How many hosts are to leave base LIDs before anything is written.
    leaving: usize,
    listeners: Arc<Mutex<Listeners>>,
}

impl Surveyor for Watched {
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError> {
        self.inner.look(wanted, watch)
    }

    fn keep_off(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.inner.keep_off(ports)
    }

    fn read(&mut self, slots: &[Slot]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.inner.read(slots)
    }
}

impl Actuator for Watched {
    fn write(&mut self, slot: &Slot, bytes: &[u8]) -> Result<(), WriteError> {
        self.witness.moment();
        let mut course = self.witness.course();
        let durable = Journal::read("journal", &course.bytes[..course.durable]);
        // Reading it all again for each Set would take its time: it is the first record that counts.
        let known = course.sets.len() > 3 || durable.is_ok_and(|read| !read.told.begun.writes.is_empty());
        course.early += usize::from(!known || !self.planned.contains(slot));
        course.sets.push((*slot, bytes.to_vec()));
        course.at_base += usize::from(self.listeners.lock().unwrap().moved.len() < self.leaving);
        drop(course);
        let written = self.inner.write(slot, bytes);
        self.witness.moment();
        written
    }

    fn notify(
        &mut self,
        notices: &[Repath],
        whom: &[Lid],
        _: std::time::Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.witness.moment();
        let mut course = self.witness.course();
        let durable = Journal::read("journal", &course.bytes[..course.durable]);
        course.early += usize::from(!durable.is_ok_and(|read| read.told.hosts.may_have_moved()));
        let (sets, moment) = (course.sets.len(), course.moments);
        course.notices.push((sets, notices.to_vec()));
        course.notified_at.push(moment);
        drop(course);
        let mut listeners = self.listeners.lock().unwrap();
        for notice in notices {
            if (listeners.refuses)(notice) {
                return Err(WriteError::Refused("the manager takes no such notice".to_owned()));
            }
            let named = if notice.hosts.is_empty() { whom } else { &notice.hosts };
            for host in named {
                match notice.back {
                    true => listeners.moved.remove(&(notice.hot_spot, *host)),
                    false => listeners.moved.insert((notice.hot_spot, *host)),
                };
            }
        }
        if std::mem::take(&mut listeners.goes) {
            return Err(WriteError::Gone("the port is gone".to_owned()));
        }
        let answered = whom.iter().copied().filter(|host| !listeners.mute.contains(host)).collect();
        drop(listeners);
        self.witness.moment();
        Ok(answered)
    }
}

/// A change that is about to be kept.
struct Stage<'a> {
    simulator: &'a SimulatedPort,
    plan: &'a Plan,
    witness: Witness,
    said: Vec<String>,
    patience: SignedDuration,
    listeners: Arc<Mutex<Listeners>>,
    unanswered: Unanswered,
}

impl<'a> Stage<'a> {
    fn new(simulator: &'a SimulatedPort, plan: &'a Plan) -> Self {
        Self {
            simulator,
            plan,
            witness: Witness::default(),
            said: Vec::new(),
            patience: OUT_OF_REACH,
            unanswered: Unanswered::Stop,
            listeners: Arc::new(Mutex::new(Listeners {
                moved: BTreeSet::new(),
                mute: BTreeSet::new(),
                refuses: |_| false,
                goes: false,
            })),
        }
    }

    fn watched(&self) -> Watched {
        let planned = self.plan.writes.iter().map(|write| write.step().unwrap().slot).collect();
        let (witness, listeners) = (self.witness.clone(), self.listeners.clone());
        let leaving = self.plan.phases.as_ref().map_or(0, |phases| phases.hosts.len());
        Watched { inner: actuator(self.simulator), witness, planned, leaving, listeners }
    }

    fn begun(&self, window_s: u64) -> Begun {
        let look = seen(self.simulator);
        Begun {
            id: "12345678".into(),
            number: 1,
            user: "ada".into(),
            plan: self.plan.hash.clone(),
            window_s,
            lost_before: wrong(&look.fabric, &look.tables, self.plan).pairs,
            switches: look.fabric.switches().map(|(_, node)| node.guid().to_string()).collect(),
            migrations: self.plan.migrations.clone(),
            phases: self.plan.phases.clone(),
            unanswered: self.unanswered,
            marks_writing: true,
            writes: self.plan.writes.clone(),
            ..Begun::default()
        }
    }

    /// Begins it and keeps it to its end.
    fn apply(&mut self, window_s: u64, orders: &Receiver<Order>) -> Result<Told, JournalError> {
        let record = Record::Begun(Box::new(self.begun(window_s)));
        let mut journal = Journal::on("journal", Box::new(Recorder(self.witness.clone())));
        journal.keep(&record)?;
        let told = Told::of(&[record]).unwrap();
        Ok(self.keep(Errand::Apply, journal, told, orders))
    }

    /// The same by other hands, at another time of day.
    fn apply_with(
        &mut self,
        hands: &mut dyn Actuator,
        window_s: u64,
        orders: &Receiver<Order>,
        clock: &dyn Clocks,
        say: &mut dyn FnMut(&str),
    ) -> Told {
        let record = Record::Begun(Box::new(self.begun(window_s)));
        let mut journal = Journal::on("journal", Box::new(Recorder(self.witness.clone())));
        journal.keep(&record).unwrap();
        let told = Told::of(&[record]).unwrap();
        let (plan, driver) = ((self.plan, self.patience), &mut Direct(hands));
        guard(plan, driver, (journal, told), orders, clock, say).keep(Errand::Apply)
    }

    /// What other hands make of what is left of the journal.
    fn take_over_with(
        &mut self,
        hands: &mut dyn Actuator,
        left: &[u8],
        orders: &Receiver<Order>,
        say: &mut dyn FnMut(&str),
    ) -> Told {
        self.take_over_at(hands, left, orders, &SystemClocks, say)
    }

    /// The same under another clock.
    fn take_over_under(
        &mut self,
        hands: &mut dyn Actuator,
        left: &[u8],
        orders: &Receiver<Order>,
        clock: &dyn Clocks,
    ) -> Told {
        self.take_over_at(hands, left, orders, clock, &mut |_| ())
    }

    fn take_over_at(
        &mut self,
        hands: &mut dyn Actuator,
        left: &[u8],
        orders: &Receiver<Order>,
        clock: &dyn Clocks,
        say: &mut dyn FnMut(&str),
    ) -> Told {
        let read = Journal::read("journal", left).unwrap();
        let length = left.len() - read.torn as usize;
        let course = Course { bytes: left[..length].to_vec(), durable: length, ..Course::default() };
        let witness = Witness(Arc::new(Mutex::new(course)));
        let journal = Journal::over(Box::new(Recorder(witness)), &read);
        let (plan, driver) = ((self.plan, self.patience), &mut Direct(hands));
        guard(plan, driver, (journal, read.told), orders, clock, say).keep(Errand::TakeOver)
    }

    /// What another process makes of what is left of the journal.
    fn take_over(&mut self, left: &[u8], orders: &Receiver<Order>) -> Result<Told, JournalError> {
        self.take_over_on(Course::default(), left, orders)
    }

    /// The same on a disk with a course of its own.
    fn take_over_on(
        &mut self,
        course: Course,
        left: &[u8],
        orders: &Receiver<Order>,
    ) -> Result<Told, JournalError> {
        let read = Journal::read("journal", left)?;
        // It begins with what holds.
        let fresh = Witness::default();
        let length = left.len() - read.torn as usize;
        *fresh.course() = Course { bytes: left[..length].to_vec(), durable: length, ..course };
        self.witness = fresh;
        let journal = Journal::over(Box::new(Recorder(self.witness.clone())), &read);
        Ok(self.keep(Errand::TakeOver, journal, read.told, orders))
    }

    fn keep(&mut self, errand: Errand, journal: Journal, told: Told, orders: &Receiver<Order>) -> Told {
        let mut watched = self.watched();
        let plan = (self.plan, self.patience);
        let said = &mut self.said;
        let say = &mut |line: &str| said.push(line.to_owned());
        guard(plan, &mut Direct(&mut watched), (journal, told), orders, &SystemClocks, say).keep(errand)
    }
}

/// A guard of a simulator that ends with the process.
fn guard<'g>(
    (plan, patience): (&'g Plan, SignedDuration),
    driver: &'g mut dyn Driver,
    (journal, told): (Journal, Told),
    orders: &'g Receiver<Order>,
    clock: &'g dyn Clocks,
    say: &'g mut dyn FnMut(&str),
) -> Guard<'g> {
    let stop = &|| false;
    Guard { plan, journal, told, home: None, driver, orders, clock, say, patience, trouble: None, stop }
}

/// A wall clock that a test sets; the time since the start of the machine goes on as it does.
pub struct WallClock<F>(pub F);

impl<F: Fn() -> Timestamp> Clocks for WallClock<F> {
    fn now(&self) -> Timestamp {
        (self.0)()
    }

    fn boot_time(&self) -> BootTime {
        SystemClocks.boot_time()
    }
}

/// Orders that nobody gives.
fn nobody() -> (Sender<Order>, Receiver<Order>) {
    channel()
}

/// Whether the long run is asked for (`tests/run --long`).
pub fn long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}
