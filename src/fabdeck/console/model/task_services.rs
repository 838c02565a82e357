//! What only the process can do for a background task.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::catalogue::snapshot::Snapshot;
use crate::operations::changes::changer::Changer;
use crate::operations::event_store::ledger_reader::StoredLedger;
use crate::operations::jobs::job_request::JobListSource;
use crate::operations::plans::plan_origin::PlanOrigin;
use crate::operations::replay::replay_frame::FrameSource;
use crate::operations::watch::sweep::SweepResult;
use crate::system::access::SystemAccess;
use fabdeck_files::job_lists::JobList;

/// The services of the process. Those of the source are for tasks in the thread that owns it.
pub trait TaskServices {
    /// Opens the source and reads a snapshot.
    fn read_snapshot(&mut self) -> Result<Arc<Snapshot>, String>;

    /// Reads all counters of the source again, not before this time of the source's clock.
    fn read_sweep(&mut self, not_before: Duration) -> Result<SweepResult, String>;

    /// The recording of the source: a capture, or the recording of the watch.
    fn recording(&mut self) -> &mut dyn FrameSource;

    /// The changes of the fabric.
    fn changes(&mut self) -> &mut dyn Changer;

    /// Reads the list of running jobs; `None` where the task was cancelled.
    fn list_jobs(&mut self, from: &JobListSource) -> Option<Result<JobList, String>>;

    /// The system of this user; `None` for a session that has none.
    fn system(&self) -> Option<&dyn SystemAccess> {
        None
    }

    /// What the cables of a fabric did, where a watch stores it; `None` for a session that reads no ledger.
    fn link_ledger(&mut self, _look: &Snapshot) -> Option<Arc<StoredLedger>> {
        None
    }

    /// Who made a plan and when.
    fn plan_origin(&self) -> PlanOrigin;

    /// Writes a new file, and never over another; `advice` says how to choose another name.
    fn write_file(&mut self, to: &Path, content: &[u8], advice: &str) -> Result<(), String>;

    /// Writes a new file with a name that is free: this one, or else the same with a number before its ending. Returns
    /// its full path.
    fn write_free_file(&mut self, to: &Path, content: &[u8]) -> Result<PathBuf, String> {
        self.write_file(to, content, "choose another name").map(|()| to.to_owned())
    }

    /// Time since the task began.
    fn elapsed_ms(&self) -> u64;
}
