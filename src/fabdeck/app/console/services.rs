//! The services of the process for background tasks.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::job_list::list_jobs;
use super::new_file;
use super::session_source::{SessionSource, WatchHistory};
use super::throttle::{SnapshotWatch, Throttle, ThrottledWatch};
use super::workers::WorkerMessage;
use crate::catalogue::failure::Failure;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::console_options::ConsoleOptions;
use crate::console::model::task_services::TaskServices;
use crate::operations::changes::attestations::Attestations;
use crate::operations::changes::changer::{Acceptance, ChangeOffer, ChangeOverview, Changer, PlanSource};
use crate::operations::changes::console_changes::ConsoleChanges;
use crate::operations::check::known_partitions::add_partition_tables;
use crate::operations::environment::Env;
use crate::operations::event_store::ledger_reader::{LedgerCache, StoredLedger};
use crate::operations::jobs::job_request::{JobInput, JobListSource};
use crate::operations::lanes::lane_request::LaneRequest;
use crate::operations::lanes::slow_lanes::LaneState;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::preview::assume::{assume, assume_lids};
use crate::operations::replay::replay_frame::FrameSource;
use crate::operations::watch::sweep::SweepResult;
use crate::system::access::SystemAccess;
use crate::system::local_access::LocalSystemAccess;
use fabdeck_change::{ChangeStatus, GuardRequest};
use fabdeck_files::job_lists::JobList;
use fabdeck_mad::access::{ReadOptions, Source};
use fabdeck_routing::RouteProgress;

/// What all tasks of a session share.
#[derive(Clone)]
pub struct SessionContext {
    pub machine: Arc<LocalSystemAccess>,
    pub opening: Arc<ConsoleOptions>,
    pub messages: UnboundedSender<WorkerMessage>,
    pub changes: ConsoleChanges,
    /// Recording of the watch, which continues over several snapshots.
    pub history: WatchHistory,
    /// The ledger of links that was read last.
    pub ledger: Arc<Mutex<LedgerCache>>,
}

/// The services for one task.
pub struct ProcessServices<'t> {
    context: &'t SessionContext,
    progress: &'t Throttle,
    changes: WatchedChanges<'t>,
    source: &'t mut dyn SessionSource,
    begun: Instant,
    /// The source that the task opened, with its snapshot.
    opened: Option<(Arc<Snapshot>, Box<dyn Source>)>,
}

impl<'t> ProcessServices<'t> {
    pub fn new(
        context: &'t SessionContext,
        progress: &'t Throttle,
        source: &'t mut dyn SessionSource,
    ) -> Self {
        let changes = WatchedChanges { changes: context.changes.clone(), progress };
        Self { context, progress, changes, source, begun: Instant::now(), opened: None }
    }

    pub fn into_opened(self) -> Option<(Arc<Snapshot>, Box<dyn Source>)> {
        self.opened
    }
}

impl TaskServices for ProcessServices<'_> {
    fn read_snapshot(&mut self) -> Result<Arc<Snapshot>, String> {
        let (snapshot, source) = read_snapshot(&self.context.machine, &self.context.opening, self.progress)?;
        let snapshot = Arc::new(snapshot);
        self.opened = Some((snapshot.clone(), source));
        Ok(snapshot)
    }

    fn read_sweep(&mut self, not_before: Duration) -> Result<SweepResult, String> {
        self.source.read_sweep(not_before, self.progress)
    }

    fn recording(&mut self) -> &mut dyn FrameSource {
        self.source
    }

    fn changes(&mut self) -> &mut dyn Changer {
        &mut self.changes
    }

    fn list_jobs(&mut self, from: &JobListSource) -> Option<Result<JobList, String>> {
        let list = list_jobs(&self.context.machine, from, || RouteProgress::is_cancelled(self.progress))?;
        self.context.history.record_jobs(list.as_ref().map_err(String::as_str));
        Some(list)
    }

    fn system(&self) -> Option<&dyn SystemAccess> {
        Some(&*self.context.machine)
    }

    fn link_ledger(&mut self, look: &Snapshot) -> Option<Arc<StoredLedger>> {
        let env = Env { outside: &*self.context.machine, given: &self.context.opening.given };
        // A cache whose reading was cut short by a panic is read anew when its files change.
        let mut cache = self.context.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        cache.find(env, look)
    }

    fn plan_origin(&self) -> PlanOrigin {
        PlanOrigin::now(&self.context.opening.given)
    }

    fn write_file(&mut self, to: &Path, content: &[u8], advice: &str) -> Result<(), String> {
        new_file::write(content, to, advice, || !RouteProgress::is_cancelled(self.progress))
    }

    fn write_free_file(&mut self, to: &Path, content: &[u8]) -> Result<PathBuf, String> {
        let progress = self.progress;
        new_file::write_numbered(content, to, || !RouteProgress::is_cancelled(progress))
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The changes of the session; what reads the whole fabric reports its progress.
struct WatchedChanges<'t> {
    changes: ConsoleChanges,
    progress: &'t Throttle,
}

impl Changer for WatchedChanges<'_> {
    fn prepare_offer(&mut self, planned: &PlanSource) -> Result<ChangeOffer, String> {
        self.prepare_offer_for(planned, None)
    }

    fn prepare_offer_for(
        &mut self,
        planned: &PlanSource,
        jobs: Option<&JobInput>,
    ) -> Result<ChangeOffer, String> {
        self.changes.offer_watched(planned, jobs, &mut ThrottledWatch(self.progress))
    }

    fn begin_change(&mut self, offer: &ChangeOffer, acceptance: &Acceptance) -> Result<String, String> {
        self.changes.begin_change(offer, acceptance)
    }

    fn read_lanes(&mut self, asked: &LaneRequest) -> Result<LaneState, String> {
        self.changes.read_lanes(asked)
    }

    fn list_changes(&mut self) -> Result<ChangeOverview, String> {
        self.changes.list_changes()
    }

    fn compare_changes(&mut self) -> Result<Attestations, String> {
        self.changes.compare_watched(&mut ThrottledWatch(self.progress))
    }

    fn ask_guard(&mut self, id: &str, ask: &GuardRequest) -> Result<ChangeStatus, String> {
        self.changes.ask_guard(id, ask)
    }
}

fn read_snapshot(
    machine: &LocalSystemAccess,
    opening: &ConsoleOptions,
    pace: &Throttle,
) -> Result<(Snapshot, Box<dyn Source>), String> {
    let env = Env { outside: machine, given: &opening.given };
    let failed = |failure: Failure| failure.message.unwrap_or_default();
    let mut source = env.open_source(&opening.source).map_err(failed)?;
    let (own, notes) = env.operator_names().map_err(failed)?;
    let wanted = ReadOptions {
        tables: true,
        counters: true,
        multicast: true,
        partitions: opening.partitions,
        groups: opening.partitions,
        ..ReadOptions::default()
    };
    let mut waiting = SnapshotWatch { pace, source: source.describe().to_owned(), names: &own };
    let observed = source.observe(wanted, &mut waiting);
    let mut observation = observed.map_err(|error| error.to_string())?;
    observation.notes.extend(notes);
    let mut snapshot = Snapshot::new(source.describe(), observation, &own);
    snapshot.changed_path_bits = env.changed_path_bits(&opening.source, &snapshot, None);
    snapshot.cabling_plan = env.cabling_plan().map_err(failed)?;
    match opening.given.assume {
        Some(engine) => assume(&mut snapshot, engine).map_err(|refusal| refusal.to_string())?,
        // Engines route by LID, so a topology without LIDs gets those of a new fabric, with a note.
        None if !snapshot.observation.tables.has_forwarding() => assume_lids(&mut snapshot),
        None => {}
    }
    add_partition_tables(&mut snapshot, false);
    // The screen does not wait for them.
    snapshot.suitable_engines();
    Ok((snapshot, source))
}
