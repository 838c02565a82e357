//! One seed over the whole world: fabric, disks, clocks, locks, signals, sockets, two users, two machines and
//! OpenSM's files under one scheduler, with the invariants of `invariants.rs` after every step.
//!
//! A seed that fails prints its trace. It replays alone: `FABDECK_WORLD_SEED=18 cargo nextest run -E 'test(world::)'`. A run of
//! many seeds goes on where it ended (`progress.rs`).

mod attackers;
mod chaos;
mod disk;
mod fabric;
mod invariants;
mod opensm;
mod programs;
mod progress;
mod scenarios;
mod scheduler;
mod simulated_process;
mod sockets;

use std::collections::BTreeMap;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use chaos::Chaos;
use disk::{Disk, LockScope};
use fabric::FabricState;
use opensm::{OPENSM, PRETENDERS};
use programs::{Decision, Program};
use progress::Progress;
use scheduler::{Event, Host, State, World};
use serde::{Deserialize, Serialize};
use simulated_process::prepare_folder;

use super::long;
use fabdeck_change::Grantee;
use fabdeck_simulator::SimulatorRng;

/// The owner of the state folder, and another user.
const OWNER: u32 = 1000;
const OTHER: u32 = 1001;
/// A user to whom the owner may grant rights.
const COLLEAGUE: u32 = 1002;
const STATE: &str = "/var/lib/fabdeck";
const SOCKETS: &str = "/run/fabdeck";
const SEEDS: u64 = 60;
const SEEDS_LONG: u64 = 100_000;
const HOUR_MS: u64 = 3_600_000;

/// Two machines, each with a disk of its own, or with one that both mount.
fn machines(shared: Option<LockScope>) -> (Vec<Host>, Vec<Disk>) {
    let disks = match shared {
        Some(locks) => vec![Disk::new(locks)],
        None => vec![Disk::new(LockScope::Machine), Disk::new(LockScope::Machine)],
    };
    let host = |number: usize| Host {
        name: format!("login{number}"),
        boot: 1,
        booted_ms: 0,
        up: true,
        wall_ms: 0,
        disk_fails_until_ms: 0,
        folder_lost_until_ms: 0,
        disk_full_until_ms: 0,
        fails_sync: false,
        sync_failed: false,
        disk: if shared.is_some() { 0 } else { number },
    };
    (vec![host(0), host(1)], disks)
}

/// A world with folders for the owner.
fn world(seed: u64, shared: Option<LockScope>, loses_one_in: u64, chaos: Chaos) -> Arc<World> {
    let (hosts, disks) = machines(shared);
    let world = World::new(seed, hosts, disks, FabricState::new(loses_one_in), chaos);
    let mut state = world.lock();
    for disk in 0..state.disks.len() {
        prepare_folder(&mut state, disk, STATE, (OWNER, 0o700));
        prepare_folder(&mut state, disk, SOCKETS, (OWNER, 0o755));
    }
    drop(state);
    world
}

/// systemd's timer of every machine starts `guard --resume`.
fn start_timers(state: &mut State) {
    for host in 0..2 {
        state.schedule_after(5_000, Event::Timer { host, boot: 1 });
    }
}

/// Draws a world and what its people do.
fn draw(seed: u64) -> Arc<World> {
    let mut dice = SimulatorRng::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xFAB);
    let shared =
        [None, None, Some(LockScope::Machines), Some(LockScope::Machine)][dice.draw_below(4) as usize];
    let loses = [0, 0, 40, 12][dice.draw_below(4) as usize];
    let chaos = Chaos::draw(&mut dice);
    let world = world(seed, shared, loses, chaos);
    let decisions = [Decision::Confirm, Decision::ExtendAndConfirm, Decision::RollBack, Decision::Leave];
    let mut state = world.lock();
    start_timers(&mut state);
    let decision = decisions[dice.draw_below(4) as usize];
    let window_s = 30 + dice.draw_below(30);
    let first = Program::Apply { id: "aaaa0001", plan: 0, window_s, decision };
    state.schedule_after(dice.draw_below(2_000), Event::Start { host: 0, user: OWNER, program: first });
    if dice.draw_below(2) == 0 {
        let (plan, decision) = (dice.draw_below(2) as usize, decisions[dice.draw_below(4) as usize]);
        let second = Program::Apply { id: "bbbb0002", plan, window_s: 30, decision };
        let host = dice.draw_below(2) as usize;
        state.schedule_after(dice.draw_below(60_000), Event::Start { host, user: OWNER, program: second });
    }
    if dice.draw_below(3) == 0 {
        let program = Program::Hostile { id: "aaaa0001", for_s: 1 + dice.draw_below(60) };
        state.schedule_after(dice.draw_below(4_000), Event::Start { host: 0, user: OTHER, program });
    }
    if dice.draw_below(3) == 0 {
        let program = Program::Decide { id: "aaaa0001", decision: decisions[dice.draw_below(4) as usize] };
        state.schedule_after(dice.draw_below(60_000), Event::Start { host: 0, user: OWNER, program });
    }
    if dice.draw_below(4) == 0 {
        // Lock files as older versions left them, and a user who takes each lock that becomes free.
        let program = Program::HoldLocks { for_s: 1 + dice.draw_below(120) };
        state.schedule_after(dice.draw_below(20_000), Event::Loosen { host: 0 });
        state.schedule_after(20_000, Event::Start { host: 0, user: OTHER, program });
    }
    if dice.draw_below(4) == 0 {
        let program = Program::Flood { id: "aaaa0001", for_ms: 100 + dice.draw_below(400) };
        state.schedule_after(dice.draw_below(60_000), Event::Start { host: 0, user: OWNER, program });
    }
    draw_opensm(&mut state, &mut SimulatorRng::new(seed ^ 0x05E1));
    let mut dice = SimulatorRng::new(seed ^ 0xF011);
    if dice.draw_below(6) == 0 {
        let fills = Event::FillDisk { host: 0, for_ms: dice.draw_below(60_000) };
        state.schedule_after(dice.draw_below(60_000), fills);
    }
    draw_colleague_and_flips(&mut state, &mut SimulatorRng::new(seed ^ 0xB175));
    drop(state);
    world
}

/// A user with the right to confirm, and bits that flip while no guard has the journal open.
fn draw_colleague_and_flips(state: &mut State, dice: &mut SimulatorRng) {
    if dice.draw_below(6) == 0 {
        state.rights.confirm = vec![Grantee::Uid(COLLEAGUE)];
        let program = Program::Colleague { id: "aaaa0001" };
        let start = Event::Start { host: 0, user: COLLEAGUE, program };
        state.schedule_after(dice.draw_below(60_000), start);
    }
    if dice.draw_below(6) == 0 {
        for _ in 0..1 + dice.draw_below(4) {
            state.schedule_after(dice.draw_below(150_000), Event::FlipNewline { id: "aaaa0001" });
        }
    }
}

/// In one of four worlds changes go through OpenSM, which may be killed, and others may run under its name.
fn draw_opensm(state: &mut State, dice: &mut SimulatorRng) {
    if dice.draw_below(4) != 0 {
        return;
    }
    state.put_opensm_in_charge(dice.draw_below(2) == 0);
    state.disks[0].keeps_no_access_times = dice.draw_below(3) == 0;
    if let Some(opensm) = &mut state.opensm {
        opensm.load_ms = [0, 0, 1_000, 6_000][dice.draw_below(4) as usize];
    }
    for _ in 0..dice.draw_below(3) {
        state.schedule_after(dice.draw_below(60_000), Event::Kill { name: OPENSM });
    }
    if dice.draw_below(3) == 0 {
        let program = Program::PretendOpensm { for_s: 1 + dice.draw_below(120) };
        let user = PRETENDERS[dice.draw_below(2) as usize];
        state.schedule_after(dice.draw_below(60_000), Event::Start { host: 0, user, program });
    }
}

/// What runs came to.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Tally {
    runs: u64,
    steps: u64,
    seconds: u64,
    /// How changes ended.
    ended: BTreeMap<String, u64>,
    failed: Vec<(u64, String)>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.steps += other.steps;
        self.seconds += other.seconds;
        other.ended.into_iter().for_each(|(what, count)| *self.ended.entry(what).or_default() += count);
        self.failed.extend(other.failed);
    }
}

/// Runs a world to its end; its violation with the trace.
fn run(world: &Arc<World>) -> Result<Tally, String> {
    world.run(3 * HOUR_MS);
    let mut state = world.lock();
    if state.violation.is_none() {
        state.check_end();
    }
    if std::env::var("FABDECK_WORLD_SEED").is_ok_and(|seed| seed == state.seed.to_string()) {
        println!("{}", state.trace.join("\n"));
    }
    match &state.violation {
        None => {
            let seconds = (state.now_ms - scheduler::BEGIN_MS) / 1000;
            let mut tally = Tally { runs: 1, steps: state.steps, seconds, ..Tally::default() };
            for watched in state.monitor.changes.values() {
                let what =
                    if watched.damaged { "damaged".to_owned() } else { format!("{:?}", watched.phase) };
                *tally.ended.entry(what).or_default() += 1;
            }
            Ok(tally)
        }
        Some(what) => Err(format!("seed {}: {what}\n{}", state.seed, state.trace.join("\n"))),
    }
}

/// `18`, or `1000..2000`.
fn seeds_of(text: &str) -> Range<u64> {
    let number = |text: &str| text.parse::<u64>().unwrap();
    text.split_once("..").map_or_else(|| number(text)..number(text) + 1, |(a, b)| number(a)..number(b))
}

#[test]
fn no_seed_breaks_an_invariant() {
    let asked = std::env::var("FABDECK_WORLD_SEED").ok().map(|text| seeds_of(&text));
    let seeds = asked.unwrap_or(0..if long() { SEEDS_LONG } else { SEEDS });
    let since = Instant::now();
    let progress = Progress::begin(seeds.clone());
    let threads = if long() { std::thread::available_parallelism().map_or(1, NonZero::get) } else { 1 };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(part) = progress.next_part() {
                    let mut tally = Tally::default();
                    for seed in part.clone() {
                        match run(&draw(seed)) {
                            Ok(ended) => tally.add(ended),
                            Err(what) => tally.failed.push((seed, what)),
                        }
                    }
                    progress.done(part, tally);
                }
            });
        }
    });
    let (Tally { runs, steps, seconds, ended, failed }, left) = progress.end();
    let first_lines: Vec<_> =
        failed.iter().map(|(seed, what)| (seed, what.lines().next().unwrap_or_default())).collect();
    println!(
        "said: {runs} seeds, {steps} steps, {seconds} virtual seconds in {:.1} s: {ended:?}; failed: {first_lines:?}",
        since.elapsed().as_secs_f64()
    );
    if let Some((_, what)) = failed.first() {
        panic!("{what}");
    }
    assert_eq!(left, 0, "seeds are left: the same command goes on where this run ended");
}

/// The same seed is the same run.
#[test]
fn a_seed_is_the_same_run_every_time() {
    for seed in 0..5 {
        let trace = |seed| {
            let world = draw(seed);
            let _ = run(&world);
            let state = world.lock();
            state.trace.clone()
        };
        let (first, second) = (trace(seed), trace(seed));
        let differ = first.iter().zip(&second).find(|(a, b)| a != b);
        assert!(first == second, "seed {seed}: {differ:?}");
    }
}
