//! Refuses plans for switches that route adaptively. What a linear table does that is written to such a switch is not
//! published, so neither a certificate nor a way back would be true.

use std::collections::BTreeSet;

use crate::catalogue::snapshot::Snapshot;
use crate::catalogue::summary::count_words;
use fabdeck_change::PlanWrite;
use fabdeck_fabric::{AdaptiveStatement, NodeId};
use fabdeck_mad::access::AttributePart;

/// Switches whose tables a plan would write although packets there may use other ones.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdaptiveRefusal {
    switches: usize,
    first: String,
    /// Whether the first of them did not answer whether adaptive routing is on.
    unknown: bool,
}

impl AdaptiveRefusal {
    /// `None` where no such switch is written. A plan that only disables ports changes no table.
    pub fn new(look: &Snapshot, writes: &[PlanWrite]) -> Option<Self> {
        let fabric = look.fabric();
        let tables = writes.iter().filter(|write| !matches!(write.part, AttributePart::Port(_)));
        let written: BTreeSet<NodeId> =
            tables.filter_map(|write| write.to_step().ok()?.slot.at.node(fabric)).collect();
        let adaptive = |id: &NodeId| look.observation.tables.nodes.get(id)?.adaptive.as_ref();
        let mut found: Vec<(bool, NodeId)> = written
            .into_iter()
            .filter_map(|id| {
                let adaptive = adaptive(&id).filter(|adaptive| adaptive.needs_tables())?;
                Some((adaptive.statement == AdaptiveStatement::NoAnswer, id))
            })
            .collect();
        found.sort_unstable();
        let (unknown, first) = *found.first()?;
        Some(Self { switches: found.len(), first: look.unique_name(first).into_owned(), unknown })
    }
}

impl std::fmt::Display for AdaptiveRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { switches, first, unknown } = self;
        let switches = count_words(*switches, "switch", "switches");
        match unknown {
            true => write!(
                f,
                "{switches} (such as {first}) did not answer whether adaptive routing is on, and what a linear table \
                 does there is then not known: read the fabric again when they answer"
            ),
            false => write!(
                f,
                "adaptive routing is on at {switches} (such as {first}), and what a linear table does there is not \
                 known: turn it off in the subnet manager first, or let the subnet manager route"
            ),
        }
    }
}
