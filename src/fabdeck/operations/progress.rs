//! Progress of readings and engines, which the front end shows as one line.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::system::stop_flag::StopFlag;
use fabdeck_mad::access::{ReadObserver, ReadProgress};
use fabdeck_routing::RouteProgress;

/// Interval between two looks at the progress of an engine.
const ENGINE_INTERVAL: Duration = Duration::from_millis(25);

/// A line that renews itself. It disappears when it is dropped.
pub trait ProgressLine {
    /// Shows a text, which is made only if the line is due.
    fn show_line(&mut self, text: &dyn Fn() -> String);
}

/// Progress of a reading, which ends when the stop flag is set.
pub struct ReadingProgress<'p> {
    line: Box<dyn ProgressLine + 'p>,
    stop: Option<StopFlag>,
}

impl<'p> ReadingProgress<'p> {
    pub fn new(line: Box<dyn ProgressLine + 'p>, stop: Option<&StopFlag>) -> Self {
        Self { line, stop: stop.cloned() }
    }
}

impl ReadObserver for ReadingProgress<'_> {
    fn report_progress(&mut self, ReadProgress { phase, done, known }: ReadProgress) {
        self.line.show_line(&|| format!("reading {phase}: {done} of {known}"));
    }

    fn is_cancelled(&self) -> bool {
        self.stop.as_ref().is_some_and(StopFlag::is_requested)
    }
}

/// Reports no progress of an engine, but ends it when the stop flag is set.
pub struct StopOnlyProgress<'s>(pub Option<&'s StopFlag>);

impl RouteProgress for StopOnlyProgress<'_> {
    fn report(&self, _: usize, _: usize) {}

    fn is_cancelled(&self) -> bool {
        self.0.is_some_and(StopFlag::is_requested)
    }
}

/// Progress of an engine, reported from any thread. Routing counts separately from the certificate.
#[derive(Default)]
struct EngineProgress<'s> {
    done: AtomicUsize,
    of: AtomicUsize,
    stop: Option<&'s StopFlag>,
}

impl RouteProgress for EngineProgress<'_> {
    fn report(&self, done: usize, of: usize) {
        self.done.store(done, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.stop.is_some_and(StopFlag::is_requested)
    }
}

impl EngineProgress<'_> {
    fn percent(&self) -> usize {
        let (done, of) = (self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed));
        (done.min(of) * 100).checked_div(of).unwrap_or(0)
    }
}

/// Runs an engine in another thread and shows its progress.
pub fn run_engine<T: Send>(
    mut line: Box<dyn ProgressLine + '_>,
    engine: &str,
    stop: Option<&StopFlag>,
    work: impl FnOnce(&dyn RouteProgress) -> T + Send,
) -> T {
    let (progress, watcher) = (EngineProgress { stop, ..EngineProgress::default() }, std::thread::current());
    let ended = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work(&progress);
            watcher.unpark();
            done
        });
        while !worker.is_finished() {
            std::thread::park_timeout(ENGINE_INTERVAL);
            line.show_line(&|| format!("{engine}: {} %", progress.percent()));
        }
        worker.join()
    });
    drop(line);
    ended.unwrap_or_else(|bug| std::panic::resume_unwind(bug))
}
