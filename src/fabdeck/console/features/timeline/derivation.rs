//! The state of deriving events from the counters of a recording.

use crate::console::model::tasks::TaskId;
use crate::operations::replay::event_scan::RecordingScan;

/// The progress of an event scan.
#[derive(Debug)]
pub struct Derivation {
    pub(crate) scan: RecordingScan,
    pub done: usize,
    /// Number of events found.
    pub found: usize,
    pub(crate) task: Option<TaskId>,
    /// Whether the scan was stopped, by the operator or by an error.
    pub stopped: bool,
}

impl Derivation {
    pub fn new(scan: RecordingScan) -> Self {
        Self { scan, done: 0, found: 0, task: None, stopped: false }
    }

    /// Stops the scan; returns the task of the part in progress.
    pub(crate) fn stop(&mut self) -> Option<TaskId> {
        self.stopped = true;
        self.task.take()
    }
}
