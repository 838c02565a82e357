//! OpenSM in charge of the fabric, on the first machine: a process that loads the file of its `file` engine when it starts,
//! at SIGHUP, and at heavy sweeps of its own. Without a file its next engine keeps the entries in force, as minhop does.
//!
//! Whenever it reads the file, that file is complete, and is not of a change that was said to be rolled back.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use fabdeck_change::{ChangePhase, Clocks as _, OpenMode, OpensmDriver, OpensmSite, Plan, System as _};
use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Fabric, NO_PATH, Tables};
use fabdeck_files::lfts;
use fabdeck_files::text::Input;
use fabdeck_mad::access::{
    Actuator as _, AttributePart, DeviceAttribute, DeviceId, NoObserver, ReadOptions, Surveyor as _,
};

use super::fabric::{WorldActuator, site};
use super::programs::{Program, note};
use super::scheduler::{Event, Pid, State};
use super::simulated_process::{SimulatedProcess, prepare_folder};
use super::{OTHER, OWNER};
use crate::changes::actuator;

/// The name of its process.
pub const OPENSM: &str = "opensm";
pub const TABLES_FILE: &str = "/var/cache/opensm/active.lft";
const CONF_FILE: &str = "/etc/opensm/opensm.conf";
const CONF: &str = "routing_engine file,minhop\nlfts_file /var/cache/opensm/active.lft\n";
/// OpenSM runs there.
const HOST: usize = 0;
const SWEEP_INTERVAL: Duration = Duration::from_secs(10);
/// One in this many sweeps is a heavy one, which reads the file.
const HEAVY_ONE_IN: u64 = 4;

/// The tables of the parts that plans write.
type Blocks = BTreeMap<DeviceAttribute, Vec<u8>>;

/// OpenSM, where it is in charge.
#[derive(Debug, Default)]
pub struct OpensmState {
    /// Its process now, or the last one.
    pid: Option<Pid>,
    /// SIGHUP came and is not handled yet.
    hung_up: bool,
    /// What the file of tables held before any change.
    before: Option<Vec<u8>>,
    /// How long it works between reading its file and setting its tables.
    pub load_ms: u64,
    /// Whether another process is started where one has ended.
    pub restarts: bool,
}

impl State {
    /// Starts OpenSM, with a file of the tables in force or without a file.
    pub fn put_opensm_in_charge(&mut self, has_file: bool) {
        let disk = self.hosts[HOST].disk;
        for folder in ["/etc", "/etc/opensm", "/var/cache", "/var/cache/opensm"] {
            prepare_folder(self, disk, folder, (OWNER, 0o755));
        }
        self.disks[disk].put(Path::new(CONF_FILE), CONF.as_bytes(), (OWNER, 0o644));
        let before = has_file.then(|| site().file_in_force.clone());
        if let Some(bytes) = &before {
            self.disks[disk].put(Path::new(TABLES_FILE), bytes, (OWNER, 0o644));
        }
        self.opensm = Some(OpensmState { before, restarts: true, ..OpensmState::default() });
        self.start_opensm_after(0);
    }

    /// Starts its process, if none runs by then.
    pub fn start_opensm_after(&mut self, ms: u64) {
        self.schedule_after(ms, Event::Start { host: HOST, user: OWNER, program: Program::Opensm });
    }

    /// A process is gone. Where it was OpenSM's, another one is started soon.
    pub fn restart_opensm(&mut self, pid: Pid) {
        let is_opensm = self.opensm.as_ref().is_some_and(|opensm| opensm.restarts && opensm.pid == Some(pid));
        if is_opensm && self.hosts[HOST].up && self.violation.is_none() && !self.is_quiet() {
            let pause = 1 + self.dice.draw_below(60_000);
            self.start_opensm_after(pause);
        }
    }

    /// SIGHUP to a process. It ends a program of the owner's that is not OpenSM; nothing else of that user may be called so
    /// while OpenSM is not there, as nothing distinguishes the two.
    pub fn hang_up(&mut self, pid: Pid) {
        self.note(pid, "gets SIGHUP");
        let is_pretender = self.processes[&pid].name == OPENSM && self.processes[&pid].user == OWNER;
        match &mut self.opensm {
            Some(opensm) if opensm.pid == Some(pid) => opensm.hung_up = true,
            Some(_) if is_pretender => self.kill(pid, "SIGHUP"),
            _ => self.violate(format!("process {pid} is not OpenSM and got SIGHUP")),
        }
        self.wake(pid);
    }

    /// Whether SIGHUP came since the last call.
    fn take_hangup(&mut self) -> bool {
        self.opensm.as_mut().is_some_and(|opensm| std::mem::take(&mut opensm.hung_up))
    }

    /// The change that these bytes of a part are of: a pending one that writes them, or the one that wrote last.
    fn change_of(&self, slot: &DeviceAttribute, bytes: &[u8]) -> String {
        let changes = self.monitor.changes.iter();
        let writes = |plan: usize| site().plans[plan].steps.get(slot).is_some_and(|(_, new)| new == bytes);
        let mut pending = changes.filter(|(_, watched)| {
            // The file of a change whose rollback left something may be the plan's.
            let may_be_there = |phase: ChangePhase| phase.is_pending() || phase == ChangePhase::Incomplete;
            watched.phase.is_some_and(may_be_there) && writes(watched.plan)
        });
        pending.next().map_or_else(|| self.fabric.held[slot].1.clone(), |(id, _)| id.clone())
    }

    /// OpenSM has read its file. Its tables may be those of a pending change, of a confirmed one, or of before.
    fn check_file(&mut self, blocks: &Blocks) {
        let plan_of = |plan: usize| &site().plans[plan].steps;
        let stands = |phase: Option<ChangePhase>| {
            phase.is_some_and(|phase| phase.is_pending() || phase == ChangePhase::Confirmed)
        };
        let mut wrong = None;
        for (slot, bytes) in blocks {
            let changes = || self.monitor.changes.iter().filter(|(_, watched)| watched.host == HOST);
            let is_new = |plan: usize| plan_of(plan).get(slot).is_some_and(|(_, new)| new == bytes);
            let is_old = |plan: usize| plan_of(plan).get(slot).is_some_and(|(old, _)| old == bytes);
            let is_of_change = changes().any(|(_, watched)| stands(watched.phase) && is_new(watched.plan));
            for (id, watched) in changes() {
                let what = match () {
                    () if watched.told_rolled_back && is_new(watched.plan) && !is_of_change => {
                        "is of a change that was said to be rolled back"
                    }
                    () if watched.told_confirmed && is_old(watched.plan) => {
                        "takes back what was said to be confirmed"
                    }
                    () => continue,
                };
                wrong.get_or_insert(format!("the file that OpenSM reads {what}: {slot} for {id}"));
            }
        }
        wrong.into_iter().for_each(|wrong| self.violate(wrong));
    }

    /// At the end a restart of OpenSM would change nothing, and a change that was rolled back has left no file behind.
    pub fn check_files_of_opensm(&mut self) {
        let Some(opensm) = &self.opensm else { return };
        let disk = &self.disks[self.hosts[HOST].disk];
        let file = disk.bytes(Path::new(TABLES_FILE)).map(<[u8]>::to_vec);
        let phases: Vec<ChangePhase> =
            self.monitor.changes.values().filter_map(|watched| watched.phase).collect();
        let all = |wanted: &[ChangePhase]| phases.iter().all(|phase| wanted.contains(phase));
        let is_before = file == opensm.before;
        if all(&[ChangePhase::RolledBack, ChangePhase::Refused]) && !is_before {
            self.violate("all is rolled back, and OpenSM's file is not that of before".to_owned());
        }
        let Some(blocks) = file.as_deref().map(blocks_of) else { return };
        let ends_well = all(&[ChangePhase::RolledBack, ChangePhase::Refused, ChangePhase::Confirmed]);
        let held = blocks
            .ok()
            .filter(|blocks| blocks.iter().all(|(slot, bytes)| &self.fabric.held[slot].0 == bytes));
        if ends_well && held.is_none() {
            self.violate("the switches do not hold what is in OpenSM's file".to_owned());
        }
    }
}

/// A file of tables as OpenSM's `file` engine reads it: an error where it lacks a switch.
fn blocks_of(bytes: &[u8]) -> Result<Blocks, String> {
    let (fabric, mut tables) = (&site().fabric, Tables::default());
    let file = lfts::read(Input::new(TABLES_FILE, bytes)).map_err(|error| error.to_string())?;
    file.apply_to(fabric, &mut tables, &mut Notes::new());
    let slots = site().plans.iter().flat_map(|planned| planned.steps.keys());
    slots.map(|slot| Ok((*slot, block_of(fabric, &tables, slot)?))).collect()
}

fn block_of(fabric: &Fabric, tables: &Tables, slot: &DeviceAttribute) -> Result<Vec<u8>, String> {
    let (DeviceId::Switch(guid), AttributePart::Block(block)) = (slot.at, slot.part) else {
        return Err(format!("{slot} is not in a file of tables"));
    };
    let node = fabric.switches().find(|(_, node)| node.guid() == guid).map(|(id, _)| id);
    let lft = node.and_then(|node| tables.lft(node)).ok_or_else(|| format!("it has no table of {slot}"))?;
    let begin = usize::from(block) * 64;
    Ok((begin..begin + 64).map(|lid| lft.bytes().get(lid).copied().unwrap_or(NO_PATH)).collect())
}

/// How `apply` reaches OpenSM. An error where it runs on another machine.
pub fn site_of_opensm(machine: &SimulatedProcess) -> Result<Option<OpensmSite>, String> {
    if machine.world.lock().opensm.is_none() {
        return Ok(None);
    }
    if machine.host != HOST {
        return Err("a subnet manager of another machine is in charge".to_owned());
    }
    let patience = Duration::from_secs(20);
    Ok(Some(OpensmSite { conf: CONF_FILE.into(), patience, ..OpensmSite::default() }))
}

/// What speaks against a change through OpenSM, as `apply` asks before it begins.
pub fn refusals(machine: &SimulatedProcess, plan: &Plan, site: &OpensmSite) -> Result<(), String> {
    let way = WorldActuator::open(machine, "")?;
    let checked = OpensmDriver::new(Box::new(way), (plan, ""), site.clone(), machine).check();
    match checked.refusals.first() {
        Some(refusal) => Err(refusal.to_string()),
        None => Ok(()),
    }
}

/// OpenSM's process.
pub fn run_opensm(machine: &SimulatedProcess) {
    {
        let mut state = machine.world.lock();
        let runs = state.opensm.as_ref().and_then(|opensm| opensm.pid).is_some_and(|pid| state.is_alive(pid));
        match &mut state.opensm {
            Some(opensm) if !runs => {
                *opensm = OpensmState { pid: Some(machine.pid), hung_up: false, ..std::mem::take(opensm) }
            }
            _ => return,
        }
    }
    load_file(machine);
    loop {
        // A signal that came while it worked is handled at once.
        if !machine.world.lock().opensm.as_ref().is_some_and(|opensm| opensm.hung_up) {
            machine.sleep(SWEEP_INTERVAL);
        }
        let loads = {
            let mut state = machine.world.lock();
            if state.process(machine.pid).asked_to_end || state.is_quiet() {
                return;
            }
            let sweeps = state.dice.draw_below(HEAVY_ONE_IN) == 0;
            state.take_hangup() || sweeps
        };
        if loads {
            load_file(machine);
        }
    }
}

/// A program that is named opensm and is something else.
pub fn pretend(machine: &SimulatedProcess, for_s: u64) {
    machine.sleep(Duration::from_secs(for_s));
}

/// Sets what differs from the file.
fn load_file(machine: &SimulatedProcess) {
    let file = machine.open(Path::new(TABLES_FILE), OpenMode::Read).and_then(|file| file.read(u64::MAX));
    let blocks = match file {
        Ok(bytes) => blocks_of(&bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return note(machine, "has no file, and keeps the entries in force");
        }
        Err(error) => return note(machine, &error.to_string()),
    };
    let blocks = match blocks {
        Ok(blocks) => blocks,
        Err(why) => {
            return machine.world.lock().violate(format!("OpenSM reads a file that is not whole: {why}"));
        }
    };
    let load_ms = {
        let mut state = machine.world.lock();
        state.check_file(&blocks);
        state.opensm.as_ref().map_or(0, |opensm| opensm.load_ms)
    };
    let until_ms = machine.world.lock().now_ms + load_ms;
    // A signal wakes it and does not make it quicker.
    while machine.world.lock().now_ms < until_ms {
        let left = until_ms - machine.world.lock().now_ms;
        machine.sleep(Duration::from_millis(left));
    }
    let mut hands = actuator(&machine.world.lock().fabric.simulator);
    let mut is_ready = false;
    for (slot, bytes) in &blocks {
        if &machine.world.lock().fabric.held[slot].0 == bytes {
            continue;
        }
        machine.world.step(|| format!("is about to set {slot} as its file has it"));
        let mut state = machine.world.lock();
        if state.now_ms < state.fabric.silent_until_ms {
            return state.note(machine.pid, "gets no answer, and tries again at its next sweep");
        }
        if !is_ready {
            hands.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
            is_ready = true;
        }
        let change = state.change_of(slot, bytes);
        state.check_set((machine.pid, &change), slot, bytes);
        state.note(machine.pid, &format!("sets {slot} for {change}"));
        hands.write(slot, bytes).unwrap();
        state.fabric.held.insert(*slot, (bytes.clone(), change));
    }
}

/// Which user starts a program that is named opensm.
pub const PRETENDERS: [u32; 2] = [OWNER, OTHER];
