//! Whoever looked at a source keeps it, and reads its counters again when asked: a port belongs to one thread at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::access::{Progress, Source, Watch};
use crate::session::Look;
use crate::session::interactive::Past;
use crate::session::interactive::{Outcome, Recorded, Seek, TaskId, sweep_again};

/// What is wanted of it.
pub struct Order {
    pub task: TaskId,
    pub wish: Wish,
    pub stop: Arc<AtomicBool>,
}

#[derive(Clone, Copy)]
pub enum Wish {
    /// All counters again, no sooner than this by the clock of the source.
    Sweep(Duration),
    /// What was recorded so far.
    Unroll,
    /// A moment of it.
    Seek(Seek),
}

/// Nobody is told how far a sweep is: it is no work that somebody waits for.
struct Unseen(Arc<AtomicBool>);

impl Watch for Unseen {
    fn progress(&mut self, _: Progress) {}

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
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
    let mut first = None;
    for Order { task, wish, stop } in orders {
        match wish {
            Wish::Unroll => done(task, Outcome::Unrolled(past.unroll())),
            Wish::Seek(seek) => done(task, Outcome::Sought(past.seek(seek).map(Box::new))),
            Wish::Sweep(not_before) => {
                let swept = sweep_again(source, &mut look, not_before, &mut Unseen(stop));
                let sweep = swept.as_ref().ok().map(|swept| swept.sweep.clone());
                done(task, Outcome::Swept(swept.map_err(|error| error.to_string())));
                let Some(sweep) = sweep else { continue };
                // By the clock of the source: in a simulator time passes as it likes.
                let passed = sweep.began.saturating_sub(*first.get_or_insert(sweep.began));
                let passed = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
                past.record(begun.saturating_add(passed), &look.observation, &sweep);
            }
        }
    }
}

/// Shows moments of a recording until nobody asks any more.
pub fn play(recorded: &mut dyn Recorded, orders: &Receiver<Order>, mut done: impl FnMut(TaskId, Outcome)) {
    for Order { task, wish, .. } in orders {
        done(
            task,
            match wish {
                Wish::Sweep(_) => Outcome::Swept(Err("a recording cannot be swept".to_owned())),
                Wish::Unroll => Outcome::Unrolled(recorded.unroll()),
                Wish::Seek(seek) => Outcome::Sought(recorded.seek(seek).map(Box::new)),
            },
        );
    }
}
