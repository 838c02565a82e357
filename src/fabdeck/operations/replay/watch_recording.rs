//! The recording of a live watch in memory, for pauses.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::replay_frame::{
    FrameSource, OpenedRecording, ReplayFrame, ReplayFrames, SeekRequest, SnapshotMaker,
};
use fabdeck_fabric::observe::{FabricEvent, Observation, Sweep};
use fabdeck_files::capture::{
    CaptureRange, Moments, OperatorEntry, RecordingPlayer, RewriteOptions, RingRecording, Sink, rewrite,
};
use fabdeck_files::capture_format::{Annotation, CaptureHeader, CaptureReader, CaptureRecord};
use fabdeck_routing::RouteProgress;

/// Maximum number of fabric events that wait for a successful sweep.
const MAX_PENDING_EVENTS: usize = 4096;

pub struct WatchRecording {
    ring: Option<RingRecording>,
    make_snapshot: SnapshotMaker,
    /// Fabric events of failed sweeps. These have no moment, so the next sweep carries the events.
    pending_events: Vec<FabricEvent>,
    /// Time of the last sweep, and in the next field entries from before the first sweep.
    last: Option<i64>,
    waiting: Vec<OperatorEntry>,
    /// The moments at the time of the last request.
    frames: Option<ReplayFrames<Arc<Vec<u8>>>>,
}

/// A sink for a capture in memory.
struct MemorySink<'b>(&'b mut Vec<u8>);

impl Sink for MemorySink<'_> {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A capture in memory with further annotations; those outside its time are left out.
pub fn with_annotations(bytes: Vec<u8>, annotations: &[Annotation]) -> Result<Vec<u8>, String> {
    if annotations.is_empty() {
        return Ok(bytes);
    }
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let reader = CaptureReader::open("the recording of the watch", bytes).map_err(|error| failed(&error))?;
    let mut moments = Moments::new(reader);
    let all = CaptureRange::all(&moments).map_err(|error| failed(&error))?;
    let (first, last) = moments.bounds().unwrap_or_default();
    let mut inside: Vec<&Annotation> =
        annotations.iter().filter(|annotation| (first..=last).contains(&annotation.at)).collect();
    inside.sort_by_key(|annotation| annotation.at);
    let record = |annotation: &Annotation| (annotation.at, CaptureRecord::Annotation(annotation.clone()));
    let added = inside.into_iter().map(record).collect();
    let mut made = Vec::new();
    let options = RewriteOptions { added, ..RewriteOptions::default() };
    let written = rewrite(&mut moments, &all, options, MemorySink(&mut made));
    written.map(|_| made).map_err(|error| failed(&error))
}

impl std::fmt::Debug for WatchRecording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WatchRecording")
    }
}

impl WatchRecording {
    /// Creates a recording of at most this number of bytes; with 0, nothing is recorded.
    pub fn new(header: CaptureHeader, most: u64, make_snapshot: SnapshotMaker) -> Self {
        let ring = (most > 0).then(|| RingRecording::new(header, most));
        Self {
            ring,
            make_snapshot,
            pending_events: Vec::new(),
            last: None,
            waiting: Vec::new(),
            frames: None,
        }
    }

    /// Whether anything is recorded.
    pub fn is_enabled(&self) -> bool {
        self.ring.is_some()
    }

    /// Takes over the snapshot maker of another recording, after the source was read again.
    pub fn take_snapshot_maker(&mut self, other: Self) {
        (self.make_snapshot, self.frames) = (other.make_snapshot, None);
    }

    /// Records a sweep; returns whether it became a moment. A sweep without samples has failed and becomes
    /// none.
    pub fn record(&mut self, time: i64, look: &Observation, sweep: &Sweep) -> bool {
        let Some(ring) = &mut self.ring else { return false };
        if sweep.samples.is_empty() && sweep.ports > 0 {
            let room = MAX_PENDING_EVENTS.saturating_sub(self.pending_events.len());
            self.pending_events.extend(sweep.news.iter().take(room).cloned());
            return false;
        }
        let pending_events = std::mem::take(&mut self.pending_events);
        let with_untold = (!pending_events.is_empty()).then(|| Sweep {
            news: pending_events.into_iter().chain(sweep.news.iter().cloned()).collect(),
            ..sweep.clone()
        });
        // Writing to memory does not fail. A sweep that cannot be encoded ends the recording.
        if ring.record_sweep(time, look, with_untold.as_ref().unwrap_or(sweep)).is_err() {
            self.ring = None;
            return false;
        }
        self.last = Some(time);
        for entry in std::mem::take(&mut self.waiting) {
            self.add_entry(Duration::ZERO, &entry);
        }
        true
    }
}

impl FrameSource for WatchRecording {
    fn open_recording(&mut self) -> Result<Option<OpenedRecording>, String> {
        let Some(ring) = &self.ring else {
            return Err(
                "the watch is not recorded: past_mib under [watch] in the configuration is 0".to_owned()
            );
        };
        let bytes = Arc::new(ring.bytes());
        let reader =
            CaptureReader::open("the recording of the watch", bytes).map_err(|error| error.to_string())?;
        let mut frames =
            ReplayFrames::new(RecordingPlayer::from_reader(reader), usize::MAX, self.make_snapshot.clone());
        let unrolled = frames.open_recording();
        self.frames = Some(frames);
        unrolled
    }

    fn add_entry(&mut self, after: Duration, entry: &OperatorEntry) {
        let Some(ring) = &mut self.ring else { return };
        let Some(last) = self.last else {
            // A recording begins with a sweep.
            if self.waiting.len() < MAX_PENDING_EVENTS {
                self.waiting.push(entry.clone());
            }
            return;
        };
        let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        if ring.record_entry(last.saturating_add(after), entry).is_err() {
            self.ring = None;
        }
    }

    fn capture_bytes(&mut self) -> Result<Vec<u8>, String> {
        let ring = self.ring.as_ref().ok_or("the watch is not recorded")?;
        let reader = CaptureReader::open("the recording of the watch", ring.bytes())
            .map_err(|error| error.to_string())?;
        let mut moments = Moments::new(reader);
        let all = CaptureRange::all(&moments).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        let written = rewrite(&mut moments, &all, RewriteOptions::default(), MemorySink(&mut bytes));
        written.map(|_| bytes).map_err(|error| error.to_string())
    }

    fn seek_frame(&mut self, seek: SeekRequest, pulse: &dyn RouteProgress) -> Result<ReplayFrame, String> {
        match &mut self.frames {
            Some(frames) => frames.seek_frame(seek, pulse),
            None => Err("nothing was recorded".to_owned()),
        }
    }
}
