//! An hour of a large fabric, from some of its sweeps.

use std::time::{Duration, Instant};

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Counter, CounterSample, Observation, Sweep};
use fabdeck_fabric::{Guid, Lane, PortNum, ServiceLevel, Sl2Vl, Tables};
use fabdeck_files::capture::Recorder;
use fabdeck_files::capture_format::{CaptureReader, CaptureRecord};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::busy_sweeps::step;
use super::sample_fabric::{BEGUN, Memory, header};

const PORTS: u64 = 10_000;
/// Enough for two sweeps that stand whole.
const SWEEPS: u64 = 61;

/// What an hour comes to, in megabytes, and how long the farthest leap into its first minute takes.
fn hour(busy_in: usize) -> (f64, Duration) {
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(busy_in as u64);
    let wide = Counter::KNOWN.iter().filter(|counter| counter.bits() == Some(64)).cloned();
    let wide: Vec<Counter> = wide.collect();
    let sample = |place: u64| CounterSample {
        node: Some(Guid(0x0002_c903_0000_0000 + (place / 36) * 16)),
        lid: Some((place / 36) as u16 + 1),
        port: Some(PortNum((place % 36) as u8 + 1)),
        values: wide.iter().map(|counter| (counter.clone(), Some(0))).collect(),
    };
    let mut sweep = Sweep { ports: PORTS, sent: PORTS, ..Sweep::default() };
    sweep.samples = (0..PORTS).map(sample).collect();
    sweep.at = vec![Duration::ZERO; PORTS as usize];
    let (memory, look) = (Memory::default(), Observation::default());
    let mut recorder = Recorder::new(memory.clone(), header());
    let mut first = 0;
    for second in 0..=SWEEPS {
        step(&mut sweep, second, busy_in, &mut dice);
        recorder.record_sweep(BEGUN + 1000 * second as i64, &look, &sweep).unwrap();
        first = if second == 0 { recorder.recorded().bytes } else { first };
    }
    let kept = recorder.finish(BEGUN).unwrap();
    let bytes = memory.bytes.take();
    let begun = Instant::now();
    let mut reader = CaptureReader::open("hour", bytes.as_slice()).unwrap();
    let slot = reader.moments()[59];
    reader.show_moment(slot).unwrap();
    ((kept.bytes - first) as f64 * 3600.0 / SWEEPS as f64 / 1e6, begun.elapsed())
}

/// Lanes of 3,456 ports take more than one record; `cargo bench --bench capture -- largest` does it with a full subnet.
#[test]
fn what_one_record_does_not_hold_comes_in_several() {
    let fabric = generate(&"switch3456".parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        let held = tables.node_mut(id);
        for (from, to) in (1..=36).flat_map(|from| (1..=36).map(move |to| (PortNum(from), PortNum(to)))) {
            let mut row = Sl2Vl::default();
            row.set(ServiceLevel::new(3).unwrap(), Lane::new(u32::from(from.value() % 8)).unwrap());
            held.sl2vl.insert((from, to), row);
        }
    }
    let look = Observation { fabric, tables, ..Observation::default() };
    let memory = Memory::default();
    let mut recorder = Recorder::new(memory.clone(), header());
    recorder.record_sweep(BEGUN, &look, &Sweep::default()).unwrap();
    recorder.finish(BEGUN).unwrap();
    let bytes = memory.bytes.take();
    let mut reader = CaptureReader::open("large", bytes.as_slice()).unwrap();
    let lanes = (0..reader.index().slots.len()).flat_map(|slot| reader.read_lines(slot, u32::MAX).unwrap());
    let lanes = lanes.filter(|line| matches!(line.record, CaptureRecord::Lanes(_))).count();
    assert!(lanes > 1, "{lanes} records of lanes");
    reader.show_last().unwrap();
    assert!(reader.state().tables == look.tables && reader.state().fabric == look.fabric);
}

#[test]
fn an_hour_of_ten_thousand_ports_has_room() {
    for (busy_in, most) in [(10, 130.0), (1, 800.0)] {
        let (megabytes, leap) = hour(busy_in);
        println!("one port in {busy_in} busy: {megabytes:.1} MB an hour; the farthest leap {leap:?}");
        assert!(megabytes <= most, "one port in {busy_in} busy: {megabytes:.1} MB an hour");
    }
}
