//! A capture as a source: the moment at its end, or at a time.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::capture_file::{FileBytes, open};
use super::cursor::{Cursor, CursorStep, MomentStore};
use super::moments::Moments;
use super::time_spec::TimeSpec;
use crate::capture_format::CaptureReader;
use fabdeck_fabric::observe::{NotePlace, Observation, Sweep};
use fabdeck_mad::access::{PastSweep, ReadObserver, ReadOptions, Source, SourceError};

/// A time at which nothing was recorded.
const IN_GAP: &str = "FN-388";
/// The capture has fewer sweeps than the caller needs.
pub const TOO_SHORT: &str = "FD-5064";

#[derive(Debug)]
pub struct CaptureSource {
    name: String,
    cursor: Cursor<Moments<FileBytes>>,
    at: Option<TimeSpec>,
    /// The first moment that the next sweep may use, and the moment of the last sweep.
    next: usize,
    last: Option<usize>,
    /// The sweep that errors are counted from, and its moment.
    past: Option<(usize, PastSweep)>,
}

impl CaptureSource {
    /// Opens the capture at the last moment up to a time; without a time at the last of all.
    pub fn open(path: &Path, at: Option<TimeSpec>) -> Result<Self, SourceError> {
        let cursor = Cursor::new(Moments::new(open(path)?));
        Ok(Self { name: path.display().to_string(), cursor, at, next: 0, last: None, past: None })
    }

    /// The moments, and the index of the one that was read.
    pub(super) fn into_moments(self) -> (Moments<FileBytes>, usize) {
        (self.cursor.into_store(), self.next)
    }

    fn reader(&mut self) -> &mut CaptureReader<FileBytes> {
        &mut self.cursor.store_mut().reader
    }

    fn show_at(&mut self, at: TimeSpec) -> Result<usize, SourceError> {
        let time = self.cursor.store().resolve_time(at)?;
        let answer = self.cursor.seek_time(time);
        let place = self.cursor.place();
        let before = self.cursor.store().time(place);
        let behind = time.saturating_sub(at.slack()) > before && self.cursor.has_gap_after(place);
        if behind || matches!(answer, CursorStep::Gap { .. }) {
            let after = self.cursor.store().time(place + 1);
            self.note_gap(before, after);
        }
        if let CursorStep::Moment(()) = answer {
            return Ok(place);
        }
        let reader = self.reader();
        Ok(reader.show_until(place).map_err(|damage| reader.unreadable_error(damage))?)
    }

    /// Notes that the requested time lies in a gap, so that the moment shown is an earlier one.
    fn note_gap(&mut self, from: i64, to: i64) {
        let reader = self.reader();
        let seconds = to.saturating_sub(from) as f64 / 1000.0;
        let (from, to) = (reader.clock_text(from), reader.clock_text(to));
        let place = NotePlace::file(reader.name());
        reader.notes().add(IN_GAP, place, || {
            format!(
                "the requested time is in a gap of {seconds} s: no sweep was recorded between {from} and {to}; the sweep \
                 of {from} is shown"
            )
        });
    }

    fn too_short(&self, what: String) -> SourceError {
        let hint = "give a shorter --interval, a smaller --count or another --at; 'fabdeck capture info' shows what was \
                    recorded";
        SourceError::Name { code: TOO_SHORT, what: format!("{}: {what}", self.name), hint: hint.into() }
    }

    /// The error that the recording before the current moment is shorter than the requested interval.
    fn check_history(&self, span: Duration, held: Duration) -> SourceError {
        let fits = match held {
            Duration::ZERO => "this is the first moment: give a later --at".to_owned(),
            _ => format!(
                "use --interval {}s (with --count, the sum of all intervals), or give a later --at",
                held.as_millis() as f64 / 1000.0
            ),
        };
        SourceError::Name {
            code: TOO_SHORT,
            what: format!(
                "{}: {} s between sweeps are needed, and {} s were recorded before this moment",
                self.name,
                span.as_secs_f64(),
                held.as_millis() as f64 / 1000.0
            ),
            hint: format!("{fits}; 'fabdeck capture info' shows what was recorded"),
        }
    }

    fn sweep_start(&mut self, place: usize) -> Result<Duration, SourceError> {
        let reader = self.reader();
        let shown = reader.show_until(place).map_err(|damage| reader.unreadable_error(damage))?;
        match shown == place {
            true => Ok(reader.state().base.start_time()),
            // The note that the reader adds says what is damaged.
            false => Err(self.too_short("a required sweep cannot be read".into())),
        }
    }
}

impl CaptureSource {
    /// The sweep of the moment shown, with all changes since the last sweep.
    fn read_sweep(&mut self, place: usize, snapshot: &mut Observation) -> Result<Sweep, SourceError> {
        let before = self.last.replace(place);
        let time = self.cursor.store().time(place);
        let reader = self.reader();
        let mut sweep = reader.state().last_sweep();
        if let Some(before) = before {
            let (behind, to) = (reader.moments()[before], reader.moments()[place]);
            sweep.news =
                reader.read_news(behind, to).map_err(|damage| reader.unreadable_error(Some(damage)))?;
        }
        if snapshot.fabric != reader.state().fabric {
            snapshot.fabric = reader.state().fabric.clone();
            sweep.fabric = Some(Arc::new(snapshot.fabric.clone()));
        }
        snapshot.tables.clone_from(&reader.state().tables);
        snapshot.time = Some(reader.clock_text(time));
        Ok(sweep)
    }
}

impl Source for CaptureSource {
    fn describe(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, _: ReadOptions, _: &mut dyn ReadObserver) -> Result<Observation, SourceError> {
        let shown = match self.at {
            Some(at) => self.show_at(at)?,
            None => self.reader().show_last()?,
        };
        (self.next, self.last) = (shown, None);
        Ok(self.reader().observation())
    }

    fn rewind(&mut self, _: &mut Observation, span: Duration) -> Result<(), SourceError> {
        let (end, mut place) = (self.sweep_start(self.next)?, self.next);
        // Times of frames are approximate; the clock of the sweeps is exact.
        let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        let store = self.cursor.store();
        let until = store.time(place).saturating_sub(millis);
        while place > 0 && store.time(place) > until {
            place -= 1;
        }
        while place < self.next && end.saturating_sub(self.sweep_start(place + 1)?) >= span {
            place += 1;
        }
        while end.saturating_sub(self.sweep_start(place)?) < span {
            let Some(before) = place.checked_sub(1) else {
                let held = end.saturating_sub(self.sweep_start(0)?);
                return Err(self.check_history(span, held));
            };
            place = before;
        }
        (self.next, self.last) = (place, None);
        Ok(())
    }

    fn past_sweep(&mut self) -> Result<Option<PastSweep>, SourceError> {
        let Some(last) = self.last else { return Ok(None) };
        let place = self.cursor.store().errors_since(last);
        if let Some((_, past)) = self.past.as_ref().filter(|(at, _)| *at == place) {
            return Ok(Some(past.clone()));
        }
        let time = self.cursor.store().time(place);
        let reader = self.reader();
        let shown = reader.show_until(place).map_err(|damage| reader.unreadable_error(damage))?;
        let past =
            PastSweep { time: reader.clock_text(time), sweep: Arc::new(reader.state().base.last_sweep()) };
        // A damaged moment has no counters to compare with.
        self.past = (shown == place).then_some((place, past));
        Ok(self.past.as_ref().map(|(_, past)| past.clone()))
    }

    fn sweep(
        &mut self,
        snapshot: &mut Observation,
        not_before: Duration,
        _: &mut dyn ReadObserver,
    ) -> Result<Sweep, SourceError> {
        while self.next < self.cursor.store().len() {
            let began = self.sweep_start(self.next)?;
            self.next += 1;
            if began >= not_before {
                return self.read_sweep(self.next - 1, snapshot);
            }
        }
        Err(self.too_short("the capture ends before the next sweep".into()))
    }
}
