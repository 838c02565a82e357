//! A capture as a source: what was seen at its end, or at a time.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::at::At;
use super::cursor::{Answer, Cursor, Store};
use super::disk::{FileBytes, open};
use super::moments::Moments;
use crate::access::{Source, SourceError, Wanted, Watch};
use crate::files::capture::Reader;
use crate::observe::{Observation, Place, Sweep};

/// A time at which nothing was recorded.
const GAP: &str = "FN-388";

#[derive(Debug)]
pub struct CaptureSource {
    name: String,
    cursor: Cursor<Moments<FileBytes>>,
    at: Option<At>,
    /// The first moment that the next sweep may be of, and the one that the last sweep was of.
    next: usize,
    last: Option<usize>,
}

impl CaptureSource {
    /// The last moment up to a time; without one the last of all.
    pub fn open(path: &Path, at: Option<At>) -> Result<Self, SourceError> {
        let cursor = Cursor::new(Moments::new(open(path)?));
        Ok(Self { name: path.display().to_string(), cursor, at, next: 0, last: None })
    }

    /// Its moments, and the place of the one that was looked at.
    pub(super) fn into_moments(self) -> (Moments<FileBytes>, usize) {
        (self.cursor.into_store(), self.next)
    }

    fn reader(&mut self) -> &mut Reader<FileBytes> {
        &mut self.cursor.store_mut().reader
    }

    fn show_at(&mut self, at: At) -> Result<usize, SourceError> {
        let time = self.cursor.store().time_of(at)?;
        match self.cursor.to(time) {
            Answer::Moment(()) => return Ok(self.cursor.place()),
            Answer::Gap { from, to } => {
                let reader = self.reader();
                let (from, to) = (reader.clock(from), reader.clock(to));
                let place = Place::file(reader.name());
                reader.notes().add(GAP, place, || {
                    format!("nothing was recorded between {from} and {to}; this is the moment before")
                });
            }
            Answer::Damage(_) | Answer::Beginning | Answer::End => {}
        }
        let place = self.cursor.place();
        let reader = self.reader();
        Ok(reader.show_until(place).map_err(|damage| reader.unreadable(damage))?)
    }

    fn too_short(&self, what: String) -> SourceError {
        SourceError::Name {
            code: "FD-5064",
            what: format!("{}: {what}", self.name),
            hint: "give a shorter --interval or fewer with --count, or another --at; 'fabdeck capture info' says what \
                   the capture holds"
                .into(),
        }
    }

    fn began(&mut self, place: usize) -> Result<Duration, SourceError> {
        let reader = self.reader();
        let shown = reader.show_until(place).map_err(|damage| reader.unreadable(damage))?;
        match shown == place {
            true => Ok(reader.state().base.began()),
            // The note that this leaves says what is damaged.
            false => Err(self.too_short("a sweep that is needed cannot be read".into())),
        }
    }
}

impl CaptureSource {
    /// The sweep of the moment shown, with all that is different since the last one.
    fn sweep_of(&mut self, place: usize, look: &mut Observation) -> Result<Sweep, SourceError> {
        let before = self.last.replace(place);
        let time = self.cursor.store().time(place);
        let reader = self.reader();
        let mut sweep = reader.state().base.sweep();
        if let Some(before) = before {
            let (behind, to) = (reader.moments()[before], reader.moments()[place]);
            sweep.news = reader.news(behind, to).map_err(|damage| reader.unreadable(Some(damage)))?;
        }
        if look.fabric != reader.state().fabric {
            look.fabric = reader.state().fabric.clone();
            sweep.fabric = Some(Arc::new(look.fabric.clone()));
        }
        look.tables.clone_from(&reader.state().tables);
        look.time = Some(reader.clock(time));
        Ok(sweep)
    }
}

impl Source for CaptureSource {
    fn describe(&self) -> &str {
        &self.name
    }

    fn observe(&mut self, _: Wanted, _: &mut dyn Watch) -> Result<Observation, SourceError> {
        let shown = match self.at {
            Some(at) => self.show_at(at)?,
            None => self.reader().show_last()?,
        };
        (self.next, self.last) = (shown, None);
        Ok(self.reader().observation())
    }

    fn go_back(&mut self, _: &mut Observation, span: Duration) -> Result<(), SourceError> {
        let (end, mut place) = (self.began(self.next)?, self.next);
        // Times in the leads say about where it is; the clock of the sweeps says it exactly.
        let millis = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
        let store = self.cursor.store();
        let until = store.time(place).saturating_sub(millis);
        while place > 0 && store.time(place) > until {
            place -= 1;
        }
        while place < self.next && end.saturating_sub(self.began(place + 1)?) >= span {
            place += 1;
        }
        while end.saturating_sub(self.began(place)?) < span {
            let Some(before) = place.checked_sub(1) else {
                let held = end.saturating_sub(self.began(0)?).as_secs_f64();
                return Err(self.too_short(format!(
                    "{} s are asked for, and {held:.3} s were recorded before",
                    span.as_secs_f64()
                )));
            };
            place = before;
        }
        (self.next, self.last) = (place, None);
        Ok(())
    }

    fn sweep(
        &mut self,
        look: &mut Observation,
        not_before: Duration,
        _: &mut dyn Watch,
    ) -> Result<Sweep, SourceError> {
        while self.next < self.cursor.store().len() {
            let began = self.began(self.next)?;
            self.next += 1;
            if began >= not_before {
                return self.sweep_of(self.next - 1, look);
            }
        }
        Err(self.too_short("it ends before there is another sweep".into()))
    }
}
