//! The thread that owns a source: it reads the snapshot and later the counters, because a port belongs to one thread
//! at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Instant;

use super::services::SessionContext;
use super::session_source::{RefusingSource, ReplayedCapture, SessionSource, WatchedSource};
use super::throttle::Throttle;
use super::workers::run_task;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::background_task::BackgroundTask;
use crate::console::model::console_options::ConsoleOptions;
use crate::console::model::tasks::TaskId;
use crate::operations::check::known_partitions::add_partition_tables;
use crate::operations::preview::assume::assume;
use crate::operations::replay::replay_frame::{CANCELLED, FrameSource, ReplayFrames, SnapshotMaker};
use crate::operations::replay::watch_recording::WatchRecording;
use crate::system::access::SystemAccess;
use crate::system::local_access::LocalSystemAccess;
use fabdeck_files::capture::{OperatorEntry, RecordingPlayer, TimeSpec, is_capture};
use fabdeck_files::capture_format::CaptureHeader;
use fabdeck_mad::access::Source;

/// Request to the thread that owns the source.
pub enum SourceOrder {
    Work(SourceWork),
    /// Adds an entry to the recording with the time of the request, which may have waited for a sweep.
    Enter(OperatorEntry, Instant),
}

/// A task for the thread.
pub struct SourceWork {
    pub task: TaskId,
    pub job: Arc<dyn BackgroundTask>,
    pub stop: Arc<AtomicBool>,
}

/// Runs the task that opens a source, and afterwards tasks with this source for as long as they come.
pub fn run_source(context: &SessionContext, work: &SourceWork, orders: &Receiver<SourceOrder>) {
    let throttle = Throttle::new(work.task, context.messages.clone(), work.stop.clone());
    let opened = run_task(context, work, &throttle, &mut RefusingSource::closed());
    let Some((snapshot, source)) = opened else { return };
    let mut own = Snapshot::clone(&snapshot);
    // Each sweep has counters of its own.
    own.observation.counters = Vec::new();
    drop(snapshot);
    let Some(open) = session_source(context, own, source) else { return };
    // A cancelled snapshot gets no tasks and takes over no recording.
    let Ok(first) = orders.recv() else { return };
    let mut source = open();
    run_orders(source.as_mut(), std::iter::once(first).chain(orders), |work, source| {
        let throttle = Throttle::silent(work.task, context.messages.clone(), work.stop.clone());
        run_task(context, work, &throttle, source);
    });
}

type SourceMaker<'c> = Box<dyn FnOnce() -> Box<dyn SessionSource> + 'c>;

/// Prepares the source for later tasks; `None` for a file that can be read only once.
fn session_source(
    context: &SessionContext,
    snapshot: Snapshot,
    source: Box<dyn Source>,
) -> Option<SourceMaker<'_>> {
    let (machine, opening) = (&context.machine, &context.opening);
    if snapshot.observation.reading.is_some() && opening.watch.interval_ms > 0 {
        let fresh = WatchRecording::new(
            recording_header(opening),
            opening.watch.past_bytes,
            replay_options(machine, opening),
        );
        let begun = jiff::Timestamp::now().as_millisecond();
        let history = context.history.clone();
        return Some(Box::new(move || Box::new(WatchedSource::new(source, snapshot, history, fresh, begun))));
    }
    if !is_capture(Path::new(&opening.source)) {
        return None;
    }
    drop((source, snapshot));
    let at = opening.given.reach.at.as_deref().and_then(|at| TimeSpec::parse(at).ok());
    // The capture was read for the snapshot; later requests report if it changed since.
    let frames: Box<dyn FrameSource> = match RecordingPlayer::open(Path::new(&opening.source), at) {
        Ok((tape, place)) => Box::new(ReplayFrames::new(tape, place, replay_options(machine, opening))),
        Err(error) => Box::new(RefusingSource { error: error.to_string(), has_recording: true }),
    };
    Some(Box::new(|| Box::new(ReplayedCapture(frames))))
}

/// Performs what is ordered until the channel closes: a newer snapshot replaced this one, or the session ended. A task
/// that was cancelled before its turn does not reach the source.
fn run_orders(
    source: &mut dyn SessionSource,
    orders: impl IntoIterator<Item = SourceOrder>,
    mut run: impl FnMut(&SourceWork, &mut dyn SessionSource),
) {
    for order in orders {
        match order {
            SourceOrder::Enter(entry, then) => source.record_entry(&entry, then),
            SourceOrder::Work(work) if work.stop.load(Ordering::Relaxed) => {
                run(&work, &mut RefusingSource { error: CANCELLED.to_owned(), has_recording: true });
            }
            SourceOrder::Work(work) => {
                run(&work, source);
                source.record_sweep();
            }
        }
    }
}

/// Turns moments of a recording into snapshots, with the names and the assumed engine of the session.
fn replay_options(machine: &LocalSystemAccess, opening: &ConsoleOptions) -> SnapshotMaker {
    let named = opening.given.node_name_map.as_ref().and_then(|file| machine.names(file).ok());
    let mut own = named.map(|(own, _)| own).unwrap_or_default();
    let labels = opening.given.labels.as_ref().and_then(|file| machine.labels(file).ok());
    own.labels = labels.map(|(labels, _)| labels).unwrap_or_default();
    own.hosts.clone_from(&opening.given.host_rules);
    let cabling =
        opening.given.cabling.as_ref().and_then(|file| machine.cabling_plan(file).ok()).map(Arc::new);
    let (source, assumed) = (opening.source.clone(), opening.given.assume);
    Arc::new(move |observation| {
        let mut snapshot = Snapshot::new(&source, observation, &own);
        snapshot.cabling_plan.clone_from(&cabling);
        if let Some(engine) = assumed {
            assume(&mut snapshot, engine).map_err(|refusal| refusal.to_string())?;
        }
        add_partition_tables(&mut snapshot, false);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::model::background_task::TaskOutcome;
    use crate::console::model::task_services::TaskServices;
    use crate::operations::replay::replay_frame::{OpenedRecording, ReplayFrame, SeekRequest};
    use fabdeck_routing::{NoProgress, RouteProgress};

    /// A recording that counts the requests.
    #[derive(Default)]
    struct RecordedCalls(usize);

    impl FrameSource for RecordedCalls {
        fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
            Ok(None)
        }

        fn seek_frame(&mut self, _: SeekRequest, _: &dyn RouteProgress) -> Result<ReplayFrame, String> {
            self.0 += 1;
            Err(format!("asked {}", self.0))
        }
    }

    #[derive(Debug)]
    struct SeekTask;

    impl BackgroundTask for SeekTask {
        fn run(&self, _: &mut dyn TaskServices, _: &dyn RouteProgress) -> Option<Box<dyn TaskOutcome>> {
            None
        }
    }

    #[test]
    fn a_task_cancelled_in_the_queue_does_not_reach_the_source() {
        let orders = [true, false, true, false].into_iter().zip(0..).map(|(stopped, at)| {
            let stop = Arc::new(AtomicBool::new(stopped));
            SourceOrder::Work(SourceWork { task: TaskId(at), job: Arc::new(SeekTask), stop })
        });
        let (mut calls, mut ended) = (ReplayedCapture(Box::new(RecordedCalls::default())), Vec::new());
        run_orders(&mut calls, orders, |work, source| {
            let seek = SeekRequest { place: work.task.0 as usize, deep: true, congestion: 0 };
            let error = source.seek_frame(seek, &NoProgress).unwrap_err();
            ended.push((work.task.0, error));
        });
        let ended: Vec<(u64, &str)> = ended.iter().map(|(task, error)| (*task, error.as_str())).collect();
        assert_eq!(
            ended,
            [(0, CANCELLED), (1, "asked 1"), (2, CANCELLED), (3, "asked 2")],
            "each task gets an outcome, so that none keeps its stop flag"
        );
    }
}
