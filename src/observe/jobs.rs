//! Which jobs ran, as whoever knows them said it, for recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The hosts of each job, by the names that the batch system has for both.
pub type HostsOfJobs = BTreeMap<String, BTreeSet<String>>;

/// A list of jobs, and whether it still holds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct JobsHeard {
    /// When it was heard, in milliseconds since 1970 began; the same list heard again changes nothing. Where nobody says
    /// anything since: when it was heard last. `None`: no list was ever heard.
    pub heard: Option<i64>,
    pub jobs: Arc<HostsOfJobs>,
    /// Why nobody said anything since.
    pub silent: Option<String>,
}
