//! The moments of a capture, to be stepped through.

use super::cursor::Store;
use crate::files::capture::{Bytes, Damage, Reader, flags};

/// A store whose moments are shown by the reader it holds.
#[derive(Debug)]
pub struct Moments<B> {
    pub reader: Reader<B>,
    longest_step: i64,
}

impl<B: Bytes> Moments<B> {
    pub fn new(reader: Reader<B>) -> Self {
        /// More than so many steps at once are a gap.
        const PATIENCE: i64 = 3;
        let times = reader.moments().iter().map(|slot| reader.slot(*slot).lead.time);
        let times: Vec<i64> = times.collect();
        let mut steps: Vec<i64> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let middle = steps.len() / 2;
        // Sweeps of a large fabric may take longer than the interval asked for.
        let usual = if steps.is_empty() { 0 } else { *steps.select_nth_unstable(middle).1 };
        let interval = i64::try_from(reader.header().interval_ms).unwrap_or(i64::MAX);
        Self { reader, longest_step: interval.max(usual).max(1).saturating_mul(PATIENCE) }
    }
}

impl<B: Bytes> Store for Moments<B> {
    type Moment = ();
    type Damage = Damage;

    fn len(&self) -> usize {
        self.reader.moments().len()
    }

    fn time(&self, at: usize) -> i64 {
        self.reader.slot(self.reader.moments()[at]).lead.time
    }

    /// The fabric changed, or something was said since the moment before.
    fn eventful(&self, at: usize) -> bool {
        let moments = self.reader.moments();
        let first = at.checked_sub(1).map_or(0, |before| moments[before] + 1);
        (first..=moments[at]).any(|slot| {
            let lead = self.reader.slot(slot).lead;
            lead.has(flags::EVENT) || lead.has(flags::STATE_MOVED) && !lead.has(flags::STATE_WHOLE)
        })
    }

    fn longest_step(&self) -> i64 {
        self.longest_step
    }

    fn read(&mut self, at: usize) -> Result<(), Damage> {
        let slot = self.reader.moments()[at];
        self.reader.show(slot)
    }
}
