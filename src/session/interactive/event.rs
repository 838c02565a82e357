//! What happens to a session, and how it is written down: keys, sizes and times as they are; of what work brought a
//! digest, for a replay computes it again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::effect::Outcome;
use super::frame::Size;
use super::key::Key;
use super::tasks::TaskId;
use crate::session::Look;

/// Something that happened, and when (milliseconds since the session began).
#[derive(Clone, Debug)]
pub struct Event {
    pub at_ms: u64,
    pub what: Happening,
}

#[derive(Clone, Debug)]
pub enum Happening {
    Key(Key),
    Paste(String),
    Resized(Size),
    /// Nothing but time went by.
    Tick,
    Progress {
        task: TaskId,
        done: u64,
        of: u64,
    },
    /// The fabric is known; tables and counters are still being read.
    Sighted {
        task: TaskId,
        look: Arc<Look>,
    },
    Finished {
        task: TaskId,
        outcome: Outcome,
    },
    /// Something that an operator should know, from outside of the session.
    Told(String),
    /// The screen is back after another program had it.
    Resumed,
}

/// An event as it is written.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Written {
    pub at_ms: u64,
    #[serde(flatten)]
    pub what: WrittenHappening,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrittenHappening {
    Key(Key),
    Paste(String),
    Resized(Size),
    Tick,
    Progress { task: TaskId, done: u64, of: u64 },
    Sighted { task: TaskId, digest: String },
    Finished { task: TaskId, digest: String },
    Told(String),
    Resumed,
}

impl Event {
    pub fn written(&self) -> Written {
        let what = match &self.what {
            Happening::Key(key) => WrittenHappening::Key(*key),
            Happening::Paste(text) => WrittenHappening::Paste(text.clone()),
            Happening::Resized(size) => WrittenHappening::Resized(*size),
            Happening::Tick => WrittenHappening::Tick,
            Happening::Progress { task, done, of } => {
                WrittenHappening::Progress { task: *task, done: *done, of: *of }
            }
            Happening::Sighted { task, look } => {
                let digest = Outcome::Looked(Ok(look.clone())).digest();
                WrittenHappening::Sighted { task: *task, digest }
            }
            Happening::Finished { task, outcome } => {
                WrittenHappening::Finished { task: *task, digest: outcome.digest() }
            }
            Happening::Told(text) => WrittenHappening::Told(text.clone()),
            Happening::Resumed => WrittenHappening::Resumed,
        };
        Written { at_ms: self.at_ms, what }
    }
}
