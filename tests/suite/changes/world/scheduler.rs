//! One process runs at a time. At every call to the system a seed says which one is next, and what happens to it.
//!
//! Time is virtual: it passes where every process sleeps. A process that is killed unwinds before anything else runs, so
//! that a seed is the same run every time.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::attackers::Flood;
use super::chaos::Chaos;
use super::disk::Disk;
use super::fabric::FabricState;
use super::invariants::Monitor;
use super::opensm::{OPENSM, OpensmState};
use super::programs::Program;
use super::sockets::Sockets;
use fabdeck_change::Rights;
use fabdeck_simulator::SimulatorRng;

pub type Pid = u32;

thread_local! {
    /// The simulated process that this thread is.
    static CURRENT: Cell<Pid> = const { Cell::new(0) };
}

/// The process is gone at once: nothing of it runs any more but what a stack gives back.
struct KilledSimulatedProcess;

#[derive(Debug)]
pub struct Process {
    pub name: String,
    pub host: usize,
    pub user: u32,
    pub started_ms: u64,
    /// It sleeps until then.
    until_ms: u64,
    pub stopped: bool,
    pub killed: bool,
    pub dead: bool,
    /// SIGTERM was sent.
    pub asked_to_end: bool,
    turn: Arc<Condvar>,
}

/// A machine.
#[derive(Debug)]
pub struct Host {
    pub name: String,
    pub boot: u32,
    pub booted_ms: u64,
    pub up: bool,
    /// The wall clock less the true time.
    pub wall_ms: i64,
    /// Its disk fails until then.
    pub disk_fails_until_ms: u64,
    pub folder_lost_until_ms: u64,
    /// Its disk is full until then: files can be cut, and not grow.
    pub disk_full_until_ms: u64,
    /// The next sync fails, and nothing else.
    pub fails_sync: bool,
    /// A sync has failed.
    pub sync_failed: bool,
    /// Where its state folder lies.
    pub disk: usize,
}

/// Something that happens at its time, whatever processes do.
#[derive(Clone, Debug)]
pub enum Event {
    Start {
        host: usize,
        user: u32,
        program: Program,
    },
    /// systemd's timer for changes without a guard.
    Timer {
        host: usize,
        boot: u32,
    },
    Boot {
        host: usize,
    },
    PowerCut {
        host: usize,
        down_ms: u64,
    },
    SetClock {
        host: usize,
        by_ms: i64,
    },
    FailDisk {
        host: usize,
        for_ms: u64,
    },
    FillDisk {
        host: usize,
        for_ms: u64,
    },
    /// The folder of a network file system cannot be reached: the disk fails, and not even the size of a file can be read.
    LoseFolder {
        host: usize,
        for_ms: u64,
    },
    FailSync {
        host: usize,
    },
    Continue {
        pid: Pid,
    },
    /// A signal to the process of this name.
    Kill {
        name: &'static str,
    },
    Stop {
        name: &'static str,
        for_ms: u64,
    },
    /// SIGTERM to the process of this name.
    End {
        name: &'static str,
    },
    /// Another tool writes the bytes that a plan would write, into its first part.
    WriteEqual {
        plan: usize,
    },
    /// Another tool writes other bytes into the first part of a plan.
    WriteOther {
        plan: usize,
    },
    /// Another tool writes the bytes that a plan found there, into its first part.
    WriteOld {
        plan: usize,
    },
    /// The next switch that is set stores other bytes, and says so.
    AlterNext,
    /// Nothing comes through the fabric.
    Silence {
        for_ms: u64,
    },
    /// Everybody may read the state folder, as older versions left it.
    Loosen {
        host: usize,
    },
    /// A bit of the last newline of a change's journal flips, and the sign that it is over is lost.
    FlipNewline {
        id: &'static str,
    },
}

pub struct State {
    pub seed: u64,
    pub dice: SimulatorRng,
    pub now_ms: u64,
    pub steps: u64,
    pub running: Option<Pid>,
    pub processes: BTreeMap<Pid, Process>,
    next_pid: Pid,
    pub hosts: Vec<Host>,
    pub disks: Vec<Disk>,
    pub sockets: Sockets,
    events: BTreeMap<(u64, u64), Event>,
    event_count: u64,
    pub chaos: Chaos,
    pub monitor: Monitor,
    pub fabric: FabricState,
    /// OpenSM, where it is in charge.
    pub opensm: Option<OpensmState>,
    /// What guards grant to other users.
    pub rights: Rights,
    pub flood: Option<Flood>,
    /// One in this many steps goes to another process.
    steady: u64,
    pub trace: Vec<String>,
    /// What happens right after the next line of the trace that has a text; one after the other.
    pub triggers: Vec<(&'static str, Event)>,
    pub violation: Option<String>,
    horizon_ms: u64,
    over: bool,
}

/// The whole world of one seed.
pub struct World {
    state: Mutex<State>,
    ended: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("World")
    }
}

/// Virtual time at which the world begins.
pub const BEGIN_MS: u64 = 1_000_000;
/// A run with more steps goes round in a cycle.
const STEPS_MOST: u64 = 400_000;
/// No step takes so long.
const HANGS_AFTER: Duration = Duration::from_secs(60);
const TRACED: usize = 20_000;

impl World {
    pub fn new(
        seed: u64,
        hosts: Vec<Host>,
        disks: Vec<Disk>,
        fabric: FabricState,
        chaos: Chaos,
    ) -> Arc<Self> {
        let mut dice = SimulatorRng::new(seed);
        let steady = [2, 3, 10, 60][dice.draw_below(4) as usize];
        let state = State {
            seed,
            dice,
            now_ms: BEGIN_MS,
            steps: 0,
            running: None,
            processes: BTreeMap::new(),
            next_pid: 100,
            hosts,
            disks,
            sockets: Sockets::default(),
            events: BTreeMap::new(),
            event_count: 0,
            chaos,
            monitor: Monitor::default(),
            fabric,
            opensm: None,
            rights: Rights::default(),
            flood: None,
            steady,
            trace: Vec::new(),
            triggers: Vec::new(),
            violation: None,
            horizon_ms: u64::MAX,
            over: false,
        };
        Arc::new(Self { state: Mutex::new(state), ended: Condvar::new(), threads: Mutex::default() })
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs until nothing is left to do, or `horizon_ms` of virtual time are over.
    pub fn run(self: &Arc<Self>, horizon_ms: u64) {
        let mut state = self.lock();
        state.horizon_ms = BEGIN_MS + horizon_ms;
        let next = state.choose(self, None);
        self.give_turn(&mut state, next);
        while !(state.over && state.running.is_none()) {
            let before = state.steps;
            let waited = self.ended.wait_timeout(state, HANGS_AFTER).unwrap_or_else(PoisonError::into_inner);
            state = waited.0;
            // A process that waits for anything but its turn would never come back.
            assert!(
                !waited.1.timed_out() || state.steps > before || state.running.is_none(),
                "seed {} hangs\n{}",
                state.seed,
                state.trace.join("\n")
            );
        }
        drop(state);
        for thread in std::mem::take(&mut *self.threads.lock().unwrap()) {
            let _ = thread.join();
        }
    }

    fn give_turn(&self, state: &mut State, next: Option<Pid>) {
        state.running = next;
        match next {
            Some(pid) => state.processes[&pid].turn.notify_all(),
            None => {
                state.over = true;
                self.ended.notify_all();
            }
        }
    }

    /// One step of the process that this thread is: whatever it does next, another process may come first.
    pub fn step(self: &Arc<Self>, what: impl FnOnce() -> String) {
        self.pause(0, what);
    }

    pub fn sleep(self: &Arc<Self>, ms: u64) {
        // A sleep of nothing lets no time pass and would be no end.
        self.pause(ms.max(1), || format!("sleeps {ms} ms"));
    }

    fn pause(self: &Arc<Self>, ms: u64, what: impl FnOnce() -> String) {
        let me = CURRENT.get();
        if me == 0 || std::thread::panicking() {
            return;
        }
        let mut state = self.lock();
        if state.processes[&me].killed {
            // An unwinding process does nothing any more.
            return;
        }
        let what = what();
        state.note(me, &what);
        let until = state.now_ms + ms;
        state.process(me).until_ms = until;
        state.steps += 1;
        state.roll_chaos(self, me);
        state.check_every_step();
        let next = state.choose(self, Some(me));
        if next != Some(me) {
            self.give_turn(&mut state, next);
            let turn = Arc::clone(&state.processes[&me].turn);
            while state.running != Some(me) {
                state = turn.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let killed = state.processes[&me].killed;
        drop(state);
        if killed {
            resume_unwind(Box::new(KilledSimulatedProcess));
        }
    }

    /// Starts a process, which runs once it has its turn.
    pub fn spawn(self: &Arc<Self>, state: &mut State, host: usize, user: u32, program: Program) -> Pid {
        let pid = state.next_pid;
        state.next_pid += 1;
        let turn = Arc::new(Condvar::new());
        let name = program.name();
        state.note(pid, &format!("starts as {name} of user {user} on {}", state.hosts[host].name));
        let process = Process {
            name,
            host,
            user,
            started_ms: state.now_ms,
            until_ms: state.now_ms,
            stopped: false,
            killed: false,
            dead: false,
            asked_to_end: false,
            turn: Arc::clone(&turn),
        };
        state.processes.insert(pid, process);
        let world = Arc::clone(self);
        let thread = std::thread::Builder::new().stack_size(1 << 20);
        let thread = thread.spawn(move || world.live(pid, &turn, (host, user, program))).unwrap();
        self.threads.lock().unwrap().push(thread);
        pid
    }

    fn live(self: &Arc<Self>, pid: Pid, turn: &Condvar, (host, user, program): (usize, u32, Program)) {
        CURRENT.set(pid);
        let mut state = self.lock();
        while state.running != Some(pid) {
            state = turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let killed = state.processes[&pid].killed;
        drop(state);
        let ended = match killed {
            true => Ok(()),
            false => catch_unwind(AssertUnwindSafe(|| program.run(self, host, pid, user))),
        };
        let mut state = self.lock();
        if let Err(payload) = ended
            && !payload.is::<KilledSimulatedProcess>()
        {
            let words = payload.downcast_ref::<String>().cloned();
            let words = words.or_else(|| payload.downcast_ref::<&str>().map(|words| (*words).to_owned()));
            state.violate(format!("process {pid} panicked: {}", words.unwrap_or_default()));
        }
        state.note(pid, "is gone");
        state.process(pid).dead = true;
        state.release(pid);
        state.restart_opensm(pid);
        let next = state.choose(self, None);
        self.give_turn(&mut state, next);
    }
}

impl State {
    pub fn process(&mut self, pid: Pid) -> &mut Process {
        self.processes.get_mut(&pid).expect("every number is of a process that was started")
    }

    pub fn is_alive(&self, pid: Pid) -> bool {
        self.processes.get(&pid).is_some_and(|process| !process.dead && !process.killed)
    }

    pub fn note(&mut self, pid: Pid, what: &str) {
        if self.triggers.first().is_some_and(|(text, _)| what.contains(text)) {
            let (_, event) = self.triggers.remove(0);
            self.schedule_after(0, event);
        }
        if self.trace.len() < TRACED {
            let name = self.processes.get(&pid).map_or("-", |process| process.name.as_str());
            let at = (self.now_ms - BEGIN_MS) as f64 / 1000.0;
            self.trace.push(format!("{:6} {at:9.3} s  {pid} {name}: {what}", self.steps));
        }
    }

    pub fn violate(&mut self, what: String) {
        self.note(0, &format!("VIOLATION: {what}"));
        self.violation.get_or_insert(what);
    }

    pub fn schedule_at(&mut self, time_ms: u64, event: Event) {
        self.event_count += 1;
        self.events.insert((time_ms, self.event_count), event);
    }

    pub fn schedule_after(&mut self, ms: u64, event: Event) {
        self.schedule_at(self.now_ms + ms, event);
    }

    /// Wakes a process that waits for a message.
    pub fn wake(&mut self, pid: Pid) {
        let now = self.now_ms;
        if let Some(process) = self.processes.get_mut(&pid) {
            process.until_ms = process.until_ms.min(now);
        }
    }

    pub fn kill(&mut self, pid: Pid, why: &str) {
        if !self.is_alive(pid) {
            return;
        }
        self.note(pid, &format!("is killed: {why}"));
        let process = self.process(pid);
        (process.killed, process.stopped) = (true, false);
        self.release(pid);
    }

    pub fn stop(&mut self, pid: Pid, for_ms: u64) {
        if self.is_alive(pid) {
            self.note(pid, &format!("is stopped for {for_ms} ms"));
            self.process(pid).stopped = true;
            self.schedule_after(for_ms, Event::Continue { pid });
        }
    }

    /// Locks and sockets end with their process.
    fn release(&mut self, pid: Pid) {
        self.disks.iter_mut().for_each(|disk| disk.release(pid));
        self.sockets.close_of(pid);
    }

    /// Who is next. Processes that were killed unwind first.
    fn choose(&mut self, world: &Arc<World>, me: Option<Pid>) -> Option<Pid> {
        if self.steps > STEPS_MOST && self.violation.is_none() {
            self.violate(format!("more than {STEPS_MOST} steps"));
        }
        loop {
            if self.violation.is_some() || self.now_ms >= self.horizon_ms {
                let alive: Vec<Pid> = self.processes.keys().copied().collect();
                self.events.clear();
                alive.into_iter().for_each(|pid| self.kill(pid, "the run is over"));
            }
            let unwinding = self.processes.iter().find(|(_, process)| process.killed && !process.dead);
            if let Some((pid, _)) = unwinding {
                return Some(*pid);
            }
            if let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 <= self.now_ms) {
                let event = entry.remove();
                self.handle_event(world, event);
                continue;
            }
            let now = self.now_ms;
            let can_run = |process: &Process| !process.dead && !process.stopped && process.until_ms <= now;
            let ready: Vec<Pid> =
                self.processes.iter().filter(|(_, process)| can_run(process)).map(|(pid, _)| *pid).collect();
            if let Some(me) = me.filter(|me| ready.contains(me))
                && self.dice.draw_below(self.steady) != 0
            {
                return Some(me);
            }
            if !ready.is_empty() {
                return Some(ready[self.dice.draw_below(ready.len() as u64) as usize]);
            }
            let sleeping = self.processes.values().filter(|process| !process.dead && !process.stopped);
            let wakes = sleeping.map(|process| process.until_ms).min();
            let next =
                self.events.first_key_value().map(|((time, _), _)| *time).into_iter().chain(wakes).min();
            let next = next?;
            let later = next.max(self.now_ms).min(self.horizon_ms);
            self.check_time_passes(later);
            self.now_ms = later;
        }
    }

    fn handle_event(&mut self, world: &Arc<World>, event: Event) {
        self.note(0, &format!("{event:?}"));
        match event {
            Event::Start { host, user, program } => {
                if self.hosts[host].up {
                    world.spawn(self, host, user, program);
                }
            }
            Event::Timer { host, boot } => {
                if self.hosts[host].up && self.hosts[host].boot == boot {
                    world.spawn(self, host, super::OWNER, Program::Resume);
                    if !self.is_quiet() {
                        self.schedule_after(30_000, Event::Timer { host, boot });
                    }
                }
            }
            Event::Boot { host } => {
                let now = self.now_ms;
                let held = &mut self.hosts[host];
                (held.up, held.boot, held.booted_ms) = (true, held.boot + 1, now);
                let boot = held.boot;
                self.schedule_after(5_000, Event::Timer { host, boot });
                if self.opensm.is_some() {
                    self.start_opensm_after(2_000);
                }
            }
            Event::PowerCut { host, down_ms } => self.cut_power(host, down_ms),
            Event::SetClock { host, by_ms } => self.hosts[host].wall_ms += by_ms,
            Event::FailDisk { host, for_ms } => self.hosts[host].disk_fails_until_ms = self.now_ms + for_ms,
            Event::LoseFolder { host, for_ms } => {
                let until = self.now_ms + for_ms;
                let host = &mut self.hosts[host];
                (host.folder_lost_until_ms, host.disk_fails_until_ms) = (until, until);
            }
            Event::FillDisk { host, for_ms } => self.hosts[host].disk_full_until_ms = self.now_ms + for_ms,
            Event::FailSync { host } => self.hosts[host].fails_sync = true,
            Event::Continue { pid } => {
                if self.is_alive(pid) {
                    self.process(pid).stopped = false;
                }
            }
            Event::Kill { name } => {
                self.named(name).into_iter().for_each(|pid| self.kill(pid, "kill -9"));
            }
            Event::Stop { name, for_ms } => {
                self.named(name).into_iter().for_each(|pid| self.stop(pid, for_ms));
            }
            Event::End { name } => {
                self.named(name).into_iter().for_each(|pid| self.ask_to_end(pid));
            }
            Event::WriteEqual { plan } => self.write_equal(plan),
            Event::WriteOther { plan } => self.write_other(plan),
            Event::WriteOld { plan } => self.write_old(plan),
            Event::AlterNext => self.fabric.alters_next = true,
            Event::Silence { for_ms } => self.fabric.silent_until_ms = self.now_ms + for_ms,
            Event::Loosen { host } => {
                let disk = self.hosts[host].disk;
                self.disks[disk].loosen(Path::new(super::STATE));
            }
            Event::FlipNewline { id } => self.flip_newline(id),
        }
    }

    /// Whether nothing happens any more, so that what looks for work at intervals may end.
    pub fn is_quiet(&self) -> bool {
        let works = |process: &Process| !process.dead && process.name != "resume" && process.name != OPENSM;
        let others = self.processes.values().any(works);
        !self.monitor.has_open_change() && !others && self.now_ms >= BEGIN_MS + 120_000
    }

    /// SIGTERM.
    pub fn ask_to_end(&mut self, pid: Pid) {
        self.note(pid, "gets SIGTERM");
        self.process(pid).asked_to_end = true;
        self.wake(pid);
    }

    fn named(&self, name: &str) -> Vec<Pid> {
        let is_meant = |(pid, process): &(&Pid, &Process)| process.name == name && self.is_alive(**pid);
        self.processes.iter().filter(is_meant).map(|(pid, _)| *pid).collect()
    }

    /// The machine goes down at once: what was not synced may be lost.
    pub fn cut_power(&mut self, host: usize, down_ms: u64) {
        if !self.hosts[host].up {
            return;
        }
        self.hosts[host].up = false;
        let on_it: Vec<Pid> =
            self.processes.iter().filter(|(_, process)| process.host == host).map(|(pid, _)| *pid).collect();
        on_it.into_iter().for_each(|pid| self.kill(pid, "power cut"));
        let (disk, dice) = (self.hosts[host].disk, &mut self.dice);
        let is_shared = self.hosts.iter().filter(|other| other.disk == disk).count() > 1;
        self.disks[disk].lose_unsynced(dice, is_shared.then_some(host));
        self.schedule_after(down_ms, Event::Boot { host });
    }
}
