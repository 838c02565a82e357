//! The messages of a guard, which go to its log and to the audit trail.

use std::time::Duration;

use crate::audit::{AuditEntry, LOCK_TIMEOUT};
use crate::change_store::ChangeStore;
use crate::clock::Clocks;

/// How long a guard waits for the lock of the audit trail, unless it is rolling back.
pub(crate) const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// The log and the audit trail, borrowed from a guard.
pub(crate) struct TrailWriter<'t> {
    pub home: Option<&'t ChangeStore>,
    pub change: String,
    pub clock: &'t dyn Clocks,
    pub log: &'t mut dyn FnMut(&str),
    /// Lines that could not be appended so far, oldest first.
    pub pending_lines: &'t mut Vec<AuditEntry>,
    /// Timeout for the lock of the audit trail.
    pub patience: Duration,
}

impl TrailWriter<'_> {
    /// Adds a line. A line that cannot be appended is logged and kept, and goes with the next line.
    pub fn add(&mut self, what: &str, user: &str, detail: &str) {
        (self.log)(&format!("{what}{}{detail}", if detail.is_empty() { "" } else { ": " }));
        let Some(home) = self.home else { return };
        self.pending_lines.push(AuditEntry {
            time: self.clock.now().to_string(),
            user: user.to_owned(),
            pid: home.system().pid(),
            what: what.to_owned(),
            change: Some(self.change.clone()),
            detail: detail.to_owned(),
        });
        // After one timeout, the next lines do not wait again.
        let patience = if self.pending_lines.len() > 1 { Duration::ZERO } else { self.patience };
        match home.audit_all(self.pending_lines, patience) {
            Ok(()) => self.pending_lines.clear(),
            Err(error) => (self.log)(&format!(
                "{error}; {} to be added later",
                line_count_text(self.pending_lines.len())
            )),
        }
    }

    /// Appends the kept lines at the end of the change, with a longer timeout.
    pub fn flush(self) {
        let Some(home) = self.home.filter(|_| !self.pending_lines.is_empty()) else { return };
        let count = line_count_text(self.pending_lines.len());
        match home.audit_all(self.pending_lines, LOCK_TIMEOUT) {
            Ok(()) => (self.log)(&format!("{count} added to the audit trail late")),
            Err(error) => (self.log)(&format!("{error}; {count} are in this log alone")),
        }
        self.pending_lines.clear();
    }
}

fn line_count_text(count: usize) -> String {
    if count == 1 { "1 line".to_owned() } else { format!("{count} lines") }
}
