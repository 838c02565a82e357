//! Dependencies of packets that meet old entries on one part of their path and new ones on another, while a change is
//! written switch by switch. Neither set of routes alone has them.

use std::collections::VecDeque;

use rayon::prelude::*;

use super::certificate::dependencies::{DependencyGraph, DependencySources};
use super::certificate::{DependencyCycle, LaneKnowledge, RouteScope};
pub use super::hop_mixture::UpdateRank;
use super::hop_mixture::find_hop_cycle;
use super::ordered_entries::are_entries_free;
use super::problem::{Destination, Problem};
use super::trees::PortMap;
use fabdeck_fabric::{BLOCK_LIDS, Lid, PathLanes, Routes, block_of};

/// Finds credit loops while entries are written in an order, one for each lane that has any; without a rank, in any order. A
/// packet may be on its old lane or its new one. After a new entry a packet does not meet the old entry of a switch that
/// was written before; after an old entry it may meet both, because it may have been in flight.
pub fn find_mixture_cycles(
    problem: &Problem<'_>,
    [old, new]: [&Routes; 2],
    scope: &RouteScope,
    rank: Option<&UpdateRank<'_>>,
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

/// The search from the switches that send, for the LIDs of a block together.
fn search_mixtures(
    problem: &Problem<'_>,
    [old, new]: [&Routes; 2],
    scope: &RouteScope,
    rank: Option<&UpdateRank<'_>>,
) -> Vec<DependencyCycle> {
    let traffic = DependencySources::new(problem, scope);
    let lanes = traffic.lane_count(old).max(traffic.lane_count(new));
    let is_shared = traffic.one_lane || (old.lanes == PathLanes::One && new.lanes == PathLanes::One);
    let mixing = MixtureSearch {
        table: PortMap::new(&problem.graph),
        dependencies: DependencyGraph::new(&problem.graph, lanes),
        heads: problem.graph.channels().iter().map(|channel| channel.to).collect(),
        traffic,
        routes: [old, new],
        is_shared,
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
        .for_each_init(BlockBuffer::default, |block, ends| mixing.search_block(ends, block));
    mixing.traffic.find_cycles(&mixing.dependencies, lanes, &[old, new])
}

struct MixtureSearch<'a> {
    traffic: DependencySources<'a>,
    table: PortMap,
    dependencies: DependencyGraph,
    /// The switch that a channel leads to.
    heads: Vec<u32>,
    routes: [&'a Routes; 2],
    /// Whether all packets are on lane 0.
    is_shared: bool,
    rank: Option<&'a UpdateRank<'a>>,
}

/// LIDs of a block, and bits of a word.
const LIDS: usize = BLOCK_LIDS as usize;

/// The place of no channel: the entry leads to no other switch.
const NO_PLACE: u8 = 0xFF;

/// What is used over and over for the LIDs of a block, by switch and LID.
#[derive(Default)]
struct BlockBuffer {
    /// The places, among the channels that leave the switch, of the channels of the old and the new entry.
    places: Vec<[[u8; 2]; LIDS]>,
    /// Lanes on which packets come through, as bits.
    through: Vec<[u16; LIDS]>,
    /// LIDs, as bits, to which packets came on more lanes since the switch was last looked at.
    waiting: Vec<u64>,
    /// The switches with such LIDs.
    front: VecDeque<u32>,
}

impl BlockBuffer {
    /// Packets to a LID come to a switch on some lanes.
    fn arrive(&mut self, switch: u32, lid: usize, lanes: u16) {
        let through = &mut self.through[switch as usize][lid];
        if *through | lanes == *through {
            return;
        }
        *through |= lanes;
        let waiting = &mut self.waiting[switch as usize];
        if *waiting == 0 {
            self.front.push_back(switch);
        }
        *waiting |= 1 << lid;
    }
}

impl MixtureSearch<'_> {
    fn search_block(&self, ends: &[(u32, Destination)], block: &mut BlockBuffer) {
        let first = ends.first().map_or(0, |(_, end)| end.lid.value() / BLOCK_LIDS * BLOCK_LIDS);
        self.read_entries(first / BLOCK_LIDS, ends, block);
        self.add_senders(ends, block);
        while let Some(switch) = block.front.pop_front() {
            let mut left = std::mem::take(&mut block.waiting[switch as usize]);
            while left != 0 {
                self.follow_entries(switch, (first, left.trailing_zeros() as usize), block);
                left &= left - 1;
            }
        }
    }

    fn read_entries(&self, number: u16, ends: &[(u32, Destination)], block: &mut BlockBuffer) {
        let [old, new] = self.routes;
        block.places.clear();
        block.places.extend(self.traffic.problem.switches().map(|switch| {
            let ways = self.table.ports_of(switch as usize);
            let place = |port: u8| ways.get(usize::from(port)).map_or(NO_PLACE, |way| way.place() as u8);
            let (old, new) = (block_of(old.row(switch), number), block_of(new.row(switch), number));
            std::array::from_fn(|lid| [place(old[lid]), place(new[lid])])
        }));
        // What a packet does at the switch of its destination makes nothing wait.
        for (root, end) in ends {
            block.places[*root as usize][usize::from(end.lid.value() % BLOCK_LIDS)] = [NO_PLACE; 2];
        }
    }

    /// Puts the lanes down on which switches send.
    fn add_senders(&self, ends: &[(u32, Destination)], block: &mut BlockBuffer) {
        let switches = self.traffic.terminals.len();
        block.through.clear();
        block.through.resize(switches, [0; LIDS]);
        block.waiting.clear();
        block.waiting.resize(switches, 0);
        for switch in self.traffic.problem.switches().filter(|switch| self.traffic.has_senders(*switch)) {
            for (_, end) in ends.iter().filter(|(root, _)| *root != switch) {
                let lanes = self.routes.map(|routes| 1 << self.lane(routes, switch, end.lid));
                block.arrive(switch, usize::from(end.lid.value() % BLOCK_LIDS), lanes[0] | lanes[1]);
            }
        }
    }

    fn lane(&self, routes: &Routes, from: u32, to: Lid) -> u8 {
        if self.is_shared { 0 } else { routes.lane(from, to).value() }
    }

    /// Follows packets to a LID over the entries of a switch, and notes what their channels wait for.
    fn follow_entries(&self, switch: u32, (first, lid): (u16, usize), block: &mut BlockBuffer) {
        let lanes = block.through[switch as usize][lid];
        let [old, new] = block.places[switch as usize][lid];
        let start = self.traffic.problem.graph.outgoing(switch).start;
        for (age, place) in [(0, old), (1, if new == old { NO_PLACE } else { new })] {
            if place == NO_PLACE {
                continue;
            }
            let channel = start + usize::from(place);
            let next = self.heads[channel];
            block.arrive(next, lid, lanes);
            let [before, after] = block.places[next as usize][lid];
            let past =
                age == 1 && before != after && self.is_written_before(next, switch, first + lid as u16);
            let before = if past { NO_PLACE } else { before };
            for place in [before, if after == before { NO_PLACE } else { after }] {
                let mut left = if place == NO_PLACE { 0 } else { lanes };
                while left != 0 {
                    self.dependencies.add(left.trailing_zeros() as u8, channel, place.into());
                    left &= left - 1;
                }
            }
        }
    }

    /// Whether a switch gets its new entry for a LID before another one does.
    fn is_written_before(&self, one: u32, other: u32, lid: u16) -> bool {
        let (Some(rank), Some(lid)) = (self.rank, Lid::new(lid.into())) else { return false };
        rank(other, lid) > rank(one, lid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificate::certify;
    use crate::{NoProgress, Request, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{
        ElementId, FabricBuilder, Faults, Guid, Lane, LinkId, NodeFacts, NodeKind, PortNum,
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
            let mixed = find_mixture_cycles(&problem, [&routes, &routes], &scope, None);
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
        assert!(find_mixture_cycles(&problem, [&routes, &routes], &scope, None).is_empty());
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
                        let found = search_mixtures(&whole, both, &scope, None);
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
