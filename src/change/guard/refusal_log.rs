//! Refusals, for the audit trail. A caller without end must neither fill the disk nor block the guard. So there is at
//! most one line a second, with the number of refusals since the last line.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::{BootTime, Clocks, SystemClocks};

/// Time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Where refusals are written.
pub trait RefusalTrail: fmt::Debug + Send + Sync {
    fn clock(&self) -> &dyn Clocks;

    /// Appends one line without waiting. Whether it is on the disk.
    fn append_refusal(&self, user: &str, detail: &str) -> bool;
}

/// Writes refusals to the audit trail of a state folder.
#[derive(Debug, Default)]
pub struct RefusalLog {
    trail: Option<Box<dyn RefusalTrail>>,
    pending: Mutex<PendingRefusals>,
}

#[derive(Debug, Default)]
struct PendingRefusals {
    count: u64,
    /// The last one: the user, and the request.
    last: Option<(String, String)>,
    written: Option<BootTime>,
}

impl RefusalLog {
    /// Writes to this trail; without one, only the callers get the refusals.
    pub(crate) fn with_trail(trail: Option<Box<dyn RefusalTrail>>) -> Self {
        Self { trail, pending: Mutex::default() }
    }

    /// Adds a refusal. Returns the line, if one is due.
    pub fn add(&self, user: &str, detail: &str) -> Option<String> {
        let mut pending = self.lock();
        pending.count += 1;
        pending.last = Some((user.to_owned(), detail.to_owned()));
        let now = self.clock().boot_time();
        let passed = pending.written.as_ref().and_then(|written| written.until(&now));
        let due = passed.is_none_or(|passed| passed >= LINE_INTERVAL);
        drop(pending);
        if due { self.write() } else { None }
    }

    /// Writes the refusals that no line contains so far.
    pub fn flush(&self) {
        self.write();
    }

    fn lock(&self) -> MutexGuard<'_, PendingRefusals> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Releases the lock before it writes: a slow trail does not hold up callers that are refused meanwhile.
    fn write(&self) -> Option<String> {
        let now = self.clock().boot_time();
        let mut pending = self.lock();
        let (user, last) = pending.last.take()?;
        let count = std::mem::take(&mut pending.count);
        pending.written = Some(now);
        drop(pending);
        let detail = match count {
            1 => last.clone(),
            count => format!("{count} requests, the last one: {last}"),
        };
        // A refusal that cannot be written now is part of the next line.
        if !self.append(&user, &detail) {
            let mut pending = self.lock();
            pending.count += count;
            pending.last.get_or_insert((user, last));
        }
        Some(format!("refused: {detail}"))
    }

    fn clock(&self) -> &dyn Clocks {
        self.trail.as_ref().map_or(&SystemClocks, |trail| trail.clock())
    }

    fn append(&self, user: &str, detail: &str) -> bool {
        self.trail.as_ref().is_none_or(|trail| trail.append_refusal(user, detail))
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::FixedClocks;
    use super::*;
    use std::sync::Arc;

    /// One moment, and the lines that were written at it.
    struct OneMoment(FixedClocks, Arc<Mutex<Vec<String>>>);

    impl fmt::Debug for OneMoment {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("OneMoment")
        }
    }

    impl RefusalTrail for OneMoment {
        fn clock(&self) -> &dyn Clocks {
            &self.0
        }

        fn append_refusal(&self, user: &str, detail: &str) -> bool {
            self.1.lock().unwrap().push(format!("{user} {detail}"));
            true
        }
    }

    #[test]
    fn what_no_line_contains_is_written_at_the_end() {
        let lines = Arc::default();
        let clocks = FixedClocks("2026-11-25T12:00:00Z", "a", 1000);
        let log = RefusalLog::with_trail(Some(Box::new(OneMoment(clocks, Arc::clone(&lines)))));
        assert_eq!(log.add("ada", "confirm").as_deref(), Some("refused: confirm"));
        // Within the second there is no second line.
        assert_eq!((log.add("bo", "extend"), log.add("ada", "rollback")), (None, None));
        assert_eq!(*lines.lock().unwrap(), ["ada confirm"]);
        log.flush();
        log.flush();
        assert_eq!(*lines.lock().unwrap(), ["ada confirm", "ada 2 requests, the last one: rollback"]);
    }
}
