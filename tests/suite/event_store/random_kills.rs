//! A watch that is killed in any operation of its store, again and again: no event is lost or has another number, and the
//! ledger has what happened.

use fabdeck::operations::event_store::event_log::LogLimits;
use fabdeck::operations::event_store::stored_state::StoredState;
use fabdeck::operations::event_store::watch_store::WatchStore;

use super::memory_disk::MemoryStore;
use super::watched_fabric::{WatchedFabric, found, load, logged, open};

const STEPS: usize = 40;

/// Runs until the process is killed or the story is over; returns the steps that were made. What the store took while the
/// process lived was published.
fn run(
    world: &mut WatchedFabric,
    disk: &MemoryStore,
    store: &mut WatchStore,
    (from, published): (usize, &mut Vec<(u64, String)>),
) -> usize {
    for step in from..STEPS {
        let downs = world.pass();
        let events = world.events(store, step);
        let texts: Vec<(u64, String)> =
            events.iter().map(|stored| (stored.event.number, stored.event.text.clone())).collect();
        store.record(&world.look, &world.sweep(), found(downs, events), world.time_ms);
        if disk.lock().is_dead {
            return step + 1;
        }
        assert_eq!(store.trouble(), None);
        published.extend(texts);
    }
    STEPS
}

fn check(world: &WatchedFabric, disk: &MemoryStore, published: &[(u64, String)], why: &str) {
    let logged = logged(disk);
    let first = logged.first().map_or(load(disk).event + 1, |(number, _)| *number);
    let numbers: Vec<u64> = logged.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, (first..first + numbers.len() as u64).collect::<Vec<_>>(), "{why}");
    for event in published.iter().filter(|(number, _)| *number >= first) {
        assert!(logged.contains(event), "{why}: {event:?} is missing in {logged:?}");
    }
    world.check_ledger(&load(disk), why);
}

fn try_seed(seed: u64) -> usize {
    let mut world = WatchedFabric::new(seed);
    let disk = MemoryStore::default();
    // Half of the stores delete old segments all the time.
    let segments = if seed.is_multiple_of(2) { 2 } else { 10_000 };
    let limits = LogLimits { segment_bytes: 3000, segments };
    let (mut step, mut published, mut kills) = (0, Vec::new(), 0);
    let mut store = open(&disk, limits);
    store.begin(&world.look, &world.sweep(), world.time_ms);
    while step < STEPS {
        {
            let mut files = disk.lock();
            files.fuse = Some(world.rng.draw_below(12) as usize);
            files.torn = world.rng.draw_below(101) as usize;
        }
        step = run(&mut world, &disk, &mut store, (step, &mut published));
        let is_killed = std::mem::take(&mut disk.lock().is_dead);
        disk.lock().fuse = None;
        kills += usize::from(is_killed);
        store = open(&disk, limits);
        world.pass();
        store.begin(&world.look, &world.sweep(), world.time_ms);
    }
    store.record(&world.look, &world.sweep(), found(Vec::new(), Vec::new()), world.time_ms);
    store.finish(&world.look, world.time_ms);
    check(&world, &disk, &published, &format!("seed {seed}"));
    assert!(segments == 2 || published.is_empty() || logged(&disk)[0].0 == 1, "seed {seed}");
    kills
}

#[test]
fn a_watch_that_is_killed_anywhere_loses_and_doubles_nothing() {
    let seeds = if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") { 2_000 } else { 25 };
    let kills: usize = (0..seeds).map(try_seed).sum();
    println!("{kills} kills of {seeds} watches");
    assert!(kills > 3 * seeds as usize, "{kills}");
}

/// Whatever is at the end of a log that was cut anywhere, the batches before the cut are there, and a writer continues.
#[test]
fn a_log_that_is_cut_anywhere_continues() {
    let mut world = WatchedFabric::new(7);
    let disk = MemoryStore::default();
    let mut store = open(&disk, LogLimits::default());
    store.begin(&world.look, &world.sweep(), world.time_ms);
    run(&mut world, &disk, &mut store, (STEPS - 8, &mut Vec::new()));
    let whole = disk.lock().files.clone();
    let (name, bytes) = whole.iter().next().unwrap();
    assert_eq!(whole.len(), 1, "{:?}", whole.keys());
    let all = logged(&disk);
    for end in (0..bytes.len()).step_by(11) {
        let cut = MemoryStore::default();
        cut.lock().files.insert(name.clone(), bytes[..end].to_vec());
        let before = logged(&cut);
        assert_eq!(before, all[..before.len()], "{end}");
        let mut store = open(&cut, LogLimits::default());
        let mut later = WatchedFabric::new(8);
        let events =
            std::iter::repeat_with(|| later.events(&store, 99)).find(|events| !events.is_empty()).unwrap();
        let wanted = before.len() + events.len();
        store.record_events(events, later.time_ms);
        let after = logged(&cut);
        assert_eq!((after.len(), &after[..before.len()]), (wanted, &before[..]), "{end}");
    }
    // A flipped bit is reported with its place, and what is before it stays.
    let mut bad = bytes.clone();
    let middle = bad.len() / 2;
    bad[middle] ^= 1;
    disk.lock().files.insert(name.clone(), bad);
    let mut lines = Vec::new();
    let state = StoredState::load(&disk, "store", &mut |line| lines.push(line)).unwrap();
    assert!(lines.len() == 1 && lines[0].contains("FD-5601"), "{lines:?}");
    assert!(state.batch > 0 && state.event < all.last().unwrap().0);
}
