//! What is known of the effect of changes: the values of the last reading before their writes, and the pairs
//! without a path now.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::tasks::TaskId;
use crate::operations::watch::fabric_history::FabricSums;

/// The effects of the changes of a session.
#[derive(Clone, Debug, Default)]
pub struct ChangeEffects {
    /// The values of the last reading before the writes of each change, as they were when the session first read of it; `None` where
    /// nothing was watched then.
    pub(super) before: BTreeMap<String, Option<FabricSums>>,
    pub(super) counted: Option<PairCount>,
    pub(super) counting: Option<(TaskId, PairCount)>,
}

/// The pairs without a path in a snapshot, for a change.
#[derive(Clone, Debug)]
pub(super) struct PairCount {
    pub(super) change: String,
    pub(super) look: Arc<Snapshot>,
    /// `None` where the number is not known.
    pub(super) pairs: Option<u64>,
}

impl PairCount {
    pub(super) fn is_of(&self, change: &str, look: &Arc<Snapshot>) -> bool {
        self.change == change && Arc::ptr_eq(&self.look, look)
    }
}

impl ChangeEffects {
    /// The values of the last reading before the writes of a change.
    pub(super) fn values_before(&self, change: &str) -> Option<FabricSums> {
        self.before.get(change).copied().flatten()
    }
}
