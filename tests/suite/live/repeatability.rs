//! The same seed is the same run, event by event.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fabdeck_live::{ExchangePolicy, Keys, LiveSource};
use fabdeck_mad::access::{
    AddressedMad, Clock, LocalPort, MadPort, NoObserver, PortError, PortEvent, ReadPort, Source,
};
use fabdeck_simulator::{LineFaults, Share, SharedSimulator, Simulator};

use super::{ALL, fabric, look_with, switches, world};

const KEY: u64 = 0x5EC2_E7A1_B2C3_D4F5;

/// The event log of a look over lines that do everything that lines can do.
fn log(name: &str, seed: u64, key: u64) -> String {
    let fabric = fabric(name);
    let mut world = world(&fabric);
    for (id, _) in fabric.nodes() {
        world.set_key(id, key, 2);
    }
    world.set_silent(switches(&fabric)[1], true);
    let line = LineFaults {
        loss: Share::percent(10),
        delay: Duration::from_millis(5),
        duplicate: Share::percent(10),
        reorder: Share::percent(10),
        foreign: Share::percent(10),
    };
    let mut simulator = Simulator::new(world, line, seed);
    simulator.enable_log();
    let simulator = SharedSimulator::new(simulator);
    // Whatever came of it: the log is what counts here.
    let _ = look_with(&mut simulator.open_port(None).unwrap(), &Keys::single(key), ALL);
    simulator.with_simulator(|simulator| simulator.log().text().to_owned())
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

/// Keeps the transactions of what is sent.
struct NumberedPort(ReadPort, Arc<Mutex<Vec<u64>>>);

impl Clock for NumberedPort {
    fn now(&self) -> Duration {
        self.0.now()
    }
}

impl MadPort for NumberedPort {
    fn local_port(&self) -> &LocalPort {
        self.0.local_port()
    }

    fn send(&mut self, parcel: &AddressedMad, patience: Duration) -> Result<(), PortError> {
        self.1.lock().unwrap().push(parcel.mad.header().transaction.get());
        self.0.send(parcel, patience)
    }

    fn receive(&mut self, until: Duration) -> Result<Option<PortEvent>, PortError> {
        self.0.receive(until)
    }
}

/// What comes late for one look must not answer the next one over the same port.
#[test]
fn no_two_looks_share_a_transaction() {
    let simulator = SharedSimulator::new(Simulator::new(world(&fabric("demo")), LineFaults::default(), 1));
    let numbers = Arc::new(Mutex::new(Vec::new()));
    let port = ReadPort::new(NumberedPort(simulator.open_port(None).unwrap(), Arc::clone(&numbers)));
    let mut source = LiveSource::new("sim", port, ExchangePolicy::default(), Keys::default());
    let mut seen = BTreeSet::new();
    for _ in 0..100 {
        source.observe(super::TOPOLOGY, &mut NoObserver).unwrap();
        let look = std::mem::take(&mut *numbers.lock().unwrap());
        assert!(look.iter().all(|number| (1..0x4000_0000).contains(number)));
        seen.insert(look[0]);
        // The numbers come round again, long after anything could be late.
        assert!(seen.len() >= 64 || look[0] == *seen.last().unwrap(), "{look:?}");
    }
    assert_eq!(seen.len(), 64);
}
