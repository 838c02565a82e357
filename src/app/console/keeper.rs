//! Whoever looked at a source keeps it, and reads its counters again when asked: a port belongs to one thread at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::access::{Progress, Source, Watch};
use crate::session::Look;
use crate::session::interactive::{Outcome, TaskId, sweep_again};

/// A sweep that is wanted.
pub struct Order {
    pub task: TaskId,
    pub not_before: Duration,
    pub stop: Arc<AtomicBool>,
}

/// Nobody is told how far a sweep is: it is no work that somebody waits for.
struct Unseen(Arc<AtomicBool>);

impl Watch for Unseen {
    fn progress(&mut self, _: Progress) {}

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sweeps until nobody orders any more: another look stands, or the session is over.
pub fn keep(
    source: &mut dyn Source,
    mut look: Look,
    orders: &Receiver<Order>,
    mut done: impl FnMut(TaskId, Outcome),
) {
    for Order { task, not_before, stop } in orders {
        let swept = sweep_again(source, &mut look, not_before, &mut Unseen(stop));
        done(task, Outcome::Swept(swept.map_err(|error| error.to_string())));
    }
}
