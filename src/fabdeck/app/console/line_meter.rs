//! Measures how fast the terminal takes frames, and decides when the frame of a reading is sent over a slow line.

use std::time::{Duration, Instant};

use crate::console::model::line_speed::SLOW_STEP_MS;

/// A line below this rate is slow: a watch of 1 s may send as much.
const SLOW_BYTES_PER_S: f64 = 12.0 * 1024.0;
/// Smaller frames are in the buffers of the system before the line has sent any of them.
const MIN_FRAME_BYTES: usize = 1024;
/// Frames in a row that are slow before the line counts as slow.
const SLOW_FRAMES: u32 = 3;
/// Frames in a row that are not slow before the line no longer counts as slow.
const FAST_FRAMES: u32 = 5;
/// Time after a key in which each frame is sent at once: answers of tasks belong to the key.
const ANSWER_TIME: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Default)]
pub struct LineMeter {
    /// The frame that is being written: when it was begun, and its bytes.
    writing: Option<(Instant, usize)>,
    slow_frames: u32,
    fast_frames: u32,
    is_slow: bool,
    /// Time of the last frame, and in the next field of the last key.
    shown: Option<Instant>,
    answered: Option<Instant>,
}

impl LineMeter {
    /// A frame is handed to the line; `bytes` is 0 where nothing differs.
    pub fn begin_frame(&mut self, bytes: usize, now: Instant) {
        self.shown = Some(now);
        self.writing = Some((now, bytes)).filter(|_| bytes > 0);
    }

    /// The line has taken the frame. Returns whether it counts as slow, where that changes.
    pub fn end_frame(&mut self, now: Instant) -> Option<bool> {
        let (begun, bytes) = self.writing.take().filter(|(_, bytes)| *bytes >= MIN_FRAME_BYTES)?;
        let most = Duration::from_secs_f64(bytes as f64 / SLOW_BYTES_PER_S);
        let is_slow = now.saturating_duration_since(begun) > most;
        (self.slow_frames, self.fast_frames) = match is_slow {
            true => (self.slow_frames.saturating_add(1), 0),
            false => (0, self.fast_frames.saturating_add(1)),
        };
        let counts_as_slow = match self.is_slow {
            true => self.fast_frames < FAST_FRAMES,
            false => self.slow_frames >= SLOW_FRAMES,
        };
        let changes = self.is_slow != counts_as_slow;
        self.is_slow = counts_as_slow;
        changes.then_some(counts_as_slow)
    }

    /// A key, or whatever else needs an answer at once.
    pub fn expect_answer(&mut self, now: Instant) {
        self.answered = Some(now);
    }

    /// Time until the frame of a reading may be sent over a slow line; `None` where it may be sent now.
    pub fn hold_time(&self, now: Instant) -> Option<Duration> {
        let is_answer =
            self.answered.is_some_and(|answered| now.saturating_duration_since(answered) < ANSWER_TIME);
        let next = self.shown.filter(|_| !is_answer)? + Duration::from_millis(SLOW_STEP_MS);
        Some(next.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    fn after(begun: Instant, ms: u64) -> Instant {
        begun + Duration::from_millis(ms)
    }

    /// Writes frames one after the other; each has its bytes and the time that the line takes for it.
    fn measured(frames: &[(usize, u64)]) -> Vec<Option<bool>> {
        let (mut meter, mut now) = (LineMeter::default(), Instant::now());
        let mut frame = |(bytes, ms): &(usize, u64)| {
            meter.begin_frame(*bytes, now);
            now = after(now, *ms);
            meter.end_frame(now)
        };
        frames.iter().map(&mut frame).collect()
    }

    #[test]
    fn several_slow_frames_in_a_row_make_a_slow_line() {
        let slow = (12 * KIB, 1001);
        assert_eq!(
            measured(&[slow, slow, slow, slow]),
            [None, None, Some(true), None],
            "it is reported once"
        );
        assert_eq!(
            measured(&[slow, slow, (12 * KIB, 999), slow, slow]),
            [None; 5],
            "a fast frame begins anew"
        );
        // A small frame says nothing, however long it takes.
        assert_eq!(
            measured(&[slow, (KIB - 1, 9000), slow, (0, 9000), slow]),
            [None, None, None, None, Some(true)]
        );
        let fast = (12 * KIB, 999);
        assert_eq!(
            measured(&[slow, slow, slow, fast, fast, fast, fast, slow, fast, fast, fast, fast, fast, fast])
                [7..],
            [None, None, None, None, None, Some(false), None],
            "several fast frames in a row make it fast again"
        );
    }

    #[test]
    fn readings_wait_for_the_step_and_keys_do_not() {
        let (mut meter, begun) = (LineMeter::default(), Instant::now());
        assert_eq!(meter.hold_time(begun), None, "the first frame");
        meter.begin_frame(KIB, begun);
        assert_eq!(meter.hold_time(after(begun, 1000)), Some(Duration::from_millis(4000)));
        assert_eq!(meter.hold_time(after(begun, 5000)), None);
        meter.expect_answer(after(begun, 1000));
        assert_eq!(meter.hold_time(after(begun, 1000)), None, "the answer to a key");
        assert_eq!(meter.hold_time(after(begun, 2999)), None, "and what a task finds for it");
        assert_eq!(meter.hold_time(after(begun, 3000)), Some(Duration::from_millis(2000)));
    }
}
