//! Dependencies of packets that meet old entries on one part of their path and new ones on another, while a change is
//! written switch by switch. Neither set of routes alone has them.

use rayon::prelude::*;

use super::certificate::dependencies::{DependencyGraph, DependencySources};
use super::certificate::{DependencyCycle, LaneKnowledge, RouteScope};
pub use super::hop_mixture::UpdateRank;
use super::hop_mixture::find_hop_cycle;
use super::ordered_entries::are_entries_free;
use super::problem::{Destination, Problem};
use super::trees::{NextHop, PortMap};
use fabdeck_fabric::{BLOCK_LIDS, Lid, Routes, block_of};

/// Finds credit loops while entries are written in an order, one for each lane that has any. A packet may be on its
/// old lane or its new one. After a new entry a packet does not meet the old entry of a switch that was written
/// before; after an old entry it may meet both, because it may have been in flight.
pub fn find_mixture_cycles(
    problem: &Problem<'_>,
    [old, new]: [&Routes; 2],
    scope: &RouteScope,
    rank: &UpdateRank<'_>,
) -> Vec<DependencyCycle> {
    if scope.lanes == LaneKnowledge::Known && (old.lanes.is_by_hop() || new.lanes.is_by_hop()) {
        let shared = RouteScope { lanes: LaneKnowledge::Unknown, ..*scope };
        return match find_mixture_cycles(problem, [old, new], &shared, rank).is_empty() {
            true => Vec::new(),
            false => find_hop_cycle(problem, [old, new], scope.switches, rank).into_iter().collect(),
        };
    }
    // Entries without a loop on one shared lane have none on any lanes, nor in any order of writes.
    if are_entries_free(problem, &[old, new], scope.switches) {
        return Vec::new();
    }
    search_mixtures(problem, [old, new], scope, rank)
}

/// The search destination by destination, from the switches that send.
fn search_mixtures(
    problem: &Problem<'_>,
    [old, new]: [&Routes; 2],
    scope: &RouteScope,
    rank: &UpdateRank<'_>,
) -> Vec<DependencyCycle> {
    let traffic = DependencySources::new(problem, scope);
    let lanes = traffic.lane_count(old).max(traffic.lane_count(new));
    let mixing = MixtureSearch {
        table: PortMap::new(&problem.graph),
        dependencies: DependencyGraph::new(&problem.graph, lanes),
        traffic,
        routes: [old, new],
        one_lane: scope.lanes == LaneKnowledge::Unknown,
        rank,
    };
    let mut ends: Vec<(u32, Destination)> = Vec::new();
    for root in problem.switches() {
        ends.extend(problem.destinations_behind(root).iter().map(|end| (root, *end)));
    }
    ends.retain(|(_, end)| scope.switches || !end.is_switch());
    ends.sort_by_key(|(_, end)| end.lid);
    let blocks: Vec<&[(u32, Destination)]> =
        ends.chunk_by(|(_, a), (_, b)| a.lid.value() / BLOCK_LIDS == b.lid.value() / BLOCK_LIDS).collect();
    blocks
        .into_par_iter()
        .for_each_init(BlockBuffer::default, |column, block| mixing.search_block(block, column));
    mixing.traffic.find_cycles(&mixing.dependencies, lanes, &[old, new])
}

struct MixtureSearch<'a> {
    traffic: DependencySources<'a>,
    table: PortMap,
    dependencies: DependencyGraph,
    routes: [&'a Routes; 2],
    one_lane: bool,
    rank: &'a UpdateRank<'a>,
}

/// What is used over and over for the destinations of a block.
#[derive(Default)]
struct BlockBuffer {
    rows: [Vec<[u8; BLOCK_LIDS as usize]>; 2],
    /// By the old and the new entry of each switch.
    ways: Vec<[Option<NextHop>; 2]>,
    /// Lanes, as bits.
    through: Vec<u16>,
    front: Vec<u32>,
}

impl MixtureSearch<'_> {
    fn search_block(&self, ends: &[(u32, Destination)], column: &mut BlockBuffer) {
        let problem = self.traffic.problem;
        let number = ends.first().map_or(0, |(_, end)| end.lid.value() / BLOCK_LIDS);
        for (rows, routes) in column.rows.iter_mut().zip(self.routes) {
            rows.clear();
            rows.extend(problem.switches().map(|switch| block_of(routes.row(switch), number)));
        }
        for (root, end) in ends {
            self.read_entries(*root, end, column);
            self.follow_lanes(*root, end, column);
            self.add_dependencies(*root, end.lid, column);
        }
    }

    fn read_entries(&self, root: u32, end: &Destination, column: &mut BlockBuffer) {
        let place = usize::from(end.lid.value() % BLOCK_LIDS);
        let [old, new] = &column.rows;
        let way = |switch: u32, port: u8| self.table.hop(switch, port).filter(|_| switch != root);
        let both = (0u32..).zip(old.iter().zip(new));
        column.ways.clear();
        column.ways.extend(both.map(|(at, (old, new))| [way(at, old[place]), way(at, new[place])]));
    }

    /// Which lanes come through which switch by any mixture.
    fn follow_lanes(&self, root: u32, end: &Destination, column: &mut BlockBuffer) {
        let BlockBuffer { ways, through, front, .. } = column;
        let lanes = |switch: u32| {
            let itself = switch == root && !end.is_switch();
            let terminals = self.traffic.terminals[switch as usize];
            let sends = terminals > u32::from(itself) || self.traffic.switches;
            let bits = self.routes.map(|routes| 1u16 << self.lane(routes, switch, end.lid));
            if sends { bits[0] | bits[1] } else { 0 }
        };
        through.clear();
        through.extend((0..ways.len() as u32).map(lanes));
        front.extend((0..ways.len() as u32).filter(|switch| through[*switch as usize] != 0));
        while let Some(switch) = front.pop() {
            let lanes = through[switch as usize];
            for way in ways[switch as usize].iter().flatten() {
                let next = way.switch() as usize;
                if through[next] | lanes != through[next] {
                    through[next] |= lanes;
                    front.push(way.switch());
                }
            }
        }
    }

    fn lane(&self, routes: &Routes, from: u32, to: Lid) -> u8 {
        if self.one_lane { 0 } else { routes.lane(from, to).value() }
    }

    fn add_dependencies(&self, root: u32, lid: Lid, column: &BlockBuffer) {
        let graph = &self.traffic.problem.graph;
        let rank = |switch: u32| (self.rank)(switch, lid);
        for (switch, lanes) in (0u32..).zip(&column.through).filter(|(_, lanes)| **lanes != 0) {
            let [old, new] = column.ways[switch as usize];
            for (age, way) in [(0, old), (1, new.filter(|_| new != old))] {
                let Some(way) = way.filter(|way| way.switch() != root) else { continue };
                let channel = graph.outgoing(switch).start + way.place() as usize;
                let [before, after] = column.ways[way.switch() as usize];
                let past = age == 1 && before != after && rank(switch) > rank(way.switch());
                let both = [before.filter(|_| !past), after.filter(|_| after != before || past)];
                for place in both.into_iter().flatten().map(NextHop::place) {
                    let mut left = *lanes;
                    while left != 0 {
                        self.dependencies.add(left.trailing_zeros() as u8, channel, place);
                        left &= left - 1;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::certify;
    use crate::{NoProgress, Request, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{
        ElementId, FabricBuilder, Faults, Guid, Lane, LinkId, NodeFacts, NodeKind, PathLanes, PortNum,
    };

    /// A ring of three switches with a host each, and routes that all lead round it one way: a credit loop, of which
    /// every destination has a part.
    #[test]
    fn a_loop_is_found_across_the_blocks_of_tables_and_on_every_lane() {
        let lids = [10, 63, 64].map(|lid| Lid::new(lid).unwrap());
        let mut builder = FabricBuilder::new();
        let switches: Vec<_> = (1..=3)
            .map(|at| builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(at), 3, "s")).unwrap())
            .collect();
        for (at, lid) in lids.iter().enumerate() {
            let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(10 + at as u64), 1, "h");
            let host = builder.add_node(facts).unwrap();
            builder.port(host, PortNum(1)).lid = Some(*lid);
            builder.connect((host, PortNum(1)), (switches[at], PortNum(3))).unwrap();
            builder.connect((switches[at], PortNum(1)), (switches[(at + 1) % 3], PortNum(2))).unwrap();
        }
        let (fabric, faults) = (builder.finish(), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let mut routes = problem.empty_routes();
        for (root, lid) in lids.iter().enumerate() {
            (0..3)
                .for_each(|at| routes.set(at, *lid, Some(PortNum(if at as usize == root { 3 } else { 1 }))));
        }
        let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
        for lane in [0, 2] {
            routes.lanes = PathLanes::ByDestination { lanes: 3, lane: vec![lane; routes.stride()] };
            let whole = certify(&problem, &routes, &scope, &NoProgress).unwrap().cycles;
            let mixed = find_mixture_cycles(&problem, [&routes, &routes], &scope, &|_, _| None);
            assert!(!are_entries_free(&problem, &[&routes, &routes], false));
            assert_eq!((mixed.len(), &mixed), (1, &whole));
            assert_eq!((mixed[0].lane, mixed[0].channels.len()), (Lane::new(lane.into()).unwrap(), 3));
        }
    }

    #[test]
    fn a_fabric_without_hosts_has_no_loop() {
        let fabric = generate(&"kary,k=2,n=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let mut faults = Faults::default();
        fabric.switches().for_each(|(id, _)| _ = faults.mark(ElementId::Node(id)));
        let problem = Problem::new(&fabric, &faults);
        let routes = problem.empty_routes();
        let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
        assert!(find_mixture_cycles(&problem, [&routes, &routes], &scope, &|_, _| None).is_empty());
    }

    /// Entries that the quick proof calls free have no loop by the search from all that send; on trees it proves most.
    #[test]
    fn the_quick_proof_of_entries_is_never_wrong() {
        let (mut proven, mut pairs) = (0, 0);
        for name in [
            "demo",
            "kary,k=4,n=3",
            "torus,dims=4x3",
            "dragonfly,a=4,h=2,p=2,g=9",
            "irregular,family=racks,seed=3",
            "random,switches=20,links=40,seed=5",
        ] {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            for failed in 0..3 {
                let mut faults = Faults::default();
                let links = fabric.links().len();
                for at in 0..failed {
                    faults.mark(ElementId::Link(LinkId((at * 7 % links) as u32)));
                }
                let none = Faults::default();
                let (whole, problem) = (Problem::new(&fabric, &none), Problem::new(&fabric, &faults));
                let routed = |id: &str, problem: &Problem<'_>| {
                    (find_engine(id).unwrap().route)(problem, &Request::default(), &NoProgress).ok()
                };
                for [first, second] in [["minhop", "ftree"], ["updn", "minhop"], ["sftree", "nue"]] {
                    let (Some(old), Some(new)) = (routed(first, &whole), routed(second, &problem)) else {
                        continue;
                    };
                    for switches in [false, true] {
                        let scope = RouteScope { switches, lanes: LaneKnowledge::Unknown };
                        let both = [&old.routes, &new.routes];
                        let found = search_mixtures(&whole, both, &scope, &|_, _| None);
                        let quick = are_entries_free(&whole, &both, switches);
                        assert!(!quick || found.is_empty(), "{name}: {first}, {second}");
                        let is_tree = !switches && failed == 0 && name.starts_with("kary");
                        assert!(quick || !is_tree, "{name}: {first}, {second}");
                        proven += u32::from(quick);
                        pairs += 1;
                    }
                }
            }
        }
        assert!(proven >= 6 && proven < pairs, "{proven} of {pairs}");
    }
}
