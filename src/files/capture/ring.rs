//! A recording in memory that forgets its older half when it is full.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::recorder::{Entry, RecordError, Recorder, Sink};
use crate::capture_format::{Header, Index, LEAD_BYTES, flags};
use fabdeck_fabric::observe::{Observation, Sweep};

/// Bytes that a recorder appends to, and that others read.
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

    /// What was taken away at the front is not counted by the recorder; half a frame is never written here.
    fn cut(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counters stand whole after so many sweeps.
const SWEEPS: u64 = 60;
/// The state stands whole so many times in what is kept, for there to be a place to cut at.
const STATES: u64 = 8;

#[derive(Debug)]
pub struct Ring {
    header: Header,
    most: u64,
    held: Held,
    recorder: Recorder<Held>,
}

impl Ring {
    /// So many bytes are kept at most, but for a moment.
    pub fn new(header: Header, most: u64) -> Self {
        let (held, recorder) = begun(&header, most);
        Self { header, most, held, recorder }
    }

    pub fn sweep(&mut self, time: i64, look: &Observation, sweep: &Sweep) -> Result<(), RecordError> {
        self.recorder.sweep(time, look, sweep)?;
        if self.size() > self.most && !self.forget() {
            // What is larger than all that is to be kept begins anew each time.
            (self.held, self.recorder) = begun(&self.header, self.most);
            self.recorder.sweep(time, look, sweep)?;
        }
        Ok(())
    }

    /// What an operator put into it, behind the sweeps that are there.
    pub fn enter(&mut self, time: i64, entry: &Entry) -> Result<(), RecordError> {
        self.recorder.enter(time, entry)
    }

    pub fn size(&self) -> u64 {
        self.held.bytes().len() as u64
    }

    /// All that is kept, as the bytes of a capture without its end.
    pub fn bytes(&self) -> Vec<u8> {
        self.held.bytes().clone()
    }

    /// Cuts where everything stands whole, behind the older half if it does so there; false where that does not help.
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
