//! What an undo gives up: the paths that the undone change provides if the elements fail that its plan took as failed.

use serde::{Deserialize, Serialize};

use super::failure_words::failure_words;
use super::job_effects::lost_pairs_of_jobs;
use super::pair_count::count_pairs;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_change::{FailedElement, Plan};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{Faults, JobMap};
use fabdeck_routing::NoProgress;

/// Most jobs that a text lists.
const MAX_NAMED: usize = 6;

/// A confirmed change that a plan undoes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UndoneChange {
    pub number: u64,
    /// The elements that its plan took as failed.
    pub failed: Vec<FailedElement>,
    /// Whether pairs of switches count too.
    pub covers_switches: bool,
    /// Whether it moved flows to another lane.
    pub moves_flows: bool,
}

/// The pairs without a path if those elements fail, under the tables in force and after the undo.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UndoLoss {
    pub failed: Vec<String>,
    /// Pairs without a path now and after the undo; `None` where a table or an element is not known.
    pub pairs: Option<[u64; 2]>,
    /// The jobs that lose pairs by the undo in this case, those that lose most first.
    pub jobs: Vec<(String, u64)>,
}

impl UndoneChange {
    /// Counts what the undo gives up; `None` for a change without marks.
    pub(crate) fn count_loss(&self, look: &Snapshot, plan: &Plan, jobs: Option<&JobMap>) -> Option<UndoLoss> {
        if self.failed.is_empty() {
            return None;
        }
        let fabric = look.fabric();
        let failed = self.failed.iter().map(|failed| failed.element.clone()).collect();
        let mut loss = UndoLoss { failed, ..UndoLoss::default() };
        let mut faults = Faults::new();
        for element in &self.failed {
            // An element that is gone can fail no more, and then the supposition is another one.
            let Some(found) = element.find(fabric) else { return Some(loss) };
            faults.mark(found);
        }
        let now = &look.observation.tables;
        let after = plan.tables_after(fabric, now);
        let count = |tables| count_pairs(look, tables, &faults, self.covers_switches, &NoProgress);
        loss.pairs = count(now).zip(count(&after)).map(|(now, after)| [now, after]);
        loss.jobs = jobs.map_or_else(Vec::new, |jobs| {
            let lost = lost_pairs_of_jobs(look, [now, &after], &faults, jobs).into_iter();
            let mut lost: Vec<(String, u64)> = lost.filter(|(_, pairs)| *pairs > 0).collect();
            lost.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            lost
        });
        Some(loss)
    }
}

impl UndoLoss {
    /// Whether the undo leaves more pairs without a path than there are now.
    pub fn is_worse(&self) -> bool {
        self.pairs.is_some_and(|[now, after]| after > now)
    }

    /// `spine-2 fails: now 0 pairs without a path, after the undo 504; so it costs 18 of job 83`.
    pub fn words(&self) -> String {
        let what = failure_words(&self.failed);
        let Some([now, after]) = self.pairs else {
            return format!("{what}: not known, as the fabric is not as it was");
        };
        let unit = if now == 1 { "pair" } else { "pairs" };
        let [now, after] = [now, after].map(digits_in_groups);
        let jobs: Vec<String> = self
            .jobs
            .iter()
            .take(MAX_NAMED)
            .map(|(job, pairs)| format!("{} of job {job}", digits_in_groups(*pairs)))
            .collect();
        let costs =
            if jobs.is_empty() { String::new() } else { format!("; so it costs {}", jobs.join(", ")) };
        format!("{what}: now {now} {unit} without a path, after {after}{costs}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_names_jobs_and_what_is_not_known_is_no_zero() {
        let failed = vec!["switch:spine-2".to_owned()];
        let jobs = vec![("83".to_owned(), 18), ("74".to_owned(), 6)];
        let loss = UndoLoss { failed: failed.clone(), pairs: Some([0, 504]), jobs };
        let words =
            "spine-2 fails: now 0 pairs without a path, after 504; so it costs 18 of job 83, 6 of job 74";
        assert_eq!((loss.words().as_str(), loss.is_worse()), (words, true));
        let loss = UndoLoss { failed, ..UndoLoss::default() };
        assert_eq!(loss.words(), "spine-2 fails: not known, as the fabric is not as it was");
    }
}
