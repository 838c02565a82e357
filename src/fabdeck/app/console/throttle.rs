//! The progress of a task, for the event loop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::workers::WorkerMessage;
use crate::catalogue::snapshot::Snapshot;
use crate::console::event_loop::event::SessionInput;
use crate::console::model::tasks::TaskId;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, NameMap};
use fabdeck_mad::access::{ReadObserver, ReadProgress};
use fabdeck_routing::RouteProgress;

/// Shortest interval between two progress reports of a job.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Reports the progress of a task, no faster than a screen can follow.
pub struct Throttle {
    task: TaskId,
    messages: UnboundedSender<WorkerMessage>,
    stop: Arc<AtomicBool>,
    /// Time of the last report; `None` for a task that reports no progress.
    last: Option<Mutex<Instant>>,
}

impl Throttle {
    pub fn new(task: TaskId, messages: UnboundedSender<WorkerMessage>, stop: Arc<AtomicBool>) -> Self {
        Self { task, messages, stop, last: Some(Mutex::new(Instant::now())) }
    }

    /// For the thread that owns the source: no task waits for a sweep or a moment.
    pub fn silent(task: TaskId, messages: UnboundedSender<WorkerMessage>, stop: Arc<AtomicBool>) -> Self {
        Self { task, messages, stop, last: None }
    }

    fn send_progress(&self, done: u64, of: u64) {
        // Another thread is reporting at this moment, which is enough.
        let Some(Ok(mut last)) = self.last.as_ref().map(Mutex::try_lock) else { return };
        if last.elapsed() >= PROGRESS_INTERVAL {
            *last = Instant::now();
            let _ = self.messages.send(WorkerMessage::Happened(SessionInput::Progress {
                task: self.task,
                done,
                of,
            }));
        }
    }
}

impl RouteProgress for Throttle {
    fn report(&self, done: usize, of: usize) {
        self.send_progress(done as u64, of as u64);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Reports the progress of a reading that is one part of a task.
pub struct ThrottledWatch<'p>(pub &'p Throttle);

impl ReadObserver for ThrottledWatch<'_> {
    fn report_progress(&mut self, progress: ReadProgress) {
        self.0.send_progress(progress.done, progress.known);
    }

    fn is_cancelled(&self) -> bool {
        RouteProgress::is_cancelled(self.0)
    }
}

/// Reports the progress of a snapshot, and shows the fabric as soon as it is known.
pub struct SnapshotWatch<'p> {
    pub pace: &'p Throttle,
    pub source: String,
    pub names: &'p NameMap,
}

impl ReadObserver for SnapshotWatch<'_> {
    fn report_progress(&mut self, progress: ReadProgress) {
        self.pace.send_progress(progress.done, progress.known);
    }

    fn topology_read(&mut self, fabric: &Fabric) {
        let observation = Observation { fabric: fabric.clone(), ..Observation::default() };
        let snapshot = Arc::new(Snapshot::new(&self.source, observation, self.names));
        let _ = self
            .pace
            .messages
            .send(WorkerMessage::Happened(SessionInput::Sighted { task: self.pace.task, look: snapshot }));
    }

    fn is_cancelled(&self) -> bool {
        RouteProgress::is_cancelled(self.pace)
    }
}
