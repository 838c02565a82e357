//! The store of a watch service: whether there is one, and what a sweep puts into it.

use std::path::Path;

use super::watch_event::WatchEventDeriver;
use super::watch_service::WatchedSweep;
use crate::catalogue::exit::Exit;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::change_list::read_all;
use crate::operations::changes::change_row::ChangeRow;
use crate::operations::changes::change_store::state_folder;
use crate::operations::environment::Env;
use crate::operations::event_store::cable_places::{ends_of_link, link_ends};
use crate::operations::event_store::event_log::LogLimits;
use crate::operations::event_store::fabric_store::{FabricStore, StoreLock, WatchedFabricIdentity};
use crate::operations::event_store::store_error::StoreError;
use crate::operations::event_store::stored_batch::{LinkEnds, StoredEvent};
use crate::operations::event_store::watch_store::{SweepEvents, WatchStore};
use crate::operations::health::link_history::port_of_lost_link;
use crate::operations::health::problem::{FabricProblem, ProblemKind};
use crate::operations::ledger::link_ledger::LinkLedger;
use crate::operations::operation::Operation;
use crate::operations::plans::link_service::find_service_element;
use crate::operations::watch::port_values::port_identity;
use fabdeck_fabric::ElementId;
use fabdeck_fabric::observe::{FabricEvent, Sweep};

/// Whether a watch stores its events.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoreChoice {
    /// Where the state folder can be written, no other watch stores the events of the fabric, and the fabric is no
    /// simulator of this process.
    Auto,
    Yes,
    No,
}

/// The store, once the fabric is known.
#[derive(Debug)]
pub struct ServiceStore {
    choice: StoreChoice,
    open: Option<(WatchStore, StoreLock)>,
    is_decided: bool,
    /// Changes that no sweep saw, until the next sweep reports them.
    missed: Vec<FabricEvent>,
    /// Whether the user knows that the store does not work.
    is_trouble_reported: bool,
}

impl ServiceStore {
    pub fn new(choice: StoreChoice) -> Self {
        Self { choice, open: None, is_decided: false, missed: Vec::new(), is_trouble_reported: false }
    }

    /// Opens the store of the fabric when it is read for the first time, and begins to follow the fabric. Events go on
    /// with those that are stored.
    pub fn begin(
        &mut self,
        operation: &mut Operation<'_>,
        look: &Snapshot,
        sweep: &Sweep,
        time_ms: i64,
        events: &mut WatchEventDeriver,
    ) -> Result<(), Failure> {
        if !self.is_decided {
            self.open = open_store(operation, self.choice, look)?;
            self.is_decided = true;
            if let Some((store, _)) = &self.open {
                events.resume(store.state());
            }
        }
        if let Some((store, _)) = &mut self.open {
            self.missed.extend(store.begin(look, sweep, time_ms));
        }
        self.report_trouble(operation);
        Ok(())
    }

    pub fn missed(&self) -> &[FabricEvent] {
        &self.missed
    }

    pub fn ledger(&self) -> Option<&LinkLedger> {
        self.open.as_ref().map(|(store, _)| &store.state().ledger)
    }

    /// The folder of the store.
    pub fn folder(&self) -> Option<&Path> {
        self.open.as_ref().map(|(store, _)| Path::new(store.place()))
    }

    pub fn unstored_events(&self) -> Option<u64> {
        self.open.as_ref().map(|(store, _)| store.waiting_events())
    }

    /// Stores the events of a sweep, what the sweep says of cables, and what a policy did about them.
    pub fn record(
        &mut self,
        operation: &mut Operation<'_>,
        watched: &WatchedSweep<'_>,
        events: Vec<StoredEvent>,
        done: Vec<(LinkEnds, String)>,
    ) {
        let missed = std::mem::take(&mut self.missed);
        let Some((store, _)) = &mut self.open else { return };
        let news = missed.iter().chain(&watched.interval.news);
        let downs = news.filter_map(|news| match news {
            FabricEvent::LinkDown { a, b } => Some(link_ends(*a, *b)),
            _ => None,
        });
        let mut actions = actions_of_changes(operation.env, watched, store, &events);
        actions.extend(done);
        let found = SweepEvents {
            downs: downs.collect(),
            problems: cables_with_new_problems(watched, store, &events),
            actions,
            events,
        };
        store.record(watched.snapshot, watched.sweep, found, watched.time_ms);
        self.report_trouble(operation);
    }

    /// Stores events of a fabric that cannot be read.
    pub fn record_events(&mut self, operation: &mut Operation<'_>, events: Vec<StoredEvent>, time_ms: i64) {
        if let Some((store, _)) = &mut self.open {
            store.record_events(events, time_ms);
        }
        self.report_trouble(operation);
    }

    /// Stores what is left at the end.
    pub fn finish(&mut self, operation: &mut Operation<'_>, look: &Snapshot, time_ms: i64) {
        if let Some((store, _)) = &mut self.open {
            store.finish(look, time_ms);
        }
        self.report_trouble(operation);
    }

    /// Reports that the store fails, and that it works again, once each.
    fn report_trouble(&mut self, operation: &mut Operation<'_>) {
        let Some((store, _)) = &self.open else { return };
        let trouble = store.trouble();
        if trouble.is_some() == self.is_trouble_reported {
            return;
        }
        self.is_trouble_reported = trouble.is_some();
        let line = match trouble {
            Some(why) => {
                format!("{why}. New events wait, and are stored once there is room; those before are stored")
            }
            None => "events are stored again".to_owned(),
        };
        operation.reporter.report_line(&line);
    }
}

fn open_store(
    operation: &mut Operation<'_>,
    choice: StoreChoice,
    look: &Snapshot,
) -> Result<Option<(WatchStore, StoreLock)>, Failure> {
    let env = operation.env;
    let source = env.named_source()?;
    match choice {
        StoreChoice::No => return Ok(None),
        StoreChoice::Auto if env.outside.is_own_simulator(source) => return Ok(None),
        _ => {}
    }
    let state = state_folder(env, source.starts_with("sim:"));
    let identity = WatchedFabricIdentity::of(env, look)?;
    let mut damage = Vec::new();
    let opened = FabricStore::open(&state, identity).and_then(|store| {
        let (disk, lock) = store.lock()?;
        let report = &mut |line| damage.push(line);
        Ok((WatchStore::open(Box::new(disk), store.place(), LogLimits::default(), report)?, lock))
    });
    damage.iter().for_each(|line| operation.reporter.report_line(line));
    match opened {
        Ok(open) => Ok(Some(open)),
        Err(error) if choice == StoreChoice::Auto => {
            let line = format!("events are not stored, and the ledger learns nothing: {error}");
            operation.reporter.report_line(&line);
            Ok(None)
        }
        Err(error) => {
            let exit = match &error {
                StoreError::Taken { .. } => Exit::Refused,
                StoreError::Disk { .. } => Exit::Failed,
                StoreError::Damaged { .. } | StoreError::Foreign { .. } => Exit::BadInput,
            };
            Err(Failure::new(exit, error.to_string()))
        }
    }
}

/// The cables whose problems began. Many links at a rate below what is possible are a setting, and no bad cables.
fn cables_with_new_problems(
    watched: &WatchedSweep<'_>,
    store: &WatchStore,
    events: &[StoredEvent],
) -> Vec<LinkEnds> {
    let began = events.iter().filter(|stored| stored.event.kind == "problem-began");
    let problem = |stored: &StoredEvent| {
        watched.report.problems.iter().find(|problem| problem.id == stored.event.subject)
    };
    began.filter_map(problem).flat_map(|problem| cables_of(watched.snapshot, store, problem)).collect()
}

fn cables_of(look: &Snapshot, store: &WatchStore, problem: &FabricProblem) -> Vec<LinkEnds> {
    /// Links of one problem that are remembered for it at most.
    const MAX_LINKS: usize = 20;
    let is_of_cables = match problem.kind {
        ProblemKind::LinkErrors
        | ProblemKind::LinkDown
        | ProblemKind::WireHealth
        | ProblemKind::PlaneDown => true,
        ProblemKind::DegradedLink => problem.elements.len() == 1,
        _ => false,
    };
    if !is_of_cables {
        return Vec::new();
    }
    let links = problem.elements.iter().filter_map(|element| match element {
        ElementId::Link(link) => Some(ends_of_link(look, *link)),
        _ => None,
    });
    let mut links: Vec<LinkEnds> = links.take(MAX_LINKS).collect();
    if links.is_empty() {
        // The link is no longer in the fabric.
        let port = port_of_lost_link(problem);
        links.extend(port.and_then(|port| Some(link_ends(port, store.peer_of(port)?))));
    }
    links
}

/// What changes did about links: that one is pending, and how it was decided.
fn actions_of_changes(
    env: Env<'_>,
    watched: &WatchedSweep<'_>,
    store: &WatchStore,
    events: &[StoredEvent],
) -> Vec<(LinkEnds, String)> {
    let mut actions = Vec::new();
    let mut decided: Option<Vec<ChangeRow>> = None;
    for StoredEvent { event, .. } in events {
        let rows = match event.kind.as_str() {
            "change-pending" => &watched.report.changes.rows,
            "change-decided" => decided.get_or_insert_with(|| {
                let list = read_all(env).map(|list| list.rows).unwrap_or_default();
                list.into_iter().map(|listed| listed.row).collect()
            }),
            _ => continue,
        };
        let Some(row) = rows.iter().find(|row| row.id == event.subject) else { continue };
        let text = action_text(row, event.kind == "change-decided");
        let links = row.failed.iter().filter_map(|element| named_link(watched.snapshot, store, element));
        actions.extend(links.map(|ends| (ends, text.clone())));
    }
    actions
}

fn action_text(row: &ChangeRow, is_decided: bool) -> String {
    match is_decided {
        true => format!("change {} is {}", row.number, row.state_title()),
        false => format!("change {} of {}: {}", row.number, row.user, row.engine),
    }
}

/// The link that a change names. One that is disabled is known by its port.
fn named_link(look: &Snapshot, store: &WatchStore, element: &str) -> Option<LinkEnds> {
    match find_service_element(look, element).ok()? {
        ElementId::Link(link) => Some(ends_of_link(look, link)),
        ElementId::Port(port) => {
            let port = port_identity(look.fabric(), port);
            Some(link_ends(port, store.peer_of(port)?))
        }
        ElementId::Node(_) => None,
    }
}
