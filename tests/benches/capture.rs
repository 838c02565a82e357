//! Captures of 10,000 ports over an hour, a sweep a second: `cargo bench --bench capture`. Prints how large they become,
//! what recording adds to a sweep, how long it takes to open one and show its end, and to leap to any moment. With `-- largest` a full subnet is recorded, and must come back.

#![allow(clippy::unwrap_used, reason = "a figure that cannot be taken is none")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use std::path::Path;
use std::time::{Duration, Instant};

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Counter, CounterSample, Observation, Sweep};
use fabdeck_fabric::{Fabric, Faults, Lft, PortNum, Sl2Vl, Tables};
use fabdeck_files::capture::{Recorder, create, open};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[path = "../suite/captures/busy_sweeps.rs"]
mod busy_sweeps;
use busy_sweeps::step;

/// It has 10,368 ports with cables.
const FABRIC: &str = "kary,k=12,n=3";
const PORTS: usize = 10_000;
const SECONDS: u64 = 3600;
const LEAPS: usize = 100;
const BEGUN: i64 = 1_795_313_620_000;

fn look() -> Observation {
    let fabric = generate(&FABRIC.parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let computed =
        (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap();
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(computed.routes.lft(id.0));
    }
    Observation { fabric, tables, ..Observation::default() }
}

/// Ports as in PortCountersExtended, without errors.
fn first(fabric: &Fabric) -> Sweep {
    let wide = Counter::KNOWN.iter().filter(|counter| counter.bits() == Some(64));
    let wide: Vec<Counter> = wide.cloned().collect();
    let cabled = fabric.ports().filter(|(_, port)| port.peer.is_some()).take(PORTS);
    let sample = |port: &fabdeck_fabric::Port| CounterSample {
        node: Some(fabric.node(port.node).guid()),
        lid: None,
        port: Some(port.number),
        values: wide.iter().map(|counter| (counter.clone(), Some(0))).collect(),
    };
    let samples: Vec<CounterSample> = cabled.map(|(_, port)| sample(port)).collect();
    assert_eq!(samples.len(), PORTS);
    let (ports, sent) = (PORTS as u64, PORTS as u64);
    Sweep { at: vec![Duration::ZERO; PORTS], samples, ports, sent, ..Sweep::default() }
}

fn header() -> CaptureHeader {
    CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: "0".into(),
        source: FABRIC.into(),
        interval_ms: 1000,
        utc_offset_s: 0,
    }
}

fn record(path: &Path, look: &Observation, busy_in: usize) -> (u64, Duration) {
    let mut recorder = Recorder::new(create(path).unwrap(), header());
    let (mut sweep, mut took) = (first(&look.fabric), Duration::ZERO);
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(busy_in as u64);
    for second in 0..SECONDS {
        step(&mut sweep, second, busy_in, &mut dice);
        let begun = Instant::now();
        recorder.record_sweep(BEGUN + 1000 * second as i64, look, &sweep).unwrap();
        took += begun.elapsed();
    }
    let kept = recorder.finish(BEGUN + 1000 * SECONDS as i64).unwrap();
    (kept.bytes, took)
}

/// Milliseconds: the middle of some, and the worst.
fn spread(mut all: Vec<Duration>) -> (f64, f64) {
    all.sort();
    let millis = |at: usize| all[at].as_secs_f64() * 1e3;
    (millis(all.len() / 2), millis(all.len() - 1))
}

fn read(path: &Path) {
    let fresh = || {
        let begun = Instant::now();
        let mut reader = open(path).unwrap();
        reader.show_last().unwrap();
        assert_eq!(reader.observation().counters.len(), PORTS);
        begun.elapsed()
    };
    let (median, worst) = spread((0..5).map(|_| fresh()).collect());
    println!("  open and show the end: {median:.0} ms, at worst {worst:.0} ms of 5");
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(7);
    let mut reader = open(path).unwrap();
    let mut leap = || {
        let slot = reader.moments()[dice.next_u64() as usize % SECONDS as usize];
        let begun = Instant::now();
        reader.show_moment(slot).unwrap();
        assert_eq!(reader.observation().counters.len(), PORTS);
        begun.elapsed()
    };
    let (median, worst) = spread((0..LEAPS).map(|_| leap()).collect());
    println!("  leaps: {median:.0} ms in the middle, at worst {worst:.0} ms of {LEAPS}");
}

/// The largest subnet with everything: each table up to the last LID, lanes of every pair of ports, every counter of
/// every port.
fn largest() {
    let fabric = generate(&"full-subnet".parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        let held = tables.node_mut(id);
        held.lft = Some(Lft::from_entries((0..49_152u32).map(|lid| (lid * 7 + id.0) as u8 % 37).collect()));
        for (from, to) in (0..=36).flat_map(|from| (1..=36).map(move |to| (PortNum(from), PortNum(to)))) {
            held.sl2vl.insert((from, to), Sl2Vl::default());
        }
    }
    let wide: Vec<Counter> = Counter::KNOWN.to_vec();
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut sweep = Sweep::default();
    for (_, port) in fabric.ports().filter(|(_, port)| port.peer.is_some()) {
        let values = wide.iter().map(|counter| (counter.clone(), Some(dice.next_u64() >> 20))).collect();
        let node = Some(fabric.node(port.node).guid());
        sweep.samples.push(CounterSample { node, lid: Some(1), port: Some(port.number), values });
        sweep.at.push(Duration::ZERO);
    }
    let look = Observation { fabric, tables, ..Observation::default() };
    let (folder, begun) = (tempfile::tempdir().unwrap(), Instant::now());
    let path = folder.path().join("largest.fdcap");
    let mut recorder = Recorder::new(create(&path).unwrap(), header());
    for second in 0..3 {
        sweep.samples.iter_mut().for_each(|sample| {
            let value = sample.values.get(&Counter::PortXmitWait).unwrap_or(0);
            sample.values.insert(Counter::PortXmitWait, Some(value + 1));
        });
        let begun = Instant::now();
        recorder.record_sweep(BEGUN + second * 1000, &look, &sweep).unwrap();
        println!("  sweep {second}: {:.1} s", begun.elapsed().as_secs_f64());
    }
    let bytes = recorder.finish(BEGUN).unwrap().bytes;
    let ports = sweep.samples.len();
    println!(
        "the largest subnet, {ports} ports with {} counters: {:.1} MB in {:.1} s",
        wide.len(),
        bytes as f64 / 1e6,
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    let mut reader = open(&path).unwrap();
    reader.show_last().unwrap();
    println!("  open and show the end: {:.1} s", begun.elapsed().as_secs_f64());
    let state = reader.state();
    assert!(state.fabric == look.fabric && state.tables == look.tables && state.base.last_sweep() == sweep);
}

fn main() {
    if std::env::args().any(|arg| arg == "largest") {
        return largest();
    }
    let (folder, look) = (tempfile::tempdir().unwrap(), look());
    for busy_in in [10, 1] {
        let path = folder.path().join(format!("{busy_in}.fdcap"));
        let (bytes, took) = record(&path, &look, busy_in);
        let share = took.as_secs_f64() / SECONDS as f64 * 100.0;
        println!("{PORTS} ports, one in {busy_in} busy, {SECONDS} sweeps: {:.1} MB", bytes as f64 / 1e6);
        println!("  recording takes {share:.1} % of the time of a sweep a second");
        read(&path);
    }
}
