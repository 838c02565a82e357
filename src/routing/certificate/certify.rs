//! One pass over the destinations, then a sort of the dependencies of each lane.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::dependencies::{DependencyGraph, DependencySources, add_tree};
use super::hop_lanes::certify_hop_lanes;
use super::lost_pairs::{ClassSenders, LostPairCounter, PairEnds, merge};
use super::picked_paths::PickedPaths;
use super::report::{
    Certificate, ForwardingIndex, ForwardingLoop, ForwardingLoops, LaneKnowledge, LostPairs, MAX_BUSIEST,
    MAX_LISTED, PathLengths, RouteScope,
};
use crate::engine::{EngineRefusal, RouteProgress};
use crate::problem::{Destination, Problem};
use crate::trees::{Distances, PortMap, RouteTree, TreeReader, switch_batches};
use fabdeck_fabric::{ChannelId, LinkId, Partitions, PathLanes, Routes, SwitchGraph};

/// Judges routes on a fabric with its faults.
pub fn certify(
    problem: &Problem<'_>,
    routes: &Routes,
    scope: &RouteScope,
    pulse: &dyn RouteProgress,
) -> Result<Certificate, EngineRefusal> {
    certify_partitioned(problem, routes, scope, None, pulse)
}

/// Judges routes where only ends that share a partition are pairs. The other pairs are neither counted nor lost,
/// and their paths are in no length or load. Dependencies are still those of all pairs, because partitions can
/// change without the routes.
pub fn certify_partitioned(
    problem: &Problem<'_>,
    routes: &Routes,
    scope: &RouteScope,
    partitions: Option<&Partitions>,
    pulse: &dyn RouteProgress,
) -> Result<Certificate, EngineRefusal> {
    if !routes.lanes.is_by_hop() || scope.lanes == LaneKnowledge::Unknown {
        return certify_fixed_lanes(problem, routes, scope, partitions, pulse);
    }
    let shared = RouteScope { lanes: LaneKnowledge::Unknown, ..*scope };
    let judged = certify_fixed_lanes(problem, routes, &shared, partitions, pulse)?;
    certify_hop_lanes(problem, routes, Certificate { scope: *scope, ..judged }, pulse)
}

/// Judges routes whose paths stay on one lane each.
fn certify_fixed_lanes(
    problem: &Problem<'_>,
    routes: &Routes,
    scope: &RouteScope,
    partitions: Option<&Partitions>,
    pulse: &dyn RouteProgress,
) -> Result<Certificate, EngineRefusal> {
    let (table, ends) = (PortMap::new(&problem.graph), PairEnds::new(problem, scope.switches, partitions));
    let one_lane = scope.lanes == LaneKnowledge::Unknown;
    let traffic = DependencySources::new(problem, scope);
    let lanes = traffic.lane_count(routes);
    let dependencies = DependencyGraph::new(&problem.graph, lanes);
    let picked = PickedPaths::new(problem, routes, &ends);
    let judge = Certifier {
        problem,
        routes,
        picked: picked.as_ref(),
        table: &table,
        ends: &ends,
        traffic: &traffic,
        dependencies: &dependencies,
    };
    let done = AtomicUsize::new(0);
    let all = switch_batches(problem);
    let tallies = all.par_iter().map(|batch| {
        let tally = judge.certify_batch(batch.clone(), pulse);
        pulse.report(done.fetch_add(1, Ordering::Relaxed) + 1, all.len());
        tally
    });
    let empty = || CertificateTally::new(problem.graph.channels().len());
    let tally = tallies.reduce_with(CertificateTally::join).unwrap_or_else(empty);
    pulse.check_cancelled()?;
    let cycles = traffic.find_cycles(&dependencies, lanes, &[routes]);
    let unaddressed = problem.graph.terminals().iter().filter(|terminal| terminal.lid.is_none()).count();
    Ok(Certificate {
        scope: *scope,
        pairs: ends.pairs(),
        unaddressed: unaddressed as u64,
        lost: tally.lost,
        loops: tally.loops,
        lanes: (0..16).filter(|lane| tally.lanes >> lane & 1 == 1).collect(),
        deadlock_free: (!one_lane).then_some(cycles.is_empty()),
        cycles,
        lengths: path_lengths(tally.hops, &tally.detours),
        edge_forwarding_index: forwarding_index(&problem.graph, &tally.load),
        picked_forwarding_index: picked.map(|_| forwarding_index(&problem.graph, &tally.picked_load)),
    })
}

/// The number of ordered pairs that a certificate would count.
pub fn pairs_in_scope(problem: &Problem<'_>, scope: &RouteScope, partitions: Option<&Partitions>) -> u64 {
    PairEnds::new(problem, scope.switches, partitions).pairs()
}

struct Certifier<'a> {
    problem: &'a Problem<'a>,
    routes: &'a Routes,
    picked: Option<&'a PickedPaths<'a>>,
    table: &'a PortMap,
    ends: &'a PairEnds<'a>,
    traffic: &'a DependencySources<'a>,
    dependencies: &'a DependencyGraph,
}

/// What is counted; sums and firsts, so that the order in which destinations are looked at does not show.
struct CertificateTally {
    load: Vec<u64>,
    /// Paths that hosts pick; empty where every port has one LID.
    picked_load: Vec<u64>,
    /// Paths by hops.
    hops: Vec<u64>,
    /// Paths that are longer than need be, by (fewest hops, hops).
    detours: BTreeMap<(u32, u32), u64>,
    lost: LostPairs,
    loops: ForwardingLoops,
    lanes: u16,
    near: CommonLengths,
}

/// The lengths of shortest paths to one switch: what most trees there have.
#[derive(Default)]
struct CommonLengths {
    /// The switch, and the class of the destinations there.
    of: Option<(u32, u32)>,
    lengths: Vec<u64>,
}

impl CertificateTally {
    fn new(channels: usize) -> Self {
        Self {
            load: vec![0; channels],
            picked_load: Vec::new(),
            hops: Vec::new(),
            detours: BTreeMap::new(),
            lost: LostPairs::default(),
            loops: ForwardingLoops::default(),
            lanes: 0,
            near: CommonLengths::default(),
        }
    }

    fn join(mut self, mut other: Self) -> Self {
        self.hops.resize(self.hops.len().max(other.hops.len()), 0);
        for (here, there) in self.load.iter_mut().zip(other.load) {
            *here += there;
        }
        self.picked_load.resize(self.picked_load.len().max(other.picked_load.len()), 0);
        for (here, there) in self.picked_load.iter_mut().zip(other.picked_load) {
            *here += there;
        }
        for (here, there) in self.hops.iter_mut().zip(other.hops) {
            *here += there;
        }
        for (detour, paths) in other.detours {
            *self.detours.entry(detour).or_default() += paths;
        }
        self.lost = merge(self.lost, other.lost);
        self.loops.count += other.loops.count;
        self.loops.first.append(&mut other.loops.first);
        self.loops.first.sort_unstable();
        self.loops.first.truncate(MAX_LISTED);
        self.lanes |= other.lanes;
        self
    }

    /// The lengths of the paths of `senders` to some destinations with one tree.
    fn add_lengths(&mut self, tree: &RouteTree<'_>, (class, senders): (u32, &[u32]), ends: u64) {
        if tree.shortest && self.near.of == Some((tree.root, class)) {
            let lengths = self.near.lengths.iter().enumerate();
            lengths.for_each(|(hops, paths)| self.hops[hops] += paths * ends);
            return;
        }
        let mut lengths = Vec::new();
        for switch in tree.order {
            let paths = u64::from(senders[*switch as usize]);
            let (hops, fewest) = (tree.hops(*switch).unwrap_or_default(), tree.near[*switch as usize]);
            if paths > 0 {
                if lengths.len() <= hops as usize {
                    lengths.resize(hops as usize + 1, 0);
                }
                lengths[hops as usize] += paths;
            }
            if paths > 0 && hops > fewest {
                *self.detours.entry((fewest, hops)).or_default() += paths * ends;
            }
        }
        if self.hops.len() < lengths.len() {
            self.hops.resize(lengths.len(), 0);
        }
        self.hops.iter_mut().zip(&lengths).for_each(|(here, paths)| *here += paths * ends);
        if tree.shortest {
            self.near = CommonLengths { of: Some((tree.root, class)), lengths };
        }
    }

    fn add_loops(&mut self, run: &[Destination], tree: &RouteTree<'_>) {
        self.loops.count += (run.len() * tree.loops.len()) as u64;
        let all = run.iter().flat_map(|end| tree.loops.iter().map(move |round| (end.lid, round)));
        let listed = all.take(MAX_LISTED).map(|(lid, round)| ForwardingLoop { lid, switches: round.clone() });
        self.loops.first.extend(listed);
        self.loops.first.sort_unstable();
        self.loops.first.truncate(MAX_LISTED);
    }
}

impl Certifier<'_> {
    fn certify_batch(&self, roots: std::ops::Range<u32>, pulse: &dyn RouteProgress) -> CertificateTally {
        let graph = &self.problem.graph;
        let mut tally = CertificateTally::new(graph.channels().len());
        if pulse.is_cancelled() {
            return tally;
        }
        let near = Distances::measure(graph, roots.clone());
        let mut reader = TreeReader::new(self.problem, self.table, self.routes);
        let mut losses = LostPairCounter::new(self.ends);
        let mut through = vec![0u32; graph.switch_count()];
        let mut lanes = vec![0u16; graph.switch_count()];
        let mut senders = Arc::clone(&self.ends.all);
        for root in roots {
            if pulse.is_cancelled() {
                break;
            }
            // Behind a switch its own LIDs may stand anywhere; the LIDs of one port must follow each other.
            let mut wanted = self.problem.destinations_behind(root).to_vec();
            wanted.retain(|end| self.traffic.switches || !end.is_switch());
            wanted.sort_by_cached_key(|end| (self.ends.class(root, end), end.port, end.lid));
            let row = near.row(root);
            let alike = &|a: &Destination, b: &Destination| {
                self.traffic.has_equal_dependencies(self.routes, a, b)
                    && self.ends.class(root, a) == self.ends.class(root, b)
            };
            let see = &mut |run: &[Destination], tree: &RouteTree<'_>| {
                senders = self.ends.senders_to(self.ends.class(root, &run[0]), &senders);
                run.iter().for_each(|end| losses.add(end, tree, &senders));
                if !tree.loops.is_empty() {
                    tally.add_loops(run, tree);
                }
                self.count_paths(run, tree, &senders, &mut through, &mut tally);
                if let Some(picked) = self.picked {
                    tally.picked_load.resize(graph.channels().len(), 0);
                    let to = (&mut through[..], &mut tally.picked_load[..]);
                    run.iter().for_each(|end| picked.count(end, tree, &senders, (to.0, to.1)));
                }
                self.add_dependencies(&run[0], tree, &mut lanes, &mut tally);
            };
            reader.read((root, row), &wanted, alike, see);
            losses.finish_port(row);
        }
        tally.lost = losses.lost;
        tally
    }

    /// Paths between terminals: their lengths, and how many cross each channel. With one lane for all of them their
    /// dependencies are put down on the way, those of paths between switches too.
    fn count_paths(
        &self,
        run: &[Destination],
        tree: &RouteTree<'_>,
        senders: &ClassSenders,
        through: &mut [u32],
        tally: &mut CertificateTally,
    ) {
        let ends = run.iter().filter(|end| !end.is_switch()).count() as u64;
        let lane = self.single_lane(&run[0]);
        if tree.order.is_empty() || (ends == 0 && lane.is_none()) {
            return;
        }
        if self.ends.is_unpartitioned() {
            self.walk_tree(ends, tree, senders, (true, lane), through, tally);
            return;
        }
        if ends > 0 {
            self.walk_tree(ends, tree, senders, (true, None), through, tally);
        }
        if lane.is_some() {
            self.walk_tree(ends, tree, &self.ends.all, (false, lane), through, tally);
        }
    }

    /// Counts the paths to some terminals with one tree, or puts their dependencies down, or both.
    fn walk_tree(
        &self,
        ends: u64,
        tree: &RouteTree<'_>,
        senders: &ClassSenders,
        (counts, lane): (bool, Option<u8>),
        through: &mut [u32],
        tally: &mut CertificateTally,
    ) {
        let (root, graph) = (tree.root as usize, &self.problem.graph);
        let weight = if counts { ends } else { 0 };
        through.copy_from_slice(&senders.terminals);
        if ends > 0 {
            // Every destination of the run is one of the terminals there, and sends nothing to itself.
            through[root] = senders.local_senders(tree.root);
        }
        if weight > 0 {
            tally.add_lengths(tree, (senders.class(), through), ends);
        }
        for switch in tree.order.iter().rev().filter(|switch| **switch != tree.root) {
            let paths = through[*switch as usize];
            if paths == 0 && (!self.traffic.switches || lane.is_none()) {
                continue;
            }
            let (next, channel) = (tree.ways[*switch as usize].switch(), tree.channel(graph, *switch));
            through[next as usize] += paths;
            tally.load[channel] += u64::from(paths) * weight;
            if let Some(lane) = lane.filter(|_| next != tree.root) {
                self.dependencies.add(lane, channel, tree.ways[next as usize].place());
            }
        }
        let sent = through[root] > 0 || (self.traffic.switches && (ends > 0 || tree.order.len() > 1));
        if let Some(lane) = lane.filter(|_| sent) {
            tally.lanes |= 1 << lane;
        }
    }

    /// The lane of all paths to a destination, where that does not depend on the source.
    fn single_lane(&self, end: &Destination) -> Option<u8> {
        let by_pair = !self.traffic.one_lane && matches!(self.routes.lanes, PathLanes::ByPair { .. });
        (!by_pair).then(|| self.traffic.lane(self.routes, 0, end.lid))
    }

    fn add_dependencies(
        &self,
        end: &Destination,
        tree: &RouteTree<'_>,
        lanes: &mut [u16],
        tally: &mut CertificateTally,
    ) {
        if self.single_lane(end).is_none() {
            tally.lanes |= self.traffic.sources(self.routes, end, tree, lanes);
            add_tree(&self.problem.graph, self.dependencies, tree, lanes);
        }
    }
}

fn path_lengths(histogram: Vec<u64>, detours: &BTreeMap<(u32, u32), u64>) -> PathLengths {
    let between: u64 = histogram.iter().skip(1).sum();
    let ratio = |(fewest, hops): (u32, u32)| f64::from(hops) / f64::from(fewest.max(1));
    let more: f64 = detours.iter().map(|(detour, paths)| (ratio(*detour) - 1.0) * *paths as f64).sum();
    PathLengths {
        longest: histogram.len().saturating_sub(1) as u32,
        mean_stretch: if between == 0 { 1.0 } else { 1.0 + more / between as f64 },
        worst_stretch: detours.keys().map(|detour| ratio(*detour)).fold(1.0, f64::max),
        histogram,
    }
}

/// Links whose channels carry no path, in the order of the channels.
fn unused_links(graph: &SwitchGraph, load: &[u64]) -> Vec<LinkId> {
    let channels = graph.channels().iter().enumerate();
    let once = channels.filter(|(id, channel)| *id < channel.reverse.index() && load[*id] == 0);
    let unused =
        once.filter(|(_, channel)| load.get(channel.reverse.index()).is_none_or(|paths| *paths == 0));
    unused.map(|(_, channel)| channel.link).collect()
}

/// The edge forwarding index of loads; channels that nothing uses count as 0.
fn forwarding_index(graph: &SwitchGraph, load: &[u64]) -> ForwardingIndex {
    let count = load.len().max(1) as f64;
    let mean = load.iter().sum::<u64>() as f64 / count;
    // An empty sum is -0.0, which would be printed as such.
    let variance = load.iter().map(|paths| (*paths as f64 - mean).powi(2)).sum::<f64>() / count + 0.0;
    let mut worst: Vec<(ChannelId, u64)> =
        (0..).map(ChannelId).zip(load.iter().copied()).filter(|(_, paths)| *paths > 0).collect();
    worst.sort_unstable_by_key(|(channel, paths)| (std::cmp::Reverse(*paths), *channel));
    worst.truncate(MAX_BUSIEST);
    ForwardingIndex {
        min: load.iter().copied().min().unwrap_or(0),
        mean,
        max: load.iter().copied().max().unwrap_or(0),
        stddev: variance.sqrt(),
        worst,
        unused: load.iter().filter(|paths| **paths == 0).count() as u64,
        channels: load.len() as u64,
        unused_links: unused_links(graph, load),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoProgress, Request, find_engine};
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn a_lane_that_carries_nothing_is_not_in_use() {
        let spec: FabricSpec = "torus,dims=3,terminals=1".parse().unwrap();
        let (fabric, faults) = (generate(&spec).unwrap().fabric, Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let request = Request::default();
        let mut routes =
            (find_engine("updn").unwrap().route)(&problem, &request, &NoProgress).unwrap().routes;
        let end = problem.graph.terminals()[0];
        let (own, lid) = (end.switch, end.lid.unwrap());
        let mut lane = vec![0; routes.stride()];
        lane[lid.index()] = 1;
        routes.lanes = PathLanes::ByDestination { lanes: 2, lane };
        let lanes_of = |routes: &Routes, switches| {
            let scope = RouteScope { switches, lanes: LaneKnowledge::Known };
            certify(&problem, routes, &scope, &NoProgress).unwrap().lanes
        };
        assert_eq!(lanes_of(&routes, false), [0, 1]);
        // Only the switch of the host has an entry for it: the switch itself sends, the host does not.
        problem.switches().filter(|at| *at != own).for_each(|at| routes.set(at, lid, None));
        assert_eq!((lanes_of(&routes, false), lanes_of(&routes, true)), (vec![0], vec![0, 1]));
    }
}
