//! Kills real processes over ibsim with SIGKILL at moments of a change. A library (`die.c`) counts the moments:
//! before and after each Set, journal write and sync. The next start finds the pending change. After its rollback
//! every byte is as before: forwarding tables, SL2VL, arbitration, PortInfo.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

use crate::changes::opt_in;
use crate::discovery::{fabdeck, look_around, part};
use crate::ibsim::{self, Stage};
use fabdeck_change::{
    ChangePhase, ChangeState, Journal, JournalError, LocalSystem, Plan, PlanWrite, WriteTarget,
};
use fabdeck_fabric::{Fabric, NodeId};
use fabdeck_live::{ExchangePolicy, open_adapter};
use fabdeck_mad::access::{AddressedMad, AttributePart, Clock, MadAddress, MadPort, ReadOptions};
use fabdeck_mad::{Method, SMP_DATA, Smp, SwitchInfo, attribute};

pub const PLAN: &str = "new.plan";
const RAW: &str = "raw.txt";
const PATIENCE: Duration = Duration::from_secs(60);
const TURN: Duration = Duration::from_millis(3);
/// The same for a wait of a minute, in which nothing depends on the moment.
const LONG_TURN: Duration = Duration::from_millis(100);

/// The process over ibsim that reads every byte; it writes a line for each attribute.
pub fn kill_at_every_moment_of_direct_writes() {
    let fabric = look_around(ExchangePolicy::default(), ReadOptions::default()).fabric;
    let mut port = open_adapter(None, None).unwrap();
    let own = fabric.port(fabric.port_by_guid(port.local_port().guid.unwrap()).unwrap()).node;
    let mut transaction = 0_u64;
    let mut ask = |route: &[u8], attribute: u16, modifier: u32| {
        let mut mad = Smp::directed(Method::GET, attribute, modifier, route).unwrap().0;
        transaction += 1;
        mad.header_mut().transaction = transaction.into();
        port.send(&AddressedMad { mad, address: MadAddress::directed() }, Duration::from_secs(5)).unwrap();
        let until = port.now() + Duration::from_secs(5);
        match port.receive(until).unwrap() {
            Some(fabdeck_mad::access::PortEvent::Mad(parcel)) => Smp(parcel.mad),
            other => panic!("{attribute:#06x} {modifier:#x}: {other:?}"),
        }
    };
    let mut lines = String::new();
    for (id, route) in routes(&fabric, own) {
        let node = fabric.node(id);
        let ports = u32::from(node.facts.port_count);
        let mut asked: Vec<(u16, u32)> = (0..=ports).map(|port| (attribute::PORT_INFO, port)).collect();
        if node.is_switch() {
            let top = ask(&route, attribute::SWITCH_INFO, 0).data::<SwitchInfo>().linear_top.get();
            asked.push((attribute::SWITCH_INFO, 0));
            asked.extend((0..=u32::from(top) / 64).map(|block| (attribute::LINEAR_FORWARDING, block)));
            let pairs = (0..=ports).flat_map(|from| (1..=ports).map(move |to| from << 8 | to));
            asked.extend(pairs.map(|pair| (attribute::SL_TO_VL, pair)));
            let parts = (1..=ports).flat_map(|port| (1..=4).map(move |part| part << 16 | port));
            asked.extend(parts.map(|part| (attribute::VL_ARBITRATION, part)));
        } else {
            asked.remove(0);
        }
        for (attribute, modifier) in asked {
            let answer = ask(&route, attribute, modifier);
            // A port with few lanes has no second half of an arbitration table.
            if !answer.0.status().is_ok() {
                continue;
            }
            let bytes: String =
                answer.data::<[u8; SMP_DATA]>().iter().map(|byte| format!("{byte:02x}")).collect();
            lines += &format!("{} {attribute:#06x} {modifier:#x} {bytes}\n", node.guid());
        }
    }
    fs::write(RAW, &lines).unwrap();
    println!("said: {}", lines.lines().count());
}

fn routes(fabric: &Fabric, own: NodeId) -> BTreeMap<NodeId, Vec<u8>> {
    let mut routes = BTreeMap::from([(own, Vec::new())]);
    let mut queue = VecDeque::from([own]);
    while let Some(at) = queue.pop_front() {
        for (_, port) in fabric.ports_of(at).filter(|_| at == own || fabric.node(at).is_switch()) {
            let Some(peer) = port.peer.map(|peer| fabric.port(peer).node) else { continue };
            if !routes.contains_key(&peer) {
                let way = [routes[&at].as_slice(), &[port.number.value()]].concat();
                routes.insert(peer, way);
                queue.push_back(peer);
            }
        }
    }
    routes
}

/// Values of every attribute of the fabric.
pub fn read_bytes(stage: &Stage) -> String {
    part(stage, "raw", |_| {});
    fs::read_to_string(stage.folder.path().join(RAW)).unwrap()
}

/// A fabric that ibsim plays, a plan with several hundred writes, and the attributes before it.
pub struct Site {
    pub stage: Stage,
    pub before: String,
    writes: usize,
}

impl AsMut<Stage> for Site {
    fn as_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }
}

impl Site {
    /// Creates a fat tree in which each host has 128 LIDs, so that few switches have many blocks.
    pub fn new() -> Self {
        let stage = Stage::play(&ibsim::fabric("kary,k=4,n=2"));
        stage.opensm(&["-R", "minhop", "-l", "7"]);
        opt_in(&stage);
        fabdeck(&stage, &["route", "--engine", "updn", "-o", PLAN], 0);
        let mut site = Self { stage, before: String::new(), writes: 0 };
        site.before = site.bytes();
        site.add_lanes();
        let library = site.path("die.so");
        let source = Path::new(env!("FABDECK_ROOT")).join("tests/live/die.c");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
        let built = ibsim::finish(cc);
        assert!(built.status.success(), "{built:?}");
        site
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.stage.folder.path().join(name)
    }

    fn bytes(&self) -> String {
        read_bytes(&self.stage)
    }

    /// Adds lanes and arbitration to the plan: engines plan only forwarding tables, but the same guard writes both.
    fn add_lanes(&mut self) {
        let mut plan = Plan::read(&fs::read_to_string(self.path(PLAN)).unwrap()).unwrap();
        for line in self.before.lines() {
            let [switch, attribute, modifier, bytes] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!()
            };
            let modifier = u32::from_str_radix(&modifier[2..], 16).unwrap();
            let [_, high, middle, low] = modifier.to_be_bytes();
            let (part, length) = match attribute {
                "0x0017" if low <= 8 && middle <= 8 => (AttributePart::Lanes([middle, low]), 16),
                "0x0018" if low <= 8 => (AttributePart::Arbitration([low, high]), 128),
                _ => continue,
            };
            let old = bytes[..length].to_owned();
            // Other lanes for the same levels, other weights for the same lanes.
            let (begun, rest) = old.split_at(16);
            let begun: String = begun.chars().map(|digit| if digit == '0' { '1' } else { '0' }).collect();
            let new = begun + rest;
            plan.writes.push(PlanWrite { at: WriteTarget::Switch(switch.to_owned()), part, old, new });
        }
        self.writes = plan.writes.len();
        fs::write(self.path(PLAN), plan.text().unwrap()).unwrap();
    }
}

/// One change, in a state folder of its own.
pub struct Round<'s> {
    pub stage: &'s Stage,
    /// The attributes before the change.
    before: &'s str,
    /// Options of the driver.
    road: &'s [String],
    pub state: String,
    /// Process and moment that the library watches for: argument and number.
    die: Option<String>,
    /// Whether the process hangs at that moment instead of dying.
    pub hangs: bool,
    /// Length and time of the journal at the last reading, and the phase in it: waiting does not parse the same bytes
    /// again.
    read: Cell<Option<((u64, SystemTime), ChangePhase)>>,
}

impl Drop for Round<'_> {
    fn drop(&mut self) {
        // Ends a guard that a failed test left behind.
        if std::thread::panicking()
            && let Some(pid) = self.guard()
        {
            let _ = Command::new("kill").args(["-s", "KILL", &pid]).status();
        }
    }
}

impl<'s> Round<'s> {
    fn new(site: &'s Site, name: &str, die: Option<String>) -> Self {
        let mut round = Self::over(&site.stage, &site.before, &[], name);
        round.die = die;
        round
    }

    /// Creates a round over any fabric and driver, without kills by the library.
    pub fn over(stage: &'s Stage, before: &'s str, road: &'s [String], name: &str) -> Self {
        Self {
            stage,
            before,
            road,
            state: format!("state-{name}"),
            die: None,
            hangs: false,
            read: Cell::new(None),
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.stage.folder.path().join(name)
    }

    fn command(&self, args: &[&str], dies: bool) -> Command {
        let stage = self.stage;
        let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
        command.args(["--source", "umad", "--state-dir", &self.state, "--config", "site.toml"]).args(args);
        for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(home, stage.folder.path().join("home"));
        }
        if let Some(wish) = self.die.as_ref().filter(|_| dies) {
            let real =
                command.get_envs().find(|(name, _)| *name == "LD_PRELOAD").and_then(|(_, value)| value);
            let both = format!("{}:{}", self.path("die.so").display(), real.unwrap().display());
            command.env("LD_PRELOAD", both).env("FABDECK_DIE", wish).env("FABDECK_DIE_TOLD", "told.txt");
            if self.hangs {
                command.env("FABDECK_HANG", "1");
            }
        }
        command
    }

    /// Runs the program without a kill; returns its exit code and all its output.
    pub fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = ibsim::finish(self.command(args, false));
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.code(), said.concat())
    }

    pub fn spawn(&self, args: &[&str]) -> Child {
        let log = self.path(&format!("{}.log", self.state));
        let log = fs::File::options().create(true).append(true).open(log).unwrap();
        let mut command = self.command(args, true);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
    }

    pub fn apply(&self) -> Child {
        let accept = ["--yes", "--accept", "transition,cycle,lanes", "--allow-write"];
        let road: Vec<&str> = self.road.iter().map(String::as_str).collect();
        self.spawn(&[&["apply", PLAN], &accept[..], &road].concat())
    }

    fn folder(&self) -> PathBuf {
        self.path(&format!("{}/changes/000001", self.state))
    }

    /// Phase in the journal; `None` before its first record.
    pub fn phase(&self) -> Option<ChangePhase> {
        let path = self.folder().join("journal");
        let written = fs::metadata(&path).ok()?;
        let written = (written.len(), written.modified().unwrap());
        if let Some((_, phase)) = self.read.get().filter(|(read, _)| *read == written) {
            return Some(phase);
        }
        match Journal::load(&LocalSystem, &path) {
            Ok(read) => {
                self.read.set(Some((written, read.state.phase)));
                Some(read.state.phase)
            }
            Err(JournalError::Empty { .. } | JournalError::Disk { .. }) => None,
            Err(error) => panic!("{}: {error}", self.state),
        }
    }

    /// Process id of the guard that holds the change now.
    pub fn guard(&self) -> Option<String> {
        let path = self.folder().join("guard.lock");
        let lock = fs::File::open(&path).ok()?;
        let held = lock.try_lock_shared().is_err();
        held.then(|| fs::read_to_string(path).unwrap_or_default()).filter(|pid| !pid.is_empty())
    }

    #[track_caller]
    pub fn wait_until(&self, what: &str, so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !so(self) {
            let log = || fs::read_to_string(self.folder().join("guard.log")).unwrap_or_default();
            assert!(begun.elapsed() < PATIENCE, "{what}: {:?} {:?}: {}", self.phase(), self.guard(), log());
            sleep(TURN);
        }
    }

    pub fn journal_state(&self) -> ChangeState {
        Journal::load(&LocalSystem, &self.folder().join("journal")).unwrap().state
    }

    pub fn id(&self) -> String {
        self.journal_state().begun.id
    }

    /// The change as `changes` lists it, and the messages beside it.
    fn listed(&self) -> (Value, String) {
        let output = ibsim::finish(self.command(&["changes", "--json"], false));
        let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
        (rows["rows"][0].clone(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Continues the change until its guard is dead; returns the phase in the journal.
    fn until_killed(&self, mut apply: Child, alone: bool) -> ChangePhase {
        let own = apply.id().to_string();
        if !alone {
            // The session dies first, as soon as the guard has the change.
            self.wait_until("no guard", |round| {
                round.guard().is_some_and(|pid| pid != own) || round.phase() > Some(ChangePhase::Applying)
            });
            let _ = apply.kill();
        }
        let _ = apply.wait();
        self.wait_until("neither applied nor killed", |round| {
            round.guard().is_none() || round.phase() == Some(ChangePhase::Applied)
        });
        if self.guard().is_some() {
            let mut asking = self.spawn(&["rollback", &self.id()]);
            if !alone {
                self.wait_until("it does not go back", |round| round.phase() > Some(ChangePhase::Applied));
                let _ = asking.kill();
            }
            let _ = asking.wait();
            self.wait_until("the guard lives on", |round| round.guard().is_none());
        }
        self.phase().unwrap()
    }

    /// Checks that the next start finds the change and takes it over, and waits for the rollback.
    pub fn take_over_and_check(&self, by_list: bool) {
        let pending = |round: &Self| round.phase().is_some_and(ChangePhase::is_pending);
        if by_list && pending(self) {
            let (row, talk) = self.listed();
            let state = row["state"].as_str().unwrap_or("nothing is listed").to_owned();
            let alive = ["applying", "applied", "rolling-back", "rolled-back"].contains(&state.as_str());
            assert!(alive && talk.contains("its guard was gone"), "{}: {state} {talk}", self.state);
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            self.wait_until("a guard that stays", |round| {
                !pending(round) || round.phase() == Some(ChangePhase::Applied) || { round.guard().is_none() }
            });
            match self.phase().unwrap() {
                // The change was applied before the guard died, so the new guard keeps its deadline.
                ChangePhase::Applied => {
                    let (code, said) = self.run(&["rollback", &self.id()]);
                    assert_eq!(code, Some(0), "{}: {said}", self.state);
                }
                phase if phase.is_pending() => {
                    self.run(&["guard", "--resume"]);
                    sleep(Duration::from_millis(100));
                }
                _ => break,
            }
        }
        assert_eq!(self.phase(), Some(ChangePhase::RolledBack), "{}", self.state);
        assert_eq!(self.listed().0["state"], "rolled-back");
        self.wait_until("the last guard stays", |round| round.guard().is_none());
    }

    #[track_caller]
    pub fn is_as_before(&self) {
        let now = read_bytes(self.stage);
        // OpenSM may change PortInfo and SwitchInfo by itself. A plan through it writes only tables, so these are not
        // compared.
        let is_compared = |line: &&str| {
            self.road.is_empty() || ![" 0x0015 ", " 0x0012 "].iter().any(|info| line.contains(info))
        };
        let [before, now] =
            [self.before, &now].map(|text| text.lines().filter(is_compared).collect::<Vec<_>>());
        let differs = before.iter().zip(&now).find(|(before, now)| before != now);
        assert!(now == before && !now.is_empty(), "{}: {differs:?}", self.state);
    }
}

/// Applies and rolls back a change without a kill; returns its number of moments.
fn moments(site: &Site) -> usize {
    let whole = Round::new(site, "whole", Some("--begin 0".to_owned()));
    let mut apply = whole.apply();
    assert_eq!(apply.wait().unwrap().code(), Some(0));
    assert_ne!(site.bytes(), site.before);
    assert_eq!(whole.run(&["rollback", &whole.id()]).0, Some(0));
    whole.wait_until("the guard stays", |round| round.guard().is_none() && round.path("told.txt").exists());
    whole.is_as_before();
    fs::read_to_string(site.path("told.txt")).unwrap().trim().parse().unwrap()
}

#[test]
fn processes_that_are_killed_over_ibsim_leave_everything_as_it_was() {
    let mut site = Site::new();
    assert!(site.writes >= 300, "{}", site.writes);
    let moments = moments(&site);
    assert!(moments > 4 * site.writes, "{moments}");
    let rounds = if ibsim::long() { 60 } else { 10 };
    let mut seen = BTreeMap::<String, usize>::new();
    for number in 0..rounds {
        let moment = 1 + (moments - 1) * number / (rounds - 1);
        // Some sessions die with their guards, some new guards die as well, and either a list or a guard command
        // takes over.
        let alone = !number.is_multiple_of(3);
        let die = format!("--begin {moment}");
        let round = Round::new(&site, &number.to_string(), Some(die));
        let apply = round.apply();
        let phase = round.until_killed(apply, alone);
        if number % 4 == 1 && phase.is_pending() {
            let again = format!("--keep {}", 1 + moment / 3);
            let second = Round::new(&site, &number.to_string(), Some(again));
            let _ = second.spawn(&["guard", "--resume"]).wait();
            *seen.entry("successors killed".to_owned()).or_default() += 1;
        }
        round.take_over_and_check(number.is_multiple_of(2));
        round.is_as_before();
        let why = round.journal_state().why.unwrap();
        drop(round);
        site.stage.forget_the_dead();
        let when = if why.contains("requested") { "going back" } else { "writing" };
        *seen.entry(format!("{when}{}", if alone { "" } else { ", session too" })).or_default() += 1;
    }
    println!("said: {} writes, {moments} moments, {rounds} kills: {seen:?}", site.writes);
}

/// A session killed while it begins a change leaves no change or a pending one, and nothing is written.
#[test]
fn sessions_that_are_killed_while_they_begin_leave_nothing_or_something_pending() {
    let mut site = Site::new();
    let counted = Round::new(&site, "counted", Some("apply 0".to_owned()));
    assert_eq!(counted.apply().wait().unwrap().code(), Some(0));
    assert_eq!(counted.run(&["rollback", &counted.id()]).0, Some(0));
    let moments: usize = fs::read_to_string(site.path("told.txt")).unwrap().trim().parse().unwrap();
    drop(counted);
    assert!(moments >= 8, "{moments}");
    let tried: Vec<usize> =
        if ibsim::long() { (1..=moments).collect() } else { vec![1, moments / 2, moments] };
    let mut pending = 0;
    for moment in &tried {
        let round = Round::new(&site, &format!("begun-{moment}"), Some(format!("apply {moment}")));
        assert_eq!(round.apply().wait().unwrap().code(), None, "it was not killed");
        let listed = round.listed().0;
        match round.phase() {
            None => {
                assert!(listed.is_null(), "{listed}");
                round.is_as_before();
                // Nothing prevents the next change.
                let again = Round::new(&site, &format!("again-{moment}"), None);
                assert_eq!(again.apply().wait().unwrap().code(), Some(0));
                assert_eq!(again.run(&["rollback", &again.id()]).0, Some(0));
            }
            Some(phase) => {
                pending += 1;
                assert_eq!((phase, &listed["state"]), (ChangePhase::Applying, &Value::from("applying")));
                let (code, said) =
                    round.run(&["apply", PLAN, "--yes", "--accept", "transition,cycle", "--allow-write"]);
                assert!(code == Some(4) && said.contains("FD-5632"), "{said}");
                // The session has some time to hand the change over to its guard; after that it counts as gone.
                round.take_over_and_check(false);
            }
        }
        round.is_as_before();
        drop(round);
        site.stage.forget_the_dead();
    }
    println!("said: {} of {moments} moments of a session, {pending} pending", tried.len());
}

/// A guard hangs amid its writes without a signal, as with a disk or device that does not return. The second process
/// ends it and rolls the change back, although no other fabdeck starts.
#[test]
fn a_guard_that_hangs_while_it_writes_is_ended_and_the_change_taken_back() {
    let site = Site::new();
    let moments = moments(&site);
    let mut round = Round::new(&site, "hangs", Some(format!("--begin {}", moments / 3)));
    round.hangs = true;
    let mut apply = round.apply();
    round.wait_until("it is not begun", |round| {
        round.phase() == Some(ChangePhase::Applying) && round.guard().is_some()
    });
    let since = Instant::now();
    while round.phase() != Some(ChangePhase::RolledBack) {
        assert!(since.elapsed() < Duration::from_secs(200), "nobody took it back: {:?}", round.phase());
        sleep(LONG_TURN);
    }
    println!("said: taken back {:?} after it was begun", since.elapsed());
    let _ = apply.kill();
    let _ = apply.wait();
    round.wait_until("the guard stays", |round| round.guard().is_none());
    round.is_as_before();
}
