//! The audit trail of a state folder takes the refusals of a change.

use std::time::Duration;

use super::refusal_log::{RefusalLog, RefusalTrail};
use crate::audit::AuditEntry;
use crate::change_store::ChangeStore;
use crate::clock::Clocks;

/// The state folder, and the id of the change.
impl RefusalTrail for (ChangeStore, String) {
    fn clock(&self) -> &dyn Clocks {
        self.0.system()
    }

    fn append_refusal(&self, user: &str, detail: &str) -> bool {
        let (home, change) = self;
        let entry = AuditEntry {
            time: home.system().now().to_string(),
            user: user.to_owned(),
            pid: home.system().pid(),
            what: "refused".to_owned(),
            change: Some(change.clone()),
            detail: detail.to_owned(),
        };
        home.audit_all(&[entry], Duration::ZERO).is_ok()
    }
}

impl RefusalLog {
    /// Refusals of a change, for the trail of its state folder. Without a folder, only the callers get them.
    pub fn for_trail(home: Option<&ChangeStore>, change: &str) -> Self {
        Self::with_trail(
            home.map(|home| Box::new((home.clone(), change.to_owned())) as Box<dyn RefusalTrail>),
        )
    }
}
