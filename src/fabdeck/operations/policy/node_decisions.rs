//! What a policy decides about nodes behind bad cables. Pure, as the decisions about links.
//!
//! Only a node that runs jobs or could is drained, and only one that is drained with the mark of fabdeck is undrained: a node
//! that is drained for another reason, down, reserved or powered is left alone.

use std::collections::{BTreeMap, BTreeSet};

use super::link_decisions::PolicyRefusal;
use super::policy_file::NodePolicy;
use crate::operations::event_store::stored_batch::LinkEnds;
use fabdeck_files::jobs::{SlurmNode, SlurmNodeUse};

/// The reason of a drained node. It has no number that changes: Slurm takes another reason for another drain.
pub const DRAIN_REASON: &str = "fabdeck: bad cable";
/// Share of all nodes that may be drained at once.
const MAX_SHARE: f64 = 0.01;
/// Time until the same node is drained again.
const DRAIN_PAUSE_MS: i64 = 3_600_000;

/// What is seen of nodes.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NodeObservation {
    pub time_ms: i64,
    pub nodes: Vec<SlurmNode>,
    /// Nodes behind bad cables, with what is bad.
    pub bad: BTreeMap<String, String>,
    /// Nodes that have a cable in the fabric: what is bad of others is not known.
    pub cabled: BTreeSet<String>,
    /// Why nothing is done after this sweep.
    pub refusal: Option<PolicyRefusal>,
}

/// What a policy remembers of nodes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DrainMemory {
    /// When the cable of a node was bad last; a node that is found drained by fabdeck counts as bad then.
    bad_ms: BTreeMap<String, i64>,
    /// When a node was drained last.
    drained_ms: BTreeMap<String, i64>,
    /// The bad cables of nodes: a node is good again only with these cables, not with one of another rail.
    pub bad_cables: BTreeMap<String, BTreeSet<LinkEnds>>,
    /// Nodes that would be drained.
    pub would_drain: BTreeMap<String, i64>,
}

/// What to do about a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeDecision {
    Drain {
        node: SlurmNode,
        why: String,
    },
    Undrain {
        node: SlurmNode,
    },
    /// A node behind a bad cable stays as it is.
    Refuse {
        node: String,
        name: &'static str,
        why: String,
    },
}

/// Whether fabdeck drained a node.
fn is_own(node: &SlurmNode) -> bool {
    node.node_use() == SlurmNodeUse::Drained && node.reason.trim() == DRAIN_REASON
}

/// Most nodes that are drained at once.
pub fn drain_limit(policy: &NodePolicy, nodes: usize) -> usize {
    policy.nodes_at_once.min(((nodes as f64 * MAX_SHARE) as usize).max(1))
}

/// Decides about all nodes.
pub fn decide_nodes(
    observed: &NodeObservation,
    policy: &NodePolicy,
    memory: &mut DrainMemory,
) -> Vec<NodeDecision> {
    for node in observed.bad.keys() {
        memory.bad_ms.insert(node.clone(), observed.time_ms);
    }
    for node in observed.nodes.iter().filter(|node| is_own(node)) {
        memory.bad_ms.entry(node.name.clone()).or_insert(observed.time_ms);
    }
    let own: BTreeSet<&String> =
        observed.nodes.iter().filter(|node| is_own(node)).map(|node| &node.name).collect();
    memory.bad_cables.retain(|node, _| {
        own.contains(node) || observed.bad.contains_key(node) || memory.would_drain.contains_key(node)
    });
    let is_good = |node: &str, memory: &DrainMemory| {
        let bad_ms = memory.bad_ms.get(node).copied().unwrap_or(observed.time_ms);
        observed.cabled.contains(node) && observed.time_ms - bad_ms >= policy.good_for_ms
    };
    memory.would_drain.retain(|node, _| !observed.cabled.contains(node) || observed.bad.contains_key(node));
    let mut decisions = Vec::new();
    if observed.refusal.is_none() {
        let own = observed.nodes.iter().filter(|node| is_own(node) && is_good(&node.name, memory));
        decisions.extend(own.map(|node| NodeDecision::Undrain { node: node.clone() }));
    }
    let limit = drain_limit(policy, observed.nodes.len());
    let mut drained = observed.nodes.iter().filter(|node| is_own(node)).count() + memory.would_drain.len();
    for (name, why) in &observed.bad {
        let Some(node) = observed.nodes.iter().find(|node| node.name == *name) else { continue };
        if is_own(node) || memory.would_drain.contains_key(name) {
            continue;
        }
        let refused = refuse_drain(observed, node, (drained, limit), memory);
        decisions.push(match refused {
            Some((condition, words)) => {
                NodeDecision::Refuse { node: name.clone(), name: condition, why: format!("{why}; {words}") }
            }
            None => {
                drained += 1;
                memory.drained_ms.insert(name.clone(), observed.time_ms);
                NodeDecision::Drain { node: node.clone(), why: why.clone() }
            }
        });
    }
    decisions
}

/// Why a node behind a bad cable is not drained: the name of the condition, and words.
fn refuse_drain(
    observed: &NodeObservation,
    node: &SlurmNode,
    (drained, limit): (usize, usize),
    memory: &DrainMemory,
) -> Option<(&'static str, String)> {
    match node.node_use() {
        SlurmNodeUse::InUse => {}
        SlurmNodeUse::Drained => {
            return Some(("drained-by-others", format!("it is drained already: {}", node.reason)));
        }
        SlurmNodeUse::Other => return Some(("node-state", format!("its state is {}", node.state))),
    }
    if let Some(refusal) = &observed.refusal {
        return Some((refusal.name(), refusal.to_string()));
    }
    if drained >= limit {
        return Some(("nodes-at-once", format!("as many nodes are drained as the policy has ({limit})")));
    }
    let last = memory.drained_ms.get(&node.name)?;
    let is_recent = observed.time_ms - last < DRAIN_PAUSE_MS;
    is_recent.then(|| ("node-pause", "it was drained within the last hour".to_owned()))
}
