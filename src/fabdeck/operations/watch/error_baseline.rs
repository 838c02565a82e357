//! The sweep from which error rates are counted.

use std::sync::Arc;

use fabdeck_fabric::counters::ERROR_WINDOW;
use fabdeck_fabric::observe::Sweep;

/// Errors are too rare to judge from seconds, and a week-old baseline is of no use. So the baseline is half an hour to an
/// hour old, or less at the beginning.
#[derive(Clone, Debug, Default)]
pub struct ErrorBaseline {
    first: Option<Arc<Sweep>>,
    /// The next baseline, once it is half an hour old.
    next: Option<Arc<Sweep>>,
}

impl ErrorBaseline {
    pub fn new(first: Arc<Sweep>, next: Arc<Sweep>) -> Self {
        Self { first: Some(first), next: Some(next) }
    }

    pub fn first(&self) -> Option<&Sweep> {
        self.first.as_deref()
    }

    /// The baseline for a new sweep.
    pub fn update(&mut self, after: &Arc<Sweep>) -> Arc<Sweep> {
        let next = self.next.get_or_insert_with(|| after.clone());
        if after.began.saturating_sub(next.began) >= ERROR_WINDOW {
            self.first = Some(std::mem::replace(next, after.clone()));
        }
        self.first.get_or_insert_with(|| after.clone()).clone()
    }
}
