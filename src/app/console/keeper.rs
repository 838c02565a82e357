//! Whoever looked at a source keeps it, and reads its counters again when asked: a port belongs to one thread at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use super::plan_file;
use crate::access::{Progress, Source, Watch};
use crate::capture::Entry;
use crate::routing::Pulse;
use crate::session::Look;
use crate::session::interactive::Past;
use crate::session::interactive::{CANCELLED, Outcome, Recorded, Seek, TaskId, sweep_again};

/// What is wanted of it.
pub enum Order {
    Work(Work),
    /// Into the recording, as of then: it may have waited for a sweep.
    Enter(Entry, Instant),
}

/// Somebody waits for what comes of it.
pub struct Work {
    pub task: TaskId,
    pub wish: Wish,
    pub stop: Arc<AtomicBool>,
}

#[derive(Clone)]
pub enum Wish {
    /// All counters again, no sooner than this by the clock of the source.
    Sweep(Duration),
    /// What was recorded so far.
    Unroll,
    /// A moment of it.
    Seek(Seek),
    /// All of it, in a new file.
    Save(PathBuf),
}

/// Nobody is told how far a sweep is: it is no work that somebody waits for.
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
    /// What comes of it where it was cancelled before its turn: nothing is done for it.
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

/// Sweeps until nobody orders any more: another look stands, or the session is over. What is swept is recorded, for
/// whoever pauses to step back through it.
pub fn keep(
    source: &mut dyn Source,
    mut look: Look,
    orders: &Receiver<Order>,
    (mut past, begun): (Past, i64),
    mut done: impl FnMut(TaskId, Outcome),
) {
    let (mut first, mut last) = (None, None::<Instant>);
    for order in orders {
        let order = match order {
            Order::Work(work) => work,
            Order::Enter(entry, then) => {
                let after = last.map_or(Duration::ZERO, |last| then.saturating_duration_since(last));
                past.enter(after, &entry);
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
                let result = past.whole().and_then(|bytes| plan_file::write(&bytes, &to, wanted));
                done(task, Outcome::Saved { to, result });
            }
            Wish::Unroll => done(task, Outcome::Unrolled(past.unroll())),
            Wish::Seek(seek) => done(task, Outcome::Sought(past.seek(seek, &Unseen(stop)).map(Box::new))),
            Wish::Sweep(not_before) => {
                let swept = sweep_again(source, &mut look, not_before, &mut Unseen(stop));
                let sweep = swept.as_ref().ok().map(|swept| swept.sweep.clone());
                done(task, Outcome::Swept(swept.map_err(|error| error.to_string())));
                let Some(sweep) = sweep else { continue };
                // By the clock of the source: in a simulator time passes as it likes.
                let passed = sweep.began.saturating_sub(*first.get_or_insert(sweep.began));
                let passed = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
                last = Some(Instant::now());
                past.record(begun.saturating_add(passed), &look.observation, &sweep);
            }
        }
    }
}

/// Shows moments of a recording until nobody asks any more.
pub fn play(recorded: &mut dyn Recorded, orders: &Receiver<Order>, mut done: impl FnMut(TaskId, Outcome)) {
    for order in orders {
        // Nothing is written into what is played.
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

    /// Counts what it is asked for, and whether it heard that nobody waits.
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
}
