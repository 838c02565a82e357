//! The same seed is the same run, event by event.

use std::time::Duration;

use fabdeck::simulator::{Line, Share, SimulatedPort, Simulator};
use fabdeck::source::Keys;

use super::{ALL, fabric, look_with, switches, world};

const KEY: u64 = 0x5EC2_E7A1_B2C3_D4F5;

/// The event log of a look over lines that do everything that lines can do.
fn log(name: &str, seed: u64, key: u64) -> String {
    let fabric = fabric(name);
    let mut world = world(&fabric);
    for (id, _) in fabric.nodes() {
        world.guard(id, key, 2);
    }
    world.silence(switches(&fabric)[1], true);
    let line = Line {
        loss: Share::percent(10),
        delay: Duration::from_millis(5),
        duplicate: Share::percent(10),
        reorder: Share::percent(10),
        foreign: Share::percent(10),
    };
    let mut simulator = Simulator::new(world, line, seed);
    simulator.keep_log();
    let simulator = SimulatedPort::new(simulator);
    // Whatever came of it: the log is what counts here.
    let _ = look_with(&mut simulator.open(None).unwrap(), &Keys::single(key), ALL);
    simulator.with(|simulator| simulator.log().text().to_owned())
}

#[test]
fn the_same_seed_is_the_same_run_and_another_seed_another() {
    for name in ["kary,k=3,n=2", "demo"] {
        let (first, again, other) = (log(name, 1, KEY), log(name, 1, KEY), log(name, 2, KEY));
        assert!(first == again, "{name}: the same seed went another way");
        assert!(first != other, "{name}: the seed does not matter");
        assert!(first.lines().count() > 500 && first.contains("loses"), "{name}");
    }
}

/// Threads compute forwarding tables; how many there are shows nowhere.
#[test]
fn the_number_of_threads_does_not_matter() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| log("demo", 3, KEY))
    };
    assert!(with(1) == with(2));
}

/// Not in words, and not in the hashes either: with another key the log is the same.
#[test]
fn no_log_has_the_key() {
    let first = log("kary,k=3,n=2", 1, KEY);
    assert!(first == log("kary,k=3,n=2", 1, KEY ^ 0xFFFF));
    for form in [format!("{KEY:x}"), format!("{KEY:X}"), KEY.to_string()] {
        assert!(!first.contains(&form), "{form}");
    }
}
