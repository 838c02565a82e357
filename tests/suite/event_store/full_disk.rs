//! A disk that is full for a while: what was stored stays, what happens meanwhile is stored later, and the user learns of
//! both.

use fabdeck::operations::event_store::event_log::LogLimits;

use super::memory_disk::MemoryStore;
use super::watched_fabric::{WatchedFabric, found, load, logged, open};

#[test]
fn a_full_disk_loses_nothing() {
    for seed in 0..3 {
        let mut world = WatchedFabric::new(seed);
        let disk = MemoryStore::default();
        let limits = LogLimits { segment_bytes: 2500, segments: 10_000 };
        let mut store = open(&disk, limits);
        store.begin(&world.look, &world.sweep(), world.time_ms);
        let (mut all, mut failures) = (Vec::new(), 0);
        for step in 0..60 {
            match step {
                15 => disk.lock().room = Some(disk.bytes() + world.rng.draw_below(3000) as usize),
                45 => disk.lock().room = None,
                _ => {}
            }
            let before = logged(&disk);
            let downs = world.pass();
            let events = world.events(&store, step);
            all.extend(events.iter().map(|stored| (stored.event.number, stored.event.text.clone())));
            store.record(&world.look, &world.sweep(), found(downs, events), world.time_ms);
            let after = logged(&disk);
            assert_eq!(after[..before.len()], before, "seed {seed}, step {step}");
            // What waits and what is stored are all.
            assert_eq!(
                after.len() as u64 + store.waiting_events(),
                all.len() as u64,
                "seed {seed}, step {step}"
            );
            if let Some(why) = store.trouble() {
                assert!(why.contains("FD-7350") && (15..45).contains(&step), "{why}");
                failures += 1;
            }
        }
        store.finish(&world.look, world.time_ms);
        assert!(failures > 0 && store.trouble().is_none(), "seed {seed}: {failures}");
        assert_eq!(logged(&disk), all, "seed {seed}");
        world.check_ledger(&load(&disk), &format!("seed {seed}"));
    }
}
