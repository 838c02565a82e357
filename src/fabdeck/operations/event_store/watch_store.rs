//! Writes the store of a watch: after each sweep what is new, as one batch.
//!
//! Events and links that go down are stored at once. Errors that a port counts are stored once an hour and at the end: the
//! counters of the fabric have them, so a watch that is killed loses none.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

use super::cable_places::{ends_as_named, link_ends, place_of, port_of};
use super::error_counters::ErrorCounterWatch;
use super::event_log::{BatchLog, LogLimits, read_segment, segment_names};
use super::store_error::StoreError;
use super::stored_batch::{LinkEnds, StoredBatch, StoredCable, StoredEvent};
use super::stored_state::{LEDGER_FILE, StoredState};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::ledger::cable_history::{CableCounts, CableSighting};
use crate::operations::watch::port_values::port_identity;
use crate::system::store_disk::StoreDisk;
use fabdeck_fabric::counters::PortErrorRates;
use fabdeck_fabric::observe::{FabricEvent, PortIdentity, Sweep};

/// Longest time for which counted errors are not stored.
const FLUSH_MS: i64 = 3_600_000;
/// A bit error rate is stored if it is worse than the worst one of the cable by this factor.
const WORSE_RATE: f32 = 1.1;
/// Most bytes of batches that wait for room on the disk. Of more the oldest are lost, and counted.
const MAX_WAITING_BYTES: usize = 16 << 20;
/// The ledger is written once the log has grown by this share of its length, or by a segment.
const LEDGER_SHARE: u64 = 8;

/// What happened during a sweep, as far as the watch knows it.
#[derive(Debug, Default)]
pub struct SweepEvents {
    pub events: Vec<StoredEvent>,
    /// Links that the sweep found down.
    pub downs: Vec<LinkEnds>,
    /// Cables with a problem that began.
    pub problems: Vec<LinkEnds>,
    /// What was done about cables.
    pub actions: Vec<(LinkEnds, String)>,
}

/// A batch that is not written.
#[derive(Debug)]
struct WaitingBatch {
    number: u64,
    json: String,
    events: u64,
}

#[derive(Debug)]
pub struct WatchStore {
    disk: Box<dyn StoreDisk>,
    place: String,
    log: BatchLog,
    state: StoredState,
    counters: ErrorCounterWatch,
    /// The port at the other end of each port's cable, also of cables that are down.
    peers: BTreeMap<PortIdentity, PortIdentity>,
    /// Bit error rates that are not stored.
    rates: BTreeMap<LinkEnds, f32>,
    waiting: VecDeque<WaitingBatch>,
    lost: u64,
    flush_at_ms: Option<i64>,
    /// Bytes of the log since the ledger was written, and the length of the ledger.
    grown: u64,
    ledger_bytes: u64,
    limits: LogLimits,
    /// Why the last write failed.
    trouble: Option<String>,
}

impl WatchStore {
    /// Opens a store that this process has locked. `report` gets what is damaged in it.
    pub fn open(
        mut disk: Box<dyn StoreDisk>,
        place: String,
        limits: LogLimits,
        report: &mut dyn FnMut(String),
    ) -> Result<Self, StoreError> {
        let failed = |error: io::Error| StoreError::Disk { place: place.clone(), what: "opened", error };
        let state = StoredState::load(disk.as_ref(), &place, report)?;
        let mut log = BatchLog::new(limits);
        let segments = segment_names(disk.list().map_err(failed)?);
        let mut grown = 0;
        if let Some((_, name)) = segments.last() {
            let bytes = disk.read(name, 0).map_err(failed)?;
            let read =
                read_segment(&bytes).map_err(|what| StoreError::Foreign { place: place.clone(), what })?;
            log.resume(disk.as_mut(), name, &read, bytes.len() as u64).map_err(failed)?;
            grown = bytes.len() as u64;
        }
        let counters = ErrorCounterWatch::from_stored(&state.ports);
        Ok(Self {
            disk,
            place,
            log,
            state,
            counters,
            peers: BTreeMap::new(),
            rates: BTreeMap::new(),
            waiting: VecDeque::new(),
            lost: 0,
            flush_at_ms: None,
            grown,
            ledger_bytes: 0,
            limits,
            trouble: None,
        })
    }

    /// The folder or memory that it is in.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// What is stored, with what waits.
    pub fn state(&self) -> &StoredState {
        &self.state
    }

    /// Why the last write failed; `None` while the store works.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Number of events that wait for room on the disk.
    pub fn waiting_events(&self) -> u64 {
        self.waiting.iter().map(|batch| batch.events).sum()
    }

    /// Begins to follow a fabric that was just read. Returns the links that went down or came up while it was not
    /// followed; where a part of the fabric did not answer, none are known.
    pub fn begin(&mut self, look: &Snapshot, sweep: &Sweep, time_ms: i64) -> Vec<FabricEvent> {
        let present = self.update_peers(look);
        let is_new = self.state.batch == 0;
        let mut missed = Vec::new();
        if !is_new && !look.observation.is_partial() {
            let event = |ends: LinkEnds, down: bool| {
                let [a, b] = ends_as_named(look, ends);
                if down { FabricEvent::LinkDown { a, b } } else { FabricEvent::LinkUp { a, b } }
            };
            // What happened between the reading and the sweep is news of the sweep.
            let is_news = |ends: &&LinkEnds| sweep.news.iter().any(|news| changed_link(news) == Some(**ends));
            let downs = self.state.links.difference(&present).filter(|ends| !is_news(ends));
            missed.extend(downs.map(|ends| event(*ends, true)));
            let ups = present.difference(&self.state.links).filter(|ends| !is_news(ends));
            missed.extend(ups.map(|ends| event(*ends, false)));
        }
        let new = self.counters.observe(look.fabric(), sweep, &self.state.known_ports);
        if is_new || !new.is_empty() {
            let mut batch = self.begin_batch(time_ms);
            batch.new_ports = new.into_iter().collect();
            if is_new {
                batch.links_up = present.into_iter().collect();
            }
            self.add_port_counts(&mut batch, look);
            self.store(batch);
        }
        missed
    }

    /// The port at the other end of a port's cable, also of a cable that is down.
    pub fn peer_of(&self, port: PortIdentity) -> Option<PortIdentity> {
        self.peers.get(&port).copied()
    }

    /// The links of a fabric. The ports of a link that goes down are remembered.
    fn update_peers(&mut self, look: &Snapshot) -> BTreeSet<LinkEnds> {
        let fabric = look.fabric();
        let mut present = BTreeSet::new();
        for (_, link) in fabric.links() {
            let [a, b] = [link.a, link.b].map(|port| port_identity(fabric, port));
            self.peers.insert(a, b);
            self.peers.insert(b, a);
            present.insert(link_ends(a, b));
        }
        present
    }

    fn begin_batch(&mut self, time_ms: i64) -> StoredBatch {
        let number = self.state.batch + 1;
        StoredBatch { batch: number, time_ms, lost: std::mem::take(&mut self.lost), ..StoredBatch::default() }
    }

    /// Stores what a sweep found.
    pub fn record(&mut self, look: &Snapshot, sweep: &Sweep, found: SweepEvents, time_ms: i64) {
        let mut batch = self.begin_batch(time_ms);
        batch.new_ports =
            self.counters.observe(look.fabric(), sweep, &self.state.known_ports).into_iter().collect();
        let has_new_links = found.events.iter().any(|stored| stored.event.kind.starts_with("link-"));
        if sweep.fabric.is_some() || has_new_links {
            let present = self.update_peers(look);
            batch.links_down = self.state.links.difference(&present).copied().collect();
            batch.links_up = present.difference(&self.state.links).copied().collect();
        }
        self.follow_bit_error_rates(look);
        let flush_at = *self.flush_at_ms.get_or_insert(time_ms.saturating_add(FLUSH_MS));
        let is_due = time_ms >= flush_at;
        if is_due || self.counters.has_downs() || !batch.new_ports.is_empty() || !found.downs.is_empty() {
            self.add_port_counts(&mut batch, look);
        }
        if is_due {
            self.flush_at_ms = None;
            self.add_bit_error_rates(&mut batch, look);
        }
        if is_due || sweep.fabric.is_some() {
            self.add_moved_cables(&mut batch, look);
        }
        for ends in found.downs {
            let counts = CableCounts { downs: [0, 0, 1], ..CableCounts::default() };
            batch.cables.push(StoredCable { place: place_of(look, ends), counts });
        }
        for ends in found.problems {
            let counts = CableCounts { problems: 1, ..CableCounts::default() };
            batch.cables.push(StoredCable { place: place_of(look, ends), counts });
        }
        for (ends, action) in found.actions {
            let counts = CableCounts { action: Some(action), ..CableCounts::default() };
            batch.cables.push(StoredCable { place: place_of(look, ends), counts });
        }
        batch.events = found.events;
        self.store(batch);
    }

    /// Stores events of a fabric that cannot be read.
    pub fn record_events(&mut self, events: Vec<StoredEvent>, time_ms: i64) {
        let batch = self.begin_batch(time_ms);
        self.store(StoredBatch { events, ..batch });
    }

    /// Stores what is left at the end of a watch, and writes the ledger.
    pub fn finish(&mut self, look: &Snapshot, time_ms: i64) {
        let mut batch = self.begin_batch(time_ms);
        self.add_port_counts(&mut batch, look);
        self.add_bit_error_rates(&mut batch, look);
        self.store(batch);
        self.write_ledger();
    }

    /// What ports counted, as counts of their cables.
    fn add_port_counts(&mut self, batch: &mut StoredBatch, look: &Snapshot) {
        for (port, growth, counters) in self.counters.take_changes() {
            batch.ports.push((port, counters));
            let ends = match self.peers.get(&port) {
                Some(peer) => Some(link_ends(port, *peer)),
                None => self.state.ledger.at_port(port).map(|cable| cable.place.ends),
            };
            let Some(ends) = ends.filter(|_| growth.errors > 0 || growth.downs > 0) else { continue };
            let mut counts = CableCounts { errors: growth.errors, ..CableCounts::default() };
            counts.downs[usize::from(ends[0] != port)] = growth.downs;
            batch.cables.push(StoredCable { place: place_of(look, ends), counts });
        }
    }

    /// The bit error rates of cables with events.
    fn follow_bit_error_rates(&mut self, look: &Snapshot) {
        if look.observation.wire.ports.is_empty() {
            return;
        }
        for cable in self.state.ledger.histories().filter(|cable| cable.is_in_place) {
            let ends = cable.place.ends;
            let rate = ends.iter().filter_map(|end| bit_error_rate(look, *end)).reduce(f32::max);
            let known = self.rates.get(&ends).copied().or(cable.bit_error_rate);
            let Some(rate) = rate.filter(|rate| known.is_none_or(|known| *rate > known * WORSE_RATE)) else {
                continue;
            };
            self.rates.insert(ends, rate);
        }
    }

    fn add_bit_error_rates(&mut self, batch: &mut StoredBatch, look: &Snapshot) {
        for (ends, rate) in std::mem::take(&mut self.rates) {
            let counts = CableCounts { bit_error_rate: Some(rate), ..CableCounts::default() };
            batch.cables.push(StoredCable { place: place_of(look, ends), counts });
        }
    }

    /// Cables that were swapped or moved, and serial numbers that became known.
    fn add_moved_cables(&mut self, batch: &mut StoredBatch, look: &Snapshot) {
        let ledger = &self.state.ledger;
        if ledger.is_empty() {
            return;
        }
        let fabric = look.fabric();
        let is_still_there = |known: &CableSighting| {
            let there = place_of(look, known.ends);
            self.peers.get(&known.ends[0]) == Some(&known.ends[1])
                && there
                    .serials
                    .iter()
                    .zip(&known.serials)
                    .all(|(seen, known)| seen.is_some() && seen == known)
        };
        for (_, link) in fabric.links() {
            let [a, b] = [link.a, link.b].map(|port| port_identity(fabric, port));
            let place = place_of(look, link_ends(a, b));
            if ledger.is_outdated(&place, is_still_there) {
                batch.cables.push(StoredCable { place, counts: CableCounts::default() });
            }
        }
    }

    /// Adds a batch to the state and to the log. What does not fit on the disk waits.
    fn store(&mut self, batch: StoredBatch) {
        if batch.is_empty() {
            self.lost += batch.lost;
        } else {
            self.state.apply(&batch);
            // Text, numbers and maps with text keys can always be written.
            let json = serde_json::to_string(&batch).unwrap_or_default();
            let events = batch.events.len() as u64;
            self.waiting.push_back(WaitingBatch { number: batch.batch, json, events });
        }
        self.write_waiting();
    }

    fn write_waiting(&mut self) {
        let Some(first) = self.waiting.front().map(|batch| batch.number) else { return };
        let lines: Vec<String> = self.waiting.iter().map(|batch| batch.json.clone()).collect();
        match self.log.append(self.disk.as_mut(), first, &lines) {
            Ok(()) => {
                self.grown += lines.iter().map(|line| line.len() as u64).sum::<u64>();
                self.waiting.clear();
                self.trouble = None;
                if self.log.is_full() || self.grown >= self.ledger_due() {
                    self.write_ledger();
                }
            }
            Err(error) => {
                self.note_trouble("written", error);
                self.drop_oldest();
            }
        }
    }

    fn note_trouble(&mut self, what: &'static str, error: io::Error) {
        self.trouble = Some(StoreError::Disk { place: self.place.clone(), what, error }.to_string());
    }

    fn drop_oldest(&mut self) {
        let mut bytes: usize = self.waiting.iter().map(|batch| batch.json.len()).sum();
        while bytes > MAX_WAITING_BYTES
            && let Some(oldest) = self.waiting.pop_front()
        {
            bytes -= oldest.json.len();
            self.lost += oldest.events;
        }
    }

    /// Growth of the log after which the ledger is written.
    fn ledger_due(&self) -> u64 {
        self.limits.segment_bytes.max(self.ledger_bytes / LEDGER_SHARE)
    }

    /// Writes the ledger with everything so far, then deletes segments that the log has too many of.
    /// Batches that wait are in the state and not in the log: the ledger waits with them.
    fn write_ledger(&mut self) {
        if !self.waiting.is_empty() {
            return;
        }
        self.state.ledger.delete_old(self.state.time_ms);
        let written = self.state.encode().and_then(|bytes| {
            self.disk.replace(LEDGER_FILE, &bytes)?;
            Ok(bytes.len() as u64)
        });
        match written.and_then(|bytes| self.log.delete_oldest(self.disk.as_mut()).map(|()| bytes)) {
            Ok(bytes) => (self.ledger_bytes, self.grown) = (bytes, 0),
            Err(error) => self.note_trouble("written", error),
        }
    }
}

/// The link that went down or came up.
fn changed_link(news: &FabricEvent) -> Option<LinkEnds> {
    match news {
        FabricEvent::LinkDown { a, b } | FabricEvent::LinkUp { a, b } => Some(link_ends(*a, *b)),
        _ => None,
    }
}

/// The bit error rate of a port after error correction, where it is known.
pub(crate) fn bit_error_rate(look: &Snapshot, identity: PortIdentity) -> Option<f32> {
    let port = port_of(look, identity)?;
    let facts = &look.fabric().port(port).facts;
    let rates = PortErrorRates::of_port(look.port_wire(port)?, facts.speed, facts.width)?;
    let rate = rates.symbol.or(rates.effective)?.rate() as f32;
    Some(rate).filter(|rate| *rate > 0.0 && rate.is_finite())
}
