//! The threads of the console's background tasks.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::fault_injection;
use super::new_file;
use super::services::{ProcessServices, SessionContext};
use super::session_source::{RefusingSource, SessionSource, WatchHistory};
use super::source_thread::{SourceOrder, SourceWork, run_source};
use super::terminal_ground::TerminalGround;
use super::throttle::Throttle;
use crate::catalogue::snapshot::Snapshot;
use crate::console::event_loop::event::SessionInput;
use crate::console::event_loop::welcome_text::welcome_text;
use crate::console::model::background_task::{BackgroundTask, TaskPlace};
use crate::console::model::console_options::ConsoleOptions;
use crate::console::model::tasks::{TaskDependency, TaskId};
use crate::operations::changes::console_changes::ConsoleChanges;
use crate::system::access::SystemAccess;
use crate::system::local_access::LocalSystemAccess;
use crate::system::thread_priority::lower_thread_priority;
use fabdeck_files::capture::OperatorEntry;
use fabdeck_mad::access::Source;

/// Message from a thread to the event loop.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "messages are few, and each is read once")]
pub enum WorkerMessage {
    /// Result or progress of a task, or a message.
    Happened(SessionInput),
    /// The terminal writer wrote its output, or failed.
    Sent(io::Result<()>),
    /// The terminal says what its ground is.
    Ground(TerminalGround),
    /// The terminal is closed.
    HungUp,
    /// A thread panicked; the hook has reported it.
    Panicked,
}

pub struct Workers {
    context: SessionContext,
    cancelled: HashMap<TaskId, Arc<AtomicBool>>,
    /// Threads that own a source: the one of the current snapshot, and the one that reads a newer snapshot.
    keeper: Option<Sender<SourceOrder>>,
    next: Option<(TaskId, Sender<SourceOrder>)>,
    /// Each thread that owns a source holds the other end.
    ends: (SyncSender<()>, Receiver<()>),
    /// Threads that may have started a child process.
    asking: Vec<(Arc<AtomicBool>, JoinHandle<()>)>,
    /// Files that tasks are writing.
    files: BTreeMap<TaskId, PathBuf>,
}

impl Workers {
    pub fn new(
        machine: Arc<LocalSystemAccess>,
        opening: Arc<ConsoleOptions>,
        messages: UnboundedSender<WorkerMessage>,
    ) -> Self {
        let to = messages.clone();
        let bug = Arc::new(move || {
            let _ = to.send(WorkerMessage::Panicked);
        });
        let changes = ConsoleChanges::new(machine.clone(), &opening.source, &opening.given, bug);
        let history = WatchHistory::default();
        Self {
            context: SessionContext { machine, opening, messages, changes, history, ledger: Arc::default() },
            cancelled: HashMap::new(),
            keeper: None,
            next: None,
            ends: sync_channel(0),
            asking: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    pub fn begin(&mut self, task: TaskId, job: Arc<dyn BackgroundTask>) {
        let stop = Arc::new(AtomicBool::new(false));
        self.cancelled.insert(task, stop.clone());
        self.files.extend(job.file().map(|to| (task, to.to_owned())));
        let place = job.place();
        let work = SourceWork { task, job, stop: stop.clone() };
        match place {
            TaskPlace::SourceThread => self.send_to_source(work),
            TaskPlace::NewSource => {
                let (orders, ordered) = channel();
                self.next = Some((task, orders));
                let end = self.ends.0.clone();
                self.spawn(move |context| {
                    let _end = end;
                    run_source(context, &work, &ordered);
                });
            }
            TaskPlace::Worker => drop(self.spawn(move |context| run_worker(context, &work))),
            TaskPlace::ChildProcess => {
                let thread = self.spawn(move |context| run_worker(context, &work));
                self.asking.retain(|(_, thread)| !thread.is_finished());
                self.asking.push((stop, thread));
            }
        }
    }

    /// Writes a new file in a thread of its own, and sends a message that says whether it is written.
    pub fn write_file(&self, to: PathBuf, content: Vec<u8>, what: &'static str, advice: &'static str) {
        let messages = self.context.messages.clone();
        self.spawn(move |_| {
            let text = match new_file::write(&content, &to, advice, || true) {
                Ok(()) => format!("{what} is in {}", to.display()),
                Err(error) => format!("{what} was not written to {}: {error}", to.display()),
            };
            // The session may have ended in the meantime.
            let _ = messages.send(WorkerMessage::Happened(SessionInput::Message(text)));
        });
    }

    /// Runs work in a thread of its own; a panic ends the session.
    fn spawn(&self, work: impl FnOnce(&SessionContext) + Send + 'static) -> JoinHandle<()> {
        let context = self.context.clone();
        std::thread::spawn(move || {
            let all = || {
                fault_injection::panic_if_injected("worker");
                work(&context);
            };
            if catch_unwind(AssertUnwindSafe(all)).is_err() {
                // The loop may have ended in the meantime.
                let _ = context.messages.send(WorkerMessage::Panicked);
            }
        })
    }

    /// Makes the snapshot of this task the current one: from now on the counters of its source are read.
    pub fn adopt_source(&mut self, task: TaskId, snapshot: &Snapshot) {
        self.context.changes.set_snapshot(snapshot);
        if let Some((_, orders)) = self.next.take_if(|(next, _)| *next == task) {
            self.keeper = Some(orders);
        }
    }

    /// Adds an entry to the recording; does nothing if no thread owns a source.
    pub fn record_entry(&self, entry: OperatorEntry) {
        if let Some(keeper) = &self.keeper {
            let _ = keeper.send(SourceOrder::Enter(entry, Instant::now()));
        }
    }

    fn send_to_source(&self, work: SourceWork) {
        let Some(keeper) = &self.keeper else { return run_without_source(&self.context, &work) };
        if let Err(unsent) = keeper.send(SourceOrder::Work(work))
            && let SourceOrder::Work(work) = unsent.0
        {
            run_without_source(&self.context, &work);
        }
    }

    /// Reports the adapters of this machine, if the command line names no source. A library that is slow to list
    /// adapters delays nothing else.
    pub fn report_adapters(&self) {
        let (machine, messages) = (self.context.machine.clone(), self.context.messages.clone());
        let library = self.context.opening.given.reach.library;
        std::thread::spawn(move || {
            let adapters = catch_unwind(AssertUnwindSafe(|| machine.adapters(library)));
            let _ = messages.send(match adapters {
                Ok(adapters) => WorkerMessage::Happened(SessionInput::Message(welcome_text(
                    &adapters.unwrap_or_default(),
                ))),
                Err(_) => WorkerMessage::Panicked,
            });
        });
    }

    /// Ends the session: a source that subscribed to traps unsubscribes, within a short time.
    pub fn shut_down(&mut self) {
        const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);
        if !self.context.opening.given.reach.traps {
            return;
        }
        self.cancelled.values().for_each(|stop| stop.store(true, Ordering::SeqCst));
        (self.keeper, self.next) = (None, None);
        let (_, ended) = std::mem::replace(&mut self.ends, sync_channel(0));
        // Nothing is sent over the channel; the wait ends when the last thread drops its end.
        let _ = ended.recv_timeout(SHUTDOWN_TIMEOUT);
    }

    /// Ends the child processes, which would otherwise outlive the session.
    fn stop_child_processes(&mut self) {
        const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);
        self.asking.iter().for_each(|(stop, _)| stop.store(true, Ordering::SeqCst));
        let until = Instant::now() + SHUTDOWN_TIMEOUT;
        while self.asking.iter().any(|(_, thread)| !thread.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn cancel(&mut self, task: TaskId) {
        if let Some(stop) = self.cancelled.get(&task) {
            stop.store(true, Ordering::SeqCst);
        }
    }

    pub fn forget_task(&mut self, task: TaskId) {
        self.cancelled.remove(&task);
        self.files.remove(&task);
    }

    /// The files that are not written yet.
    pub fn unwritten_files(&self) -> impl Iterator<Item = (TaskId, &Path)> {
        self.files.iter().map(|(task, to)| (*task, to.as_path()))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop_child_processes();
    }
}

/// Runs a task in a thread of its own. One that depends on the snapshot computes over it; others may start a guard, which
/// keeps its priority.
fn run_worker(context: &SessionContext, work: &SourceWork) {
    if work.job.dependency() != TaskDependency::Nothing {
        lower_thread_priority();
    }
    let throttle = Throttle::new(work.task, context.messages.clone(), work.stop.clone());
    run_task(context, work, &throttle, &mut RefusingSource::closed());
}

/// Gives a task for the source its outcome where no thread owns one.
fn run_without_source(context: &SessionContext, work: &SourceWork) {
    let throttle = Throttle::silent(work.task, context.messages.clone(), work.stop.clone());
    run_task(context, work, &throttle, &mut RefusingSource::closed());
}

/// Runs a task and sends its outcome. Returns the source that it opened, with the snapshot.
pub fn run_task(
    context: &SessionContext,
    SourceWork { task, job, .. }: &SourceWork,
    throttle: &Throttle,
    source: &mut dyn SessionSource,
) -> Option<(Arc<Snapshot>, Box<dyn Source>)> {
    let mut services = ProcessServices::new(context, throttle, source);
    let outcome = job.run(&mut services, throttle)?;
    // The loop may have ended in the meantime.
    let _ = context.messages.send(WorkerMessage::Happened(SessionInput::Finished { task: *task, outcome }));
    services.into_opened()
}
