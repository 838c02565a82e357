//! What a guard says: in its log and in the audit trail, both at once.

use std::time::Duration;

use crate::audit::{Entry, PATIENCE};
use crate::clock::Clocks;
use crate::home::Home;

/// How long a guard that has time waits for a trail that somebody else holds.
pub(super) const SHORT: Duration = Duration::from_secs(1);

/// Both of them, borrowed from a guard while the rest of it is at work.
pub(super) struct Trail<'t> {
    pub home: Option<&'t Home>,
    pub change: String,
    pub clock: &'t dyn Clocks,
    pub say: &'t mut dyn FnMut(&str),
    /// Lines that could not be added yet, the first first.
    pub kept: &'t mut Vec<Entry>,
    /// How long it may wait.
    pub patience: Duration,
}

impl Trail<'_> {
    /// A line that cannot be added is said and kept, and ends nothing: it goes with the next.
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
        // Who has waited in vain once does not wait again for each line.
        let patience = if self.kept.len() > 1 { Duration::ZERO } else { self.patience };
        match home.audit_all(self.kept, patience) {
            Ok(()) => self.kept.clear(),
            Err(error) => (self.say)(&format!("{error}; {} to be added later", lines(self.kept.len()))),
        }
    }

    /// Adds what was kept, now that nothing else is left to do.
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
