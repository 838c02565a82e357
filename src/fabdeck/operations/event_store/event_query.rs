//! Lists the events of a store, and follows them while a watch adds others.

use std::collections::BTreeMap;

use super::event_log::{read_batches, segment_names};
use super::fabric_store::FabricStore;
use super::store_error::StoreError;
use super::stored_batch::StoredBatch;
use super::watch_event::WatchEvent;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::operations::environment::Env;
use crate::system::store_disk::{FolderDisk, StoreDisk};

/// Which events are wanted.
#[derive(Clone, Debug, Default)]
pub struct EventFilter {
    /// Time from which on, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Kinds; empty for all.
    pub kinds: Vec<String>,
}

impl EventFilter {
    fn accepts(&self, event: &WatchEvent) -> bool {
        let is_kind = self.kinds.is_empty() || self.kinds.contains(&event.kind);
        is_kind && self.since_ms.is_none_or(|since| event.time_ms >= since)
    }
}

/// Chooses a store by its name, or else by the named source. `None`: no fabric has a store.
pub fn choose_store(env: Env<'_>, name: Option<&str>) -> Result<Option<FabricStore>, Failure> {
    let (mut stores, unread) = FabricStore::list_all(env);
    if stores.is_empty() {
        let Some(why) = unread.first() else { return Ok(None) };
        let what = format!("FD-7353: stored events cannot be read: {why}; ask the user who runs `watch`");
        return Err(Failure::new(Exit::Failed, what));
    }
    let source = env.given.source.as_deref();
    match name {
        Some(name) => stores.retain(|store| store.name() == name),
        None if stores.len() > 1 || source.is_some() => {
            stores.retain(|store| source.is_none_or(|source| store.identity.source == source));
        }
        None => {}
    }
    if stores.len() == 1 {
        return Ok(stores.pop());
    }
    let (all, _) = FabricStore::list_all(env);
    let names = all.iter().map(|store| format!("{} ({})", store.name(), store.identity.source));
    let names = names.collect::<Vec<_>>().join(", ");
    let asked = name.or(source).map(|asked| format!(" of {asked}")).unwrap_or_default();
    let found = if stores.is_empty() { "no events" } else { "events of several fabrics" };
    Err(Failure::usage(format!("FD-7354: {found}{asked} are stored; choose one with --fabric: {names}")))
}

/// Reads events of a store again and again, each time what is new.
#[derive(Debug)]
pub struct EventReader {
    disk: FolderDisk,
    place: String,
    filter: EventFilter,
    /// The last batch that was read, and the lengths of the segments then.
    batch: u64,
    lengths: BTreeMap<String, u64>,
}

impl EventReader {
    pub fn new(store: &FabricStore, filter: EventFilter) -> Self {
        let (disk, place) = (FolderDisk::new(&store.folder), store.place());
        Self { disk, place, filter, batch: 0, lengths: BTreeMap::new() }
    }

    /// The events that were not read before, in their order. `report` gets what is damaged, and how many events could not
    /// be stored.
    pub fn read_new(&mut self, report: &mut dyn FnMut(String)) -> Result<Vec<WatchEvent>, StoreError> {
        let failed = |error| StoreError::Disk { place: self.place.clone(), what: "read", error };
        let segments = segment_names(self.disk.list().map_err(failed)?);
        let length = |(_, name): (u64, String)| Some((self.disk.length(&name).ok()?, name));
        let lengths = segments.into_iter().filter_map(length).map(|(length, name)| (name, length));
        let lengths: BTreeMap<String, u64> = lengths.collect();
        if lengths == self.lengths {
            return Ok(Vec::new());
        }
        self.lengths = lengths;
        let batches = read_batches(&self.disk, self.batch, &self.place, report)?;
        let mut events = Vec::new();
        for StoredBatch { batch, time_ms, events: stored, lost, .. } in batches {
            self.batch = batch;
            if lost > 0 {
                report(format!("{lost} events before batch {batch} could not be stored: the disk was full"));
            }
            let dated = stored.into_iter().map(|stored| WatchEvent { time_ms, ..stored.event });
            events.extend(dated.filter(|event| self.filter.accepts(event)));
        }
        Ok(events)
    }
}
