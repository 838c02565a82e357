//! What is known of the effect of changes: the values of the last reading before their writes, and the pairs
//! without a path now.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::console::features::lanes::move_baseline::MoveBaseline;
use crate::console::model::tasks::TaskId;
use crate::operations::health::ranked_problems::RankedProblems;
use crate::operations::watch::fabric_history::FabricSums;

/// The titles of problems that began and ended with a change.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct ProblemChanges {
    pub(super) new: Vec<String>,
    pub(super) ended: Vec<String>,
}

/// The effects of the changes of a session.
#[derive(Clone, Debug, Default)]
pub struct ChangeEffects {
    /// The values of the last reading before the writes of each change, as they were when the session first read of it; `None` where
    /// nothing was watched then.
    pub(super) before: BTreeMap<String, Option<FabricSums>>,
    /// The problems of that time with their titles, by id.
    pub(super) problems: BTreeMap<String, BTreeMap<String, String>>,
    /// The waiting before the moves of each change that this session began.
    pub(super) moves: BTreeMap<String, MoveBaseline>,
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
    /// The titles of the problems that are new since the writes of a change, and of those that ended; `None` where the
    /// problems of that time are not known.
    pub(super) fn problem_changes(&self, change: &str, now: &RankedProblems) -> Option<ProblemChanges> {
        let before = self.problems.get(change)?;
        let new = now.problems.iter().filter(|problem| !before.contains_key(&problem.id));
        let is_there = |id: &String| now.problems.iter().any(|problem| problem.id == *id);
        Some(ProblemChanges {
            new: new.map(|problem| problem.title.clone()).collect(),
            ended: before.iter().filter(|(id, _)| !is_there(id)).map(|(_, title)| title.clone()).collect(),
        })
    }

    /// The values of the last reading before the writes of a change.
    pub(super) fn values_before(&self, change: &str) -> Option<FabricSums> {
        self.before.get(change).copied().flatten()
    }
}
