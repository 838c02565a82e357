//! The source of a session, as the thread that owns it answers for it: a live fabric with the recording of its watch, or
//! a capture.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::throttle::{Throttle, ThrottledWatch};
use crate::catalogue::snapshot::Snapshot;
use crate::operations::replay::replay_frame::{FrameSource, OpenedRecording, ReplayFrame, SeekRequest};
use crate::operations::replay::watch_recording::WatchRecording;
use crate::operations::watch::sweep::{SweepResult, read_sweep};
use fabdeck_fabric::observe::{JobListState, Sweep};
use fabdeck_files::capture::{OperatorEntry, recordable_jobs};
use fabdeck_files::job_lists::JobList;
use fabdeck_mad::access::Source;
use fabdeck_routing::RouteProgress;

/// The source of a session: its recording, and its counters.
pub trait SessionSource: FrameSource {
    /// Reads all counters, no sooner than this time on the clock of the source.
    fn read_sweep(&mut self, not_before: Duration, progress: &Throttle) -> Result<SweepResult, String>;

    /// Records the last sweep, after its result was sent: the screens do not wait for it.
    fn record_sweep(&mut self) {}

    /// Adds an entry to the recording with the time of the request, which may have waited for a sweep.
    fn record_entry(&mut self, _entry: &OperatorEntry, _then: Instant) {}
}

/// A source that is closed, or that a cancelled task does not reach.
pub struct RefusingSource {
    pub error: String,
    /// Whether the source may have a recording, which then cannot be opened.
    pub has_recording: bool,
}

impl RefusingSource {
    /// For tasks where no thread owns a source. Sources from files have no recording.
    pub fn closed() -> Self {
        Self {
            error: "FD-9005: the source is no longer open; r opens it again".to_owned(),
            has_recording: false,
        }
    }
}

impl SessionSource for RefusingSource {
    fn read_sweep(&mut self, _: Duration, _: &Throttle) -> Result<SweepResult, String> {
        Err(self.error.clone())
    }
}

impl FrameSource for RefusingSource {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        if self.has_recording { Err(self.error.clone()) } else { Ok(None) }
    }

    fn capture_bytes(&mut self) -> Result<Vec<u8>, String> {
        Err(self.error.clone())
    }

    fn seek_frame(&mut self, _: SeekRequest, _: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        Err(self.error.clone())
    }
}

/// A capture that is replayed; it gets no new entries.
pub struct ReplayedCapture(pub Box<dyn FrameSource>);

impl SessionSource for ReplayedCapture {
    fn read_sweep(&mut self, _: Duration, _: &Throttle) -> Result<SweepResult, String> {
        Err("a recording cannot be swept".to_owned())
    }
}

impl FrameSource for ReplayedCapture {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        self.0.open_recording()
    }

    fn capture_bytes(&mut self) -> Result<Vec<u8>, String> {
        Err("this is a capture already".to_owned())
    }

    fn seek_frame(&mut self, seek: SeekRequest, progress: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        self.0.seek_frame(seek, progress)
    }
}

/// A fabric under watch. Each sweep is recorded, so that a paused console can step back through them.
pub struct WatchedSource {
    source: Box<dyn Source>,
    snapshot: Snapshot,
    history: WatchHistory,
    /// Number of this source among those that recorded.
    turn: u64,
    times: SweepTimes,
    /// The last sweep with its time and its begin on the local clock, until it is recorded.
    unrecorded: Option<(Arc<Sweep>, i64, Instant)>,
}

impl WatchedSource {
    /// Takes the recording over. `begun` is the time of the snapshot.
    pub fn new(
        source: Box<dyn Source>,
        snapshot: Snapshot,
        history: WatchHistory,
        fresh: WatchRecording,
        begun: i64,
    ) -> Self {
        let (turn, before) = history.take_over(fresh);
        let times = SweepTimes { begun, first: None, before, clock: ClockOffset::default() };
        Self { source, snapshot, history, turn, times, unrecorded: None }
    }

    fn with_recording<T>(
        &self,
        ask: impl FnOnce(&mut WatchRecording) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut held = self.history.lock();
        held.past.as_mut().map_or_else(|| Err("the watch has no recording".to_owned()), ask)
    }
}

impl SessionSource for WatchedSource {
    fn read_sweep(&mut self, not_before: Duration, progress: &Throttle) -> Result<SweepResult, String> {
        let here = Instant::now();
        let not_before = self.times.clock.to_session_time(not_before);
        let swept =
            read_sweep(self.source.as_mut(), &mut self.snapshot, not_before, &mut ThrottledWatch(progress));
        let mut swept = swept.map_err(|error| error.to_string())?;
        let time = self.times.of(&mut swept);
        self.unrecorded = Some((swept.sweep.clone(), time, here));
        Ok(swept)
    }

    /// Does nothing once a newer snapshot has taken the recording over: that one continues it.
    fn record_sweep(&mut self) {
        let Some((sweep, time, here)) = self.unrecorded.take() else { return };
        let mut held = self.history.lock();
        if held.turn != self.turn {
            return;
        }
        let WatchHistoryState { past: Some(past), jobs, last, .. } = &mut *held else { return };
        let observation = &mut self.snapshot.observation;
        observation.jobs = jobs.last().cloned();
        if past.record(time, observation, &sweep) {
            *last = Some(LastSweep { time, began: sweep.began, here });
        }
        observation.jobs = None;
    }

    fn record_entry(&mut self, entry: &OperatorEntry, then: Instant) {
        let mut held = self.history.lock();
        let after = held.last.map_or(Duration::ZERO, |last| then.saturating_duration_since(last.here));
        held.past.iter_mut().for_each(|past| past.add_entry(after, entry));
    }
}

impl FrameSource for WatchedSource {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        self.with_recording(WatchRecording::open_recording)
    }

    fn capture_bytes(&mut self) -> Result<Vec<u8>, String> {
        self.with_recording(WatchRecording::capture_bytes)
    }

    fn seek_frame(&mut self, seek: SeekRequest, progress: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        self.with_recording(|past| past.seek_frame(seek, progress))
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

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::console::model::tasks::TaskId;

    /// A second snapshot continues the same recording: moments, notes, and a clock that does not jump.
    #[test]
    fn a_second_snapshot_continues_the_history() {
        use crate::system::access::{SourceOptions, SystemAccess};
        use crate::system::local_access::LocalSystemAccess;
        use fabdeck_files::capture_format::CaptureHeader;
        use fabdeck_mad::access::{NoObserver, ReadOptions};
        let history = WatchHistory::default();
        let open = |begun: i64| {
            let mut source =
                LocalSystemAccess::default().open("sim:kary,k=2,n=2", &SourceOptions::default()).unwrap();
            let wanted = ReadOptions { tables: true, counters: true, ..ReadOptions::default() };
            let observed = source.observe(wanted, &mut NoObserver).unwrap();
            let snapshot = Snapshot::new("sim", observed, &Default::default());
            let header = CaptureHeader {
                format: "fabdeck.capture/1".into(),
                fabdeck: "0".into(),
                source: "sim".into(),
                interval_ms: 1000,
                utc_offset_s: 0,
            };
            let make_snapshot = Arc::new(|observed| Ok(Snapshot::new("sim", observed, &Default::default())));
            let past = WatchRecording::new(header, 1 << 24, make_snapshot);
            WatchedSource::new(source, snapshot, history.clone(), past, begun)
        };
        let (messages, _words) = unbounded_channel();
        let progress = Throttle::silent(TaskId(0), messages, Arc::default());
        let sweep = |source: &mut WatchedSource, seconds| {
            let swept = source.read_sweep(Duration::from_secs(seconds), &progress).unwrap();
            source.record_sweep();
            swept.sweep.began
        };
        let mut before = open(100_000);
        sweep(&mut before, 0);
        let last = sweep(&mut before, 5);
        before.record_entry(&OperatorEntry::Note("seen".to_owned()), Instant::now());
        let mut after = open(110_000);
        let since = sweep(&mut after, 0).saturating_sub(last).as_millis();
        assert!((4_900..=5_100).contains(&since), "five seconds by the wall: {since}");
        let unrolled = after.open_recording().unwrap().unwrap();
        let seconds: Vec<i64> = unrolled.timeline.times.iter().map(|time| (time + 500) / 1000).collect();
        assert_eq!(seconds, [100, 105, 110]);
        let events = unrolled.timeline.happened.iter().map(|happened| &happened.event);
        let note = fabdeck_files::capture::TimelineEvent::Note("seen".to_owned());
        assert!(events.clone().any(|event| *event == note), "{:?}", events.collect::<Vec<_>>());
    }
}
