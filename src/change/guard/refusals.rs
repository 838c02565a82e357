//! Refusals of users without a right, for the audit trail. A user who asks without end must not fill the disk: one line a
//! second at most, with the number of refusals since the last one.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::change::audit::Entry;
use crate::change::home::Home;

/// Time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(1);

/// Writes refusals to the trail of a state folder.
#[derive(Debug)]
pub struct Refusals {
    trail: Option<(Home, String)>,
    pending: Mutex<PendingRefusals>,
}

#[derive(Debug, Default)]
struct PendingRefusals {
    count: u64,
    /// The last of them: who asked, and what for.
    last: Option<(String, String)>,
    written: Option<Instant>,
}

impl Refusals {
    /// For the trail of a state folder, and the change in it.
    pub fn to_trail(home: &Home, change: &str) -> Self {
        Self { trail: Some((home.clone(), change.to_owned())), pending: Mutex::default() }
    }

    /// Adds a refusal, and writes a line unless there was one just now.
    pub fn add(&self, user: &str, detail: &str) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.count += 1;
        pending.last = Some((user.to_owned(), detail.to_owned()));
        if pending.written.is_none_or(|written| written.elapsed() >= LINE_INTERVAL) {
            self.write(&mut pending);
        }
    }

    /// Writes what no line was written for yet.
    pub fn flush(&self) {
        self.write(&mut self.pending.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn write(&self, pending: &mut PendingRefusals) {
        let (Some((home, change)), Some((user, detail))) = (&self.trail, &pending.last) else { return };
        let count = match pending.count {
            1 => String::new(),
            count => format!("{count} requests, the last one: "),
        };
        let entry = Entry {
            time: Timestamp::now().to_string(),
            user: user.clone(),
            pid: std::process::id(),
            what: "refused".to_owned(),
            change: Some(change.clone()),
            detail: format!("{count}{detail}"),
        };
        // What cannot be written now goes with the next line.
        if home.audit_all(&[entry], Duration::ZERO).is_ok() {
            (pending.count, pending.last) = (0, None);
        }
        pending.written = Some(Instant::now());
    }
}
