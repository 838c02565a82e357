//! The state of a paused live watch, which continues in the background.

use std::sync::Arc;
use std::time::Duration;

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::console::features::watch::watch_state::WatchState;
use crate::console::model::tasks::TaskId;

/// The watch during a pause.
#[derive(Debug)]
pub struct PausedWatch {
    /// The watch and its snapshot at the time of the pause.
    pub(crate) watch: WatchState,
    pub(crate) paused_at: Arc<Snapshot>,
    /// The current snapshot.
    pub(crate) look: Arc<Snapshot>,
    /// The sweep in progress; the next field is the time of the next one.
    pub(crate) task: Option<TaskId>,
    pub(crate) due_ms: u64,
    pub(crate) begun_ms: u64,
    /// Time of the last recorded sweep, and in the next field of the last one that can be shown.
    pub(crate) swept_ms: u64,
    pub(crate) last_ms: u64,
    pub(crate) last_began: Option<Duration>,
    pub(crate) trouble: Option<String>,
    pub sweeps: u64,
    /// Messages to report after the pause; the next field is the number of further ones.
    pub(crate) news: Vec<(Severity, String)>,
    pub(crate) more: usize,
    /// Whether the session returns to live, and reads the moments since the pause.
    pub(crate) returning: bool,
}

impl PausedWatch {
    pub(crate) fn is_returning(&self) -> bool {
        self.returning
    }

    /// Drops the sweep in progress.
    pub(crate) fn cancel_sweep(&mut self) -> Option<TaskId> {
        self.task.take()
    }
}
