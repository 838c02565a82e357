//! Failures by seed on any fabric: marks that leave the rest connected. The rules are those of generated faults.
//!
//! - Where some switches have no adapters only those fail, so that no adapter is lost; where all have some, any may.
//! - Links between switches fail, cables of adapters do not.
//! - Candidates come in an order drawn from the seed; one whose loss would disconnect the rest is passed over.

use super::faults::{Survivors, UnionFind};
use super::rng::{Rng, RngStream};
use crate::{ElementId, Fabric, Faults, LinkId, NodeId, PortState};

/// How many switches and links between switches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FailureCounts {
    /// The switches.
    pub switches: u32,
    /// The links between switches.
    pub links: u32,
}

impl FailureCounts {
    /// The switches of a fabric and the working links between them, which can fail.
    pub fn of_fabric(fabric: &Fabric) -> Self {
        Self { switches: fabric.switches().count() as u32, links: working_links(fabric).len() as u32 }
    }
}

/// Fewer elements can fail than were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "FD-3030: only {possible} of {total} {what} can fail without cutting the rest in two, and {wanted} were asked for"
)]
pub struct FailureDrawError {
    /// The kind of element.
    pub what: &'static str,
    /// The number that was asked for.
    pub wanted: u32,
    /// The number that can fail.
    pub possible: u32,
    /// The number of all.
    pub total: u32,
}

/// Marks switches, then links, chosen by seed.
pub fn draw_failures(fabric: &Fabric, counts: FailureCounts, seed: u64) -> Result<Faults, FailureDrawError> {
    let mut faults = Faults::new();
    let switches: Vec<NodeId> = fabric.switches().map(|(id, _)| id).collect();
    let links = working_links(fabric);
    let ends: Vec<(u32, u32)> = links.iter().map(|link| switch_ends(fabric, *link)).collect();
    let lost = draw_switches(fabric, &switches, &ends, counts.switches, seed)?;
    for (switch, _) in switches.iter().zip(&lost).filter(|(_, lost)| **lost) {
        faults.mark(ElementId::Node(*switch));
    }
    for link in draw_links(&lost, &ends, counts.links, seed)? {
        faults.mark(ElementId::Link(links[link as usize]));
    }
    Ok(faults)
}

fn working_links(fabric: &Fabric) -> Vec<LinkId> {
    let up = |link: &crate::Link| {
        [link.a, link.b].iter().all(|port| fabric.port(*port).facts.state != Some(PortState::Down))
    };
    let links = fabric.links().filter(|(id, link)| fabric.is_between_switches(*id) && up(link));
    links.map(|(id, _)| id).collect()
}

/// The switches at both ends of a link. Switches are the first nodes of a fabric.
fn switch_ends(fabric: &Fabric, link: LinkId) -> (u32, u32) {
    let link = fabric.link(link);
    (fabric.port(link.a).node.0, fabric.port(link.b).node.0)
}

fn draw_switches(
    fabric: &Fabric,
    switches: &[NodeId],
    ends: &[(u32, u32)],
    wanted: u32,
    seed: u64,
) -> Result<Vec<bool>, FailureDrawError> {
    let mut survivors = Survivors::new(switches.len(), ends);
    let has_adapters = |switch: &NodeId| {
        let far = |peer| fabric.node(fabric.port(peer).node);
        fabric.ports_of(*switch).any(|(_, port)| port.peer.is_some_and(|peer| !far(peer).is_switch()))
    };
    let mut spared: Vec<bool> = switches.iter().map(has_adapters).collect();
    if spared.iter().all(|has_adapters| *has_adapters) {
        spared.fill(false);
    }
    let mut failed = 0;
    for switch in Rng::new(seed, RngStream::SwitchFaults).shuffled(switches.len()) {
        if failed == wanted {
            break;
        }
        let at = switch as usize;
        if !spared[at] && failed + 1 < switches.len() as u32 && survivors.can_remove(switch) {
            survivors.remove(switch);
            failed += 1;
        }
    }
    let total = switches.len() as u32;
    match failed == wanted {
        true => Ok(survivors.lost),
        false => Err(FailureDrawError { what: "switches", wanted, possible: failed, total }),
    }
}

/// The positions of the links that fail. One pass of union-find from the end keeps the links that hold the rest together
/// (see `fail_links` of generated faults).
fn draw_links(
    lost: &[bool],
    ends: &[(u32, u32)],
    wanted: u32,
    seed: u64,
) -> Result<Vec<u32>, FailureDrawError> {
    let mut order = Rng::new(seed, RngStream::LinkFaults).shuffled(ends.len());
    let end = |link: &u32| ends[*link as usize];
    order.retain(|link| !lost[end(link).0 as usize] && !lost[end(link).1 as usize]);
    let mut parts = UnionFind::new(lost.len());
    let mut free: Vec<u32> = order
        .iter()
        .rev()
        .filter(|link| {
            let (a, b) = end(link);
            !parts.unite(a, b)
        })
        .copied()
        .collect();
    free.reverse();
    let (possible, total) = (free.len() as u32, ends.len() as u32);
    if possible < wanted {
        return Err(FailureDrawError { what: "links between switches", wanted, possible, total });
    }
    free.truncate(wanted as usize);
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{FabricSpec, generate};
    use crate::{NodeKind, SwitchGraph};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn counts(switches: u32, links: u32) -> FailureCounts {
        FailureCounts { switches, links }
    }

    /// Whether the working switches are one part.
    fn is_connected(fabric: &Fabric, faults: &Faults) -> bool {
        let graph = SwitchGraph::new(fabric, faults);
        let mut parts = UnionFind::new(graph.switch_count());
        let joined = graph.channels().iter().filter(|channel| parts.unite(channel.from, channel.to)).count();
        let alive = (0..graph.switch_count() as u32).filter(|switch| graph.is_alive(*switch)).count();
        joined + 1 == alive
    }

    #[test]
    fn what_fails_leaves_the_rest_connected_and_is_the_same_again() {
        for (name, switches, links) in
            [("kary,k=4,n=3", 3, 9), ("torus,dims=3x3x3", 2, 20), ("tsubame2,hosts=1555", 5, 65)]
        {
            let fabric = fabric(name);
            for seed in 1..=5 {
                let faults = draw_failures(&fabric, counts(switches, links), seed).unwrap();
                assert_eq!(faults.len() as u32, switches + links, "{name} {seed}");
                assert!(is_connected(&fabric, &faults), "{name} {seed}");
                assert_eq!(faults, draw_failures(&fabric, counts(switches, links), seed).unwrap());
            }
            let [one, two] = [1, 2].map(|seed| draw_failures(&fabric, counts(0, links), seed).unwrap());
            assert_ne!(one, two, "{name}");
        }
    }

    #[test]
    fn switches_with_adapters_are_spared_where_others_are_without() {
        let tree = fabric("kary,k=4,n=3");
        let hosts = |faults: &Faults| {
            let marked = faults.iter().filter_map(|what| match what {
                ElementId::Node(node) => Some(node),
                _ => None,
            });
            let ports = marked.flat_map(|node| tree.ports_of(node));
            let peers = ports.filter_map(|(_, port)| port.peer);
            peers.filter(|peer| tree.node(tree.port(*peer).node).facts.kind != NodeKind::Switch).count()
        };
        for seed in 1..=5 {
            assert_eq!(hosts(&draw_failures(&tree, counts(8, 0), seed).unwrap()), 0, "{seed}");
        }
        // 32 switches above the leaves, of which one has to stay for each pair of leaves.
        let error = draw_failures(&tree, counts(48, 0), 1).unwrap_err();
        assert_eq!((error.what, error.wanted, error.total), ("switches", 48, 48));
        let error = draw_failures(&fabric("torus,dims=5"), counts(0, 40), 1).unwrap_err();
        assert!(error.to_string().starts_with("FD-3030: only "), "{error}");
    }
}
