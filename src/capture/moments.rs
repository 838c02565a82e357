//! The moments of a capture, to be stepped through.

use super::cursor::Store;
use crate::files::capture::{Bytes, Damage, Reader, flags};

/// A store whose moments are shown by the reader it holds.
#[derive(Debug)]
pub struct Moments<B>(pub Reader<B>);

impl<B: Bytes> Moments<B> {
    /// Steps of more than this many intervals are gaps: sweeps of large fabrics take their time.
    const PATIENCE: i64 = 3;
}

impl<B: Bytes> Store for Moments<B> {
    type Moment = ();
    type Damage = Damage;

    fn len(&self) -> usize {
        self.0.moments().len()
    }

    fn time(&self, at: usize) -> i64 {
        self.0.slot(self.0.moments()[at]).lead.time
    }

    /// The fabric changed, or something was said since the moment before.
    fn eventful(&self, at: usize) -> bool {
        let moments = self.0.moments();
        let first = at.checked_sub(1).map_or(0, |before| moments[before] + 1);
        (first..=moments[at]).any(|slot| {
            let lead = self.0.slot(slot).lead;
            lead.has(flags::EVENT) || lead.has(flags::STATE_MOVED) && !lead.has(flags::STATE_WHOLE)
        })
    }

    fn longest_step(&self) -> i64 {
        let interval = self.0.header().interval_ms.max(1);
        i64::try_from(interval).unwrap_or(i64::MAX).saturating_mul(Self::PATIENCE)
    }

    fn read(&mut self, at: usize) -> Result<(), Damage> {
        let slot = self.0.moments()[at];
        self.0.show(slot)
    }
}
