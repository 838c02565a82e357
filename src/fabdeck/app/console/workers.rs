//! Background jobs of the console, each in a thread of its own.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::UnboundedSender;

use super::job_list::list_jobs;
use super::source_thread::{SourceOrder, SourceTask, SourceWork, WatchHistory, run_replay, run_sweeps};
use super::{fault_injection, new_file};
use crate::catalogue::snapshot::Snapshot;
use crate::console::event_loop::event::SessionInput;
use crate::console::model::effect::{TaskOutcome, TaskRequest};
use crate::console::model::tasks::TaskId;
use crate::operations::changes::changer::Changer;
use crate::operations::changes::console_changes::ConsoleChanges;
use crate::operations::plans::plan_request::PlanRequest;
use crate::operations::plans::proposal_plan::PlanOrigin;
use crate::operations::preview::assume::{assume, assume_lids};
use crate::operations::replay::replay_frame::{
    FrameSource, OpenedRecording, ReplayFrame, ReplayFrames, SeekRequest, SnapshotMaker,
};
use crate::operations::replay::watch_recording::WatchRecording;
use crate::script::adapters::welcome_text;
use crate::script::console_options::ConsoleOptions;
use crate::system::access::SystemAccess;
use crate::system::local_access::LocalSystemAccess;
use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, NameMap};
use fabdeck_files::capture::{OperatorEntry, RecordingPlayer, TimeSpec, is_capture};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_mad::access::{ReadObserver, ReadOptions, ReadProgress, Source};
use fabdeck_routing::RouteProgress;

/// Message from a thread to the event loop.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "messages are few, and each is read once")]
pub enum WorkerMessage {
    /// Result or progress of a task, or a message.
    Happened(SessionInput),
    /// The terminal writer wrote its output, or failed.
    Sent(io::Result<()>),
    /// The terminal is closed.
    HungUp,
    /// A thread panicked; the hook has reported it.
    Panicked,
}

/// Shortest interval between two progress reports of a job.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

pub struct Workers {
    machine: Arc<LocalSystemAccess>,
    opening: Arc<ConsoleOptions>,
    messages: UnboundedSender<WorkerMessage>,
    cancelled: HashMap<TaskId, Arc<AtomicBool>>,
    /// Threads that own a source: the one of the current snapshot, and the one that reads a newer snapshot.
    keeper: Option<Sender<SourceOrder>>,
    next: Option<(TaskId, Sender<SourceOrder>)>,
    /// Recording of the watch, which continues over several snapshots.
    history: WatchHistory,
    clerk: ConsoleChanges,
    /// Each thread that owns a source holds the other end.
    ends: (SyncSender<()>, Receiver<()>),
    /// Threads that read the running jobs and may have started a `squeue`.
    asking: Vec<(Arc<AtomicBool>, JoinHandle<()>)>,
    /// Plans that are being written to files.
    plans: BTreeMap<TaskId, PathBuf>,
}

impl Workers {
    pub fn new(
        machine: Arc<LocalSystemAccess>,
        opening: Arc<ConsoleOptions>,
        messages: UnboundedSender<WorkerMessage>,
    ) -> Self {
        let (cancelled, plans) = (HashMap::new(), BTreeMap::new());
        let (history, ends) = (WatchHistory::default(), sync_channel(0));
        let to = messages.clone();
        let bug = Arc::new(move || {
            let _ = to.send(WorkerMessage::Panicked);
        });
        let clerk = (opening.source.as_str(), &opening.given, opening.no_times);
        let clerk = ConsoleChanges::new(machine.clone(), clerk, bug);
        let asking = Vec::new();
        Self {
            machine,
            opening,
            messages,
            cancelled,
            keeper: None,
            next: None,
            history,
            clerk,
            ends,
            asking,
            plans,
        }
    }

    pub fn begin(&mut self, task: TaskId, job: TaskRequest) {
        let stop = Arc::new(AtomicBool::new(false));
        self.cancelled.insert(task, stop.clone());
        if let TaskRequest::Write { to, .. } | TaskRequest::Save { to } = &job {
            self.plans.insert(task, to.clone());
        }
        if let Some(request) = source_task(&job) {
            return self.send_source_task(task, request, stop);
        }
        let (machine, opening, messages) =
            (self.machine.clone(), self.opening.clone(), self.messages.clone());
        let asks = matches!(job, TaskRequest::ListJobs(_)).then(|| stop.clone());
        let pace = Throttle { task, messages: messages.clone(), stop, last: Mutex::new(Instant::now()) };
        if matches!(job, TaskRequest::Look) {
            let (orders, ordered) = channel();
            self.next = Some((task, orders));
            let (end, history) = (self.ends.0.clone(), self.history.clone());
            std::thread::spawn(move || {
                let _end = end;
                let all = || run_source(&machine, &opening, &pace, (&ordered, &history));
                if catch_unwind(AssertUnwindSafe(all)).is_err() {
                    let _ = messages.send(WorkerMessage::Panicked);
                }
            });
            return;
        }
        let (clerk, history) = (self.clerk.clone(), self.history.clone());
        let thread = std::thread::spawn(move || {
            let outcome =
                catch_unwind(AssertUnwindSafe(|| run_job((&machine, &opening, clerk), &job, &pace)));
            if let Ok(Some(TaskOutcome::Listed(list))) = &outcome {
                history.record_jobs(list.as_deref().map_err(String::as_str));
            }
            // The loop may have ended in the meantime.
            let _ = messages.send(match outcome {
                Ok(Some(outcome)) => WorkerMessage::Happened(SessionInput::Finished { task, outcome }),
                Ok(None) => return,
                Err(_) => WorkerMessage::Panicked,
            });
        });
        if let Some(stop) = asks {
            self.asking.retain(|(_, thread)| !thread.is_finished());
            self.asking.push((stop, thread));
        }
    }

    /// Makes the snapshot of this task the current one: from now on the counters of its source are read.
    pub fn adopt_source(&mut self, task: TaskId, snapshot: &Snapshot) {
        self.clerk.set_snapshot(snapshot);
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

    fn send_source_task(&self, task: TaskId, request: SourceTask, stop: Arc<AtomicBool>) {
        let order = SourceOrder::Work(SourceWork { task, request: request.clone(), stop });
        let sent = self.keeper.as_ref().is_some_and(|keeper| keeper.send(order).is_ok());
        if !sent {
            let error = "FD-9005: the source is no longer open; r opens it again".to_owned();
            let outcome = match request {
                SourceTask::Sweep(_) => TaskOutcome::Swept(Err(error)),
                // Sources from files have no recording.
                SourceTask::Unroll => TaskOutcome::Unrolled(Ok(None)),
                SourceTask::Seek(_) => TaskOutcome::Sought(Err(error)),
                SourceTask::Save(to) => TaskOutcome::Saved { to, result: Err(error) },
            };
            let _ = self.messages.send(WorkerMessage::Happened(SessionInput::Finished { task, outcome }));
        }
    }

    /// Reports the adapters of this machine, if the command line names no source. A library that is slow to list
    /// adapters delays nothing else.
    pub fn report_adapters(&self) {
        let (machine, messages) = (self.machine.clone(), self.messages.clone());
        std::thread::spawn(move || {
            let adapters = catch_unwind(AssertUnwindSafe(|| machine.adapters()));
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
        if !self.opening.given.reach.traps {
            return;
        }
        self.cancelled.values().for_each(|stop| stop.store(true, Ordering::SeqCst));
        (self.keeper, self.next) = (None, None);
        let (_, ended) = std::mem::replace(&mut self.ends, sync_channel(0));
        // Nothing is sent over the channel; the wait ends when the last thread drops its end.
        let _ = ended.recv_timeout(SHUTDOWN_TIMEOUT);
    }

    /// Ends the running `squeue` processes, which would otherwise outlive the session.
    fn stop_job_query(&mut self) {
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
        self.plans.remove(&task);
    }

    /// The plans that are not written yet, with their files.
    pub fn unwritten_plans(&self) -> impl Iterator<Item = (TaskId, &Path)> {
        self.plans.iter().map(|(task, to)| (*task, to.as_path()))
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.stop_job_query();
    }
}

/// The request that only the thread with the source can answer.
fn source_task(job: &TaskRequest) -> Option<SourceTask> {
    match job {
        TaskRequest::Sweep { not_before } => Some(SourceTask::Sweep(*not_before)),
        TaskRequest::Unroll => Some(SourceTask::Unroll),
        TaskRequest::Seek(seek) => Some(SourceTask::Seek(*seek)),
        TaskRequest::Save { to } => Some(SourceTask::Save(to.clone())),
        _ => None,
    }
}

/// Reports the progress of a task, no faster than a screen can follow.
struct Throttle {
    task: TaskId,
    messages: UnboundedSender<WorkerMessage>,
    stop: Arc<AtomicBool>,
    last: Mutex<Instant>,
}

impl Throttle {
    fn send_progress(&self, done: u64, of: u64) {
        // Another thread is reporting at this moment, which is enough.
        let Ok(mut last) = self.last.try_lock() else { return };
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
struct ThrottledWatch<'p>(&'p Throttle);

impl ReadObserver for ThrottledWatch<'_> {
    fn report_progress(&mut self, progress: ReadProgress) {
        self.0.send_progress(progress.done, progress.known);
    }

    fn is_cancelled(&self) -> bool {
        RouteProgress::is_cancelled(self.0)
    }
}

/// Reports the progress of a snapshot, and shows the fabric as soon as it is known.
struct SnapshotWatch<'p> {
    pace: &'p Throttle,
    source: String,
    names: &'p NameMap,
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

/// Reads a snapshot, and afterwards counters for as long as requests come.
fn run_source(
    machine: &LocalSystemAccess,
    opening: &ConsoleOptions,
    pace: &Throttle,
    (orders, history): (&Receiver<SourceOrder>, &WatchHistory),
) {
    fault_injection::panic_if_injected("worker");
    let done = |task: TaskId, outcome: TaskOutcome| {
        // The loop may have ended in the meantime.
        let _ = pace.messages.send(WorkerMessage::Happened(SessionInput::Finished { task, outcome }));
    };
    match read_snapshot(machine, opening, pace) {
        Err(error) => done(pace.task, TaskOutcome::Looked(Err(error))),
        Ok((snapshot, mut source)) => {
            let snapshot = Arc::new(snapshot);
            done(pace.task, TaskOutcome::Looked(Ok(snapshot.clone())));
            let own = Snapshot::clone(&snapshot);
            drop(snapshot);
            if own.observation.reading.is_some() && opening.watch.interval_ms > 0 {
                let past = WatchRecording::new(
                    recording_header(opening),
                    opening.watch.past_bytes,
                    replay_options(machine, opening),
                );
                let begun = jiff::Timestamp::now().as_millisecond();
                run_sweeps(source.as_mut(), own, orders, (history, past, begun), done);
            } else if is_capture(Path::new(&opening.source)) {
                drop((source, own));
                let at = opening.given.reach.at.as_deref().and_then(|at| TimeSpec::parse(at).ok());
                // The capture was read for the snapshot; later requests report if it changed since.
                match RecordingPlayer::open(Path::new(&opening.source), at) {
                    Ok((tape, place)) => {
                        run_replay(
                            &mut ReplayFrames::new(tape, place, replay_options(machine, opening)),
                            orders,
                            done,
                        );
                    }
                    Err(error) => run_replay(&mut UnreadableRecording(error.to_string()), orders, done),
                }
            }
        }
    }
}

/// Turns moments of a recording into snapshots, with the names and the assumed engine of the session.
fn replay_options(machine: &LocalSystemAccess, opening: &ConsoleOptions) -> SnapshotMaker {
    let named = opening.given.node_name_map.as_ref().and_then(|file| machine.names(file).ok());
    let mut own = named.map(|(own, _)| own).unwrap_or_default();
    own.hosts.clone_from(&opening.given.host_rules);
    let (source, assumed) = (opening.source.clone(), opening.assume);
    Arc::new(move |observation| {
        let mut snapshot = Snapshot::new(&source, observation, &own);
        if let Some(engine) = assumed {
            assume(&mut snapshot, engine).map_err(|refusal| refusal.to_string())?;
        }
        Ok(snapshot)
    })
}

/// Header of the recording of a watch.
fn recording_header(opening: &ConsoleOptions) -> CaptureHeader {
    CaptureHeader {
        format: "fabdeck.capture/1".into(),
        fabdeck: env!("CARGO_PKG_VERSION").into(),
        source: opening.source.clone(),
        interval_ms: opening.watch.interval_ms,
        utc_offset_s: jiff::Zoned::now().offset().seconds(),
    }
}

/// A capture that was read once and could not be opened again.
struct UnreadableRecording(String);

impl FrameSource for UnreadableRecording {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        Err(self.0.clone())
    }

    fn seek_frame(&mut self, _: SeekRequest, _: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        Err(self.0.clone())
    }
}

fn run_job(
    (machine, opening, mut clerk): (&LocalSystemAccess, &ConsoleOptions, ConsoleChanges),
    job: &TaskRequest,
    pace: &Throttle,
) -> Option<TaskOutcome> {
    fault_injection::panic_if_injected("worker");
    let begun = Instant::now();
    Some(match (job.run(pace), job) {
        (Some(TaskOutcome::Proposed { engine, outcome, .. }), _) => {
            let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            TaskOutcome::Proposed { engine, outcome, took_ms }
        }
        (Some(outcome), _) => outcome,
        (None, TaskRequest::Write { plan, to }) => {
            TaskOutcome::Written { to: to.clone(), result: write_plan(opening, plan, to, pace) }
        }
        (None, TaskRequest::Offer(planned)) => {
            TaskOutcome::Offered(clerk.offer_watched(planned, &mut ThrottledWatch(pace)).map(Box::new))
        }
        (None, TaskRequest::Apply { offer, acceptance }) => {
            TaskOutcome::Begun(clerk.begin_change(offer, acceptance))
        }
        (None, TaskRequest::Lanes(asked)) => TaskOutcome::Lanes(clerk.read_lanes(asked).map(Box::new)),
        (None, TaskRequest::ListJobs(from)) => {
            TaskOutcome::Listed(list_jobs(machine, from, || RouteProgress::is_cancelled(pace))?.map(Box::new))
        }
        (None, TaskRequest::Changes) => TaskOutcome::Changes(clerk.list_changes()),
        (None, TaskRequest::Compare) => {
            TaskOutcome::Compared(clerk.compare_watched(&mut ThrottledWatch(pace)))
        }
        (None, TaskRequest::Ask { id, ask }) => {
            TaskOutcome::Asked { id: id.clone(), result: clerk.ask_guard(id, ask) }
        }
        // Snapshots and sweeps belong to the thread that owns the source.
        (None, _) => return None,
    })
}

fn read_snapshot(
    machine: &LocalSystemAccess,
    opening: &ConsoleOptions,
    pace: &Throttle,
) -> Result<(Snapshot, Box<dyn Source>), String> {
    let mut source =
        machine.open(&opening.source, &opening.given.reach).map_err(|error| error.to_string())?;
    let (mut own, notes) = match &opening.given.node_name_map {
        None => Default::default(),
        Some(file) => machine.names(file).map_err(|error| error.to_string())?,
    };
    own.hosts.clone_from(&opening.given.host_rules);
    let wanted = ReadOptions { tables: true, counters: true, multicast: true, ..ReadOptions::default() };
    let mut waiting = SnapshotWatch { pace, source: source.describe().to_owned(), names: &own };
    let observed = source.observe(wanted, &mut waiting);
    let mut observation = observed.map_err(|error| error.to_string())?;
    observation.notes.extend(notes);
    let mut snapshot = Snapshot::new(source.describe(), observation, &own);
    match opening.assume {
        Some(engine) => assume(&mut snapshot, engine).map_err(|refusal| refusal.to_string())?,
        // Engines route by LID, so a topology without LIDs gets those of a new fabric, with a note.
        None if !snapshot.observation.tables.has_forwarding() => assume_lids(&mut snapshot),
        None => {}
    }
    Ok((snapshot, source))
}

/// Writes a plan to a new file: an existing plan is never overwritten by mistake.
fn write_plan(
    opening: &ConsoleOptions,
    plan: &PlanRequest,
    to: &Path,
    pace: &Throttle,
) -> Result<(), String> {
    let times = !opening.no_times;
    let made = PlanOrigin {
        created: times.then(|| jiff::Timestamp::now().to_string()),
        author: std::env::var("USER").ok().filter(|_| times),
    };
    new_file::write(plan.make_text(made)?.as_bytes(), to, "press w and give another name", || {
        !RouteProgress::is_cancelled(pace)
    })
}
