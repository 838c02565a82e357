//! What a live watch has seen so far, for whoever pauses it.

use super::scene::{Looking, Recorded, Scene, Scenes, Seek, Unrolled};
use crate::capture::{Ring, Tape};
use crate::files::capture::{Header, Reader};
use crate::observe::{News, Observation, Sweep};
use crate::routing::Pulse;

/// So many news wait for a sweep that somebody answers.
const UNTOLD: usize = 4096;

pub struct Past {
    ring: Option<Ring>,
    looking: Looking,
    /// What sweeps found that nobody answered: there is no moment of theirs, and the next one tells it.
    untold: Vec<News>,
    /// What was there when somebody last asked.
    scenes: Option<Scenes<Vec<u8>>>,
}

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Past")
    }
}

impl Past {
    /// At most so many bytes are kept; of 0 nothing is.
    pub fn new(header: Header, most: u64, looking: Looking) -> Self {
        let ring = (most > 0).then(|| Ring::new(header, most));
        Self { ring, looking, untold: Vec::new(), scenes: None }
    }

    /// A sweep without a sample is one that failed.
    pub fn record(&mut self, time: i64, look: &Observation, sweep: &Sweep) {
        let Some(ring) = &mut self.ring else { return };
        if sweep.samples.is_empty() && sweep.ports > 0 {
            let room = UNTOLD.saturating_sub(self.untold.len());
            self.untold.extend(sweep.news.iter().take(room).cloned());
            return;
        }
        let untold = std::mem::take(&mut self.untold);
        let with_untold = (!untold.is_empty()).then(|| Sweep {
            news: untold.into_iter().chain(sweep.news.iter().cloned()).collect(),
            ..sweep.clone()
        });
        // Nothing that is written to memory fails; what cannot be written down is not there to step back to.
        if ring.sweep(time, look, with_untold.as_ref().unwrap_or(sweep)).is_err() {
            self.ring = None;
        }
    }
}

impl Recorded for Past {
    fn unroll(&mut self) -> Result<Option<Unrolled>, String> {
        let Some(ring) = &self.ring else {
            return Err(
                "nothing of the watch is kept: past_mib under [watch] in the configuration is 0".to_owned()
            );
        };
        let reader = Reader::open("what was watched", ring.bytes()).map_err(|error| error.to_string())?;
        let mut scenes = Scenes::new(Tape::of(reader), usize::MAX, self.looking.clone());
        let unrolled = scenes.unroll();
        self.scenes = Some(scenes);
        unrolled
    }

    fn seek(&mut self, seek: Seek, pulse: &dyn Pulse) -> Result<Scene, String> {
        match &mut self.scenes {
            Some(scenes) => scenes.seek(seek, pulse),
            None => Err("nothing was recorded".to_owned()),
        }
    }
}
