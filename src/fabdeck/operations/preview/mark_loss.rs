//! What marks cost: paths under the tables in force, or without tables the pairs that no cables connect.

use super::path_preview::Preview;
use super::victims::HitHosts;
use super::whatif::MarkLoss;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::Faults;
use fabdeck_routing::analysis::CutOffPairs;

/// Counts what marks cost, and the hosts that they hit. `preview` has the paths under the tables in force, and keeps the marks.
pub fn count_mark_loss(
    look: &Snapshot,
    preview: Option<&mut Preview>,
    marks: &Faults,
) -> (MarkLoss, HitHosts) {
    match preview {
        Some(preview) => {
            preview.set_marks(look, marks);
            (MarkLoss::Counted(Box::new(preview.cost(None))), preview.hit_hosts(look))
        }
        None => {
            let cut = CutOffPairs::count(look.fabric(), marks, look.partitions.as_ref());
            (MarkLoss::ByCables(cut), HitHosts::by_cables(look, marks))
        }
    }
}
