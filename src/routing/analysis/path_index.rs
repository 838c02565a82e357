//! Lost until rerouted: ordered pairs of terminals whose path in force crosses something marked, over the union of all
//! marks. Of every tree it is known once how many sources each switch carries, so that a mark costs a look at the
//! destinations that it carries and never a walk over the others.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::expected_loss::{ExpectedLoss, expected_loss};
use super::failed_parts::FailedParts;
use super::source_counts::{CountRow, SourceCounts, SourceRow};
use crate::terminal_pairs::{ClassTerminals, TerminalPairs};
use crate::trees::{Distances, PortMap, RouteTree, TreeReader, switch_batches};
use crate::{Destination, EngineRefusal, Problem, RouteProgress};
use fabdeck_fabric::{ElementId, Faults, Lid, LinkId, Partitions, PortId, Routes, SwitchGraph};

/// A LID of a terminal, and the switch that it is behind.
#[derive(Clone, Copy, Debug)]
struct TreeEnd {
    root: u32,
    destination: Destination,
    /// The class of its port, which says who sends to it.
    class: u32,
}

/// An index of the paths in force between terminals. It owns its data, so marks can change while it stays.
#[derive(Debug)]
pub struct PathIndex {
    graph: SwitchGraph,
    routes: Arc<Routes>,
    ways: PortMap,
    /// The pairs that count.
    scope: TerminalPairs,
    /// The LIDs of one port lie together.
    ends: Vec<TreeEnd>,
    /// For each LID a row: how many terminals send over each switch, those behind it included.
    sources: SourceCounts,
    /// The first channel of each cable; none of one to a host.
    channel_of: Vec<u32>,
    /// Paths over each channel.
    load: Vec<u64>,
    /// Paths by hops.
    histogram: Vec<u64>,
    /// The only marks that may be set; `None` for any.
    marks: Option<Faults>,
}

/// By the number of a cable: its channel that comes first.
fn channel_of(graph: &SwitchGraph) -> Vec<u32> {
    let most = graph.channels().iter().map(|channel| channel.link.index() + 1).max().unwrap_or(0);
    let mut first = vec![u32::MAX; most];
    for (id, channel) in graph.channels().iter().enumerate().rev() {
        first[channel.link.index()] = id as u32;
    }
    first
}

/// The paths that marks take.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PathLosses {
    /// Ordered pairs of terminals that had a path and have none now; with LMC, none to any LID.
    pub pairs: u64,
    /// The fraction of all ordered pairs.
    pub share: f64,
    /// Pairs (source, LID) that had a path and have none now; equal to `pairs` where every port has one LID.
    pub lids: u64,
    /// Ordered pairs that lose the paths to some LIDs of the destination and keep those to others.
    pub partial: u64,
    /// The first destinations of such pairs, in the order of their switches.
    pub partial_ports: Vec<PortId>,
    /// Ordered pairs that no cable connects any more. Rerouting does not restore them.
    pub critical: u64,
    /// The pairs of `critical` of which an end failed itself or with its cable.
    pub ended: u64,
    /// The pairs of `critical` that had no path before the marks; `pairs` does not count them.
    pub critical_without_path: u64,
    /// The links between switches that the marks take down.
    pub links: usize,
    /// What each mark takes alone, in the order of the marks. Together they take at most the sum.
    pub elements: Vec<ElementLoss>,
}

/// The paths that one mark takes alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ElementLoss {
    /// The marked part of the fabric.
    pub what: ElementId,
    /// The ordered pairs that lose their path.
    pub pairs: u64,
}

/// What marks take of the paths to a port, or to all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LossCounts {
    pub(super) pairs: u64,
    pub(super) lids: u64,
    pub(super) partial: u64,
}

impl LossCounts {
    /// The same with other numbers for a part of it.
    pub(super) fn with_replaced(self, held: Self, fresh: Self) -> Self {
        Self {
            pairs: self.pairs - held.pairs + fresh.pairs,
            lids: self.lids - held.lids + fresh.lids,
            partial: self.partial - held.partial + fresh.partial,
        }
    }
}

/// What becomes of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathFate {
    Absent,
    Stays,
    Cut,
}

impl PathIndex {
    /// Indexes the paths of a fabric without marks.
    pub fn new(
        problem: &Problem<'_>,
        routes: Arc<Routes>,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        Self::partitioned(problem, routes, None, pulse)
    }

    /// Indexes the paths between ends that share a partition: other pairs are neither counted nor lost, as in
    /// [`certify_partitioned`](crate::certificate::certify_partitioned).
    pub fn partitioned(
        problem: &Problem<'_>,
        routes: Arc<Routes>,
        partitions: Option<&Partitions>,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        Self::build(problem, routes, partitions, None, pulse)
    }

    /// The same for one set of marks, in a fraction of the memory: who sends over each switch is kept of the paths alone
    /// that these marks may take. Other marks must not be set over it.
    pub fn of_marks(
        problem: &Problem<'_>,
        routes: Arc<Routes>,
        partitions: Option<&Partitions>,
        marks: &Faults,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        Self::build(problem, routes, partitions, Some(marks), pulse)
    }

    fn build(
        problem: &Problem<'_>,
        routes: Arc<Routes>,
        partitions: Option<&Partitions>,
        marks: Option<&Faults>,
        pulse: &dyn RouteProgress,
    ) -> Result<Self, EngineRefusal> {
        let graph = problem.graph.clone();
        let ways = PortMap::new(&graph);
        let terminals: Vec<u16> =
            graph.senders().into_iter().map(|count| u16::try_from(count).unwrap_or(u16::MAX)).collect();
        let scope = TerminalPairs::new(&graph, partitions);
        let ends = tree_ends(problem, &scope);
        let struck = marks.map(|marks| FailedParts::new(problem.fabric, &graph, marks));
        // A sender counts in one partition and not in another, and a mark on an adapter touches every path.
        let kept = struck.as_ref().filter(|struck| struck.terminals.is_empty() && !scope.is_partitioned());
        let index = IndexBuilder {
            problem,
            routes: &routes,
            ways: &ways,
            terminals: &terminals,
            scope: &scope,
            kept,
        };
        let mut left = ends.as_slice();
        let mut work = Vec::new();
        for roots in switch_batches(problem) {
            let (own, others) = left.split_at(left.partition_point(|end| end.root < roots.end));
            work.push((roots, own));
            left = others;
        }
        let all = work.into_par_iter().filter(|_| !pulse.is_cancelled());
        let tallies = all.map(|(roots, ends)| index.fill_rows(roots, ends));
        let empty = || IndexTally::new(graph.channels().len());
        let tally = tallies.reduce_with(IndexTally::join).unwrap_or_else(empty);
        pulse.check_cancelled()?;
        let IndexTally { load, histogram, rows } = tally;
        let sources = SourceCounts::new(terminals, rows);
        let channel_of = channel_of(&graph);
        let marks = marks.filter(|_| kept.is_some()).cloned();
        Ok(Self { graph, routes, ways, scope, ends, sources, channel_of, load, histogram, marks })
    }

    /// Whether a mark may be set over this index.
    pub(super) fn covers(&self, what: ElementId) -> bool {
        self.marks.as_ref().is_none_or(|marks| marks.iter().any(|mark| mark == what))
    }

    /// The number of ordered pairs of terminals that count, with a path or without.
    pub fn pairs(&self) -> u64 {
        let terminals = self.graph.terminals().iter().filter(|terminal| terminal.lid.is_some());
        self.scope.within_parts(terminals.map(|terminal| (0, terminal.port)))
    }

    /// The number of further pairs, whose ends share no partition; `None` where the index has no partitions.
    pub fn kept_apart_pairs(&self) -> Option<u64> {
        let terminals =
            self.graph.terminals().iter().filter(|terminal| terminal.lid.is_some()).count() as u64;
        let all = terminals * terminals.saturating_sub(1);
        self.scope.is_partitioned().then(|| all.saturating_sub(self.pairs()))
    }

    /// The number of (source, LID) without a path before any mark.
    pub fn without_path(&self) -> u64 {
        let all: u64 = self.ends.iter().map(|end| self.scope.senders_to(end.class).senders()).sum();
        all.saturating_sub(self.histogram.iter().sum())
    }

    pub(super) fn scope(&self) -> &TerminalPairs {
        &self.scope
    }

    /// The number of paths over a cable between switches, in each direction; `None` for a cable without channels.
    pub fn load_of(&self, link: LinkId) -> Option<[u64; 2]> {
        let [there, back] = self.channels_of(link)?;
        Some([there, back].map(|id| self.load.get(id as usize).copied().unwrap_or(0)))
    }

    /// The channels of a cable between switches: from its first end, and back.
    pub(super) fn channels_of(&self, link: LinkId) -> Option<[u32; 2]> {
        let there = *self.channel_of.get(link.index())?;
        let channel = self.graph.channels().get(there as usize)?;
        Some([there, channel.reverse.index() as u32])
    }

    /// Whether some port has several LIDs, so that a pair has several paths.
    pub fn has_several_lids(&self) -> bool {
        self.ports().iter().any(|lids| lids.len() > 1)
    }

    /// The port that owns a range of LIDs, given by their positions in `ends`.
    pub(super) fn port_of_ends(&self, lids: &Range<u32>) -> Option<PortId> {
        let end = self.ends.get(lids.start as usize)?;
        let mut beside = self.graph.terminals_of(end.root).iter();
        beside.find(|terminal| terminal.switch_port == end.destination.port).map(|terminal| terminal.port)
    }

    /// The expected losses when `faults` further links fail at random: paths as (source, LID), as `Lost::lids`
    /// counts them. They equal pairs where every port has one LID.
    pub fn expected(&self, faults: usize) -> ExpectedLoss {
        let both = |(id, load): (usize, &u64)| {
            let reverse = self.graph.channels()[id].reverse.index();
            (id < reverse).then(|| load + self.load.get(reverse).copied().unwrap_or(0))
        };
        let links: Vec<u64> = self.load.iter().enumerate().filter_map(both).collect();
        expected_loss(&self.histogram, &links, faults)
    }

    /// The places of the LIDs of each port.
    pub(super) fn ports(&self) -> Vec<Range<u32>> {
        let one_port =
            |a: &TreeEnd, b: &TreeEnd| (a.root, a.destination.port) == (b.root, b.destination.port);
        let mut first = 0;
        let place = |port: &[TreeEnd]| {
            first += port.len() as u32;
            first - port.len() as u32..first
        };
        self.ends.chunk_by(one_port).map(place).collect()
    }

    fn ends_of_port(&self, port: Range<u32>) -> (&[TreeEnd], impl Iterator<Item = CountRow<'_>>) {
        let places = port.start as usize..port.end as usize;
        (&self.ends[places.clone()], self.sources.rows(places))
    }

    /// What is lost on the way to one port.
    pub(super) fn losses_of_port(
        &self,
        port: Range<u32>,
        struck: &FailedParts,
        marks: &MarkIndex,
    ) -> LossCounts {
        let (ends, rows) = self.ends_of_port(port);
        let lids = ends.iter().zip(rows).map(|(end, row)| self.lost_sources(end, row, struck, marks)).sum();
        let single = ends.len() == 1 || lids == 0;
        let (pairs, partial) = if single { (lids, 0) } else { self.lost_pairs(ends, struck, marks) };
        LossCounts { pairs, lids, partial }
    }

    /// Whether a path to a port crosses anything of what is struck: if not, it costs the port nothing, whatever else
    /// is marked.
    pub(super) fn is_crossed(&self, port: Range<u32>, struck: &FailedParts) -> bool {
        // What a terminal sends goes to every port.
        if !struck.terminals.is_empty() {
            return true;
        }
        let (ends, mut rows) = self.ends_of_port(port);
        ends.iter().any(|end| {
            let Some(row) = rows.next() else { return false };
            let over = |switch: u32| row.get(switch) > 0;
            let taken = |id: &u32| {
                let channel = &self.graph.channels()[*id as usize];
                let leads = self.routes.row(channel.from).get(end.destination.lid.index());
                leads == Some(&channel.from_port.value()) && over(channel.from)
            };
            struck.switches.iter().any(|switch| over(*switch)) || struck.channels.iter().any(taken)
        })
    }

    /// Switches whose terminals have no path to a port, whatever its LID: their number of terminals, the port itself left out.
    pub(super) fn without_path_to(&self, port: Range<u32>) -> impl Iterator<Item = (u32, u64)> {
        let (ends, rows) = self.ends_of_port(port);
        let first = ends.first().map(|end| (end.root, self.scope.senders_to(end.class)));
        let rows: Vec<CountRow<'_>> = rows.collect();
        // A switch that carries nothing to a port has no path to it, or its senders would be counted there.
        let absent = move |switch: u32| rows.iter().all(|row| row.get(switch) == 0);
        let senders = move |switch: u32| {
            let senders = first.map_or(0, |(root, all)| all.senders_from(switch, root));
            (switch, u64::from(senders))
        };
        let some = (0..self.graph.switch_count() as u32).map(senders).filter(|(_, senders)| *senders > 0);
        some.filter(move |(switch, _)| absent(*switch))
    }

    /// The switch and the port that LIDs at a place are behind.
    pub(super) fn end_of_port(&self, lids: &Range<u32>) -> Option<(u32, u8)> {
        self.ends.get(lids.start as usize).map(|end| (end.root, end.destination.port.value()))
    }

    /// The class of the port that owns LIDs at a place.
    pub(super) fn class_of_port(&self, lids: &Range<u32>) -> u32 {
        self.ends.get(lids.start as usize).map_or(0, |end| end.class)
    }

    pub(super) fn graph(&self) -> &SwitchGraph {
        &self.graph
    }

    pub(super) fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Every LID of a terminal, and how many terminals send to it over a switch.
    pub(super) fn carried_lids(&self, switch: u32) -> impl Iterator<Item = (Lid, u64)> {
        let rows = self.sources.rows(0..self.ends.len());
        self.ends.iter().zip(rows).map(move |(end, row)| (end.destination.lid, row.get(switch)))
    }

    /// The memory of the index in bytes, without the routes.
    pub fn memory_bytes(&self) -> usize {
        self.sources.memory_bytes() + self.ends.len() * size_of::<TreeEnd>() + self.load.len() * 8
    }

    /// Sources that lose one LID: those over each mark behind which no other mark lies on the way.
    fn lost_sources(
        &self,
        end: &TreeEnd,
        sources: CountRow<'_>,
        struck: &FailedParts,
        marks: &MarkIndex,
    ) -> u64 {
        let over = |switch: u32| sources.get(switch);
        if self.is_end_failed(end, marks) {
            return over(end.root);
        }
        let free = |from: u32| self.fate(from, end, marks) == PathFate::Stays;
        let mut lost = 0;
        for switch in &struck.switches {
            let next = (over(*switch) > 0).then(|| self.next_hop(*switch, end)).flatten();
            if next.is_some_and(|(id, to)| !marks.channels[id] && free(to)) {
                lost += over(*switch);
            }
        }
        let leads = |switch: u32| self.routes.row(switch).get(end.destination.lid.index()).copied();
        for id in &struck.channels {
            let channel = &self.graph.channels()[*id as usize];
            let taken = leads(channel.from) == Some(channel.from_port.value()) && over(channel.from) > 0;
            if taken && free(channel.to) {
                lost += over(channel.from);
            }
        }
        for at in &struck.terminals {
            let terminal = &self.graph.terminals()[*at as usize];
            let sends = terminal.lid.is_some() && self.scope.is_sender(end.class, terminal.port);
            if sends && free(terminal.switch) {
                lost += 1;
            }
        }
        lost
    }

    fn is_end_failed(&self, end: &TreeEnd, marks: &MarkIndex) -> bool {
        marks.switches[end.root as usize]
            || marks.ends.binary_search(&(end.root, end.destination.port.value())).is_ok()
    }

    /// Pairs that lose every LID of a port that has several, and those that lose some and keep others.
    fn lost_pairs(&self, port: &[TreeEnd], struck: &FailedParts, marks: &MarkIndex) -> (u64, u64) {
        let Some(end) = port.first() else { return (0, 0) };
        let gone = self.is_end_failed(end, marks);
        let (mut lost, mut partial) = (0, 0);
        for switch in 0..self.graph.switch_count() as u32 {
            let senders = u64::from(self.scope.senders_to(end.class).senders_from(switch, end.root));
            let mut fates = [false; 3];
            port.iter().for_each(|end| fates[self.fate(switch, end, marks) as usize] = true);
            let [_, stays, cut] = fates;
            let here = struck.terminals.iter().map(|at| &self.graph.terminals()[*at as usize]);
            let here = here.filter(|terminal| terminal.switch == switch && terminal.lid.is_some());
            let here = here.filter(|terminal| self.scope.is_sender(end.class, terminal.port));
            let here = here.count() as u64;
            match (stays, cut) {
                (false, false) => {}
                (false, true) => lost += senders,
                (true, _) if gone => lost += senders,
                (true, cut) => {
                    lost += here;
                    partial += if cut { senders.saturating_sub(here) } else { 0 };
                }
            }
        }
        (lost, partial)
    }

    /// The channel on which a switch sends to a LID, and the switch at its other end; `None` where the path ends or is cut.
    fn next_hop(&self, switch: u32, end: &TreeEnd) -> Option<(usize, u32)> {
        self.ways.next(&self.graph, &self.routes, switch, end.destination.lid)
    }

    /// Whether the path from a switch crosses a mark.
    fn fate(&self, from: u32, end: &TreeEnd, marks: &MarkIndex) -> PathFate {
        let (mut at, mut cut) = (from, false);
        for _ in 0..=self.graph.switch_count() {
            cut |= marks.switches[at as usize];
            if at == end.root {
                let arrives = self.routes.get(at, end.destination.lid) == Some(end.destination.port);
                return match arrives {
                    true if cut => PathFate::Cut,
                    true => PathFate::Stays,
                    false => PathFate::Absent,
                };
            }
            let Some((id, to)) = self.next_hop(at, end) else { return PathFate::Absent };
            cut |= marks.channels[id];
            at = to;
        }
        PathFate::Absent
    }
}

/// Marks to be asked for by index.
pub(super) struct MarkIndex {
    pub(super) switches: Vec<bool>,
    pub(super) channels: Vec<bool>,
    /// (Switch, port) of the marked terminals, ascending.
    pub(super) ends: Vec<(u32, u8)>,
}

impl MarkIndex {
    pub(super) fn new(graph: &SwitchGraph, struck: &FailedParts) -> Self {
        let mut switches = vec![false; graph.switch_count()];
        struck.switches.iter().for_each(|switch| switches[*switch as usize] = true);
        let mut channels = vec![false; graph.channels().len()];
        struck.channels.iter().for_each(|channel| channels[*channel as usize] = true);
        let terminals = struck.terminals.iter().map(|at| &graph.terminals()[*at as usize]);
        let mut ends: Vec<_> = terminals.map(|end| (end.switch, end.switch_port.value())).collect();
        ends.sort_unstable();
        Self { switches, channels, ends }
    }
}

fn tree_ends(problem: &Problem<'_>, scope: &TerminalPairs) -> Vec<TreeEnd> {
    let class = |root: u32, destination: &Destination| {
        let mut beside = problem.graph.terminals_of(root).iter();
        let terminal = beside.find(|terminal| terminal.switch_port == destination.port);
        terminal.map_or(0, |terminal| scope.class(terminal.port))
    };
    let behind = |root: u32| {
        let mut own: Vec<Destination> = problem.destinations_behind(root).to_vec();
        own.retain(|end| !end.is_switch());
        own.sort_by_key(|end| (end.port, end.lid));
        own.into_iter().map(move |destination| {
            let class = class(root, &destination);
            TreeEnd { root, destination, class }
        })
    };
    problem.switches().flat_map(behind).collect()
}

/// Builds the indices.
struct IndexBuilder<'a> {
    problem: &'a Problem<'a>,
    routes: &'a Routes,
    ways: &'a PortMap,
    terminals: &'a [u16],
    scope: &'a TerminalPairs,
    /// The marks whose paths are kept alone.
    kept: Option<&'a FailedParts>,
}

struct IndexTally {
    load: Vec<u64>,
    histogram: Vec<u64>,
    rows: Vec<SourceRow>,
}

impl IndexTally {
    fn new(channels: usize) -> Self {
        Self { load: vec![0; channels], histogram: Vec::new(), rows: Vec::new() }
    }

    /// Joins with the tally of later rows.
    fn join(mut self, mut other: Self) -> Self {
        self.rows.append(&mut other.rows);
        self.histogram.resize(self.histogram.len().max(other.histogram.len()), 0);
        self.load.iter_mut().zip(other.load).for_each(|(here, there)| *here += there);
        self.histogram.iter_mut().zip(other.histogram).for_each(|(here, there)| *here += there);
        self
    }
}

impl IndexBuilder<'_> {
    fn fill_rows(&self, roots: std::ops::Range<u32>, ends: &[TreeEnd]) -> IndexTally {
        let graph = &self.problem.graph;
        let mut tally = IndexTally::new(graph.channels().len());
        let near = Distances::measure(graph, roots);
        let mut reader = TreeReader::new(self.problem, self.ways, self.routes);
        let mut senders = vec![0; graph.switch_count()];
        for own in ends.chunk_by(|a, b| a.root == b.root) {
            let wanted: Vec<Destination> = own.iter().map(|end| end.destination).collect();
            let root = own[0].root;
            let mut classes = own.iter().map(|end| end.class);
            reader.read((root, near.row(root)), &wanted, &|_, _| false, &mut |_, tree| {
                senders.fill(0);
                // Every destination has a tree of its own.
                let sending = self.scope.senders_to(classes.next().unwrap_or_default());
                self.add_tree(tree, sending, &mut senders, &mut tally);
                tally.rows.push(match self.is_kept(tree, &senders) {
                    true => SourceRow::new(&senders, self.terminals),
                    false => SourceRow::as_terminals(),
                });
            });
        }
        tally
    }

    /// Whether the counts of a tree are needed: it crosses the marks, or has no path from some switch.
    fn is_kept(&self, tree: &RouteTree<'_>, row: &[u16]) -> bool {
        let Some(kept) = self.kept else { return true };
        let graph = &self.problem.graph;
        let takes = |id: &u32| {
            let from = graph.channels()[*id as usize].from;
            row[from as usize] > 0 && from != tree.root && tree.channel(graph, from) == *id as usize
        };
        !tree.whole
            || kept.switches.iter().any(|switch| row[*switch as usize] > 0)
            || kept.channels.iter().any(takes)
    }

    /// Adds a tree, and sets how many terminals send over each of its switches.
    fn add_tree(
        &self,
        tree: &RouteTree<'_>,
        sending: &ClassTerminals,
        row: &mut [u16],
        tally: &mut IndexTally,
    ) {
        let graph = &self.problem.graph;
        for switch in tree.order {
            let senders = sending.senders_from(*switch, tree.root);
            row[*switch as usize] = senders;
            let hops = tree.hops(*switch).unwrap_or_default() as usize;
            if tally.histogram.len() <= hops {
                tally.histogram.resize(hops + 1, 0);
            }
            tally.histogram[hops] += u64::from(senders);
        }
        for switch in tree.order.iter().rev().filter(|switch| **switch != tree.root) {
            let senders = row[*switch as usize];
            if senders > 0 {
                let next = &mut row[tree.ways[*switch as usize].switch() as usize];
                *next = next.saturating_add(senders);
                tally.load[tree.channel(graph, *switch)] += u64::from(senders);
            }
        }
    }
}
