//! What happens to a session. Keys, sizes and times are written down as they are; what work brought is written as a
//! digest, for a replay computes it again.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::effect::Outcome;
use super::frame::Size;
use super::key::Key;
use super::tasks::TaskId;
use crate::session::Look;

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
    /// The fabric is known; tables and counters are still being read.
    Sighted {
        task: TaskId,
        #[serde(serialize_with = "digest_of_look")]
        look: Arc<Look>,
    },
    Finished {
        task: TaskId,
        #[serde(serialize_with = "digest")]
        outcome: Outcome,
    },
    /// The screen is back after another program had it.
    Resumed,
}

fn digest_of_look<S: Serializer>(look: &Arc<Look>, to: S) -> Result<S::Ok, S::Error> {
    digest(&Outcome::Looked(Ok(look.clone())), to)
}

fn digest<S: Serializer>(outcome: &Outcome, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&outcome.digest())
}
