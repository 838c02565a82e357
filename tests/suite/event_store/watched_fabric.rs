//! A fabric whose links fail at random, and what a watch of it has to find.

use std::collections::BTreeMap;
use std::time::Duration;

use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::event_store::cable_places::ends_of_link;
use fabdeck::operations::event_store::event_log::{LogLimits, read_batches};
use fabdeck::operations::event_store::stored_batch::{LinkEnds, StoredEvent};
use fabdeck::operations::event_store::stored_state::StoredState;
use fabdeck::operations::event_store::watch_event::{EventSeverity, WatchEvent};
use fabdeck::operations::event_store::watch_store::{SweepEvents, WatchStore};
use fabdeck_fabric::NameMap;
use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Counter, CounterSample, Observation, PortIdentity, Sweep};
use fabdeck_simulator::SimulatorRng;

use super::memory_disk::MemoryStore;

/// 2026-11-02T00:00:00Z.
pub const BEGUN_MS: i64 = 1_793_577_600_000;
const SWEEP_MS: i64 = 600_000;

pub struct WatchedFabric {
    pub look: Snapshot,
    /// Errors and times that the link went down, by port: what the devices count.
    counters: BTreeMap<PortIdentity, [u64; 2]>,
    /// What happened since the watch began, by link.
    pub truth: BTreeMap<LinkEnds, [u64; 2]>,
    links: Vec<LinkEnds>,
    pub time_ms: i64,
    pub rng: SimulatorRng,
}

impl WatchedFabric {
    pub fn new(seed: u64) -> Self {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let look =
            Snapshot::new("test", Observation { fabric, ..Observation::default() }, &NameMap::default());
        let links = look.fabric().links().map(|(link, _)| ends_of_link(&look, link)).collect();
        let mut rng = SimulatorRng::new(seed);
        // Some ports counted before the watch began.
        let ports = look.fabric().ports().filter(|(_, port)| port.peer.is_some());
        let identity = |port| fabdeck::operations::watch::port_values::port_identity(look.fabric(), port);
        let counters =
            ports.map(|(id, _)| (identity(id), [rng.draw_below(3) * 50, rng.draw_below(2)])).collect();
        Self { counters, truth: BTreeMap::new(), links, time_ms: BEGUN_MS, rng, look }
    }

    pub fn sweep(&self) -> Sweep {
        let sample = |((node, port), [errors, downs]): (&PortIdentity, &[u64; 2])| CounterSample {
            node: Some(*node),
            lid: None,
            port: Some(*port),
            values: [
                (Counter::SymbolErrorCounterExt, Some(*errors)),
                (Counter::LinkDownedCounterExt, Some(*downs)),
                (Counter::PortXmitDataExtended, Some(7)),
            ]
            .into_iter()
            .collect(),
        };
        let samples = self.counters.iter().map(sample).collect();
        Sweep { samples, began: Duration::from_millis((self.time_ms - BEGUN_MS) as u64), ..Sweep::default() }
    }

    /// Time passes, and links fail. Returns those that a sweep finds down.
    pub fn pass(&mut self) -> Vec<LinkEnds> {
        self.time_ms += SWEEP_MS;
        let mut found = Vec::new();
        for _ in 0..self.rng.draw_below(3) {
            let ends = self.links[self.rng.draw_below(self.links.len() as u64) as usize];
            let truth = self.truth.entry(ends).or_default();
            if self.rng.draw_below(2) == 0 {
                let errors = 1 + self.rng.draw_below(1000);
                let end = ends[self.rng.draw_below(2) as usize];
                self.counters.get_mut(&end).unwrap()[0] += errors;
                truth[0] += errors;
            } else {
                ends.iter().for_each(|end| self.counters.get_mut(end).unwrap()[1] += 1);
                truth[1] += 1;
                // A sweep finds some of them down; the counters have all.
                found.extend((self.rng.draw_below(2) == 0).then_some(ends));
            }
        }
        found
    }

    /// The events of a sweep, numbered after those that are stored.
    pub fn events(&mut self, store: &WatchStore, step: usize) -> Vec<StoredEvent> {
        let first = store.state().event + 1;
        let event = |at: u64| WatchEvent {
            number: first + at,
            time_ms: self.time_ms,
            kind: "problem-grew".into(),
            severity: EventSeverity::Warning,
            text: format!("event {at} of step {step}"),
            subject: "some".into(),
            elements: vec!["link:leaf0[1]".into()],
        };
        (0..self.rng.draw_below(3))
            .map(|at| StoredEvent { event: event(at), problem: None, change: None })
            .collect()
    }

    /// Compares a ledger with what happened.
    pub fn check_ledger(&self, state: &StoredState, why: &str) {
        let expected = self.truth.iter().filter(|(_, [errors, downs])| errors + downs > 0);
        let mut cables = 0;
        for (ends, [errors, downs]) in expected {
            let cable = state.ledger.at_port(ends[0]).unwrap_or_else(|| panic!("{why}: {ends:?} is missing"));
            assert_eq!((cable.errors, cable.downs), (*errors, *downs), "{why}: {ends:?}");
            let years: u64 = cable.years().iter().map(|year| u64::from(year.downs)).sum();
            assert_eq!(years, *downs, "{why}: {ends:?}");
            cables += 1;
        }
        assert_eq!(state.ledger.histories().count(), cables, "{why}");
    }
}

pub fn open(disk: &MemoryStore, limits: LogLimits) -> WatchStore {
    let damaged = &mut |line: String| panic!("{line}");
    WatchStore::open(Box::new(disk.clone()), "store".into(), limits, damaged).unwrap()
}

pub fn load(disk: &MemoryStore) -> StoredState {
    StoredState::load(disk, "store", &mut |line| panic!("{line}")).unwrap()
}

/// Number and text of all events in the log.
pub fn logged(disk: &MemoryStore) -> Vec<(u64, String)> {
    let batches = read_batches(disk, 0, "store", &mut |line| panic!("{line}")).unwrap();
    let events = batches.into_iter().flat_map(|batch| batch.events);
    events.map(|stored| (stored.event.number, stored.event.text)).collect()
}

pub fn found(downs: Vec<LinkEnds>, events: Vec<StoredEvent>) -> SweepEvents {
    SweepEvents { downs, events, ..SweepEvents::default() }
}
