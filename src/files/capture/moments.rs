//! The moments of a capture, for stepping through.

use super::at::At;
use super::cursor::Store;
use super::timeline::anchors;
use crate::capture_format::{Bytes, Damage, Reader, flags};
use fabdeck_mad::access::SourceError;

/// A store whose moments are shown by its reader.
#[derive(Debug)]
pub struct Moments<B> {
    pub reader: Reader<B>,
    longest_step: i64,
}

impl<B: Bytes> Moments<B> {
    pub fn new(reader: Reader<B>) -> Self {
        /// A time of more than this many usual steps is a gap.
        const PATIENCE: i64 = 3;
        let times = reader.moments().iter().map(|slot| reader.slot(*slot).lead.time);
        let times: Vec<i64> = times.collect();
        let mut steps: Vec<i64> = times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let middle = steps.len() / 2;
        // Sweeps of a large fabric may take longer than the requested interval.
        let usual = if steps.is_empty() { 0 } else { *steps.select_nth_unstable(middle).1 };
        let interval = i64::try_from(reader.header().interval_ms).unwrap_or(i64::MAX);
        Self { reader, longest_step: interval.max(usual).max(1).saturating_mul(PATIENCE) }
    }

    /// Whether the records of a moment follow those of the moment before: none is missing, and the recording is the
    /// same.
    pub fn unbroken(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1) else { return false };
        let ends = self.reader.moments();
        let lead = |slot: usize| self.reader.slot(slot).lead;
        (ends[before] + 1..=ends[place]).all(|slot| lead(slot).first == lead(slot - 1).next())
    }

    /// Whether a moment can be compared with the moment before, by the timeline's rule: no gap and no break.
    pub fn follows(&self, place: usize) -> bool {
        let step = |before: usize| self.time(place).saturating_sub(self.time(before));
        self.unbroken(place) && place.checked_sub(1).is_some_and(|before| step(before) <= self.longest_step)
    }

    /// The moment from which errors are counted at another one, as in the console.
    pub fn told_since(&self, place: usize) -> usize {
        let series = (1..=place).rev().find(|at| !self.unbroken(*at)).unwrap_or(0);
        let mut elapsed = vec![0i64];
        for at in 1..=place {
            let step = self.time(at).saturating_sub(self.time(at - 1)).max(0);
            elapsed.push(elapsed[at - 1].saturating_add(step));
        }
        anchors(series, &elapsed).0
    }

    /// The earliest and the latest time of a moment.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let times = || (0..self.len()).map(|at| self.time(at));
        times().min().zip(times().max())
    }

    /// The time that a text means, which must be within the capture.
    pub fn time_of(&self, at: At) -> Result<i64, SourceError> {
        let reader = &self.reader;
        let Some((from, to)) = self.bounds() else { return Err(reader.unreadable(None).into()) };
        let time = at.within(from, to, reader.header().utc_offset_s);
        let side = match () {
            () if time < from => "before the capture begins",
            () if time.saturating_sub(at.slack()) > to && reader.ended() => "after the capture ends",
            () if time.saturating_sub(at.slack()) > to => {
                "after what is left of the capture, whose end is missing: cut short, or still being recorded"
            }
            () => return Ok(time),
        };
        let (name, meant) = (reader.name(), reader.clock(time.saturating_sub(at.slack())));
        Err(SourceError::Name {
            code: "FD-5063",
            what: format!("{name}: {meant} is {side}"),
            hint: format!("give a time from {} to {}", reader.clock(from), reader.clock(to)),
        })
    }
}

impl<B: Bytes> Moments<B> {
    /// The beginning of the span that a text means, not before the capture's beginning. Used to add new records there.
    pub fn beginning_of(&self, at: At) -> Result<i64, SourceError> {
        let begins = self.time_of(at)?.saturating_sub(at.slack());
        Ok(self.bounds().map_or(begins, |(from, _)| begins.max(from)))
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

    /// Whether the fabric changed, or a note or news was recorded, since the moment before.
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
