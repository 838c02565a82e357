//! A recording in memory that drops its older half when it is full.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::recorder::{Entry, RecordError, Recorder, Sink};
use crate::capture_format::{Header, Index, LEAD_BYTES, flags};
use fabdeck_fabric::observe::{Observation, Sweep};

/// Bytes that a recorder appends to, shared with readers.
#[derive(Clone, Debug, Default)]
struct Held(Arc<Mutex<Vec<u8>>>);

impl Held {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Held {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes().extend_from_slice(bytes);
        Ok(())
    }

    /// Does nothing: an append in memory never leaves half a frame, and the recorder does not know of bytes dropped at
    /// the front.
    fn cut(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counters are written whole after this many sweeps.
const SWEEPS: u64 = 60;
/// The state is written whole this many times within the limit, so that there are places to cut at.
const STATES: u64 = 8;

#[derive(Debug)]
pub struct Ring {
    header: Header,
    most: u64,
    held: Held,
    recorder: Recorder<Held>,
}

impl Ring {
    /// Keeps at most this many bytes, or up to twice as many while there is no place to cut at.
    pub fn new(header: Header, most: u64) -> Self {
        let (held, recorder) = begun(&header, most);
        Self { header, most, held, recorder }
    }

    pub fn sweep(&mut self, time: i64, look: &Observation, sweep: &Sweep) -> Result<(), RecordError> {
        self.recorder.sweep(time, look, sweep)?;
        if self.size() > self.most && !self.forget() {
            // Without a place to cut at, the recording starts anew at twice the limit.
            (self.held, self.recorder) = begun(&self.header, self.most);
            self.recorder.sweep(time, look, sweep)?;
        }
        Ok(())
    }

    /// Records an operator's entry after the last sweep.
    pub fn enter(&mut self, time: i64, entry: &Entry) -> Result<(), RecordError> {
        self.recorder.enter(time, entry)
    }

    pub fn size(&self) -> u64 {
        self.held.bytes().len() as u64
    }

    /// All bytes that are kept: a capture without its end.
    pub fn bytes(&self) -> Vec<u8> {
        self.held.bytes().clone()
    }

    /// Drops the bytes before a whole state: the first one in the newer half, otherwise the last one. False if there
    /// is none and the size exceeds twice the limit.
    fn forget(&mut self) -> bool {
        let mut bytes = self.held.bytes();
        let half = bytes.len() as u64 / 2;
        let index = Index::load(&bytes.as_slice()).ok();
        let begins = index
            .iter()
            .flat_map(|index| &index.slots)
            .filter(|slot| slot.lead.has(flags::STATE_WHOLE) && slot.offset > LEAD_BYTES as u64);
        let begins: Vec<u64> = begins.map(|slot| slot.offset - LEAD_BYTES as u64).collect();
        let cut = begins.iter().find(|at| **at >= half).or(begins.last());
        match cut.and_then(|at| usize::try_from(*at).ok()) {
            Some(at) => {
                bytes.drain(..at);
                true
            }
            None => (bytes.len() as u64) <= 2 * self.most,
        }
    }
}

fn begun(header: &Header, most: u64) -> (Held, Recorder<Held>) {
    let held = Held::default();
    let recorder = Recorder::new(held.clone(), header.clone()).whole_every(SWEEPS, most / STATES);
    (held, recorder)
}
