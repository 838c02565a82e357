//! A recording in memory that drops its older half when it is full.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::info::read_acknowledgements;
use super::recorder::{OperatorEntry, RecordError, Recorder, Sink};
use crate::capture_format::{AcknowledgementRecord, CaptureHeader, CaptureReader, Index, LEAD_BYTES, flags};
use fabdeck_fabric::observe::{Observation, Sweep};

/// Bytes that a recorder appends to, shared with readers.
#[derive(Clone, Debug, Default)]
struct SharedBytes(Arc<Mutex<Vec<u8>>>);

impl SharedBytes {
    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for SharedBytes {
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
pub struct RingRecording {
    header: CaptureHeader,
    most: u64,
    held: SharedBytes,
    recorder: Recorder<SharedBytes>,
    /// The acknowledgements in force, of the dropped beginning too.
    acknowledged: Vec<AcknowledgementRecord>,
}

impl RingRecording {
    /// Keeps at most this many bytes, or up to twice as many while there is no place to cut at.
    pub fn new(header: CaptureHeader, most: u64) -> Self {
        let (held, recorder) = new_recorder(&header, most);
        Self { header, most, held, recorder, acknowledged: Vec::new() }
    }

    pub fn record_sweep(
        &mut self,
        time: i64,
        snapshot: &Observation,
        sweep: &Sweep,
    ) -> Result<(), RecordError> {
        self.recorder.record_sweep(time, snapshot, sweep)?;
        if self.size() <= self.most {
            return Ok(());
        }
        if !self.drop_older_half() {
            // Without a place to cut at, the recording starts anew at twice the limit.
            (self.held, self.recorder) = new_recorder(&self.header, self.most);
            self.recorder.record_sweep(time, snapshot, sweep)?;
        }
        self.record_dropped_acknowledgements(time)
    }

    /// Records the acknowledgements in force that the dropped beginning had: they count at every moment.
    fn record_dropped_acknowledgements(&mut self, time: i64) -> Result<(), RecordError> {
        if self.acknowledged.is_empty() {
            return Ok(());
        }
        let kept = CaptureReader::open("the recording of the watch", self.bytes());
        let kept = kept.map(|mut reader| read_acknowledgements(&mut reader)).unwrap_or_default();
        for record in self.acknowledged.iter().filter(|record| !kept.contains(record)) {
            self.recorder.record_entry(time, &OperatorEntry::Acknowledgement(record.clone()))?;
        }
        Ok(())
    }

    /// Records an operator's entry after the last sweep.
    pub fn record_entry(&mut self, time: i64, entry: &OperatorEntry) -> Result<(), RecordError> {
        self.recorder.record_entry(time, entry)?;
        if let OperatorEntry::Acknowledgement(record) = entry {
            let known = std::mem::take(&mut self.acknowledged);
            self.acknowledged = AcknowledgementRecord::in_force(known.into_iter().chain([record.clone()]));
        }
        Ok(())
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
    fn drop_older_half(&mut self) -> bool {
        let mut bytes = self.held.bytes();
        let half = bytes.len() as u64 / 2;
        let index = Index::load(&bytes.as_slice()).ok();
        let begins = index
            .iter()
            .flat_map(|index| &index.slots)
            .filter(|slot| slot.lead.has_flag(flags::STATE_WHOLE) && slot.offset > LEAD_BYTES as u64);
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

fn new_recorder(header: &CaptureHeader, most: u64) -> (SharedBytes, Recorder<SharedBytes>) {
    let held = SharedBytes::default();
    let recorder = Recorder::new(held.clone(), header.clone()).with_whole_interval(SWEEPS, most / STATES);
    (held, recorder)
}
