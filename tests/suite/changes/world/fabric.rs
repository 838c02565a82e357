//! The fabric that all machines share: the built-in simulator, behind actuators that lose answers.
//!
//! Requests and answers are lost between the actuator and its port, as a datagram that was lost on every retry would be, and
//! take the time of those retries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::time::Duration;

use fabdeck_change::{Plan, find_defects};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, Faults, Guid};
use fabdeck_files::lfts;
use fabdeck_live::LiveActuator;
use fabdeck_mad::access::{
    Actuator, Clock as _, DeviceAttribute, DevicePort, MadPort as _, NoObserver, ReadObserver, ReadOptions,
    ReadPort, Registration, RegistrationLookup, SourceError, Surveyor, WriteError,
};
use fabdeck_simulator::SharedSimulator;

use super::scheduler::{BEGIN_MS, State};
use super::simulated_process::SimulatedProcess;
use crate::changes::{actuator, observe_simulator, plan_by_engine, simulated};

/// How long a datagram is tried that is always lost.
const RETRIES: Duration = Duration::from_secs(3);

/// The writer of what no change wrote.
pub const ANOTHER_TOOL: &str = "another tool";

/// The fabric and the plans for it, which are the same for every seed.
pub struct Site {
    pub fabric: Fabric,
    /// Two plans that write different bytes to the same parts, and one that is made upon the tables of the first.
    pub plans: Vec<PlannedChange>,
    /// A file for OpenSM with the tables in force.
    pub file_in_force: Vec<u8>,
}

pub struct PlannedChange {
    pub plan: Plan,
    pub text: String,
    pub steps: BTreeMap<DeviceAttribute, (Vec<u8>, Vec<u8>)>,
    pub lost_before: u64,
    pub switches: BTreeSet<String>,
}

impl PlannedChange {
    fn of(simulator: &SharedSimulator, engine: &str) -> Self {
        let plan = plan_by_engine(simulator, engine, &Faults::default());
        assert!(plan.writes.len() > 1, "{engine}");
        let look = observe_simulator(simulator);
        let steps = plan.writes.iter().map(|write| write.to_step().unwrap());
        Self {
            steps: steps.map(|step| (step.slot, (step.old, step.new))).collect(),
            text: plan.text().unwrap(),
            lost_before: find_defects(&look.fabric, &look.tables, &plan).pairs,
            switches: look.fabric.switches().map(|(_, node)| node.guid().to_string()).collect(),
            plan,
        }
    }
}

/// Made once: it takes longer than a run.
pub fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| {
        let fabric = generate(&"kary,k=3,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let first = PlannedChange::of(&simulated(&fabric), "updn");
        let second = PlannedChange::of(&simulated(&fabric), "ftree");
        let simulator = simulated(&fabric);
        let mut hands = actuator(&simulator);
        hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
        first.steps.iter().for_each(|(slot, (_, new))| hands.write(slot, new).unwrap());
        let upon_first = PlannedChange::of(&simulator, "ftree");
        let look = observe_simulator(&simulated(&fabric));
        let mut file_in_force = Vec::new();
        lfts::write(&look.fabric, &look.tables, &mut file_in_force).unwrap();
        Site { fabric, plans: vec![first, second, upon_first], file_in_force }
    })
}

/// The fabric of one seed.
pub struct FabricState {
    pub simulator: SharedSimulator,
    ticker: ReadPort,
    /// Nothing comes through until then.
    pub silent_until_ms: u64,
    /// One in this many writes or reads is lost; 0: none.
    pub loses_one_in: u64,
    /// What each part holds by now, and the change that wrote it last.
    pub held: BTreeMap<DeviceAttribute, (Vec<u8>, String)>,
    pub alters_next: bool,
    /// How long a Set takes.
    pub set_ms: u64,
    /// Parts of which the switch stored something else than the change sent that wrote them last.
    pub altered: BTreeSet<DeviceAttribute>,
}

impl FabricState {
    pub fn new(loses_one_in: u64) -> Self {
        let simulator = simulated(&site().fabric);
        let ticker = simulator.open_port(None).unwrap();
        let olds = site().plans[..2].iter().flat_map(|planned| &planned.steps);
        let held = olds.map(|(slot, (old, _))| (*slot, (old.clone(), String::new()))).collect();
        Self {
            simulator,
            ticker,
            silent_until_ms: 0,
            loses_one_in,
            held,
            alters_next: false,
            set_ms: 0,
            altered: BTreeSet::new(),
        }
    }
}

impl State {
    /// Another tool writes what a plan would write, into its first part.
    pub fn write_equal(&mut self, plan: usize) {
        let (slot, (_, new)) = site().plans[plan].steps.iter().next().unwrap();
        self.write_foreign(slot, new);
    }

    /// Another tool writes other bytes than the plan into its first part.
    pub fn write_other(&mut self, plan: usize) {
        let (slot, (_, new)) = site().plans[plan].steps.iter().next().unwrap();
        self.write_foreign(slot, &with_last_entry(new, [1, 2]));
    }

    /// Another tool writes what a plan found, into its first part.
    pub fn write_old(&mut self, plan: usize) {
        let (slot, (old, _)) = site().plans[plan].steps.iter().next().unwrap();
        self.write_foreign(slot, old);
    }

    fn write_foreign(&mut self, slot: &DeviceAttribute, bytes: &[u8]) {
        let mut hands = actuator(&self.fabric.simulator);
        hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
        hands.write(slot, bytes).unwrap();
        self.fabric.held.insert(*slot, (bytes.to_vec(), ANOTHER_TOOL.to_owned()));
        self.fabric.altered.remove(slot);
    }
}

/// Bytes that no plan has: one of two ports in the last entry, whose LID no port has. What another tool writes differs
/// from what a switch alters, for no guard could tell equal bytes apart.
fn with_last_entry(bytes: &[u8], [port, other_port]: [u8; 2]) -> Vec<u8> {
    let mut other = bytes.to_vec();
    let last = other.last_mut().expect("a part has bytes");
    *last = if *last == port { other_port } else { port };
    other
}

/// The way of one process to the fabric, for one change.
pub struct WorldActuator {
    machine: SimulatedProcess,
    inner: LiveActuator,
    change: String,
}

impl WorldActuator {
    pub fn open(machine: &SimulatedProcess, change: &str) -> Result<Self, String> {
        machine.world.step(|| "opens the way to the fabric".to_owned());
        let state = machine.world.lock();
        if state.now_ms < state.fabric.silent_until_ms {
            return Err("the adapter is not up".to_owned());
        }
        let inner = actuator(&state.fabric.simulator);
        drop(state);
        Ok(Self { machine: machine.clone(), inner, change: change.to_owned() })
    }

    /// Does something on the wire; the time that it takes passes for everybody.
    fn pass<T>(&mut self, what: &str, act: impl FnOnce(&mut LiveActuator) -> T) -> T {
        self.machine.world.step(|| what.to_owned());
        let mut state = self.machine.world.lock();
        let now = Duration::from_millis(state.now_ms - BEGIN_MS);
        let _ = state.fabric.ticker.receive(now);
        let before = state.fabric.ticker.now();
        let done = act(&mut self.inner);
        let took = state.fabric.ticker.now().saturating_sub(before).as_millis() as u64;
        drop(state);
        if took > 0 {
            self.machine.world.sleep(took);
        }
        done
    }

    fn is_silent(&self) -> bool {
        let state = self.machine.world.lock();
        state.now_ms < state.fabric.silent_until_ms
    }

    /// Whether this datagram is lost, and how: before it arrived, or its answer.
    fn is_lost(&self) -> Option<bool> {
        let mut state = self.machine.world.lock();
        if state.now_ms < state.fabric.silent_until_ms {
            return Some(false);
        }
        let often = state.fabric.loses_one_in;
        (often > 0 && state.dice.draw_below(often) == 0).then(|| state.dice.draw_below(2) == 0)
    }

    fn silence(&self) -> WriteError {
        self.machine.world.sleep(RETRIES.as_millis() as u64);
        WriteError::Silent("no answer".to_owned())
    }
}

impl Surveyor for WorldActuator {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        watch: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        if self.is_silent() {
            self.machine.world.sleep(RETRIES.as_millis() as u64);
            let (code, what) = ("FD-5656", "nothing answers".to_owned());
            return Err(SourceError::Unreachable { code, what, hint: "wait".into() });
        }
        self.pass("looks at the fabric", |inner| inner.read_fabric(wanted, watch))
    }

    fn avoid_ports(&mut self, ports: &BTreeSet<(Guid, u8)>) -> Vec<DevicePort> {
        self.inner.avoid_ports(ports)
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        if self.is_lost().is_some() {
            let error = self.silence();
            return slots.iter().map(|_| Err(error.clone())).collect();
        }
        self.pass("reads tables", |inner| inner.read(slots))
    }

    fn read_registration(&mut self) -> RegistrationLookup {
        if self.is_silent() {
            self.machine.world.sleep(RETRIES.as_millis() as u64);
            return RegistrationLookup::NotKept("nothing answers".to_owned());
        }
        self.pass("asks what is registered", Surveyor::read_registration)
    }
}

impl Actuator for WorldActuator {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        self.machine.world.step(|| format!("is about to set {slot}"));
        let lost = self.is_lost();
        if lost == Some(false) {
            return Err(self.silence());
        }
        let (stored, alters, takes_ms) = {
            let mut state = self.machine.world.lock();
            state.check_set((self.machine.pid, &self.change), slot, bytes);
            let alters = std::mem::take(&mut state.fabric.alters_next);
            let stored = if alters { with_last_entry(bytes, [3, 4]) } else { bytes.to_vec() };
            state.fabric.held.insert(*slot, (stored.clone(), self.change.clone()));
            if alters {
                state.fabric.altered.insert(*slot);
            } else {
                state.fabric.altered.remove(slot);
            }
            let words = format!("sets {slot} for {}", self.change);
            state.note(self.machine.pid, &words);
            (stored, alters, state.fabric.set_ms)
        };
        // Not a step: what the check saw is what is written over.
        let written = self.inner.write(slot, &stored);
        if takes_ms > 0 {
            self.machine.world.sleep(takes_ms);
        }
        self.machine.world.step(|| "has set it".to_owned());
        match () {
            () if lost.is_some() => Err(self.silence()),
            () if alters => {
                let what = format!("{slot} was written and the switch holds something else");
                Err(WriteError::Altered { what, holds: stored })
            }
            () => written,
        }
    }

    fn register(&mut self, registration: &Registration) -> Result<(), WriteError> {
        if self.is_silent() {
            return Err(self.silence());
        }
        self.pass("registers the change", |inner| inner.register(registration))
    }

    fn unregister(&mut self, registration: &Registration) -> Result<(), WriteError> {
        if self.is_silent() {
            return Err(self.silence());
        }
        self.pass("ends the registration", |inner| inner.unregister(registration))
    }
}
