//! The structure that the drawn map shows: switches by rank, their hosts, and the cables between switches. It is made in
//! the background, with the ranks.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::groups::{MapBundle, MapGroups};
use super::ranks::SwitchRank;
use super::torus::TorusShape;
use crate::catalogue::snapshot::Snapshot;
use fabdeck_fabric::{ElementId, LinkId, NodeId, PortId};

/// A host with the cable to its switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttachedHost {
    pub node: NodeId,
    pub link: LinkId,
    /// The port of the switch.
    pub port: PortId,
}

/// A switch of the drawn map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MapSwitch {
    pub id: NodeId,
    /// Its rank, from the top.
    pub rank: usize,
    /// Its hosts, in the order of its ports.
    pub hosts: Vec<AttachedHost>,
}

/// A cable between two switches, by their indexes. The upper one is in the same rank or nearer to the top.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapCable {
    pub link: LinkId,
    pub upper: usize,
    pub lower: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MapStructure {
    /// Number of switches in each rank, from the top.
    pub ranks: Vec<usize>,
    /// The switches, rank by rank.
    pub switches: Vec<MapSwitch>,
    /// The cables, by their upper and lower switch, then by port.
    pub cables: Vec<MapCable>,
    /// Whether the ranks are those of a tree.
    pub tree: bool,
    /// The groups of switches, and the bundles of cables between groups of a dragonfly.
    pub groups: MapGroups,
    pub bundles: Vec<MapBundle>,
    /// The coordinates of a torus or mesh.
    pub torus: Option<TorusShape>,
    /// Aggregation nodes, which the map leaves out.
    pub left_out: usize,
}

/// Most ranks of a fabric that is no tree; a higher rank joins its neighbours.
const MAX_RANKS: usize = 4;

impl MapStructure {
    /// The structure of a snapshot. The ranks of a tree are those of the list; of another fabric, ranks are distances
    /// from the switch with the most cables.
    pub fn new(look: &Snapshot, tiers: &[SwitchRank], tree: bool) -> Self {
        let ranked: Vec<Vec<NodeId>> = match tree {
            true => tiers.iter().map(|tier| tier.switches.clone()).collect(),
            false => ranks_by_distance(look, tiers),
        };
        let fabric = look.fabric();
        let mut structure = Self { ranks: ranked.iter().map(Vec::len).collect(), tree, ..Self::default() };
        for (rank, id) in
            ranked.iter().enumerate().flat_map(|(rank, ids)| ids.iter().map(move |id| (rank, *id)))
        {
            structure.switches.push(MapSwitch { id, rank, hosts: attached_hosts(look, id) });
        }
        structure.left_out = fabric.nodes().filter(|(_, node)| node.facts.is_aggregation()).count();
        let places = structure.places();
        for (at, switch) in structure.switches.iter().enumerate() {
            for (_, port) in fabric.ports_of(switch.id) {
                let (Some(peer), Some(link)) = (port.peer, port.link) else { continue };
                let Some(other) = places.get(&fabric.port(peer).node) else { continue };
                // Each cable is met at both ends, and counts at its upper one.
                if at < *other {
                    structure.cables.push(MapCable { link, upper: at, lower: *other });
                }
            }
        }
        structure.cables.sort_by_key(|cable| (cable.upper, cable.lower));
        if !tree {
            structure.torus = TorusShape::new(look, &structure.switches, &structure.cables);
        }
        structure.groups = MapGroups::new(look, &structure);
        structure.bundles = structure.groups.bundles(&structure);
        structure
    }

    /// The index of each switch.
    pub fn places(&self) -> FxHashMap<NodeId, usize> {
        self.switches.iter().enumerate().map(|(at, switch)| (switch.id, at)).collect()
    }

    /// The structure with the ids of another snapshot, until that has its own. Cables and hosts that are gone are left
    /// out; where a switch is gone, there is none.
    pub fn carry_over(&self, again: &dyn Fn(ElementId) -> Option<ElementId>) -> Option<Self> {
        let link = |id: LinkId| match again(ElementId::Link(id))? {
            ElementId::Link(id) => Some(id),
            _ => None,
        };
        let port = |id: PortId| match again(ElementId::Port(id))? {
            ElementId::Port(id) => Some(id),
            _ => None,
        };
        let host = |host: &AttachedHost| {
            Some(AttachedHost {
                node: map_node(host.node, again)?,
                link: link(host.link)?,
                port: port(host.port)?,
            })
        };
        let switch = |switch: &MapSwitch| {
            let hosts = switch.hosts.iter().filter_map(host).collect();
            Some(MapSwitch { id: map_node(switch.id, again)?, hosts, ..switch.clone() })
        };
        let cable = |cable: &MapCable| Some(MapCable { link: link(cable.link)?, ..*cable });
        let switches = self.switches.iter().map(switch).collect::<Option<_>>()?;
        let cables: Vec<MapCable> = self.cables.iter().filter_map(cable).collect();
        // Without a cable, the numbers of the others change; bundles and coordinates wait for the next structure.
        let whole = cables.len() == self.cables.len();
        let torus = self.torus.clone().filter(|_| whole);
        let mut carried = Self { switches, cables, torus, bundles: Vec::new(), ..self.clone() };
        carried.bundles = carried.groups.bundles(&carried);
        Some(carried)
    }
}

/// The same node in another snapshot.
pub fn map_node(id: NodeId, again: &dyn Fn(ElementId) -> Option<ElementId>) -> Option<NodeId> {
    match again(ElementId::Node(id))? {
        ElementId::Node(id) => Some(id),
        _ => None,
    }
}

/// The hosts of a switch, without aggregation nodes, which are part of switches.
fn attached_hosts(look: &Snapshot, switch: NodeId) -> Vec<AttachedHost> {
    let fabric = look.fabric();
    let host = |(id, port): (PortId, &fabdeck_fabric::Port)| {
        let node = fabric.port(port.peer?).node;
        let about = fabric.node(node);
        let is_host = !about.is_switch() && !about.facts.is_aggregation();
        is_host.then_some(AttachedHost { node, link: port.link?, port: id })
    };
    fabric.ports_of(switch).filter_map(host).collect()
}

/// Ranks by distance from the switch with the most cables; switches without a path to it are in the first rank.
fn ranks_by_distance(look: &Snapshot, tiers: &[SwitchRank]) -> Vec<Vec<NodeId>> {
    let fabric = look.fabric();
    let all: Vec<NodeId> = tiers.iter().flat_map(|tier| tier.switches.iter().copied()).collect();
    let places: FxHashMap<NodeId, usize> = all.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    let peers = |at: usize| {
        let peers = fabric.ports_of(all[at]).filter_map(|(_, port)| port.peer);
        peers.filter_map(|peer| places.get(&fabric.port(peer).node).copied())
    };
    let Some(top) = (0..all.len()).rev().max_by_key(|at| peers(*at).count()) else { return Vec::new() };
    let mut distances = vec![None; all.len()];
    distances[top] = Some(0);
    let mut queue = VecDeque::from([top]);
    let mut most = 0;
    while let Some(at) = queue.pop_front() {
        let next = distances[at].unwrap_or(0) + 1;
        for peer in peers(at).collect::<Vec<_>>() {
            if distances[peer].is_none() {
                distances[peer] = Some(next);
                most = next;
                queue.push_back(peer);
            }
        }
    }
    let count = (most + 1).min(MAX_RANKS);
    let mut ranks = vec![Vec::new(); count];
    for (at, id) in all.iter().enumerate() {
        let distance: usize = distances[at].unwrap_or(0);
        ranks[distance * count / (most + 1)].push(*id);
    }
    ranks
}
