//! Dependencies between channels, lane by lane: a path that leaves a switch by one channel after coming by another
//! makes the first wait for the second. Routes cannot deadlock when no lane has a cycle of them.

use std::sync::atomic::{AtomicU64, Ordering};

use super::cycle_search::{self, WaitGraph, set_bit, set_bits};
use super::report::{DependencyCycle, DependencyProof, LaneKnowledge, RouteScope};
use crate::problem::{Destination, Problem};
use crate::trees::{RouteTree, place_of};
use fabdeck_fabric::{ChannelId, Lane, Lid, PathLanes, PortNum, Routes, SwitchGraph};

/// A dependency is a bit: the row is the channel by which a path comes, the column the place among those that leave.
/// Bits are only ever set, so that the outcome does not depend on the order of threads.
#[derive(Debug)]
pub struct DependencyGraph {
    /// Words of a row.
    words: usize,
    channels: usize,
    bits: Vec<AtomicU64>,
}

impl DependencyGraph {
    pub fn new(graph: &SwitchGraph, lanes: u8) -> Self {
        let switches = 0..graph.switch_count() as u32;
        let widest = switches.map(|switch| graph.outgoing(switch).len()).max().unwrap_or(0);
        let (words, channels) = (widest.div_ceil(64).max(1), graph.channels().len());
        let count = words * channels * usize::from(lanes.max(1));
        Self { words, channels, bits: (0..count).map(|_| AtomicU64::new(0)).collect() }
    }

    fn word_index(&self, lane: u8, channel: usize, place: u32) -> usize {
        (usize::from(lane) * self.channels + channel) * self.words + place as usize / 64
    }

    pub fn add(&self, lane: u8, channel: usize, place: u32) {
        let Some(word) = self.bits.get(self.word_index(lane, channel, place)) else { return };
        set_bit(word, place as usize);
    }

    fn has(&self, lane: u8, channel: usize, place: u32) -> bool {
        self.bits[self.word_index(lane, channel, place)].load(Ordering::Relaxed) & (1 << (place % 64)) != 0
    }

    /// Whether a lane has no cycle.
    pub fn is_acyclic(&self, graph: &SwitchGraph, lane: u8) -> bool {
        cycle_search::is_acyclic(&DependenciesOfLane { all: self, graph, lane })
    }

    /// A cycle on a lane, as short as a bounded search finds; from its lowest channel on.
    pub fn find_cycle(&self, graph: &SwitchGraph, lane: u8) -> Option<Vec<usize>> {
        cycle_search::find_cycle(&DependenciesOfLane { all: self, graph, lane })
    }
}

/// The dependencies of one lane: a row is a channel.
struct DependenciesOfLane<'d> {
    all: &'d DependencyGraph,
    graph: &'d SwitchGraph,
    lane: u8,
}

impl WaitGraph for DependenciesOfLane<'_> {
    fn row_count(&self) -> usize {
        self.all.channels
    }

    fn successors(&self, channel: usize) -> impl Iterator<Item = usize> {
        let first = self.graph.outgoing(self.graph.channels()[channel].to).start;
        let start = self.all.word_index(self.lane, channel, 0);
        set_bits(&self.all.bits[start..start + self.all.words]).map(move |place| first + place)
    }

    fn predecessors(&self, channel: usize) -> impl Iterator<Item = usize> {
        let place = place_of(self.graph, channel);
        let coming = self.graph.outgoing(self.graph.channels()[channel].from);
        let coming = coming.map(|away| self.graph.channels()[away].reverse.index());
        coming.filter(move |other| *other < self.all.channels && self.all.has(self.lane, *other, place))
    }
}

/// What sources and destinations make dependencies, and under which lanes.
#[derive(Debug)]
pub struct DependencySources<'a> {
    pub problem: &'a Problem<'a>,
    pub switches: bool,
    /// Terminals with a LID of each switch.
    pub terminals: Vec<u32>,
    /// All paths on one lane, whatever the routes say.
    pub one_lane: bool,
}

impl<'a> DependencySources<'a> {
    pub fn new(problem: &'a Problem<'a>, scope: &RouteScope) -> Self {
        let terminals = problem.graph.senders();
        let one_lane = scope.lanes == LaneKnowledge::Unknown;
        Self { problem, switches: scope.switches, terminals, one_lane }
    }

    /// Whether equal columns of two LIDs make the same dependencies.
    pub fn has_equal_dependencies(&self, routes: &Routes, a: &Destination, b: &Destination) -> bool {
        match &routes.lanes {
            PathLanes::One => true,
            _ if self.one_lane => true,
            PathLanes::ByDestination { .. } => routes.lane(0, a.lid) == routes.lane(0, b.lid),
            PathLanes::ByPair { .. } | PathLanes::ByHop { .. } => false,
        }
    }

    /// For each switch the lanes that its sources send on, as bits; the lanes of all of them together.
    pub fn sources(
        &self,
        routes: &Routes,
        end: &Destination,
        tree: &RouteTree<'_>,
        lanes: &mut [u16],
    ) -> u16 {
        let by_pair = matches!(routes.lanes, PathLanes::ByPair { .. });
        let one = 1u16 << self.lane(routes, 0, end.lid);
        let mut all = 0;
        lanes.fill(0);
        for switch in tree.order {
            let at = *switch as usize;
            let itself = *switch == tree.root;
            let others = self.terminals[at] > u32::from(itself && !end.is_switch());
            if others || (self.switches && !(itself && end.is_switch())) {
                lanes[at] = if by_pair { 1 << self.lane(routes, *switch, end.lid) } else { one };
                all |= lanes[at];
            }
        }
        all
    }

    pub fn lane(&self, routes: &Routes, from: u32, to: Lid) -> u8 {
        if self.one_lane { 0 } else { routes.lane(from, to).value() }
    }

    /// How many lanes may come up; lanes are below 16 whatever routes claim.
    pub fn lane_count(&self, routes: &Routes) -> u8 {
        match &routes.lanes {
            PathLanes::ByDestination { lane, .. } | PathLanes::ByPair { lane, .. } if !self.one_lane => {
                lane.iter().copied().max().map_or(1, |top| top.min(Lane::MAX) + 1)
            }
            _ => 1,
        }
    }

    pub fn has_senders(&self, switch: u32) -> bool {
        self.switches || self.terminals[switch as usize] > 0
    }

    /// Cycles on every lane, each with the paths that close it.
    pub fn find_cycles(
        &self,
        dependencies: &DependencyGraph,
        lanes: u8,
        all: &[&Routes],
    ) -> Vec<DependencyCycle> {
        let graph = &self.problem.graph;
        let found = (0..lanes).filter_map(|lane| Some((lane, dependencies.find_cycle(graph, lane)?)));
        found.map(|(lane, channels)| self.prove_cycle(lane, &channels, all)).collect()
    }

    fn prove_cycle(&self, lane: u8, cycle: &[usize], all: &[&Routes]) -> DependencyCycle {
        let next = cycle.iter().cycle().skip(1);
        let paths =
            cycle.iter().zip(next).filter_map(|(a, b)| self.find_path_over(lane, *a, *b, all)).collect();
        let channels = cycle.iter().map(|channel| ChannelId(*channel as u32)).collect();
        let lane = Lane::new(lane.into()).unwrap_or_default();
        DependencyCycle { lane, hop_lanes: Vec::new(), channels, paths }
    }

    /// The first path, by LID, that uses one channel and then the other.
    fn find_path_over(&self, lane: u8, a: usize, b: usize, all: &[&Routes]) -> Option<DependencyProof> {
        let channels = self.problem.graph.channels();
        let (a, b) = (channels.get(a)?, channels.get(b)?);
        all.iter().enumerate().find_map(|(at, routes)| {
            let (here, there) = (routes.row(a.from), routes.row(b.from));
            let both = (0u32..).zip(here.iter().zip(there));
            let fits = both.filter(|(_, ports)| *ports == (&a.from_port.value(), &b.from_port.value()));
            fits.filter_map(|(lid, _)| Lid::new(lid)).find_map(|lid| {
                let source = self.source_over(routes, lane, a.from, lid)?;
                Some(DependencyProof { source, destination: lid, routes: at })
            })
        })
    }

    /// A source whose path to a LID crosses a switch on a lane and arrives: the switch itself if it is one.
    fn source_over(&self, routes: &Routes, lane: u8, over: u32, lid: Lid) -> Option<u32> {
        let root = self.root_of(lid)?;
        self.is_crossed(routes, over, lid, root, over)?;
        let fits = |from: &u32| {
            self.has_senders(*from)
                && self.lane(routes, *from, lid) == lane
                && self.is_crossed(routes, *from, lid, root, over) == Some(true)
        };
        if fits(&over) { Some(over) } else { self.problem.switches().find(fits) }
    }

    /// The switch and port behind which a LID in scope lies.
    fn root_of(&self, lid: Lid) -> Option<(u32, PortNum)> {
        let fabric = self.problem.fabric;
        let port = fabric.port_by_lid(lid)?;
        let node = match fabric.node(fabric.port(port).node).is_switch() {
            true => fabric.port(port).node,
            false => fabric.port(fabric.peer(port)?).node,
        };
        if !fabric.node(node).is_switch() {
            return None;
        }
        let end = self.problem.destinations_behind(node.0).iter().find(|end| end.lid == lid)?;
        (self.switches || !end.is_switch()).then_some((node.0, end.port))
    }

    /// Whether a path crosses a switch; `None` when it does not arrive.
    fn is_crossed(
        &self,
        routes: &Routes,
        from: u32,
        lid: Lid,
        root: (u32, PortNum),
        over: u32,
    ) -> Option<bool> {
        let graph = &self.problem.graph;
        let (mut at, mut crossed) = (from, false);
        for _ in 0..=graph.switch_count() {
            crossed |= at == over;
            let egress = routes.get(at, lid)?;
            if at == root.0 {
                return (egress == root.1).then_some(crossed);
            }
            let leaving = &graph.channels()[graph.outgoing(at)];
            at = leaving.get(leaving.binary_search_by_key(&egress, |channel| channel.from_port).ok()?)?.to;
        }
        None
    }
}

/// Puts the dependencies of one tree down. `lanes`: for each switch the lanes that come through it, as bits; those of
/// sources to begin with, and of all that pass afterwards.
pub fn add_tree(
    graph: &SwitchGraph,
    dependencies: &DependencyGraph,
    tree: &RouteTree<'_>,
    lanes: &mut [u16],
) {
    for switch in tree.order.iter().rev().copied().filter(|switch| *switch != tree.root) {
        let next = tree.ways[switch as usize].switch();
        let through = lanes[switch as usize];
        if next == tree.root || through == 0 {
            continue;
        }
        lanes[next as usize] |= through;
        let (channel, place) = (tree.channel(graph, switch), tree.ways[next as usize].place());
        let mut left = through;
        while left != 0 {
            dependencies.add(left.trailing_zeros() as u8, channel, place);
            left &= left - 1;
        }
    }
}
