//! What would be lost if an element failed alone, as What-if counts it for marks.

use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use crate::console::model::detail_page::DetailLine;
use crate::console::model::tasks::TaskId;
use crate::operations::preview::mark_loss::count_mark_loss;
use crate::operations::preview::path_preview::Preview;
use crate::operations::preview::victims::{HostNames, NamedHosts};
use crate::operations::preview::whatif::{CostBound, MarkLoss};
use fabdeck_fabric::observe::digits_in_groups;
use fabdeck_fabric::{ElementId, Faults};

/// Most hosts that are named.
const MAX_NAMED: usize = 2;

/// What is lost if an element fails alone.
#[derive(Clone, PartialEq, Debug)]
pub struct FailureCost {
    lost: MarkLoss,
    cut_off: NamedHosts,
}

impl FailureCost {
    /// Counts the cost over the paths of a preview, or without tables by the cables alone.
    pub(super) fn count(look: &Snapshot, mut preview: Option<Preview>, what: ElementId) -> Self {
        let mut marks = Faults::new();
        marks.mark(what);
        let (lost, hit) = count_mark_loss(look, preview.as_mut(), &marks);
        Self { lost, cut_off: hit.victims(look, None, HostNames::Short).cut_off }
    }

    pub(super) fn lines(&self, unknown: &str) -> [DetailLine; 2] {
        let (pairs, cut) = match &self.lost {
            MarkLoss::Counted(cost) => {
                let bound = cost.bound();
                let [lost, all] = [cost.lost_pairs(), cost.pairs].map(digits_in_groups);
                let pairs = match cost.lost_pairs() {
                    0 if bound == CostBound::Exact => "no pair lost".to_owned(),
                    _ => format!("{}{lost} of {all} pairs lost", bound.prefix()),
                };
                (pairs, cost.lost.critical)
            }
            MarkLoss::ByCables(cut) => (format!("{unknown} not known: no tables"), cut.pairs),
        };
        let NamedHosts { count, first } = &self.cut_off;
        let named = first.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let hosts = match count.saturating_sub(MAX_NAMED) {
            _ if *count == 0 => "no host".to_owned(),
            0 => format!("{}: {named}", count_words(*count, "host", "hosts")),
            more => format!("{}: {named} and {more} more", count_words(*count, "host", "hosts")),
        };
        let cut = match cut {
            0 => "none".to_owned(),
            _ => format!("{hosts}; {} pairs", digits_in_groups(cut)),
        };
        [("if it fails", pairs), ("cut off", cut)]
    }
}

/// The cost of the element of a row, and what it was counted for.
#[derive(Debug, Default)]
pub struct FailureCosts {
    /// The last one that was counted.
    pub(super) counted: Option<(CostKey, FailureCost)>,
    pub(super) pending: Option<(TaskId, CostKey)>,
}

/// The snapshot and the element, in the notation of commands.
#[derive(Clone, Debug)]
pub(super) struct CostKey {
    pub(super) look: Arc<Snapshot>,
    pub(super) element: String,
}

impl CostKey {
    pub(super) fn is_of(&self, look: &Arc<Snapshot>, element: &str) -> bool {
        Arc::ptr_eq(&self.look, look) && self.element == element
    }
}

impl FailureCosts {
    /// The cost of an element; `None` until it is counted.
    pub(super) fn cost_of(&self, look: &Arc<Snapshot>, element: &str) -> Option<&FailureCost> {
        self.counted.as_ref().filter(|(of, _)| of.is_of(look, element)).map(|(_, cost)| cost)
    }
}
