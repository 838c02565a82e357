//! The search in the names of nodes. A key looks through a bounded number of names; what is left is for a task.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::name_index::NameIndex;
use super::text_match::match_score;
use crate::catalogue::snapshot::Snapshot;
use crate::console::model::tasks::TaskId;
use fabdeck_fabric::NodeId;

/// Most names of a kind that are kept.
pub const MAX_HITS: usize = 50;

/// A node whose name matches, with its score.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameHit {
    pub node: NodeId,
    pub score: u16,
}

/// The names that match.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameHits {
    /// The best switches, and the best of the other nodes.
    pub switches: Vec<NameHit>,
    pub hosts: Vec<NameHit>,
    /// Number of all that match.
    pub switch_count: usize,
    pub host_count: usize,
    /// Number of names that were looked through.
    pub looked_through: usize,
    /// Whether all names were looked through.
    pub is_complete: bool,
}

impl NameHits {
    pub fn count(&self) -> usize {
        self.switch_count + self.host_count
    }
}

/// The background tasks for names: the snapshot that is being indexed, and the words of the search.
#[derive(Debug, Default)]
pub struct NamesPending {
    pub index: Option<(TaskId, Arc<Snapshot>)>,
    pub search: Option<(TaskId, Vec<String>)>,
}

/// Looks through the first `limit` names, and through at most as many others that have a word which begins as the
/// first word of the line.
pub fn search_names(index: &NameIndex, words: &[String], limit: usize) -> NameHits {
    let Some(first) = words.first() else {
        return NameHits { is_complete: true, ..NameHits::default() };
    };
    let looked = index.len().min(limit);
    let mut nodes: Vec<NodeId> = (0..looked).map(|at| NodeId(at as u32)).collect();
    let is_complete = looked == index.len();
    if !is_complete {
        let others = index.nodes_with_start(first).take(limit).filter(|node| node.index() >= looked);
        // A name may have several words with this start.
        nodes.extend(others.collect::<BTreeSet<_>>());
    }
    let looked_through = nodes.len();
    let mut hits: Vec<NameHit> = nodes
        .into_iter()
        .filter_map(|node| Some(NameHit { node, score: match_score(index.name(node), words)? }))
        .collect();
    let order =
        |hit: &NameHit| (Reverse(hit.score), index.name(hit.node).len(), index.name(hit.node), hit.node);
    hits.sort_unstable_by(|a, b| order(a).cmp(&order(b)));
    let fabric = index.look.fabric();
    let (mut switches, mut hosts): (Vec<_>, Vec<_>) =
        hits.into_iter().partition(|hit| fabric.node(hit.node).is_switch());
    let (switch_count, host_count) = (switches.len(), hosts.len());
    switches.truncate(MAX_HITS);
    hosts.truncate(MAX_HITS);
    NameHits { switches, hosts, switch_count, host_count, looked_through, is_complete }
}
