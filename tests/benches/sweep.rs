//! What a sweep of all counters a second takes of a core: `cargo bench --bench sweep`. The simulator answers in this process,
//! every counter of every port is set, and no packet moves; time is simulated, so nothing is waited for. What `hotspots` makes
//! of each sweep is in it, and so is the simulator.

#![allow(clippy::unwrap_used, reason = "a figure that cannot be taken is none")]
#![allow(clippy::print_stdout, reason = "figures are printed")]

use std::time::{Duration, Instant};

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::watch::interval_verdict::IntervalVerdict;
use fabdeck_fabric::counters::{Thresholds, rates_of_sweeps};
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Counter, CounterValues, Sweep};
use fabdeck_fabric::{Fabric, Guid, NameMap, PortNum, Tables};
use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{NoObserver, ReadOptions, Source};
use fabdeck_simulator::{LineFaults, SharedSimulator, SimulatedFabric, Simulator};

const FABRIC: &str = "kary,k=10,n=3";
const SWEEPS: u32 = 20;

/// The count of a port, by nothing but which port and which counter it is; never zero.
fn count(node: Guid, port: u8, counter: usize) -> u64 {
    let mut mixed = node.0 ^ u64::from(port) << 40 ^ (counter as u64) << 52;
    // The finalizer of SplitMix64.
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    1 + (mixed ^ mixed >> 31) % (1 << 40)
}

/// A simulated fabric of which every port has counted before anybody looks.
fn counted(fabric: &Fabric) -> Simulator {
    let mut world = SimulatedFabric::new(fabric, &Tables::default()).unwrap();
    let wide: Vec<&Counter> = Counter::KNOWN.iter().filter(|counter| counter.bits() == Some(64)).collect();
    for (id, node) in fabric.nodes() {
        for port in 1..=node.facts.port_count {
            let values: CounterValues = (wide.iter().enumerate())
                .map(|(at, counter)| ((*counter).clone(), Some(count(node.guid(), port, at))))
                .collect();
            world.set_counters(id, PortNum(port), values);
        }
    }
    Simulator::new(world, LineFaults::default(), 1)
}

/// How many counters of a sweep are not zero, and how many there are.
fn set(sweep: &Sweep) -> (usize, usize) {
    let values = || sweep.samples.iter().flat_map(|sample| sample.values.iter());
    (values().filter(|(_, value)| value.is_some_and(|value| value > 0)).count(), values().count())
}

/// Seconds of the processor that this process took, all its threads together.
fn processor() -> f64 {
    // What stands behind the name, which may hold anything, in hundredths: in user mode and in the kernel.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    behind[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

fn main() {
    let fabric = generate(&FABRIC.parse::<FabricSpec>().unwrap()).unwrap().fabric;
    let simulator = SharedSimulator::new(counted(&fabric));
    let port = simulator.open_port(None).unwrap();
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let wanted = ReadOptions { tables: true, ..ReadOptions::default() };
    let observed = source.observe(wanted, &mut NoObserver).unwrap();
    let mut look = Snapshot::new("sim", observed, &NameMap::default());
    let mut sweep = |look: &mut Snapshot, not_before: Duration| {
        source.sweep(&mut look.observation, not_before, &mut NoObserver).unwrap()
    };
    let first = sweep(&mut look, Duration::ZERO);
    let mut before = sweep(&mut look, first.began + Duration::from_secs(1));
    let (not_zero, all) = set(&before);
    assert!(not_zero == all && before.samples.len() as u64 == before.ports, "{not_zero} of {all}");
    let (begun, spent) = (Instant::now(), processor());
    let mut ports = 0;
    for _ in 0..SWEEPS {
        let after = sweep(&mut look, before.began + Duration::from_secs(1));
        let rates = rates_of_sweeps(look.fabric(), &before, &after);
        let rates = rates.with_ticks(look.fabric(), &look.observation.ticks);
        let since = rates_of_sweeps(look.fabric(), &first, &after).with_min_hour();
        let watched = IntervalVerdict::new(&look, &rates, 1.0, &since, &Thresholds::default());
        (ports, before) = (watched.ports, after);
    }
    let (took, spent) = (begun.elapsed().as_secs_f64(), processor() - spent);
    let of_one = |seconds: f64| seconds / f64::from(SWEEPS);
    println!(
        "sim:{FABRIC}, {ports} ports with all {all} counters set and no packets, a sweep a second: {:.1} % of one core, the \
         simulator and the verdict included ({:.0} ms a sweep)",
        of_one(spent) * 100.0,
        of_one(took) * 1e3
    );
}
