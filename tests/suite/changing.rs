//! Changes: what is written is what was planned, and what goes wrong on the way is taken back.

mod crashes;
mod exact;
mod faulty;
mod processes;
mod racing;
mod stale;
mod window;

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

use fabdeck::access::{
    Actuator, Slot, SourceError, Surveyor, Unwatched, Wanted, Watch, WriteError, WriteToken,
};
use fabdeck::change::{
    Begun, Direct, Disk, Errand, Guard, Journal, JournalError, Order, Plan, Record, Told, wrong,
};
use fabdeck::fabric::{Fabric, FabricBuilder, Faults, Guid, Lid, PortFacts, Tables};
use fabdeck::generate::{Spec, generate};
use fabdeck::observe::Observation;
use fabdeck::routing::{NoPulse, Request};
use fabdeck::session::{Asked, Look, Made, Sent, plan_of, propose, settled};
use fabdeck::simulator::{Line, SimulatedPort, Simulator, World};
use fabdeck::source::{Keys, LiveActuator, Policy, look};
use jiff::Timestamp;

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

/// A plan of an engine for what a simulator holds.
fn planned(simulator: &SimulatedPort, engine: &str, faults: &Faults) -> Plan {
    let look = Look::new("sim", seen(simulator), &Default::default());
    let request = Request::default();
    let engine = fabdeck::routing::engine(engine).unwrap();
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
    /// Sets whose record was not durable when they went out.
    early: usize,
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
}

/// An actuator that is watched at its wire.
struct Watched {
    inner: LiveActuator,
    witness: Witness,
    /// What stands in the journal by now, of what it is asked to write.
    planned: Vec<Slot>,
}

impl Surveyor for Watched {
    fn look(&mut self, wanted: Wanted, watch: &mut dyn Watch) -> Result<Observation, SourceError> {
        self.inner.look(wanted, watch)
    }

    fn keep_off(&mut self, ports: &std::collections::BTreeSet<(Guid, u8)>) -> Vec<Guid> {
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
        drop(course);
        let written = self.inner.write(slot, bytes);
        self.witness.moment();
        written
    }
}

/// A change that is about to be kept.
struct Stage<'a> {
    simulator: &'a SimulatedPort,
    plan: &'a Plan,
    witness: Witness,
    said: Vec<String>,
}

impl<'a> Stage<'a> {
    fn new(simulator: &'a SimulatedPort, plan: &'a Plan) -> Self {
        Self { simulator, plan, witness: Witness::default(), said: Vec::new() }
    }

    fn watched(&self) -> Watched {
        let planned = self.plan.writes.iter().map(|write| write.step().unwrap().slot).collect();
        Watched { inner: actuator(self.simulator), witness: self.witness.clone(), planned }
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

    /// What another process makes of what is left of the journal.
    fn take_over(&mut self, left: &[u8], orders: &Receiver<Order>) -> Result<Told, JournalError> {
        let read = Journal::read("journal", left)?;
        // It begins with what holds, on a disk that works.
        let fresh = Witness::default();
        let length = left.len() - read.torn as usize;
        *fresh.course() = Course { bytes: left[..length].to_vec(), durable: length, ..Course::default() };
        self.witness = fresh;
        let journal = Journal::over(Box::new(Recorder(self.witness.clone())), &read);
        Ok(self.keep(Errand::TakeOver, journal, read.told, orders))
    }

    fn keep(&mut self, errand: Errand, journal: Journal, told: Told, orders: &Receiver<Order>) -> Told {
        let mut watched = self.watched();
        let mut driver = Direct(&mut watched);
        let said = &mut self.said;
        let guard = Guard {
            plan: self.plan,
            journal,
            told,
            home: None,
            driver: &mut driver,
            orders,
            now: &Timestamp::now,
            say: &mut |line| said.push(line.to_owned()),
        };
        guard.keep(errand)
    }
}

/// Orders that nobody gives.
fn nobody() -> (Sender<Order>, Receiver<Order>) {
    channel()
}

/// Whether the long run is asked for (`tests/run --long`).
fn long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}
