//! The moments of a capture, for stepping through.

use super::cursor::MomentStore;
use super::time_spec::TimeSpec;
use super::timeline::error_anchors;
use crate::capture_format::{ByteSource, CaptureReader, Damage, flags};
use fabdeck_mad::access::SourceError;

/// A store whose moments are shown by its reader.
#[derive(Debug)]
pub struct Moments<B> {
    pub reader: CaptureReader<B>,
    longest_step: i64,
}

impl<B: ByteSource> Moments<B> {
    pub fn new(reader: CaptureReader<B>) -> Self {
        /// A time of more than this many usual steps is a gap.
        const PATIENCE: i64 = 3;
        let times = reader.moments().iter().map(|slot| reader.frame_slot(*slot).lead.time);
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
    pub fn is_unbroken(&self, place: usize) -> bool {
        let Some(before) = place.checked_sub(1) else { return false };
        let ends = self.reader.moments();
        let lead = |slot: usize| self.reader.frame_slot(slot).lead;
        (ends[before] + 1..=ends[place]).all(|slot| lead(slot).first == lead(slot - 1).next_record())
    }

    /// Whether a moment can be compared with the moment before, by the timeline's rule: no gap and no break.
    pub fn is_comparable(&self, place: usize) -> bool {
        let step = |before: usize| self.time(place).saturating_sub(self.time(before));
        self.is_unbroken(place)
            && place.checked_sub(1).is_some_and(|before| step(before) <= self.longest_step)
    }

    /// The moment from which errors are counted at another one, as in the console.
    pub fn errors_since(&self, place: usize) -> usize {
        let series = (1..=place).rev().find(|at| !self.is_unbroken(*at)).unwrap_or(0);
        let mut elapsed = vec![0i64];
        for at in 1..=place {
            let step = self.time(at).saturating_sub(self.time(at - 1)).max(0);
            elapsed.push(elapsed[at - 1].saturating_add(step));
        }
        error_anchors(series, &elapsed).0
    }

    /// The earliest and the latest time of a moment.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        let times = || (0..self.len()).map(|at| self.time(at));
        times().min().zip(times().max())
    }

    /// The last millisecond of the span that a text names: `02:13` names 02:13:00.000 to 02:13:59.999 (`slack` is 59,999). An
    /// error if the span ends before the capture begins, or begins after it ends.
    pub fn resolve_time(&self, at: TimeSpec) -> Result<i64, SourceError> {
        let reader = &self.reader;
        let Some((from, to)) = self.bounds() else { return Err(reader.unreadable_error(None).into()) };
        let time = at.resolve_within(from, to, reader.header().utc_offset_s);
        let side = match () {
            () if time < from => "before the capture begins",
            () if time.saturating_sub(at.slack()) > to && reader.has_end() => "after the capture ends",
            () if time.saturating_sub(at.slack()) > to => {
                "after the last sweep of a capture without an end: it was cut short, or is still being recorded"
            }
            () => return Ok(time),
        };
        let (name, meant) = (reader.name(), reader.clock_text(time.saturating_sub(at.slack())));
        Err(SourceError::Name {
            code: "FD-5063",
            what: format!("{name}: {meant} is {side}"),
            hint: format!("give a time from {} to {}", reader.clock_text(from), reader.clock_text(to)),
        })
    }
}

impl<B: ByteSource> Moments<B> {
    /// The beginning of the span that a text means, not before the capture's beginning. Used to add new records there.
    pub fn resolve_beginning(&self, at: TimeSpec) -> Result<i64, SourceError> {
        let begins = self.resolve_time(at)?.saturating_sub(at.slack());
        Ok(self.bounds().map_or(begins, |(from, _)| begins.max(from)))
    }
}

impl<B: ByteSource> MomentStore for Moments<B> {
    type Moment = ();
    type Damage = Damage;

    fn len(&self) -> usize {
        self.reader.moments().len()
    }

    fn time(&self, at: usize) -> i64 {
        self.reader.frame_slot(self.reader.moments()[at]).lead.time
    }

    /// Whether the fabric changed, or a note or news was recorded, since the moment before.
    fn is_eventful(&self, at: usize) -> bool {
        let moments = self.reader.moments();
        let first = at.checked_sub(1).map_or(0, |before| moments[before] + 1);
        (first..=moments[at]).any(|slot| {
            let lead = self.reader.frame_slot(slot).lead;
            lead.has_flag(flags::EVENT) || lead.has_moved()
        })
    }

    fn longest_step(&self) -> i64 {
        self.longest_step
    }

    fn read(&mut self, at: usize) -> Result<(), Damage> {
        let slot = self.reader.moments()[at];
        self.reader.show_moment(slot)
    }
}
