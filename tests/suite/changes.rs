//! Changes: what is written is what was planned, and what goes wrong on the way is taken back.

mod adapters;
mod altered_sets;
mod attestation;
mod audit_trail;
mod change_list;
mod concurrent_changes;
mod concurrent_hosts;
mod console_changes;
mod console_process;
mod crashes;
mod damaged_folders;
mod deadlines;
mod everyday;
mod faulty_disks;
pub mod foreign_writes;
mod health_list;
mod hung_guard;
mod lane_lifecycle;
mod large_files;
mod link_service;
mod mkeys;
mod notices;
mod old_journals;
mod opensm_console;
mod other_machines;
mod other_users;
mod ownership;
mod path_bits_in_force;
mod phase_decisions;
mod phase_lifecycle;
mod phases;
mod phases_crashes;
pub mod processes;
mod request_flood;
mod restarted_rollback;
mod rollback_disk_faults;
mod silent_guards;
mod slow_lanes;
mod staged_commands;
mod stale_plans;
mod systemd_units;
mod terminal_hangup;
mod torus_lanes;
mod undo;
mod unreachable_fabric;
mod watched_changes;
mod window;
mod wire_order;
mod world;

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::{SignedDuration, Timestamp};

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::lanes::levels::LevelsInForce;
use fabdeck::operations::plans::plan_origin::PlanOrigin;
use fabdeck::operations::plans::proposal_plan::{make_plan, settle_proposal};
use fabdeck::operations::preview::whatif::{ProposalOptions, propose};
use fabdeck_change::{
    BeginRecord, BootTime, ChangeState, Clocks, DirectDriver, Disk, Driver, FollowMode, Guard, GuardMemory,
    GuardMode, Journal, JournalError, JournalRecord, Migration, MigrationDirection, Plan, PlanFlow, PlanPort,
    PlanWrite, QueuedRequest, SilentHostAction, SurvivingFabric, SystemClocks, UNREACHABLE_TIMEOUT,
    find_defects,
};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Guid, Lid, PortFacts, Tables};
use fabdeck_live::{ExchangePolicy, Keys, LiveActuator, read_snapshot};
use fabdeck_mad::PathNotice;
use fabdeck_mad::access::{
    Actuator, AttributePart, DeviceAttribute, DeviceId, DevicePort, NoObserver, ReadObserver, ReadOptions,
    SourceError, Surveyor, WriteError, WriteToken,
};
use fabdeck_routing::{NoProgress, Request};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
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

fn simulated(fabric: &Fabric) -> SharedSimulator {
    let world = SimulatedFabric::new(fabric, &Tables::default()).unwrap();
    SharedSimulator::new(Simulator::new(world, LineFaults::default(), 1))
}

fn observe_simulator(simulator: &SharedSimulator) -> Observation {
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let mut port = simulator.open_port(None).unwrap();
    read_snapshot("sim", &mut port, ExchangePolicy::default(), &Keys::default(), wanted, &mut NoObserver)
        .unwrap()
}

/// The same with lanes.
fn observe_simulator_whole(simulator: &SharedSimulator) -> Observation {
    let wanted = ReadOptions { tables: true, lanes: true, ..ReadOptions::default() };
    let mut port = simulator.open_port(None).unwrap();
    read_snapshot("sim", &mut port, ExchangePolicy::default(), &Keys::default(), wanted, &mut NoObserver)
        .unwrap()
}

/// A plan that writes the lanes and the arbitration of some adapters besides, each at its own ports.
fn with_adapters(simulator: &SharedSimulator, mut plan: Plan, adapters: usize) -> Plan {
    let look = observe_simulator_whole(simulator);
    let (fabric, mut hands) = (&look.fabric, actuator(simulator));
    hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    let cabled =
        fabric.ports().filter(|(_, port)| port.peer.is_some() && !fabric.node(port.node).is_switch());
    for (_, port) in cabled.take(adapters) {
        let (guid, number) = (fabric.node(port.node).guid(), port.number.value());
        for part in [AttributePart::Lanes([0, number]), AttributePart::Arbitration([number, 1])] {
            let old = hands.read(&[DeviceAttribute { at: DeviceId::Adapter(guid), part }]).remove(0).unwrap();
            let mut new = old.clone();
            match part {
                AttributePart::Lanes(_) => new.rotate_left(1),
                _ => new[1] = new[1].wrapping_add(1),
            }
            plan.writes.insert(0, PlanWrite::for_adapter(guid, part, &old, &new));
        }
    }
    let faults = plan.faults(fabric);
    let manager = look.subnet_manager.as_ref().map(|manager| manager.guid);
    plan.cover_adapters(&SurvivingFabric::new(fabric, &faults, manager), &look.tables);
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// A plan that moves the flows of the first hosts to the last one to the slow lane; an agent runs on each of them.
fn with_migration(simulator: &SharedSimulator, mut plan: Plan, hosts: usize) -> Plan {
    let fabric = observe_simulator(simulator).fabric;
    let ends = fabric.ports().filter(|(_, port)| !fabric.node(port.node).is_switch());
    let ports: Vec<PlanPort> = ends
        .filter_map(|(_, port)| {
            let guid = port.facts.guid?.to_string();
            Some(PlanPort { guid, name: format!("host{}", port.node.0), lid: port.facts.lid?.value() })
        })
        .collect();
    let flow = |port: &PlanPort| PlanFlow { host: port.clone(), follows: FollowMode::Agent };
    let flows = ports.iter().take(hosts).map(flow).collect();
    let hot_spot = ports.last().unwrap().clone();
    plan.migrations =
        vec![Migration { towards: MigrationDirection::Slow, hot_spot, fast: 0, slow: 1, flows }];
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// A plan of an engine for what a simulator holds.
fn plan_by_engine(simulator: &SharedSimulator, engine: &str, faults: &Faults) -> Plan {
    let look = Snapshot::new("sim", observe_simulator(simulator), &Default::default());
    let request = Request::default();
    let engine = fabdeck_routing::find_engine(engine).unwrap();
    let tables = &look.observation.tables;
    let proposal =
        propose(&look, tables, faults, engine, ProposalOptions::for_terminals(&request), &NoProgress)
            .unwrap();
    let proposal = settle_proposal(&look, faults, proposal, LevelsInForce::Unknown, &NoProgress).unwrap();
    let plan = make_plan(&look, faults, engine.id, &proposal, LevelsInForce::Unknown, PlanOrigin::default())
        .unwrap();
    Plan::read(&plan.text().unwrap()).unwrap()
}

/// A simulator and a plan that writes to it.
fn make_simulator_and_plan(name: &str, engine: &str) -> (SharedSimulator, Plan) {
    make_plan_on(&fabric(name), engine)
}

fn make_plan_on(fabric: &Fabric, engine: &str) -> (SharedSimulator, Plan) {
    let simulator = simulated(fabric);
    let plan = plan_by_engine(&simulator, engine, &Faults::default());
    assert!(!plan.writes.is_empty(), "{engine}");
    (simulator, plan)
}

fn actuator(simulator: &SharedSimulator) -> LiveActuator {
    let port = simulator.open_port(None).unwrap().unlock(&WriteToken::for_simulation()).unwrap();
    LiveActuator::new("sim", port, ExchangePolicy::default(), Keys::default())
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
    sets: Vec<(DeviceAttribute, Vec<u8>)>,
    /// What went out before its record was durable.
    early: usize,
    /// Sets while some host that is to leave base LIDs had not.
    at_base: usize,
    /// Notices, with the number of Sets before them, and the moments when they went out.
    notices: Vec<(usize, Vec<PathNotice>)>,
    notified_at: Vec<usize>,
}

/// The hosts of a fabric, as far as they listen.
#[derive(Debug)]
struct Listeners {
    /// Flows that are on another lane: hot-spot and host.
    moved: BTreeSet<(Option<Lid>, Lid)>,
    /// Agents that say nothing, and notices that the manager does not take.
    mute: BTreeSet<Lid>,
    refuses: fn(&PathNotice) -> bool,
    /// The port goes away once notices are sent.
    goes: bool,
}

/// The process is gone at once: nothing of it runs any more but what a stack gives back.
struct KilledProcess;

#[derive(Clone, Debug, Default)]
struct WatchedDisk(Arc<Mutex<Course>>);

impl WatchedDisk {
    fn course(&self) -> MutexGuard<'_, Course> {
        self.0.lock().unwrap()
    }

    fn count_moment(&self) {
        let mut course = self.course();
        course.moments += 1;
        if course.killed_at == Some(course.moments) {
            drop(course);
            std::panic::resume_unwind(Box::new(KilledProcess));
        }
    }

    /// What the disk still has when the machine went down: what was durable, and of the rest this share.
    fn journal_prefix(&self, share: usize) -> Vec<u8> {
        let course = self.course();
        let more = (course.bytes.len() - course.durable) * share / 2;
        course.bytes[..course.durable + more].to_vec()
    }
}

struct WatchedPort(WatchedDisk);

impl WatchedPort {
    fn disk_fails(&self) -> bool {
        let mut course = self.0.course();
        course.operations += 1;
        course.failing.contains(&course.operations)
    }
}

impl Disk for WatchedPort {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.count_moment();
        if self.disk_fails() {
            let mut course = self.0.course();
            if course.half {
                course.bytes.extend_from_slice(&bytes[..bytes.len() / 2]);
            }
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.course().bytes.extend_from_slice(bytes);
        self.0.count_moment();
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.count_moment();
        if self.disk_fails() {
            return Err(io::Error::other("input/output error"));
        }
        let mut course = self.0.course();
        course.durable = course.bytes.len();
        drop(course);
        self.0.count_moment();
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        if self.disk_fails() {
            return Err(io::Error::other("input/output error"));
        }
        let mut course = self.0.course();
        course.bytes.truncate(length as usize);
        course.durable = course.bytes.len();
        Ok(())
    }
}

/// An actuator that is watched at its wire.
struct WatchedActuator {
    inner: LiveActuator,
    witness: WatchedDisk,
    /// What stands in the journal by now, of what it is asked to write.
    planned: Vec<DeviceAttribute>,
    /// How many hosts are to leave base LIDs before anything is written.
    leaving: usize,
    listeners: Arc<Mutex<Listeners>>,
}

impl Surveyor for WatchedActuator {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        self.inner.read_fabric(wanted, watch)
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.inner.avoid_ports(ports)
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        self.inner.read(slots)
    }
}

impl Actuator for WatchedActuator {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        self.witness.count_moment();
        let mut course = self.witness.course();
        let durable = Journal::read("journal", &course.bytes[..course.durable]);
        // Reading it all again for each Set would take its time: it is the first record that counts.
        let known = course.sets.len() > 3 || durable.is_ok_and(|read| !read.state.begun.writes.is_empty());
        course.early += usize::from(!known || !self.planned.contains(slot));
        course.sets.push((*slot, bytes.to_vec()));
        course.at_base += usize::from(self.listeners.lock().unwrap().moved.len() < self.leaving);
        drop(course);
        let written = self.inner.write(slot, bytes);
        self.witness.count_moment();
        written
    }

    fn notify(
        &mut self,
        notices: &[PathNotice],
        whom: &[Lid],
        _: std::time::Duration,
    ) -> Result<Vec<Lid>, WriteError> {
        self.witness.count_moment();
        let mut course = self.witness.course();
        let durable = Journal::read("journal", &course.bytes[..course.durable]);
        course.early += usize::from(!durable.is_ok_and(|read| read.state.hosts.may_have_moved()));
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
        self.witness.count_moment();
        Ok(answered)
    }
}

/// A change that is about to be kept.
struct Stage<'a> {
    simulator: &'a SharedSimulator,
    plan: &'a Plan,
    witness: WatchedDisk,
    said: Vec<String>,
    patience: SignedDuration,
    listeners: Arc<Mutex<Listeners>>,
    unanswered: SilentHostAction,
}

impl<'a> Stage<'a> {
    fn new(simulator: &'a SharedSimulator, plan: &'a Plan) -> Self {
        Self {
            simulator,
            plan,
            witness: WatchedDisk::default(),
            said: Vec::new(),
            patience: UNREACHABLE_TIMEOUT,
            unanswered: SilentHostAction::Stop,
            listeners: Arc::new(Mutex::new(Listeners {
                moved: BTreeSet::new(),
                mute: BTreeSet::new(),
                refuses: |_| false,
                goes: false,
            })),
        }
    }

    fn watched(&self) -> WatchedActuator {
        let planned = self.plan.writes.iter().map(|write| write.to_step().unwrap().slot).collect();
        let (witness, listeners) = (self.witness.clone(), self.listeners.clone());
        let leaving = self.plan.phases.as_ref().map_or(0, |phases| phases.hosts.len());
        WatchedActuator { inner: actuator(self.simulator), witness, planned, leaving, listeners }
    }

    fn begin_record(&self, window_s: u64) -> BeginRecord {
        let look = observe_simulator(self.simulator);
        BeginRecord {
            id: "12345678".into(),
            number: 1,
            user: "ada".into(),
            plan: self.plan.hash.clone(),
            window_s,
            lost_before: find_defects(&look.fabric, &look.tables, self.plan).pairs,
            switches: look.fabric.switches().map(|(_, node)| node.guid().to_string()).collect(),
            migrations: self.plan.migrations.clone(),
            phases: self.plan.phases.clone(),
            unanswered: self.unanswered,
            marks_writing: true,
            writes: self.plan.writes.clone(),
            ..BeginRecord::default()
        }
    }

    /// Begins it and keeps it to its end.
    fn apply(
        &mut self,
        window_s: u64,
        orders: &Receiver<QueuedRequest>,
    ) -> Result<ChangeState, JournalError> {
        let record = JournalRecord::Begun(Box::new(self.begin_record(window_s)));
        let mut journal = Journal::on_empty_disk("journal", Box::new(WatchedPort(self.witness.clone())));
        journal.append_durably(&record)?;
        let told = ChangeState::from_records(&[record]).unwrap();
        Ok(self.run_guard(GuardMode::Apply, journal, told, orders))
    }

    /// The same by other hands, at another time of day.
    fn apply_with(
        &mut self,
        hands: &mut dyn Actuator,
        window_s: u64,
        orders: &Receiver<QueuedRequest>,
        clock: &dyn Clocks,
        say: &mut dyn FnMut(&str),
    ) -> ChangeState {
        let record = JournalRecord::Begun(Box::new(self.begin_record(window_s)));
        let mut journal = Journal::on_empty_disk("journal", Box::new(WatchedPort(self.witness.clone())));
        journal.append_durably(&record).unwrap();
        let told = ChangeState::from_records(&[record]).unwrap();
        let (plan, driver) = ((self.plan, self.patience), &mut DirectDriver(hands));
        guard(plan, driver, (journal, told), orders, clock, say).run(GuardMode::Apply)
    }

    /// What other hands make of what is left of the journal.
    fn take_over_with(
        &mut self,
        hands: &mut dyn Actuator,
        left: &[u8],
        orders: &Receiver<QueuedRequest>,
        say: &mut dyn FnMut(&str),
    ) -> ChangeState {
        self.take_over_at(hands, left, orders, &SystemClocks, say)
    }

    /// The same under another clock.
    fn take_over_under(
        &mut self,
        hands: &mut dyn Actuator,
        left: &[u8],
        orders: &Receiver<QueuedRequest>,
        clock: &dyn Clocks,
    ) -> ChangeState {
        self.take_over_at(hands, left, orders, clock, &mut |_| ())
    }

    fn take_over_at(
        &mut self,
        hands: &mut dyn Actuator,
        left: &[u8],
        orders: &Receiver<QueuedRequest>,
        clock: &dyn Clocks,
        say: &mut dyn FnMut(&str),
    ) -> ChangeState {
        let read = Journal::read("journal", left).unwrap();
        let length = left.len() - read.torn as usize;
        let course = Course { bytes: left[..length].to_vec(), durable: length, ..Course::default() };
        let witness = WatchedDisk(Arc::new(Mutex::new(course)));
        let journal = Journal::resume_on(Box::new(WatchedPort(witness)), &read);
        let (plan, driver) = ((self.plan, self.patience), &mut DirectDriver(hands));
        guard(plan, driver, (journal, read.state), orders, clock, say).run(GuardMode::TakeOver)
    }

    /// What another process makes of what is left of the journal.
    fn take_over(
        &mut self,
        left: &[u8],
        orders: &Receiver<QueuedRequest>,
    ) -> Result<ChangeState, JournalError> {
        self.take_over_on(Course::default(), left, orders)
    }

    /// The same on a disk with a course of its own.
    fn take_over_on(
        &mut self,
        course: Course,
        left: &[u8],
        orders: &Receiver<QueuedRequest>,
    ) -> Result<ChangeState, JournalError> {
        let read = Journal::read("journal", left)?;
        // It begins with what holds.
        let fresh = WatchedDisk::default();
        let length = left.len() - read.torn as usize;
        *fresh.course() = Course { bytes: left[..length].to_vec(), durable: length, ..course };
        self.witness = fresh;
        let journal = Journal::resume_on(Box::new(WatchedPort(self.witness.clone())), &read);
        Ok(self.run_guard(GuardMode::TakeOver, journal, read.state, orders))
    }

    fn run_guard(
        &mut self,
        errand: GuardMode,
        journal: Journal,
        told: ChangeState,
        orders: &Receiver<QueuedRequest>,
    ) -> ChangeState {
        let mut watched = self.watched();
        let plan = (self.plan, self.patience);
        let said = &mut self.said;
        let say = &mut |line: &str| said.push(line.to_owned());
        guard(plan, &mut DirectDriver(&mut watched), (journal, told), orders, &SystemClocks, say).run(errand)
    }
}

/// A guard of a simulator that ends with the process.
fn guard<'g>(
    (plan, patience): (&'g Plan, SignedDuration),
    driver: &'g mut dyn Driver,
    (journal, told): (Journal, ChangeState),
    orders: &'g Receiver<QueuedRequest>,
    clock: &'g dyn Clocks,
    say: &'g mut dyn FnMut(&str),
) -> Guard<'g> {
    let stop = &|| false;
    Guard {
        plan,
        journal,
        state: told,
        home: None,
        driver,
        orders,
        clock,
        log: say,
        patience,
        trouble: None,
        stop,
        tend_second: &|| {},
        memory: GuardMemory::default(),
    }
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

/// A channel of requests without any request.
fn order_channel() -> (Sender<QueuedRequest>, Receiver<QueuedRequest>) {
    channel()
}

/// Whether the long run is asked for (`tests/run --long`).
pub fn long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}
