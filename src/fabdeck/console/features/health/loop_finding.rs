//! What a search for a credit loop found in the tables of a snapshot.

use std::sync::Arc;

use crate::catalogue::severity::Severity;
use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;

#[derive(Clone, Debug)]
pub struct LoopSearch {
    pub(super) look: Arc<Snapshot>,
    /// The channels of a credit loop, `None` where there is none; or the reason why that is not known.
    pub(super) found: Result<Option<Vec<String>>, String>,
}

impl LoopSearch {
    /// Whether these are the tables that were searched.
    pub(super) fn is_of(&self, look: &Snapshot) -> bool {
        std::ptr::eq(&*self.look, look)
    }

    pub(super) fn message(&self) -> (Severity, String) {
        match &self.found {
            Ok(Some(channels)) => {
                let channels = count_words(channels.len(), "channel", "channels");
                (Severity::Warning, format!("the tables in force have a credit loop of {channels}"))
            }
            Ok(None) => (Severity::Info, "the tables in force have no credit loop on one lane".to_owned()),
            Err(why) => (Severity::Warning, format!("a credit loop could not be searched for: {why}")),
        }
    }
}
