//! The messages of a guard, which go to its log and to the audit trail.

use std::time::Duration;

use crate::audit::{Entry, PATIENCE};
use crate::clock::Clocks;
use crate::home::Home;

/// How long a guard waits for the lock of the audit trail, unless it is rolling back.
pub(super) const SHORT: Duration = Duration::from_secs(1);

/// The log and the audit trail, borrowed from a guard.
pub(super) struct Trail<'t> {
    pub home: Option<&'t Home>,
    pub change: String,
    pub clock: &'t dyn Clocks,
    pub say: &'t mut dyn FnMut(&str),
    /// Lines that could not be appended so far, oldest first.
    pub kept: &'t mut Vec<Entry>,
    /// Timeout for the lock of the audit trail.
    pub patience: Duration,
}

impl Trail<'_> {
    /// Adds a line. A line that cannot be appended is logged and kept, and goes with the next line.
    pub fn add(&mut self, what: &str, user: &str, detail: &str) {
        (self.say)(&format!("{what}{}{detail}", if detail.is_empty() { "" } else { ": " }));
        let Some(home) = self.home else { return };
        self.kept.push(Entry {
            time: self.clock.now().to_string(),
            user: user.to_owned(),
            pid: home.system().pid(),
            what: what.to_owned(),
            change: Some(self.change.clone()),
            detail: detail.to_owned(),
        });
        // After one timeout, the next lines do not wait again.
        let patience = if self.kept.len() > 1 { Duration::ZERO } else { self.patience };
        match home.audit_all(self.kept, patience) {
            Ok(()) => self.kept.clear(),
            Err(error) => (self.say)(&format!("{error}; {} to be added later", lines(self.kept.len()))),
        }
    }

    /// Appends the kept lines at the end of the change, with a longer timeout.
    pub fn end(self) {
        let Some(home) = self.home.filter(|_| !self.kept.is_empty()) else { return };
        let count = lines(self.kept.len());
        match home.audit_all(self.kept, PATIENCE) {
            Ok(()) => (self.say)(&format!("{count} added to the audit trail late")),
            Err(error) => (self.say)(&format!("{error}; {count} are in this log alone")),
        }
        self.kept.clear();
    }
}

fn lines(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}
