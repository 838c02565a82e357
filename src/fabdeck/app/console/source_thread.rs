//! The thread that owns a source: it reads the snapshot and later the counters, because a port belongs to one thread
//! at a time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::new_file;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::effect::TaskOutcome;
use crate::console::model::tasks::TaskId;
use crate::operations::replay::replay_frame::{CANCELLED, FrameSource, SeekRequest};
use crate::operations::replay::watch_recording::WatchRecording;
use crate::operations::watch::sweep::{SweepResult, read_sweep};
use fabdeck_fabric::observe::{JobListState, Observation, Sweep};
use fabdeck_files::capture::{OperatorEntry, recordable_jobs};
use fabdeck_files::job_lists::JobList;
use fabdeck_mad::access::{ReadObserver, ReadProgress, Source};
use fabdeck_routing::RouteProgress;

/// Request to the thread that owns the source.
pub enum SourceOrder {
    Work(SourceWork),
    /// Adds an entry to the recording with the time of the request, which may have waited for a sweep.
    Enter(OperatorEntry, Instant),
}

/// Request of a task that waits for the outcome.
pub struct SourceWork {
    pub task: TaskId,
    pub request: SourceTask,
    pub stop: Arc<AtomicBool>,
}

#[derive(Clone)]
pub enum SourceTask {
    /// Reads all counters, no sooner than this time on the clock of the source.
    Sweep(Duration),
    /// Reads the timeline of what was recorded so far.
    Unroll,
    /// Reads a moment of the recording.
    Seek(SeekRequest),
    /// Writes the whole recording to a new file.
    Save(PathBuf),
}

/// A watch that reports no progress, because no task waits for a sweep.
struct SilentProgress(Arc<AtomicBool>);

impl ReadObserver for SilentProgress {
    fn report_progress(&mut self, _: ReadProgress) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl RouteProgress for SilentProgress {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl SourceWork {
    /// Outcome of a request that was cancelled before the thread reached it.
    fn outcome_if_cancelled(&self) -> Option<TaskOutcome> {
        let error = || CANCELLED.to_owned();
        self.stop.load(Ordering::Relaxed).then(|| match &self.request {
            SourceTask::Sweep(_) => TaskOutcome::Swept(Err(error())),
            SourceTask::Unroll => TaskOutcome::Unrolled(Err(error())),
            SourceTask::Seek(_) => TaskOutcome::Sought(Err(error())),
            SourceTask::Save(to) => TaskOutcome::Saved { to: to.clone(), result: Err(error()) },
        })
    }
}

/// Recording of a watch. It outlives a snapshot: after the fabric is read again the same recording continues.
#[derive(Clone, Debug, Default)]
pub struct WatchHistory(Arc<Mutex<WatchHistoryState>>);

#[derive(Debug, Default)]
struct WatchHistoryState {
    /// Number of the thread that records at present.
    turn: u64,
    past: Option<WatchRecording>,
    last: Option<LastSweep>,
    /// The running jobs as the console last read them, for live sources. A capture has the jobs of its own time.
    jobs: JobListState,
}

/// The last recorded sweep: its time, its begin on the clock of the source, and its begin on the local clock.
#[derive(Clone, Copy, Debug)]
struct LastSweep {
    time: i64,
    began: Duration,
    here: Instant,
}

impl WatchHistory {
    fn lock(&self) -> MutexGuard<'_, WatchHistoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the list of running jobs (or the error), so that the next sweep is recorded with it.
    pub fn record_jobs(&self, list: Result<&JobList, &str>) {
        let fitting = recordable_jobs(list);
        self.lock().jobs.update(jiff::Timestamp::now().as_millisecond(), fitting);
    }

    /// Makes the caller the thread that records. Returns its number and the last sweep, from which its times continue.
    fn take_over(&self, fresh: WatchRecording) -> (u64, Option<LastSweep>) {
        let mut held = self.lock();
        held.turn += 1;
        match &mut held.past {
            Some(past) if past.is_enabled() => past.take_snapshot_maker(fresh),
            none => {
                *none = Some(fresh);
                held.last = None;
            }
        }
        (held.turn, held.last)
    }
}

/// Offset between the clocks of two sources: a source that is opened again may count from zero.
#[derive(Clone, Copy, Debug, Default)]
struct ClockOffset {
    later: Duration,
    earlier: Duration,
}

impl ClockOffset {
    /// Returns the offset by which a sweep that began at `began` counts as begun at `meant`.
    fn between(began: Duration, meant: Duration) -> Self {
        Self { later: meant.saturating_sub(began), earlier: began.saturating_sub(meant) }
    }

    fn to_session_time(self, time: Duration) -> Duration {
        (time + self.earlier).saturating_sub(self.later)
    }

    fn set(self, swept: &mut SweepResult) {
        if (self.later, self.earlier) == (Duration::ZERO, Duration::ZERO) {
            return;
        }
        let sweep: &mut Sweep = Arc::make_mut(&mut swept.sweep);
        for time in sweep.at.iter_mut().chain([&mut sweep.began]) {
            *time = (*time + self.later).saturating_sub(self.earlier);
        }
    }
}

/// Computes the times of the sweeps after one snapshot.
#[derive(Clone, Copy, Debug)]
struct SweepTimes {
    /// Time of the snapshot.
    begun: i64,
    first: Option<Duration>,
    /// The last sweep before this snapshot.
    before: Option<LastSweep>,
    clock: ClockOffset,
}

impl SweepTimes {
    /// Returns the time of a sweep by the clock of the source, because a simulator's time runs at its own pace. That
    /// clock continues the one before.
    fn of(&mut self, swept: &mut SweepResult) -> i64 {
        let own = swept.sweep.began;
        let passed = own.saturating_sub(*self.first.get_or_insert(own));
        let time = self.begun.saturating_add(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX));
        if let Some(last) = self.before.take() {
            let since = u64::try_from(time.saturating_sub(last.time)).unwrap_or(0);
            self.clock = ClockOffset::between(own, last.began + Duration::from_millis(since));
        }
        self.clock.set(swept);
        time
    }
}

/// Answers requests until the channel closes: a newer snapshot replaced this one, or the session ended. Each sweep is
/// recorded, so that a paused console can step back through them.
pub fn run_sweeps(
    source: &mut dyn Source,
    mut snapshot: Snapshot,
    orders: &Receiver<SourceOrder>,
    (history, fresh, begun): (&WatchHistory, WatchRecording, i64),
    mut done: impl FnMut(TaskId, TaskOutcome),
) {
    // A cancelled snapshot gets no requests and takes over no recording.
    let mut fresh = Some(fresh);
    let (mut turn, mut times) =
        (0, SweepTimes { begun, first: None, before: None, clock: ClockOffset::default() });
    for order in orders {
        if let Some(fresh) = fresh.take() {
            (turn, times.before) = history.take_over(fresh);
        }
        let order = match order {
            SourceOrder::Work(work) => work,
            SourceOrder::Enter(entry, then) => {
                let mut held = history.lock();
                let after =
                    held.last.map_or(Duration::ZERO, |last| then.saturating_duration_since(last.here));
                held.past.iter_mut().for_each(|past| past.add_entry(after, &entry));
                continue;
            }
        };
        if let Some(outcome) = order.outcome_if_cancelled() {
            done(order.task, outcome);
            continue;
        }
        let SourceWork { task, request, stop } = order;
        match request {
            SourceTask::Save(to) => {
                let wanted = || !stop.load(Ordering::Relaxed);
                let bytes = with_history(history, WatchRecording::capture_bytes);
                let result = bytes.and_then(|bytes| new_file::write(&bytes, &to, SAVE_HINT, wanted));
                done(task, TaskOutcome::Saved { to, result });
            }
            SourceTask::Unroll => {
                done(task, TaskOutcome::Unrolled(with_history(history, WatchRecording::open_recording)))
            }
            SourceTask::Seek(seek) => {
                let scene = with_history(history, |past| past.seek_frame(seek, &SilentProgress(stop)));
                done(task, TaskOutcome::Sought(scene.map(Box::new)));
            }
            SourceTask::Sweep(not_before) => {
                let here = Instant::now();
                let swept = read_sweep(
                    source,
                    &mut snapshot,
                    times.clock.to_session_time(not_before),
                    &mut SilentProgress(stop),
                );
                let mut swept = match swept {
                    Ok(swept) => swept,
                    Err(error) => {
                        done(task, TaskOutcome::Swept(Err(error.to_string())));
                        continue;
                    }
                };
                let time = times.of(&mut swept);
                let sweep = swept.sweep.clone();
                done(task, TaskOutcome::Swept(Ok(swept)));
                record_sweep(history, turn, &mut snapshot.observation, &sweep, (time, here));
            }
        }
    }
}

/// Records a sweep, unless a newer snapshot has taken the recording over in the meantime: that one continues it.
fn record_sweep(
    history: &WatchHistory,
    turn: u64,
    observation: &mut Observation,
    sweep: &Sweep,
    (time, here): (i64, Instant),
) {
    let mut held = history.lock();
    if held.turn != turn {
        return;
    }
    let WatchHistoryState { past: Some(past), jobs, last, .. } = &mut *held else { return };
    observation.jobs = jobs.last().cloned();
    if past.record(time, observation, sweep) {
        *last = Some(LastSweep { time, began: sweep.began, here });
    }
    observation.jobs = None;
}

/// Advice for a file name that is already in use.
const SAVE_HINT: &str = "give :save another name";

fn with_history<T>(
    history: &WatchHistory,
    ask: impl FnOnce(&mut WatchRecording) -> Result<T, String>,
) -> Result<T, String> {
    let mut held = history.lock();
    held.past.as_mut().map_or_else(|| Err("the watch has no recording".to_owned()), ask)
}

/// Answers requests for moments of a recording until the channel closes.
pub fn run_replay(
    recorded: &mut dyn FrameSource,
    orders: &Receiver<SourceOrder>,
    mut done: impl FnMut(TaskId, TaskOutcome),
) {
    for order in orders {
        // A capture that is replayed gets no new entries.
        let SourceOrder::Work(order) = order else { continue };
        let overtaken = order.outcome_if_cancelled();
        let SourceWork { task, request, stop } = order;
        let outcome = overtaken.unwrap_or_else(|| match request {
            SourceTask::Sweep(_) => TaskOutcome::Swept(Err("a recording cannot be swept".to_owned())),
            SourceTask::Unroll => TaskOutcome::Unrolled(recorded.open_recording()),
            SourceTask::Seek(seek) => {
                TaskOutcome::Sought(recorded.seek_frame(seek, &SilentProgress(stop)).map(Box::new))
            }
            SourceTask::Save(to) => {
                TaskOutcome::Saved { to, result: Err("this is a capture already".to_owned()) }
            }
        });
        done(task, outcome);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::operations::replay::replay_frame::{OpenedRecording, ReplayFrame};

    /// Counts the requests, and whether each of them was cancelled.
    #[derive(Default)]
    struct RecordedCalls {
        unrolled: usize,
        sought: Vec<(usize, bool)>,
    }

    impl FrameSource for RecordedCalls {
        fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
            self.unrolled += 1;
            Ok(None)
        }

        fn seek_frame(
            &mut self,
            seek: SeekRequest,
            pulse: &dyn RouteProgress,
        ) -> Result<ReplayFrame, String> {
            self.sought.push((seek.place, pulse.is_cancelled()));
            Err("asked".to_owned())
        }
    }

    #[test]
    fn a_request_cancelled_in_the_queue_is_not_begun() {
        let (orders, ordered) = channel();
        let seek = |place| SourceTask::Seek(SeekRequest { place, deep: true, congestion: 0 });
        let requests =
            [(seek(1), true), (SourceTask::Unroll, true), (seek(2), false), (SourceTask::Unroll, false)];
        for (at, (request, stopped)) in requests.into_iter().enumerate() {
            let stop = Arc::new(AtomicBool::new(stopped));
            orders.send(SourceOrder::Work(SourceWork { task: TaskId(at as u64), request, stop })).unwrap();
        }
        drop(orders);
        let (mut asked, mut ended) = (RecordedCalls::default(), Vec::new());
        run_replay(&mut asked, &ordered, |task, _| ended.push(task.0));
        assert_eq!((asked.unrolled, asked.sought), (1, vec![(2, false)]));
        assert_eq!(ended, [0, 1, 2, 3], "each request gets an outcome, so that no task keeps its stop flag");
    }

    /// A second snapshot continues the same recording: moments, notes, and a clock that does not jump.
    #[test]
    fn a_second_snapshot_continues_the_history() {
        use crate::system::access::{SourceOptions, SystemAccess};
        use crate::system::local_access::LocalSystemAccess;
        use fabdeck_files::capture_format::CaptureHeader;
        use fabdeck_mad::access::{NoObserver, ReadOptions};
        let history = WatchHistory::default();
        let run_snapshot = |begun: i64, orders: Vec<SourceTask>, note: Option<&str>| {
            let mut source =
                LocalSystemAccess::default().open("sim:kary,k=2,n=2", &SourceOptions::default()).unwrap();
            let wanted = ReadOptions { tables: true, counters: true, ..ReadOptions::default() };
            let observed = source.observe(wanted, &mut NoObserver).unwrap();
            let snapshot = Snapshot::new("sim", observed, &Default::default());
            let (sender, ordered) = channel();
            for (at, request) in orders.into_iter().enumerate() {
                let stop = Arc::default();
                sender
                    .send(SourceOrder::Work(SourceWork { task: TaskId(at as u64), request, stop }))
                    .unwrap();
            }
            let note =
                note.map(|text| SourceOrder::Enter(OperatorEntry::Note(text.to_owned()), Instant::now()));
            note.into_iter().for_each(|note| sender.send(note).unwrap());
            drop(sender);
            let header = CaptureHeader {
                format: "fabdeck.capture/1".into(),
                fabdeck: "0".into(),
                source: "sim".into(),
                interval_ms: 1000,
                utc_offset_s: 0,
            };
            let make_snapshot = Arc::new(|observed| Ok(Snapshot::new("sim", observed, &Default::default())));
            let mut outcomes = Vec::new();
            let past = WatchRecording::new(header, 1 << 24, make_snapshot);
            run_sweeps(source.as_mut(), snapshot, &ordered, (&history, past, begun), |_, outcome| {
                outcomes.push(outcome)
            });
            outcomes
        };
        let sweep = |seconds| SourceTask::Sweep(Duration::from_secs(seconds));
        let began = |outcome: &TaskOutcome| match outcome {
            TaskOutcome::Swept(Ok(swept)) => swept.sweep.began,
            other => panic!("{other:?}"),
        };
        let before = run_snapshot(100_000, vec![sweep(0), sweep(5)], Some("seen"));
        assert!(
            run_snapshot(105_000, Vec::new(), None).is_empty(),
            "one that is cancelled takes nothing over"
        );
        let after = run_snapshot(110_000, vec![sweep(0), SourceTask::Unroll], None);
        let last = began(&before[1]);
        let since = began(&after[0]).saturating_sub(last).as_millis();
        assert!((4_900..=5_100).contains(&since), "five seconds by the wall: {since}");
        let TaskOutcome::Unrolled(Ok(Some(unrolled))) = &after[1] else { panic!("{:?}", after[1]) };
        let seconds: Vec<i64> = unrolled.timeline.times.iter().map(|time| (time + 500) / 1000).collect();
        assert_eq!(seconds, [100, 105, 110]);
        let events = unrolled.timeline.happened.iter().map(|happened| &happened.event);
        let note = fabdeck_files::capture::TimelineEvent::Note("seen".to_owned());
        assert!(events.clone().any(|event| *event == note), "{:?}", events.collect::<Vec<_>>());
    }
}
