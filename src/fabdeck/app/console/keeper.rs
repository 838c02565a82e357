//! The thread that owns a source: it reads the snapshot and later the counters, because a port belongs to one thread
//! at a time.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::plan_file;
use crate::session::Look;
use crate::session::interactive::{CANCELLED, Outcome, Past, Recorded, Seek, Swept, TaskId, sweep_again};
use fabdeck_fabric::observe::{Hearsay, Sweep};
use fabdeck_files::capture::{Entry, fitting_jobs};
use fabdeck_files::job_lists::JobList;
use fabdeck_mad::access::{Progress, Source, Watch};
use fabdeck_routing::Pulse;

/// Request to the thread that owns the source.
pub enum Order {
    Work(Work),
    /// Adds an entry to the recording with the time of the request, which may have waited for a sweep.
    Enter(Entry, Instant),
}

/// Request of a task that waits for the outcome.
pub struct Work {
    pub task: TaskId,
    pub wish: Wish,
    pub stop: Arc<AtomicBool>,
}

#[derive(Clone)]
pub enum Wish {
    /// Reads all counters, no sooner than this time on the clock of the source.
    Sweep(Duration),
    /// Reads the timeline of what was recorded so far.
    Unroll,
    /// Goes to a moment of the recording.
    Seek(Seek),
    /// Writes the whole recording to a new file.
    Save(PathBuf),
}

/// A watch that reports no progress, because no task waits for a sweep.
struct Unseen(Arc<AtomicBool>);

impl Watch for Unseen {
    fn progress(&mut self, _: Progress) {}

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Pulse for Unseen {
    fn step(&self, _: usize, _: usize) {}

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Work {
    /// Outcome of a request that was cancelled before the thread reached it.
    fn overtaken(&self) -> Option<Outcome> {
        let error = || CANCELLED.to_owned();
        self.stop.load(Ordering::Relaxed).then(|| match &self.wish {
            Wish::Sweep(_) => Outcome::Swept(Err(error())),
            Wish::Unroll => Outcome::Unrolled(Err(error())),
            Wish::Seek(_) => Outcome::Sought(Err(error())),
            Wish::Save(to) => Outcome::Saved { to: to.clone(), result: Err(error()) },
        })
    }
}

/// Recording of a watch. It outlives a snapshot: after the fabric is read again the same recording goes on.
#[derive(Clone, Debug, Default)]
pub struct Kept(Arc<Mutex<Held>>);

#[derive(Debug, Default)]
struct Held {
    /// Number of the thread that records at present.
    turn: u64,
    past: Option<Past>,
    last: Option<Last>,
    /// The running jobs as the console last read them. A live source is asked; a capture answers with the jobs of its
    /// time.
    jobs: Hearsay,
}

/// The last recorded sweep: its time, its begin on the clock of the source, and its begin on the local clock.
#[derive(Clone, Copy, Debug)]
struct Last {
    time: i64,
    began: Duration,
    here: Instant,
}

impl Kept {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the list of running jobs (or the error), so that the next sweep is recorded with it.
    pub fn hear(&self, came: Result<&JobList, &str>) {
        let fitting = fitting_jobs(came);
        self.held().jobs.take(jiff::Timestamp::now().as_millisecond(), fitting);
    }

    /// Makes the caller the thread that records. Returns its number and the last sweep, from which its times go on.
    fn take_over(&self, fresh: Past) -> (u64, Option<Last>) {
        let mut held = self.held();
        held.turn += 1;
        match &mut held.past {
            Some(past) if past.is_kept() => past.look_with(fresh),
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
struct Clock {
    later: Duration,
    earlier: Duration,
}

impl Clock {
    /// Returns the offset by which a sweep that began at `began` counts as begun at `meant`.
    fn between(began: Duration, meant: Duration) -> Self {
        Self { later: meant.saturating_sub(began), earlier: began.saturating_sub(meant) }
    }

    fn of_source(self, time: Duration) -> Duration {
        (time + self.earlier).saturating_sub(self.later)
    }

    fn set(self, swept: &mut Swept) {
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
struct Times {
    /// Time of the snapshot.
    begun: i64,
    first: Option<Duration>,
    /// The last sweep before this snapshot.
    before: Option<Last>,
    clock: Clock,
}

impl Times {
    /// Returns the time of a sweep by the clock of the source, because a simulator's time runs at its own pace. That
    /// clock goes on from the one before.
    fn of(&mut self, swept: &mut Swept) -> i64 {
        let own = swept.sweep.began;
        let passed = own.saturating_sub(*self.first.get_or_insert(own));
        let time = self.begun.saturating_add(i64::try_from(passed.as_millis()).unwrap_or(i64::MAX));
        if let Some(last) = self.before.take() {
            let since = u64::try_from(time.saturating_sub(last.time)).unwrap_or(0);
            self.clock = Clock::between(own, last.began + Duration::from_millis(since));
        }
        self.clock.set(swept);
        time
    }
}

/// Answers requests until the channel closes: a newer snapshot replaced this one, or the session ended. Each sweep is
/// recorded, so that a paused console can step back through them.
pub fn keep(
    source: &mut dyn Source,
    mut look: Look,
    orders: &Receiver<Order>,
    (kept, fresh, begun): (&Kept, Past, i64),
    mut done: impl FnMut(TaskId, Outcome),
) {
    // A cancelled snapshot gets no requests and takes over no recording.
    let mut fresh = Some(fresh);
    let (mut turn, mut times) = (0, Times { begun, first: None, before: None, clock: Clock::default() });
    for order in orders {
        if let Some(fresh) = fresh.take() {
            (turn, times.before) = kept.take_over(fresh);
        }
        let order = match order {
            Order::Work(work) => work,
            Order::Enter(entry, then) => {
                let mut held = kept.held();
                let after =
                    held.last.map_or(Duration::ZERO, |last| then.saturating_duration_since(last.here));
                held.past.iter_mut().for_each(|past| past.enter(after, &entry));
                continue;
            }
        };
        if let Some(outcome) = order.overtaken() {
            done(order.task, outcome);
            continue;
        }
        let Work { task, wish, stop } = order;
        match wish {
            Wish::Save(to) => {
                let wanted = || !stop.load(Ordering::Relaxed);
                let bytes = of_past(kept, Past::whole);
                let result = bytes.and_then(|bytes| plan_file::write(&bytes, &to, AGAIN, wanted));
                done(task, Outcome::Saved { to, result });
            }
            Wish::Unroll => done(task, Outcome::Unrolled(of_past(kept, Past::unroll))),
            Wish::Seek(seek) => {
                let scene = of_past(kept, |past| past.seek(seek, &Unseen(stop)));
                done(task, Outcome::Sought(scene.map(Box::new)));
            }
            Wish::Sweep(not_before) => {
                let here = Instant::now();
                let swept =
                    sweep_again(source, &mut look, times.clock.of_source(not_before), &mut Unseen(stop));
                let mut swept = match swept {
                    Ok(swept) => swept,
                    Err(error) => {
                        done(task, Outcome::Swept(Err(error.to_string())));
                        continue;
                    }
                };
                let time = times.of(&mut swept);
                let sweep = swept.sweep.clone();
                done(task, Outcome::Swept(Ok(swept)));
                let mut held = kept.held();
                // A newer snapshot may have taken the recording over in the meantime; it goes on from what was there.
                if held.turn == turn
                    && let Held { past: Some(past), jobs, last, .. } = &mut *held
                {
                    look.observation.jobs = jobs.last().cloned();
                    if past.record(time, &look.observation, &sweep) {
                        *last = Some(Last { time, began: sweep.began, here });
                    }
                    look.observation.jobs = None;
                }
            }
        }
    }
}

/// Advice for a file name that is already in use.
const AGAIN: &str = ":save takes another name";

fn of_past<T>(kept: &Kept, ask: impl FnOnce(&mut Past) -> Result<T, String>) -> Result<T, String> {
    let mut held = kept.held();
    held.past.as_mut().map_or_else(|| Err("nothing of the watch is kept".to_owned()), ask)
}

/// Answers requests for moments of a recording until the channel closes.
pub fn play(recorded: &mut dyn Recorded, orders: &Receiver<Order>, mut done: impl FnMut(TaskId, Outcome)) {
    for order in orders {
        // A capture that is replayed gets no new entries.
        let Order::Work(order) = order else { continue };
        let overtaken = order.overtaken();
        let Work { task, wish, stop } = order;
        let outcome = overtaken.unwrap_or_else(|| match wish {
            Wish::Sweep(_) => Outcome::Swept(Err("a recording cannot be swept".to_owned())),
            Wish::Unroll => Outcome::Unrolled(recorded.unroll()),
            Wish::Seek(seek) => Outcome::Sought(recorded.seek(seek, &Unseen(stop)).map(Box::new)),
            Wish::Save(to) => Outcome::Saved { to, result: Err("it is a capture already".to_owned()) },
        });
        done(task, outcome);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;
    use crate::session::interactive::{Scene, Unrolled};

    /// Counts the requests, and whether each of them was cancelled.
    #[derive(Default)]
    struct Asked {
        unrolled: usize,
        sought: Vec<(usize, bool)>,
    }

    impl Recorded for Asked {
        fn unroll(&mut self) -> Result<Option<Unrolled>, String> {
            self.unrolled += 1;
            Ok(None)
        }

        fn seek(&mut self, seek: Seek, pulse: &dyn Pulse) -> Result<Scene, String> {
            self.sought.push((seek.place, pulse.cancelled()));
            Err("asked".to_owned())
        }
    }

    #[test]
    fn what_was_cancelled_before_its_turn_is_not_begun() {
        let (orders, ordered) = channel();
        let seek = |place| Wish::Seek(Seek { place, deep: true, congestion: 0 });
        let wishes = [(seek(1), true), (Wish::Unroll, true), (seek(2), false), (Wish::Unroll, false)];
        for (at, (wish, stopped)) in wishes.into_iter().enumerate() {
            let stop = Arc::new(AtomicBool::new(stopped));
            orders.send(Order::Work(Work { task: TaskId(at as u64), wish, stop })).unwrap();
        }
        drop(orders);
        let (mut asked, mut ended) = (Asked::default(), Vec::new());
        play(&mut asked, &ordered, |task, _| ended.push(task.0));
        assert_eq!((asked.unrolled, asked.sought), (1, vec![(2, false)]));
        assert_eq!(ended, [0, 1, 2, 3], "each is answered, for nobody to keep its stop");
    }

    /// A second snapshot goes on with the same recording: moments, notes, and a clock that does not jump.
    #[test]
    fn a_look_again_goes_on_with_what_is_kept() {
        use crate::script::{Machine, Outside, Reach};
        use fabdeck_files::capture_format::Header;
        use fabdeck_mad::access::{Unwatched, Wanted};
        let kept = Kept::default();
        let look_and_keep = |begun: i64, orders: Vec<Wish>, note: Option<&str>| {
            let mut source = Machine::default().open("sim:kary,k=2,n=2", &Reach::default()).unwrap();
            let wanted = Wanted { tables: true, counters: true, ..Wanted::default() };
            let observed = source.observe(wanted, &mut Unwatched).unwrap();
            let look = Look::new("sim", observed, &Default::default());
            let (sender, ordered) = channel();
            for (at, wish) in orders.into_iter().enumerate() {
                let stop = Arc::default();
                sender.send(Order::Work(Work { task: TaskId(at as u64), wish, stop })).unwrap();
            }
            let note = note.map(|text| Order::Enter(Entry::Note(text.to_owned()), Instant::now()));
            note.into_iter().for_each(|note| sender.send(note).unwrap());
            drop(sender);
            let header = Header {
                format: "fabdeck.capture/1".into(),
                fabdeck: "0".into(),
                source: "sim".into(),
                interval_ms: 1000,
                utc_offset_s: 0,
            };
            let looking = Arc::new(|observed| Ok(Look::new("sim", observed, &Default::default())));
            let mut outcomes = Vec::new();
            let past = Past::new(header, 1 << 24, looking);
            keep(source.as_mut(), look, &ordered, (&kept, past, begun), |_, outcome| outcomes.push(outcome));
            outcomes
        };
        let sweep = |seconds| Wish::Sweep(Duration::from_secs(seconds));
        let began = |outcome: &Outcome| match outcome {
            Outcome::Swept(Ok(swept)) => swept.sweep.began,
            other => panic!("{other:?}"),
        };
        let before = look_and_keep(100_000, vec![sweep(0), sweep(5)], Some("seen"));
        assert!(
            look_and_keep(105_000, Vec::new(), None).is_empty(),
            "one that is cancelled takes nothing over"
        );
        let after = look_and_keep(110_000, vec![sweep(0), Wish::Unroll], None);
        let last = began(&before[1]);
        let since = began(&after[0]).saturating_sub(last).as_millis();
        assert!((4_900..=5_100).contains(&since), "five seconds by the wall: {since}");
        let Outcome::Unrolled(Ok(Some(unrolled))) = &after[1] else { panic!("{:?}", after[1]) };
        let seconds: Vec<i64> = unrolled.timeline.times.iter().map(|time| (time + 500) / 1000).collect();
        assert_eq!(seconds, [100, 105, 110]);
        let told = unrolled.timeline.happened.iter().map(|happened| &happened.told);
        let note = fabdeck_files::capture::Told::Note("seen".to_owned());
        assert!(told.clone().any(|told| *told == note), "{:?}", told.collect::<Vec<_>>());
    }
}
