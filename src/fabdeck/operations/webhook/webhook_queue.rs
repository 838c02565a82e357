//! The events that wait for a webhook.
//!
//! The log of the store is the queue: what is not delivered is read from there after a restart. A file beside the log, for
//! each address, has the number of the last event that the receiver accepted. It is written after an answer, so a watch that
//! is killed in between sends those events again, under the same ids.
//!
//! Events that the disk of the store has no room for are delivered from memory. The number in the file stays behind them:
//! after a kill their numbers are given to other events.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::operations::event_store::event_query::{EventFilter, EventReader};
use crate::operations::event_store::fabric_store::{FabricStore, WatchedFabricIdentity};
use crate::operations::event_store::store_error::StoreError;
use crate::operations::event_store::watch_event::WatchEvent;
use crate::system::store_disk::{FolderDisk, StoreDisk};

const SCHEMA: &str = "fabdeck.webhook-progress/1";
/// Most events of a request.
pub const MAX_BATCH: usize = 100;
/// Most events in memory. Further ones are read from the store once these are delivered.
const MAX_IN_MEMORY: usize = 10_000;

/// What a receiver accepted.
#[derive(Debug, Serialize, Deserialize)]
struct DeliveryProgress {
    schema: String,
    /// Number of the last event.
    delivered: u64,
}

/// The queue of one receiver.
#[derive(Debug)]
pub struct WebhookQueue {
    store: FabricStore,
    disk: Box<dyn StoreDisk>,
    file: String,
    pending: BTreeMap<u64, WatchEvent>,
    delivered: u64,
    /// The last event that is known to be in the store.
    stored: u64,
    /// The number in the file.
    written: u64,
    /// Whether events wait that are not in memory.
    is_behind: bool,
    /// The newest event of the watch.
    newest: u64,
    max_in_memory: usize,
}

impl WebhookQueue {
    /// Opens the queue of a receiver, in the folder of a store. One that is new gets the events from `first` on. `receiver` is what identifies it.
    pub fn open(
        folder: &Path,
        receiver: &str,
        first: &[WatchEvent],
        report: &mut dyn FnMut(String),
    ) -> Result<Self, StoreError> {
        let disk = Box::new(FolderDisk::new(folder));
        Self::open_on(disk, MAX_IN_MEMORY, folder, receiver, first, report)
    }

    /// Opens it with its file on another disk and less memory, as tests do.
    pub fn open_on(
        disk: Box<dyn StoreDisk>,
        max_in_memory: usize,
        folder: &Path,
        receiver: &str,
        first: &[WatchEvent],
        report: &mut dyn FnMut(String),
    ) -> Result<Self, StoreError> {
        let store = FabricStore { folder: folder.to_owned(), identity: WatchedFabricIdentity::default() };
        let file = format!("webhook-{}", &blake3::hash(receiver.as_bytes()).to_hex()[..16]);
        let mut queue = Self {
            store,
            disk,
            file,
            pending: BTreeMap::new(),
            delivered: 0,
            stored: 0,
            written: 0,
            is_behind: false,
            newest: 0,
            max_in_memory,
        };
        let known = queue.read_progress();
        let stored = EventReader::new(&queue.store, EventFilter::default()).read_new(report)?;
        queue.stored = stored.last().map_or(0, |event| event.number);
        let present = first.first().map_or(queue.stored, |event| event.number.saturating_sub(1));
        queue.newest = queue.stored.max(present);
        // A store that was deleted counts from one again.
        match known.filter(|known| *known <= queue.newest) {
            Some(known) => (queue.delivered, queue.written) = (known, known),
            None => {
                queue.delivered = present;
                // A failure is repeated with the first delivery.
                let _ = queue.write_progress();
            }
        }
        queue.take_in(stored, report);
        Ok(queue)
    }

    fn read_progress(&self) -> Option<u64> {
        let bytes = self.disk.read(&self.file, 0).ok()?;
        let progress: DeliveryProgress = serde_json::from_slice(&bytes).ok()?;
        (progress.schema == SCHEMA).then_some(progress.delivered)
    }

    fn write_progress(&mut self) -> std::io::Result<()> {
        let delivered = self.delivered.min(self.stored);
        let progress = DeliveryProgress { schema: SCHEMA.to_owned(), delivered };
        self.disk.replace(&self.file, &serde_json::to_vec(&progress)?)?;
        self.written = delivered;
        Ok(())
    }

    /// Takes events of the store that are not delivered.
    fn take_in(&mut self, stored: Vec<WatchEvent>, report: &mut dyn FnMut(String)) {
        let delivered = self.delivered;
        let waits = stored.into_iter().filter(|event| event.number > delivered);
        for (at, event) in waits.enumerate() {
            let missing = event.number - delivered - 1;
            if at == 0 && missing > 0 && !self.pending.contains_key(&(delivered + 1)) {
                report(format!(
                    "{missing} events were deleted from the store before the webhook accepted them"
                ));
            }
            self.insert(event);
        }
    }

    fn insert(&mut self, event: WatchEvent) {
        // The order of the numbers is that of the deliveries, so nothing is put behind what is left out.
        match self.is_behind || self.pending.len() >= self.max_in_memory {
            true => self.is_behind = true,
            false => _ = self.pending.insert(event.number, event),
        }
    }

    /// Adds the events of a sweep. `all_stored`: the store has them, and all before them.
    pub fn push(&mut self, events: Vec<WatchEvent>, all_stored: bool) {
        // Events before these were left out.
        self.is_behind |= events.first().is_some_and(|event| event.number > self.newest + 1);
        self.newest = self.newest.max(events.last().map_or(0, |event| event.number));
        let delivered = self.delivered;
        events.into_iter().filter(|event| event.number > delivered).for_each(|event| self.insert(event));
        if all_stored {
            self.stored = self.stored.max(self.newest);
        }
    }

    /// Notes that events up to a number were left out.
    pub fn fall_behind(&mut self, newest: u64) {
        self.newest = self.newest.max(newest);
        self.is_behind |= newest > self.delivered;
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty() && !self.is_behind
    }

    /// The events that are sent next, oldest first.
    pub fn next_batch(&mut self, report: &mut dyn FnMut(String)) -> Vec<WatchEvent> {
        if self.pending.is_empty() && self.is_behind {
            match EventReader::new(&self.store, EventFilter::default()).read_new(report) {
                Ok(stored) => {
                    // Those that wait for room on the disk are read once they are stored.
                    let last = stored.last().map_or(0, |event| event.number);
                    self.is_behind = false;
                    self.take_in(stored, report);
                    self.is_behind |= last < self.newest;
                }
                Err(error) => report(error.to_string()),
            }
        }
        self.pending.values().take(MAX_BATCH).cloned().collect()
    }

    /// Notes that the receiver accepted all events up to a number. A failure costs a repetition after a restart.
    pub fn confirm(&mut self, last: u64) -> std::io::Result<()> {
        self.delivered = self.delivered.max(last);
        self.pending = self.pending.split_off(&(last + 1));
        match self.written < self.delivered.min(self.stored) {
            true => self.write_progress(),
            false => Ok(()),
        }
    }

    /// The identity of an event: the same however often it is sent, and of no other event of any fabric.
    pub fn event_id(&self, event: &WatchEvent) -> String {
        format!("{}-{}-{}", self.store.name(), event.number, event.time_ms)
    }

    /// The name of the fabric's store.
    pub fn fabric(&self) -> String {
        self.store.name()
    }
}
