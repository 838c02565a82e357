//! The recording of a live watch in memory, for pauses.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::scene::{Looking, Recorded, Scene, Scenes, Seek, Unrolled};
use fabdeck_fabric::observe::{News, Observation, Sweep};
use fabdeck_files::capture::{Changes, Entry, Moments, Ring, Sink, Stretch, Tape, rewrite};
use fabdeck_files::capture_format::{Header, Reader};
use fabdeck_routing::Pulse;

/// Maximum number of fabric events that wait for a successful sweep.
const UNTOLD: usize = 4096;

pub struct Past {
    ring: Option<Ring>,
    looking: Looking,
    /// Fabric events of failed sweeps. These have no moment, so the next sweep carries the events.
    untold: Vec<News>,
    /// Time of the last sweep, and in the next field entries from before the first sweep.
    last: Option<i64>,
    waiting: Vec<Entry>,
    /// The moments at the time of the last request.
    scenes: Option<Scenes<Arc<Vec<u8>>>>,
}

/// A sink for a capture in memory.
struct Gathered<'b>(&'b mut Vec<u8>);

impl Sink for Gathered<'_> {
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

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Past")
    }
}

impl Past {
    /// Creates a recording of at most this number of bytes; with 0, nothing is recorded.
    pub fn new(header: Header, most: u64, looking: Looking) -> Self {
        let ring = (most > 0).then(|| Ring::new(header, most));
        Self { ring, looking, untold: Vec::new(), last: None, waiting: Vec::new(), scenes: None }
    }

    /// Whether anything is recorded.
    pub fn is_kept(&self) -> bool {
        self.ring.is_some()
    }

    /// Takes over the snapshot maker of another recording, after the source was read again.
    pub fn look_with(&mut self, other: Self) {
        (self.looking, self.scenes) = (other.looking, None);
    }

    /// Records a sweep; returns whether it became a moment. A sweep without samples has failed and becomes
    /// none.
    pub fn record(&mut self, time: i64, look: &Observation, sweep: &Sweep) -> bool {
        let Some(ring) = &mut self.ring else { return false };
        if sweep.samples.is_empty() && sweep.ports > 0 {
            let room = UNTOLD.saturating_sub(self.untold.len());
            self.untold.extend(sweep.news.iter().take(room).cloned());
            return false;
        }
        let untold = std::mem::take(&mut self.untold);
        let with_untold = (!untold.is_empty()).then(|| Sweep {
            news: untold.into_iter().chain(sweep.news.iter().cloned()).collect(),
            ..sweep.clone()
        });
        // Writing to memory does not fail. A sweep that cannot be encoded ends the recording.
        if ring.sweep(time, look, with_untold.as_ref().unwrap_or(sweep)).is_err() {
            self.ring = None;
            return false;
        }
        self.last = Some(time);
        for entry in std::mem::take(&mut self.waiting) {
            self.enter(Duration::ZERO, &entry);
        }
        true
    }
}

impl Recorded for Past {
    fn unroll(&mut self) -> Result<Option<Unrolled>, String> {
        let Some(ring) = &self.ring else {
            return Err(
                "nothing of the watch is kept: past_mib under [watch] in the configuration is 0".to_owned()
            );
        };
        let bytes = Arc::new(ring.bytes());
        let reader = Reader::open("what was watched", bytes).map_err(|error| error.to_string())?;
        let mut scenes = Scenes::new(Tape::of(reader), usize::MAX, self.looking.clone());
        let unrolled = scenes.unroll();
        self.scenes = Some(scenes);
        unrolled
    }

    fn enter(&mut self, after: Duration, entry: &Entry) {
        let Some(ring) = &mut self.ring else { return };
        let Some(last) = self.last else {
            // A recording begins with a sweep.
            if self.waiting.len() < UNTOLD {
                self.waiting.push(entry.clone());
            }
            return;
        };
        let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
        if ring.enter(last.saturating_add(after), entry).is_err() {
            self.ring = None;
        }
    }

    fn whole(&mut self) -> Result<Vec<u8>, String> {
        let ring = self.ring.as_ref().ok_or("nothing of the watch is kept")?;
        let reader = Reader::open("what was watched", ring.bytes()).map_err(|error| error.to_string())?;
        let mut moments = Moments::new(reader);
        let all = Stretch::all(&moments).map_err(|error| error.to_string())?;
        let mut bytes = Vec::new();
        let written = rewrite(&mut moments, &all, Changes::default(), Gathered(&mut bytes));
        written.map(|_| bytes).map_err(|error| error.to_string())
    }

    fn seek(&mut self, seek: Seek, pulse: &dyn Pulse) -> Result<Scene, String> {
        match &mut self.scenes {
            Some(scenes) => scenes.seek(seek, pulse),
            None => Err("nothing was recorded".to_owned()),
        }
    }
}
