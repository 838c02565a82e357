//! A tree of two levels as OPT sees it: leaves with the places of their hosts, and planes. A plane is a top switch, or one
//! of several parallel cables to it.

use rustc_hash::FxHashMap;

use crate::engine::EngineRefusal;
use crate::host_places::HostPlaces;
use crate::problem::Problem;
use crate::problem::switch_name;
use fabdeck_fabric::{PortId, PortNum, SwitchGraph};

/// The name of the engine.
pub const ID: &str = "opt";

/// A leaf with its hosts in the order of their ports.
#[derive(Clone, Debug)]
pub(super) struct OptLeaf {
    pub switch: u32,
    /// Its number among the leaves of its part.
    pub number: u32,
    pub hosts: Vec<PortId>,
}

/// A top switch, or one of the parallel cables from a leaf to it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct OptPlane {
    copy: u32,
    pub top: u32,
}

/// One connected part. Cables and hosts are those of the fabric without its faults; which cables are live is beside.
#[derive(Debug)]
pub(super) struct TwoLevels {
    pub leaves: Vec<OptLeaf>,
    pub planes: Vec<OptPlane>,
    /// The ports of a cable, at the leaf and at the top, by leaf and plane; `None` without a cable.
    cables: Vec<Option<(PortNum, PortNum)>>,
    live: Vec<bool>,
    /// Whether the top of a plane has a live cable to a leaf, by leaf and plane.
    reached: Vec<bool>,
}

impl TwoLevels {
    /// The parts of a fabric; refuses what has more levels than two, or other cables than those between them.
    /// `height` is of the fabric without its faults.
    pub fn read(
        problem: &Problem<'_>,
        places: &HostPlaces,
        height: &[u32],
    ) -> Result<Vec<Self>, EngineRefusal> {
        let graph = &places.graph;
        refuse_other_shapes(problem, places, height)?;
        let (part, parts) = graph.components();
        let mut by_part: Vec<Vec<OptLeaf>> = vec![Vec::new(); parts as usize];
        for leaf in &places.leaves {
            let ends = graph.terminals_of(leaf.switch).iter().map(|end| end.port);
            let hosts = ends.filter(|port| places.place(*port).is_some()).collect();
            let leaves = &mut by_part[part[leaf.switch as usize] as usize];
            leaves.push(OptLeaf { switch: leaf.switch, number: leaf.number, hosts });
        }
        let parts = by_part.into_iter().filter(|leaves| !leaves.is_empty());
        Ok(parts.map(|leaves| Self::with_leaves(problem, graph, leaves)).collect())
    }

    fn with_leaves(problem: &Problem<'_>, graph: &SwitchGraph, leaves: Vec<OptLeaf>) -> Self {
        let mut found = Vec::new();
        for (at, leaf) in leaves.iter().enumerate() {
            let mut copies: FxHashMap<u32, u32> = FxHashMap::default();
            for channel in &graph.channels()[graph.outgoing(leaf.switch)] {
                let copy = copies.entry(channel.to).or_default();
                found.push((at, OptPlane { copy: *copy, top: channel.to }, channel));
                *copy += 1;
            }
        }
        let mut planes: Vec<OptPlane> = found.iter().map(|(_, plane, _)| *plane).collect();
        planes.sort_unstable();
        planes.dedup();
        let mut tree = Self {
            cables: vec![None; leaves.len() * planes.len()],
            live: vec![false; leaves.len() * planes.len()],
            reached: Vec::new(),
            leaves,
            planes,
        };
        for (leaf, plane, channel) in found {
            let Ok(plane) = tree.planes.binary_search(&plane) else { continue };
            let at = leaf * tree.planes.len() + plane;
            tree.cables[at] = Some((channel.from_port, channel.to_port));
            let live = &problem.graph.channels()[problem.graph.outgoing(channel.from)];
            tree.live[at] =
                live.binary_search_by_key(&channel.from_port, |channel| channel.from_port).is_ok();
        }
        let (count, width) = (tree.leaves.len(), tree.planes.len());
        let reached = |at: usize| tree.planes_to(tree.planes[at % width].top, at / width).next().is_some();
        tree.reached = (0..count * width).map(reached).collect();
        tree
    }

    /// The ports of a live cable, at the leaf and at the top.
    pub fn live_cable(&self, leaf: usize, plane: usize) -> Option<(PortNum, PortNum)> {
        let at = leaf * self.planes.len() + plane;
        self.cables.get(at).copied().flatten().filter(|_| self.live[at])
    }

    /// Whether a live path leads from a leaf up in a plane, and from its top down to another leaf over any cable.
    pub fn is_live(&self, from: usize, plane: usize, to: usize) -> bool {
        self.live_cable(from, plane).is_some() && self.reached[to * self.planes.len() + plane]
    }

    /// The planes of a top with a live cable to a leaf.
    pub fn planes_to(&self, top: u32, leaf: usize) -> impl Iterator<Item = usize> {
        let of_top = self.planes.iter().enumerate().filter(move |(_, plane)| plane.top == top);
        of_top.map(|(at, _)| at).filter(move |at| self.live_cable(leaf, *at).is_some())
    }

    /// The same tree with the planes without a live cable behind the others, so that the groups have live planes as far as
    /// there are some. `None` where each plane has a live cable, or they are behind already.
    pub fn with_dead_planes_last(&self) -> Option<Self> {
        let width = self.planes.len();
        let is_dead = |plane: &usize| !self.live.iter().skip(*plane).step_by(width).any(|live| *live);
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by_key(is_dead);
        if order.is_sorted() {
            return None;
        }
        let leaves = self.leaves.len();
        let at = |leaf: usize| order.iter().map(move |plane| leaf * width + plane);
        Some(Self {
            leaves: self.leaves.clone(),
            planes: order.iter().map(|plane| self.planes[*plane]).collect(),
            cables: (0..leaves).flat_map(at).map(|at| self.cables[at]).collect(),
            live: (0..leaves).flat_map(at).map(|at| self.live[at]).collect(),
            reached: (0..leaves).flat_map(at).map(|at| self.reached[at]).collect(),
        })
    }

    /// The numbers of cables up that a leaf may have: the least, and the one that most leaves have; without faults, and of
    /// live ones where these are fewer.
    pub fn uplink_counts(&self) -> Vec<usize> {
        let width = self.planes.len().max(1);
        let all = self.cables.chunks(width).map(|cables| cables.iter().flatten().count());
        let live = self.live.chunks(width).map(|cables| cables.iter().filter(|live| **live).count());
        let mut wanted = Self::usual_counts(all.collect());
        wanted.extend(Self::usual_counts(live.filter(|count| *count > 0).collect()));
        wanted
    }

    fn usual_counts(mut counts: Vec<usize>) -> Vec<usize> {
        counts.sort_unstable();
        let most = counts.chunk_by(|a, b| a == b).max_by_key(|equal| (equal.len(), equal[0]));
        most.map(|equal| equal[0]).into_iter().chain(counts.first().copied()).collect()
    }
}

fn refuse_other_shapes(
    problem: &Problem<'_>,
    places: &HostPlaces,
    height: &[u32],
) -> Result<(), EngineRefusal> {
    let unfit = |why: String| Err(EngineRefusal::Unfit { engine: ID, why });
    let (fabric, graph) = (problem.fabric, &places.graph);
    if places.leaves.is_empty() {
        return unfit(
            "it has no host with a LID; connect hosts, or let a subnet manager give them LIDs".to_owned(),
        );
    }
    let name = |switch: u32| switch_name(fabric, switch);
    if let Some(third) = problem.switches().find(|switch| height[*switch as usize] > 1) {
        return unfit(format!(
            "it takes trees of two levels, and {} is on a third level; mlid takes trees of any height",
            name(third)
        ));
    }
    let level = |switch: u32| height[switch as usize];
    if let Some(across) = graph.channels().iter().find(|channel| level(channel.from) == level(channel.to)) {
        let (a, b) = (name(across.from), name(across.to));
        return unfit(format!(
            "it takes trees of two levels, and {a} has a cable to {b} on its own level; mlid takes such trees"
        ));
    }
    if let Some(high) =
        places.leaves.iter().find(|leaf| level(leaf.switch) > 0 && !graph.channels().is_empty())
    {
        return unfit(format!(
            "it takes hosts at the bottom, and {} is above it and has hosts; mlid takes such trees",
            name(high.switch)
        ));
    }
    Ok(())
}
