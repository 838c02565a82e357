//! The problems of nodes and links, by node and summarized by rank and rack. They are computed again when the
//! snapshot, its order, the marks or the errors change; drawing only reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::catalogue::snapshot::Snapshot;
use crate::console::model::fabric_model::Model;
use fabdeck_fabric::{ElementId, Faults, LinkId, NodeId};

/// The problems of one node. A mark on a link counts for the nodes at both ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct NodeHealth {
    marked: bool,
    silent: bool,
    link_down: bool,
    link_errored: bool,
    link_degraded: bool,
    link_miscabled: bool,
    link_marked: bool,
}

impl NodeHealth {
    /// The worst problem, in words.
    fn words(self) -> &'static str {
        match self {
            Self { marked: true, .. } => "marked",
            Self { silent: true, .. } => NOT_ANSWERING,
            Self { link_down: true, .. } => "a link is down",
            Self { link_errored: true, .. } => "a link has errors",
            Self { link_degraded: true, .. } => "a link is degraded",
            Self { link_miscabled: true, .. } => "a cable is wrong",
            Self { .. } => "a link is marked",
        }
    }
}

/// The text for a node that no longer answers, or is known only by its peer.
pub const NOT_ANSWERING: &str = "no answer";

#[derive(Debug, Default)]
pub struct FabricHealth {
    /// The snapshot, its order and the marks of the last computation; the next field has its links with
    /// errors.
    of: Option<(usize, u64, Faults)>,
    errored: Vec<LinkId>,
    miscabled: Vec<ElementId>,
    nodes: BTreeMap<NodeId, NodeHealth>,
    /// Summaries in the order of the ranks, and in the next field of the racks.
    tiers: Vec<String>,
    racks: Vec<String>,
    all_racks: String,
    hosts: String,
}

impl FabricHealth {
    /// Computes the problems; `None` where nothing has changed since the last computation.
    pub fn update_from(known: &Model) -> Option<Self> {
        let look = known.look.as_ref()?;
        let of = (Arc::as_ptr(look) as usize, known.arranged, known.marks.clone());
        let errored = known.watch.reading.as_ref().map_or_else(Vec::new, |reading| reading.errored_links());
        let miscabled = known.problems.miscabled(look);
        let is_same = known.health.errored == errored && known.health.miscabled == miscabled;
        if known.health.of.as_ref() == Some(&of) && is_same {
            return None;
        }
        let nodes = assess_nodes(look, &known.marks, &errored, &miscabled);
        let in_racks = || known.racks.iter().flat_map(|rack| &rack.hosts);
        Some(Self {
            of: Some(of),
            tiers: known.tiers.iter().map(|tier| summarize_nodes(&nodes, &tier.switches)).collect(),
            racks: known.racks.iter().map(|rack| summarize_nodes(&nodes, &rack.hosts)).collect(),
            all_racks: summarize_nodes(&nodes, in_racks()),
            hosts: summarize_nodes(&nodes, &known.hosts),
            nodes,
            errored,
            miscabled,
        })
    }

    /// Whether the errors of a link are above the threshold.
    pub fn has_errors(&self, link: LinkId) -> bool {
        self.errored.binary_search(&link).is_ok()
    }

    /// Whether a cable differs from the plan of the cabling.
    pub fn is_miscabled(&self, link: LinkId) -> bool {
        self.miscabled.binary_search(&ElementId::Link(link)).is_ok()
    }

    /// Whether a device, one of its cables, or the place of a missing one differs from the plan.
    pub fn has_miscabled(&self, node: NodeId) -> bool {
        self.nodes.get(&node).is_some_and(|ailment| ailment.link_miscabled)
    }

    /// The worst problem of a node; empty where it has none.
    pub fn node(&self, id: NodeId) -> &'static str {
        self.nodes.get(&id).map_or("", |ailment| ailment.words())
    }

    pub fn tier(&self, at: usize) -> &str {
        self.tiers.get(at).map_or("", String::as_str)
    }

    pub fn rack(&self, at: usize) -> &str {
        self.racks.get(at).map_or("", String::as_str)
    }

    pub fn racks(&self) -> &str {
        &self.all_racks
    }

    pub fn hosts(&self) -> &str {
        &self.hosts
    }
}

fn assess_nodes(
    look: &Snapshot,
    marks: &Faults,
    errored: &[LinkId],
    miscabled: &[ElementId],
) -> BTreeMap<NodeId, NodeHealth> {
    let fabric = look.fabric();
    let mut nodes: BTreeMap<NodeId, NodeHealth> = BTreeMap::new();
    for (id, _) in fabric.nodes().filter(|(_, node)| !node.facts.answered) {
        nodes.entry(id).or_default().silent = true;
    }
    let ends = |link: LinkId| {
        let link = fabric.link(link);
        [link.a, link.b].map(|port| fabric.port(port).node)
    };
    for (id, _) in fabric.links() {
        let (down, degraded) = (look.is_down(id), look.is_degraded(id) == Some(true));
        for node in ends(id).into_iter().filter(|_| down || degraded) {
            let ailment = nodes.entry(node).or_default();
            ailment.link_down |= down;
            ailment.link_degraded |= degraded && !down;
        }
    }
    for node in errored.iter().flat_map(|link| ends(*link)) {
        nodes.entry(node).or_default().link_errored = true;
    }
    for what in miscabled {
        let own = match *what {
            ElementId::Node(id) => vec![id],
            ElementId::Port(id) => vec![fabric.port(id).node],
            ElementId::Link(id) => ends(id).to_vec(),
        };
        for node in own {
            nodes.entry(node).or_default().link_miscabled = true;
        }
    }
    for mark in marks.iter() {
        let link = match mark {
            ElementId::Node(id) => {
                nodes.entry(id).or_default().marked = true;
                continue;
            }
            ElementId::Port(id) => {
                nodes.entry(fabric.port(id).node).or_default().link_marked = true;
                fabric.port(id).link
            }
            ElementId::Link(id) => Some(id),
        };
        for node in link.into_iter().flat_map(ends) {
            nodes.entry(node).or_default().link_marked = true;
        }
    }
    nodes
}

/// The number of nodes with each problem, such as `1 no answer, 2 down, 1 with errors, 1 degraded, 3
/// marked`. The worst problem comes first, because a narrow column cuts the end. Marks come last, as the
/// operator set them.
fn summarize_nodes<'n>(
    nodes: &BTreeMap<NodeId, NodeHealth>,
    of: impl IntoIterator<Item = &'n NodeId>,
) -> String {
    let [mut silent, mut down, mut errored, mut degraded, mut miscabled, mut marked] = [0usize; 6];
    if nodes.is_empty() {
        return String::new();
    }
    for ailment in of.into_iter().filter_map(|id| nodes.get(id)) {
        silent += usize::from(ailment.silent);
        down += usize::from(ailment.link_down);
        errored += usize::from(ailment.link_errored);
        degraded += usize::from(ailment.link_degraded);
        miscabled += usize::from(ailment.link_miscabled);
        marked += usize::from(ailment.marked || ailment.link_marked);
    }
    let counts = [
        (silent, NOT_ANSWERING),
        (down, "down"),
        (errored, "with errors"),
        (degraded, "degraded"),
        (miscabled, "miscabled"),
        (marked, "marked"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_problem_comes_first() {
        let marked = NodeHealth { marked: true, ..NodeHealth::default() };
        let down = NodeHealth { link_down: true, link_marked: true, ..NodeHealth::default() };
        let degraded = NodeHealth { link_degraded: true, ..NodeHealth::default() };
        let nodes = BTreeMap::from([(NodeId(1), marked), (NodeId(2), degraded), (NodeId(3), down)]);
        assert_eq!(
            summarize_nodes(&nodes, &[NodeId(0), NodeId(1), NodeId(2), NodeId(3)]),
            "1 down, 1 degraded, 2 marked"
        );
        assert_eq!(summarize_nodes(&nodes, &[NodeId(0)]), "");
        let silent = NodeHealth { silent: true, link_down: true, ..NodeHealth::default() };
        assert_eq!(silent.words(), NOT_ANSWERING);
        let nodes = BTreeMap::from([(NodeId(1), silent)]);
        assert_eq!(summarize_nodes(&nodes, &[NodeId(1)]), "1 no answer, 1 down");
        assert_eq!(
            [marked, down, degraded].map(NodeHealth::words),
            ["marked", "a link is down", "a link is degraded"]
        );
    }
}
