//! Two hosts without a lock between them change one fabric at once: a seed says after each datagram who is next.
//!
//! No lock exists in a fabric, and no Set that compares. What can be promised, and is held here of every schedule:
//!
//! 1. No host writes over bytes that were not, at the reading before, what the plan found there (or what it wrote itself).
//! 2. A host that reports `applied` has read all of its bytes since its last write, and they were its own. One that reports `confirmed`
//!    has read them again, and they were, or it named the others. One that reports `rolled back` has read all as it was.
//! 3. Where both are through without a word of the other, the fabric holds what one of the two left: nothing is mixed. A
//!    change that was confirmed is gone only if it was begun, read back and confirmed between the other's look at a part and
//!    its write of it, or if both wrote the same bytes after readings of what was there before, which is not visible.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use fabdeck_change::{
    BootTime, ChangePhase, ChangeState, Clocks, GuardRequest, Plan, QueuedRequest, WriteStep,
};
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{ElementId, Fabric, Faults, Tables};
use fabdeck_live::LiveActuator;
use fabdeck_mad::access::{
    Actuator, DeviceAttribute, ReadObserver, ReadOptions, ReadProgress, SourceError, Surveyor, WriteError,
};
use jiff::Timestamp;

use super::{
    Stage, actuator, fabric, long, observe_simulator, order_channel, plan_by_engine, simulated, spread,
};
use crate::routing::certificate::Dice;

/// What a host did, in the order in which all of it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
enum HostAction {
    Read(DeviceAttribute, Vec<u8>),
    Wrote(DeviceAttribute, Vec<u8>),
    Said(String),
}

/// Who may go on. One of the two at a time, and the seed says who.
struct TurnScheduler {
    now: Mutex<TurnState>,
    passed_on: Condvar,
    /// Milliseconds that hosts believe have passed; each look at the time takes one, and each wait some seconds.
    clock: AtomicI64,
}

/// So much time passes where a host waits, however short it wants to wait.
const WAITED: Duration = Duration::from_secs(12);

struct TurnState {
    whose: usize,
    there: [bool; 2],
    dice: Dice,
    /// One in this many turns goes to the other host.
    steady: usize,
    did: Vec<(usize, HostAction)>,
}

impl TurnScheduler {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let steady = [2, 3, 9, 40, 150][dice.below(5)];
        let now = TurnState { whose: dice.below(2), there: [true; 2], dice, steady, did: Vec::new() };
        Self { now: Mutex::new(now), passed_on: Condvar::new(), clock: AtomicI64::new(1_800_000_000_000) }
    }

    /// Between two datagrams of a host.
    fn pass(&self, host: usize) {
        let mut now = self.now.lock().unwrap();
        let (other, steady) = (1 - host, now.steady);
        if now.whose == host && now.there[other] && now.dice.below(steady) == 0 {
            now.whose = other;
            self.passed_on.notify_all();
        }
        while now.whose != host {
            now = self.passed_on.wait(now).unwrap();
        }
    }

    fn note(&self, host: usize, did: HostAction) {
        self.now.lock().unwrap().did.push((host, did));
    }
}

impl Clocks for TurnScheduler {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.clock.fetch_add(1, Ordering::SeqCst)).unwrap()
    }

    fn boot_time(&self) -> BootTime {
        BootTime { boot: "a run of the test".to_owned(), ms: self.now().as_millisecond() as u64 }
    }

    fn sleep(&self, time: Duration) {
        self.clock.fetch_add(time.max(WAITED).as_millis() as i64, Ordering::SeqCst);
    }

    fn wait(&self, time: Duration, attempt: &mut dyn FnMut(Duration) -> bool) {
        if !attempt(Duration::ZERO) {
            self.sleep(time);
        }
    }
}

/// A host that ends or fails leaves the turns to the other.
struct TurnGuard<'t>(&'t TurnScheduler, usize);

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        let mut now = self.0.now.lock().unwrap();
        (now.there[self.1], now.whose) = (false, 1 - self.1);
        self.0.passed_on.notify_all();
    }
}

/// A host's hands: before each datagram it waits for its turn.
struct TurnPort<'t> {
    inner: LiveActuator,
    turns: &'t TurnScheduler,
    host: usize,
}

struct TurnClock<'t>(&'t TurnScheduler, usize);

impl ReadObserver for TurnClock<'_> {
    fn report_progress(&mut self, _: ReadProgress) {
        self.0.pass(self.1);
    }
}

impl Surveyor for TurnPort<'_> {
    fn read_fabric(
        &mut self,
        wanted: ReadOptions,
        _: &mut dyn ReadObserver,
    ) -> Result<Observation, SourceError> {
        self.turns.pass(self.host);
        self.inner.read_fabric(wanted, &mut TurnClock(self.turns, self.host))
    }

    fn avoid_ports(
        &mut self,
        ports: &std::collections::BTreeSet<(fabdeck_fabric::Guid, u8)>,
    ) -> Vec<fabdeck_mad::access::DevicePort> {
        self.inner.avoid_ports(ports)
    }

    fn read(&mut self, slots: &[DeviceAttribute]) -> Vec<Result<Vec<u8>, WriteError>> {
        let one = |slot: &DeviceAttribute| {
            self.turns.pass(self.host);
            let held = self.inner.read(std::slice::from_ref(slot)).remove(0);
            self.turns.note(self.host, HostAction::Read(*slot, held.clone().unwrap()));
            held
        };
        slots.iter().map(one).collect()
    }
}

impl Actuator for TurnPort<'_> {
    fn write(&mut self, slot: &DeviceAttribute, bytes: &[u8]) -> Result<(), WriteError> {
        self.turns.pass(self.host);
        self.turns.note(self.host, HostAction::Wrote(*slot, bytes.to_vec()));
        self.inner.write(slot, bytes)
    }
}

/// Two plans for the same fabric as it is.
struct Site {
    fabric: Fabric,
    plans: [Plan; 2],
    before: Tables,
}

impl Site {
    fn all() -> Vec<Self> {
        let of = |name: &str, engines: [&str; 2], failed: usize| {
            let fabric = fabric(name);
            let fabric = if failed.is_multiple_of(2) { spread(&fabric) } else { fabric };
            let simulator = simulated(&fabric);
            let links: Vec<_> =
                fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect();
            let mut faults = Faults::new();
            faults.mark(ElementId::Link(links[failed % links.len()]));
            let none = Faults::default();
            let plans = [(engines[0], &none), (engines[1], if failed > 0 { &faults } else { &none })];
            let plans = plans.map(|(engine, faults)| plan_by_engine(&simulator, engine, faults));
            assert!(plans.iter().all(|plan| !plan.writes.is_empty()), "{name}");
            Self { before: observe_simulator(&simulator).tables, fabric, plans }
        };
        vec![
            of("kary,k=2,n=2", ["ftree", "ftree"], 2),
            of("kary,k=3,n=2", ["updn", "updn"], 0),
            of("torus,dims=3x3", ["updn", "sssp"], 1),
            of("kary,k=3,n=2", ["updn", "updn"], 3),
            of("kary,k=2,n=3", ["sssp", "updn"], 5),
        ]
    }
}

/// Whoever sits at a host: once it is applied, looks on for a while and then says yes or no, or goes away.
fn operator(ends: usize, looks: usize, sender: &Sender<QueuedRequest>, line: &str) {
    if !line.starts_with("applied") {
        return;
    }
    let ask = |ask: GuardRequest| drop(sender.send(QueuedRequest { ask, reply: channel().0 }));
    let looks = if ends < 2 { looks } else { 200 };
    (0..looks).for_each(|_| ask(GuardRequest::Status));
    match ends {
        0 => ask(GuardRequest::Confirm { user: "ada".into() }),
        1 => ask(GuardRequest::RollBack { user: "ada".into(), anyway: true }),
        // No decision is made, and the window ends.
        _ => {}
    }
}

/// What became of a host's change.
struct HostRun {
    told: ChangeState,
    steps: Vec<WriteStep>,
    /// Its own looks and words, with when they were.
    did: Vec<(usize, HostAction)>,
}

impl HostRun {
    fn find_message(&self, word: &str) -> Option<usize> {
        let found =
            self.did.iter().find(|(_, did)| matches!(did, HostAction::Said(line) if line.starts_with(word)));
        found.map(|(at, _)| *at)
    }

    fn messages(&self) -> Vec<&str> {
        let said = self.did.iter().filter_map(|(_, did)| match did {
            HostAction::Said(line) => Some(line.as_str()),
            _ => None,
        });
        said.collect()
    }

    /// It has named the other host.
    fn has_reported_the_other(&self) -> bool {
        let why = self.told.why.clone().unwrap_or_default();
        let known =
            ["FD-5621", "FD-5622", "FD-5623", "FD-5625", "FD-5629"].iter().any(|code| why.contains(code));
        known
            || self.find_message("drift").is_some()
            || matches!(self.told.phase, ChangePhase::Refused | ChangePhase::Incomplete)
    }

    /// What it read last of each part before a moment, and when.
    fn read_last(&self, before: usize) -> BTreeMap<DeviceAttribute, (usize, &Vec<u8>)> {
        let reads = self.did.iter().filter(|(at, _)| *at < before).filter_map(|(at, did)| match did {
            HostAction::Read(slot, bytes) => Some((*slot, (*at, bytes))),
            _ => None,
        });
        reads.collect()
    }

    fn wrote_last(&self, before: usize) -> usize {
        let wrote = self.did.iter().filter(|(at, did)| *at < before && matches!(did, HostAction::Wrote(..)));
        wrote.map(|(at, _)| *at).max().unwrap_or(0)
    }

    /// Before this moment it has read every byte since its last write, and this is what it read.
    fn has_read(&self, before: usize, wanted: fn(&WriteStep) -> &Vec<u8>) -> bool {
        let (read, wrote) = (self.read_last(before), self.wrote_last(before));
        self.steps
            .iter()
            .all(|step| read.get(&step.slot).is_some_and(|(at, held)| *held == wanted(step) && *at >= wrote))
    }
}

/// One schedule: what both came to, and what the fabric holds.
fn run(site: &Site, seed: u64) -> ([HostRun; 2], Tables) {
    let turns = Arc::new(TurnScheduler::new(seed));
    let simulator = simulated(&site.fabric);
    let mut dice = Dice(seed ^ 0xA5A5);
    let wishes = [0, 1].map(|_| (dice.below(4).saturating_sub(1), dice.below(8)));
    let keep = |host: usize| {
        let (sender, orders) = order_channel();
        let (ends, looks) = wishes[host];
        let mut stage = Stage::new(&simulator, &site.plans[host]);
        let mut hands = TurnPort { inner: actuator(&simulator), turns: &turns, host };
        let mut say = |line: &str| {
            turns.note(host, HostAction::Said(line.to_owned()));
            operator(ends, looks, &sender, line);
        };
        let _there = TurnGuard(&turns, host);
        turns.pass(host);
        stage.apply_with(&mut hands, 600, &orders, &*turns, &mut say)
    };
    let told = std::thread::scope(|scope| {
        let other = scope.spawn(|| keep(1));
        [keep(0), other.join().unwrap()]
    });
    let did = std::mem::take(&mut turns.now.lock().unwrap().did);
    let mut host = 0;
    let came = told.map(|told| {
        let own = did.iter().enumerate().filter(|(_, (of, _))| *of == host);
        let own = own.map(|(at, (_, did))| (at, did.clone())).collect();
        let steps = site.plans[host].writes.iter().map(|write| write.to_step().unwrap()).collect();
        host += 1;
        HostRun { told, steps, did: own }
    });
    (came, observe_simulator(&simulator).tables)
}

/// No host writes over bytes that it did not expect.
fn compares_before_it_writes(name: &str, came: &HostRun) {
    let mut read: BTreeMap<DeviceAttribute, &Vec<u8>> = BTreeMap::new();
    for (_, did) in &came.did {
        match did {
            HostAction::Read(slot, bytes) => _ = read.insert(*slot, bytes),
            HostAction::Wrote(slot, bytes) => {
                let step = came.steps.iter().find(|step| step.slot == *slot).unwrap();
                let expected = if *bytes == step.new { &step.old } else { &step.new };
                assert_eq!(read.get(slot), Some(&expected), "{name}: {slot} was written over");
            }
            HostAction::Said(_) => {}
        }
    }
}

/// No host reports what it has not read.
fn claims_what_it_read(name: &str, came: &HostRun) {
    if let Some(at) = came.find_message("applied") {
        assert!(came.has_read(at, |step| &step.new), "{name}: applied over other bytes");
    }
    if let Some(at) = came.find_message("confirmed") {
        let whole = came.has_read(at, |step| &step.new);
        assert!(
            whole || came.find_message("drift").is_some(),
            "{name}: confirmed over other bytes, and did not say so"
        );
        let (read, applied) = (came.read_last(at), came.find_message("applied").unwrap());
        assert!(read.values().all(|(read, _)| *read > applied), "{name}: confirmed unseen");
    }
    if came.told.phase == ChangePhase::RolledBack {
        assert!(came.has_read(usize::MAX, |step| &step.old), "{name}: rolled back to other bytes");
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum RunKind {
    /// One or both named what the other did.
    Told,
    /// One after the other, as it may be.
    Apart,
    /// What is not visible: `slipped_in`.
    Between,
}

fn judged(site: &Site, seed: u64) -> RunKind {
    let name = format!("seed {seed}");
    let (came, after) = run(site, seed);
    for host in &came {
        assert!(!host.told.phase.is_pending(), "{name}: {:?}", host.told.phase);
        compares_before_it_writes(&name, host);
        claims_what_it_read(&name, host);
    }
    if came.iter().any(HostRun::has_reported_the_other) {
        return RunKind::Told;
    }
    // Neither knows of the other: then it is as if there had been one of them.
    let words = came.each_ref().map(HostRun::messages);
    let outcome = |host: usize| match came[host].told.phase {
        ChangePhase::Confirmed => site.plans[host].tables_after(&site.fabric, &site.before),
        _ => site.before.clone(),
    };
    assert!(
        [0, 1].iter().any(|host| outcome(*host) == after),
        "{name}: mixed, and nobody says so: {words:#?}"
    );
    let lost = |host: usize| came[host].told.phase == ChangePhase::Confirmed && outcome(host) != after;
    let Some(host) = [0, 1].into_iter().find(|host| lost(*host)) else { return RunKind::Apart };
    assert!(slipped_in(&came[host], &came[1 - host]), "{name}: a confirmed change is gone: {words:#?}");
    RunKind::Between
}

/// What no look can see: a change that is begun, read back and confirmed between another's look at a part and its write;
/// and the same bytes, written by both, each after a look at what was there before.
fn slipped_in(lost: &HostRun, other: &HostRun) -> bool {
    let over = lost.find_message("confirmed").unwrap();
    let same = |slot: &DeviceAttribute| {
        let new =
            |came: &HostRun| came.steps.iter().find(|step| step.slot == *slot).map(|step| step.new.clone());
        new(lost) == new(other)
    };
    let between = |first: &HostRun, second: &HostRun, counts: &dyn Fn(usize, &DeviceAttribute) -> bool| {
        second.did.iter().any(|(wrote, did)| match did {
            HostAction::Wrote(slot, _) if counts(*wrote, slot) => {
                let looked = second.read_last(*wrote)[slot].0;
                let ours = |did: &HostAction| matches!(did, HostAction::Wrote(own, _) if own == slot);
                first.did.iter().any(|(at, did)| ours(did) && (looked..*wrote).contains(at))
            }
            _ => false,
        })
    };
    between(lost, other, &|wrote, slot| wrote > over || same(slot))
        || between(other, lost, &|_, slot| same(slot))
}

#[test]
fn two_hosts_that_change_a_fabric_at_once_tell_of_each_other() {
    let sites = Site::all();
    let seeds = if long() { 1000 } else { 150 };
    // Threads of their own: one of a pool that waits for its turn would keep others from theirs.
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get() as u64);
    let run = &|first: u64| -> Vec<RunKind> {
        let own = (first..seeds).step_by(threads as usize);
        own.map(|seed| judged(&sites[seed as usize % sites.len()], seed)).collect()
    };
    let ended: Vec<RunKind> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || run(first))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let count = |wanted| ended.iter().filter(|ended| **ended == wanted).count();
    let [told, apart, between] = [RunKind::Told, RunKind::Apart, RunKind::Between].map(count);
    println!(
        "said: {} schedules: {told} told, {apart} one after the other, {between} between look and write",
        ended.len()
    );
    assert!(told > ended.len() / 2, "{told}");
}
