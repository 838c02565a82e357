//! What happens to a session. Keys, sizes and times are written down as they are; what work brought is written as a
//! digest, for a replay computes it again.

use serde::{Serialize, Serializer};

use super::effect::Outcome;
use super::frame::Size;
use super::key::Key;
use super::tasks::TaskId;

/// Something that happened, and when (milliseconds since the session began).
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub at_ms: u64,
    #[serde(flatten)]
    pub what: Happening,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
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
    Finished {
        task: TaskId,
        #[serde(serialize_with = "digest")]
        outcome: Outcome,
    },
    /// The screen is back after another program had it.
    Resumed,
}

fn digest<S: Serializer>(outcome: &Outcome, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&outcome.digest())
}
