//! The queue of a webhook under random failures: a receiver that does not answer, answers that do not arrive, kills, a full
//! disk and a log that has no room. No event is lost, each has one id, and they come in their order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fabdeck::operations::event_store::event_log::LogLimits;
use fabdeck::operations::event_store::stored_batch::StoredEvent;
use fabdeck::operations::event_store::watch_event::{EventSeverity, WatchEvent};
use fabdeck::operations::event_store::watch_store::WatchStore;
use fabdeck::operations::webhook::webhook_queue::{MAX_BATCH, WebhookQueue};
use fabdeck::system::store_disk::{FolderDisk, StoreDisk};
use fabdeck_simulator::SimulatorRng;
use tempfile::TempDir;

const STEPS: usize = 120;
/// Few, so that the queue falls behind.
const MEMORY: usize = 150;

/// The folder of the store, without the waits for the disk. Nothing can be written to it while it is full.
#[derive(Debug)]
struct FillingDisk {
    folder: PathBuf,
    is_full: Arc<AtomicBool>,
}

impl FillingDisk {
    /// The path of a file to write to.
    fn writable(&self, name: &str) -> io::Result<PathBuf> {
        match self.is_full.load(Ordering::SeqCst) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(self.folder.join(name)),
        }
    }
}

impl StoreDisk for FillingDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        FolderDisk::new(&self.folder).list()
    }

    fn read(&self, name: &str, from: u64) -> io::Result<Vec<u8>> {
        FolderDisk::new(&self.folder).read(name, from)
    }

    fn length(&self, name: &str) -> io::Result<u64> {
        FolderDisk::new(&self.folder).length(name)
    }

    fn append(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(self.writable(name)?)?.write_all(bytes)
    }

    fn cut(&mut self, name: &str, length: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.writable(name)?)?.set_len(length)
    }

    fn replace(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        fs::write(self.writable(name)?, bytes)
    }

    fn remove(&mut self, name: &str) -> io::Result<()> {
        fs::remove_file(self.writable(name)?)
    }
}

/// A watch with its queue, and what a receiver got.
struct World {
    folder: TempDir,
    is_full: Arc<AtomicBool>,
    store: WatchStore,
    queue: WebhookQueue,
    rng: SimulatorRng,
    time_ms: i64,
    /// The events that the store has, by id.
    stored: BTreeMap<String, WatchEvent>,
    /// Those that wait for room: a kill loses them.
    unstored: BTreeMap<String, WatchEvent>,
    /// Those that a kill took.
    vanished: BTreeSet<String>,
    received: BTreeMap<String, WatchEvent>,
    last_new: u64,
    /// The newest event that did not find room on the way to the queue.
    left_out: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let is_full = Arc::new(AtomicBool::new(false));
        let store = open_store(&folder, &is_full);
        let queue = open_queue(&folder, &is_full);
        let (stored, unstored, vanished, received) = Default::default();
        let rng = SimulatorRng::new(seed);
        Self {
            folder,
            is_full,
            store,
            queue,
            rng,
            time_ms: 1_000,
            stored,
            unstored,
            vanished,
            received,
            last_new: 0,
            left_out: 0,
        }
    }

    fn chance(&mut self, of: u64) -> bool {
        self.rng.draw_below(of) == 0
    }

    /// A sweep with events, which may not find room on the way to the queue.
    fn sweep(&mut self) {
        self.time_ms += 1_000;
        let most = if self.chance(10) { 400 } else { 20 };
        let first = self.store.state().event + 1;
        let events: Vec<WatchEvent> =
            (first..first + self.rng.draw_below(most)).map(|number| self.event(number)).collect();
        let stored =
            events.iter().map(|event| StoredEvent { event: event.clone(), problem: None, change: None });
        self.store.record_events(stored.collect(), self.time_ms);
        let all_stored = self.store.waiting_events() == 0;
        self.unstored.extend(events.iter().map(|event| (self.queue.event_id(event), event.clone())));
        if all_stored {
            self.stored.append(&mut self.unstored);
        }
        if self.chance(8) {
            self.left_out = events.last().map_or(self.left_out, |event| event.number);
            return;
        }
        // The queue may see the later events first.
        if self.chance(2) {
            self.queue.fall_behind(std::mem::take(&mut self.left_out));
        }
        self.queue.push(events, all_stored);
    }

    fn event(&self, number: u64) -> WatchEvent {
        let text = format!("event {number} at {}", self.time_ms);
        let (kind, severity) = ("link-down".to_owned(), EventSeverity::Warning);
        WatchEvent {
            number,
            time_ms: self.time_ms,
            kind,
            severity,
            text,
            subject: String::new(),
            elements: Vec::new(),
        }
    }

    /// A request. Returns whether the receiver got something.
    fn request(&mut self, is_answered: bool) -> bool {
        let events = self.queue.next_batch(&mut |line| panic!("{line}"));
        let Some(last) = events.last().map(|event| event.number) else { return false };
        assert!(events.len() <= MAX_BATCH);
        for event in events {
            let id = self.queue.event_id(&event);
            if let Some(before) = self.received.insert(id.clone(), event.clone()) {
                assert_eq!(before, event, "two events have the id {id}");
            } else {
                assert!(event.number > self.last_new, "{} comes after {}", event.number, self.last_new);
                self.last_new = event.number;
            }
        }
        if is_answered {
            // A full disk costs a repetition after a kill.
            let _ = self.queue.confirm(last);
        }
        true
    }

    fn kill(&mut self) {
        self.vanished.extend(std::mem::take(&mut self.unstored).into_keys());
        (self.last_new, self.left_out) = (0, 0);
        self.store = open_store(&self.folder, &self.is_full);
        self.queue = open_queue(&self.folder, &self.is_full);
    }

    fn set_full(&mut self, is_full: bool) {
        self.is_full.store(is_full, Ordering::SeqCst);
    }
}

fn open_store(folder: &TempDir, is_full: &Arc<AtomicBool>) -> WatchStore {
    is_full.store(false, Ordering::SeqCst);
    let disk = FillingDisk { folder: folder.path().to_owned(), is_full: is_full.clone() };
    WatchStore::open(Box::new(disk), "store".to_owned(), LogLimits::default(), &mut |line| panic!("{line}"))
        .unwrap()
}

fn open_queue(folder: &TempDir, is_full: &Arc<AtomicBool>) -> WebhookQueue {
    let disk = Box::new(FillingDisk { folder: folder.path().to_owned(), is_full: is_full.clone() });
    WebhookQueue::open_on(disk, MEMORY, folder.path(), "https://receiver/", &[], &mut |line| panic!("{line}"))
        .unwrap()
}

#[test]
fn no_event_is_lost_or_has_two_ids() {
    let (mut doubles, mut kills, mut fulls) = (0, 0, 0);
    let seeds = if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") { 1_000 } else { 4 };
    for seed in 0..seeds {
        let mut world = World::new(seed);
        for _ in 0..STEPS {
            match world.rng.draw_below(12) {
                0..6 => world.sweep(),
                6..9 => _ = world.request(true),
                // The receiver got the events, and its answer did not arrive.
                9 => doubles += usize::from(world.request(false)),
                10 if world.chance(2) => {
                    world.kill();
                    kills += 1;
                }
                _ => {
                    let is_full = world.chance(2);
                    world.set_full(is_full);
                    fulls += usize::from(is_full);
                }
            }
        }
        world.set_full(false);
        world.sweep();
        world.queue.fall_behind(world.left_out);
        while world.request(true) {}
        assert!(world.unstored.is_empty() && world.queue.is_empty(), "seed {seed}");
        let lost = world.stored.iter().find(|(id, event)| world.received.get(*id) != Some(event));
        assert_eq!(lost, None, "seed {seed}: it is lost");
        let is_known = |id: &&String| world.stored.contains_key(*id) || world.vanished.contains(*id);
        assert_eq!(world.received.keys().find(|id| !is_known(id)), None, "seed {seed}: no event has this id");
    }
    assert!(doubles > 10 && kills > 5 && fulls > 10, "{doubles} {kills} {fulls}");
}

/// A receiver that is new gets what happens from then on, and one whose store was deleted begins again.
#[test]
fn a_new_receiver_gets_no_old_events() {
    let mut world = World::new(1);
    world.store.record_events(
        (1..=5)
            .map(|number| StoredEvent { event: world.event(number), problem: None, change: None })
            .collect(),
        1_000,
    );
    let numbers = |queue: &mut WebhookQueue| -> Vec<u64> {
        queue.next_batch(&mut |line| panic!("{line}")).iter().map(|event| event.number).collect()
    };
    let report = &mut |line: String| panic!("{line}");
    let mut other = WebhookQueue::open(world.folder.path(), "https://other/", &[], report).unwrap();
    assert!(numbers(&mut other).is_empty());
    let first = [world.event(4), world.event(5)];
    let mut third = WebhookQueue::open(world.folder.path(), "https://third/", &first, report).unwrap();
    assert_eq!(numbers(&mut third), [4, 5]);
    drop(third);
    let mut again = WebhookQueue::open(world.folder.path(), "https://third/", &[], report).unwrap();
    assert_eq!(numbers(&mut again), [4, 5], "it does not depend on what the next watch finds");
}
