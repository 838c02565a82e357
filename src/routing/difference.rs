//! Differences between two sets of routes: entries and blocks to write, pairs whose path moves, and whether packets on
//! old and new paths together can deadlock.

use std::ops::Range;

use rayon::prelude::*;

use super::certificate::dependencies::{DependencyGraph, DependencySources, add_tree};
use super::certificate::hop_lanes::{JointVerdict, certify_together};
use super::certificate::{DependencyCycle, LaneKnowledge, RouteScope};
use super::engine::NoProgress;
use super::problem::{Destination, Problem};
use super::terminal_pairs::TerminalPairs;
use super::trees::{Distances, OldPaths, PortMap, RouteTree, TreeReader, switch_batches};
use fabdeck_fabric::{BLOCK_LIDS, Lid, NO_PATH, Partitions, PathLanes, PortId, PortNum, Routes, block_of};

/// The differences between two sets of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RouteDifference {
    /// The number of forwarding table entries that differ.
    pub entries: u64,
    /// The number of blocks of 64 LIDs to write.
    pub blocks: u64,
    /// The number of switches with differences.
    pub switches: u64,
    /// Ordered pairs of terminals with another path or lane to a LID, with a new path, or without one now.
    pub moved_pairs: u64,
}

impl RouteDifference {
    /// Compares two sets of routes.
    pub fn between(problem: &Problem<'_>, old: &Routes, new: &Routes) -> Self {
        Self::partitioned(problem, old, new, None)
    }

    /// The same, where only ends that share a partition are pairs.
    pub fn partitioned(
        problem: &Problem<'_>,
        old: &Routes,
        new: &Routes,
        partitions: Option<&Partitions>,
    ) -> Self {
        compare_partitioned(problem, old, new, None, partitions).difference
    }

    fn merge(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            blocks: self.blocks + other.blocks,
            switches: self.switches + other.switches,
            moved_pairs: self.moved_pairs + other.moved_pairs,
        }
    }
}

/// The pairs that lead to one terminal: how many there are, and how many of them move as
/// [`RouteDifference::moved_pairs`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MovedTerminal {
    /// Its port.
    pub port: PortId,
    /// The pairs that lead to it and move.
    pub moved: u64,
    /// All pairs that lead to it.
    pub pairs: u64,
}

/// What two sets of routes have to do with each other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RouteComparison {
    /// What differs.
    pub difference: RouteDifference,
    /// The terminals to which pairs move, in the order of their switches; their pairs are those of the difference.
    pub moved: Vec<MovedTerminal>,
    /// Whether one may give way to the other while traffic flows; the default where that was not asked.
    pub transition: TransitionCheck,
}

/// The LIDs of which anything is said otherwise.
fn changed_lids(problem: &Problem<'_>, old: &Routes, new: &Routes) -> Vec<bool> {
    let length = old.stride().max(new.stride());
    let same_lanes = old.lanes == new.lanes;
    let rows = problem.switches().into_par_iter().fold(
        || vec![false; length],
        |mut changed, switch| {
            let (here, there) = (old.row(switch), new.row(switch));
            if same_lanes && here == there {
                return changed;
            }
            let both = here.len().min(there.len());
            let pairs = here[..both].iter().zip(&there[..both]);
            changed.iter_mut().zip(pairs).for_each(|(changed, (a, b))| *changed |= a != b);
            let rest = here[both..].iter().chain(&there[both..]);
            changed[both..].iter_mut().zip(rest).for_each(|(changed, port)| *changed |= *port != NO_PATH);
            for (lid, changed) in changed.iter_mut().enumerate().filter(|_| !same_lanes) {
                if let Some(lid) = Lid::new(lid as u32) {
                    *changed |= old.lane(switch, lid) != new.lane(switch, lid);
                }
            }
            changed
        },
    );
    let join = |mut a: Vec<bool>, b: Vec<bool>| {
        a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
        a
    };
    rows.reduce(|| vec![false; length], join)
}

fn compare_rows(old: &[u8], new: &[u8]) -> RouteDifference {
    let mut found = RouteDifference::default();
    if old == new {
        return found;
    }
    for block in 0..old.len().max(new.len()).div_ceil(BLOCK_LIDS.into()) {
        let (here, there) = (block_of(old, block as u16), block_of(new, block as u16));
        let changed: u8 = here.iter().zip(&there).map(|(a, b)| u8::from(a != b)).sum();
        found.entries += u64::from(changed);
        found.blocks += u64::from(changed > 0);
    }
    found.switches = u64::from(found.entries > 0);
    found
}

/// The number of (source switch, LID) on another lane, over sources and destinations in scope.
pub fn count_changed_lanes(problem: &Problem<'_>, old: &Routes, new: &Routes, switches: bool) -> u64 {
    if old.lanes == PathLanes::One && new.lanes == PathLanes::One {
        return 0;
    }
    let sends = |switch: &u32| {
        problem.graph.is_alive(*switch)
            && problem.destinations_behind(*switch).iter().any(|end| switches || !end.is_switch())
    };
    let changed = |switch: u32| {
        let ends = problem.destinations().iter().filter(|end| switches || !end.is_switch());
        ends.filter(|end| old.lane(switch, end.lid) != new.lane(switch, end.lid)).count() as u64
    };
    problem.switches().into_par_iter().filter(sends).map(changed).sum()
}

/// Whether a change can be written while traffic flows (dissertation, definition 5.5, condition 3).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TransitionCheck {
    /// Whether no lane has a credit loop of old and new dependencies together; `None` when the lanes are not known.
    pub safe: Option<bool>,
    /// One credit loop for each lane that has any. The routes of a proof are 0 for the old and 1 for the new ones.
    pub cycles: Vec<DependencyCycle>,
}

impl TransitionCheck {
    /// The verdict on paths that are known to have no credit loop together.
    pub fn without_cycles(scope: &RouteScope) -> Self {
        Self { safe: (scope.lanes == LaneKnowledge::Known).then_some(true), cycles: Vec::new() }
    }
}

/// Judges old and new paths together.
pub fn check_transition(
    problem: &Problem<'_>,
    old: &Routes,
    new: &Routes,
    scope: &RouteScope,
) -> TransitionCheck {
    compare_partitioned(problem, old, new, Some(scope), None).transition
}

/// Computes difference and transition in one pass over all destinations.
pub fn compare_routes(
    problem: &Problem<'_>,
    old: &Routes,
    new: &Routes,
    scope: &RouteScope,
) -> (RouteDifference, TransitionCheck) {
    let found = compare_partitioned(problem, old, new, Some(scope), None);
    (found.difference, found.transition)
}

/// Compares routes where only ends that share a partition are pairs. The transition is judged where a scope is given, and
/// covers the paths of all ends.
pub fn compare_partitioned(
    problem: &Problem<'_>,
    old: &Routes,
    new: &Routes,
    scope: Option<&RouteScope>,
    partitions: Option<&Partitions>,
) -> RouteComparison {
    ComparisonPass::new(problem, old, new, partitions).compare_all(scope)
}

/// Looks at old and new paths destination by destination.
struct ComparisonPass<'a> {
    problem: &'a Problem<'a>,
    table: PortMap,
    old: &'a Routes,
    new: &'a Routes,
    changed: Vec<bool>,
    /// The pairs that count.
    pairs: TerminalPairs,
}

/// What becomes of dependencies, where they are asked for.
struct JointDependencies<'a> {
    traffic: DependencySources<'a>,
    dependencies: DependencyGraph,
}

/// A path as seen from its source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathChange {
    /// Neither set of routes has one.
    Nothing,
    Stays,
    Moves,
}

/// What is used over and over for the destinations of one port.
struct PortComparison {
    number: Option<PortNum>,
    seen: Vec<PathChange>,
    /// Which sources move to any LID of it.
    moves: Vec<bool>,
    /// The terminals that are done.
    done: Vec<MovedTerminal>,
}

impl<'a> ComparisonPass<'a> {
    fn new(
        problem: &'a Problem<'a>,
        old: &'a Routes,
        new: &'a Routes,
        partitions: Option<&Partitions>,
    ) -> Self {
        let pairs = TerminalPairs::new(&problem.graph, partitions);
        let changed = changed_lids(problem, old, new);
        Self { problem, table: PortMap::new(&problem.graph), old, new, changed, pairs }
    }

    fn compare_all(&self, scope: Option<&RouteScope>) -> RouteComparison {
        let (problem, old, new) = (self.problem, self.old, self.new);
        let by_hop = scope.filter(|scope| scope.lanes == LaneKnowledge::Known);
        let by_hop = by_hop.filter(|_| old.lanes.is_by_hop() || new.lanes.is_by_hop());
        if let Some(scope) = by_hop {
            let shared = RouteScope { lanes: LaneKnowledge::Unknown, ..*scope };
            let found = self.compare_all(Some(&shared));
            return RouteComparison { transition: self.check_hop_lanes(scope, &found.transition), ..found };
        }
        let rows =
            problem.switches().into_par_iter().map(|switch| compare_rows(old.row(switch), new.row(switch)));
        let mut difference = rows.reduce(RouteDifference::default, RouteDifference::merge);
        let together = scope.map(|scope| {
            let traffic = DependencySources::new(problem, scope);
            let lanes = traffic.lane_count(old).max(traffic.lane_count(new));
            (JointDependencies { traffic, dependencies: DependencyGraph::new(&problem.graph, lanes) }, lanes)
        });
        let both = together.as_ref().map(|(together, _)| together);
        let batches = switch_batches(problem).into_par_iter();
        let moved: Vec<MovedTerminal> =
            batches.flat_map_iter(|roots| self.compare_batch(roots, both)).collect();
        difference.moved_pairs = moved.iter().map(|terminal| terminal.moved).sum();
        let Some((JointDependencies { traffic, dependencies }, lanes)) = together else {
            return RouteComparison { difference, moved, transition: TransitionCheck::default() };
        };
        let cycles = traffic.find_cycles(&dependencies, lanes, &[old, new]);
        let known = !traffic.one_lane;
        let transition = TransitionCheck { safe: known.then_some(cycles.is_empty()), cycles };
        RouteComparison { difference, moved, transition }
    }

    /// The transition where lanes change on the way. Paths without a cycle on one shared lane have none on any lanes.
    fn check_hop_lanes(&self, scope: &RouteScope, shared: &TransitionCheck) -> TransitionCheck {
        if shared.cycles.is_empty() {
            return TransitionCheck { safe: Some(true), cycles: Vec::new() };
        }
        // This progress never cancels.
        let judged = certify_together(self.problem, &[self.old, self.new], scope.switches, &NoProgress);
        let Ok(JointVerdict { cycle, is_complete, .. }) = judged else { return TransitionCheck::default() };
        let safe = if cycle.is_some() { Some(false) } else { is_complete.then_some(true) };
        TransitionCheck { safe, cycles: cycle.into_iter().collect() }
    }

    fn compare_batch(
        &self,
        roots: Range<u32>,
        together: Option<&JointDependencies<'_>>,
    ) -> Vec<MovedTerminal> {
        let switches = self.problem.graph.switch_count();
        let near = Distances::measure(&self.problem.graph, roots.clone());
        let mut readers =
            [self.old, self.new].map(|routes| TreeReader::new(self.problem, &self.table, routes));
        let mut through = vec![0u16; switches];
        let mut port = PortComparison {
            number: None,
            seen: vec![PathChange::Nothing; switches],
            moves: vec![false; switches],
            done: Vec::new(),
        };
        for root in roots {
            let mut wanted = self.problem.destinations_behind(root).to_vec();
            wanted.retain(|end| match together {
                Some(together) => together.traffic.switches || !end.is_switch(),
                None => !end.is_switch() && self.is_changed(end),
            });
            wanted.sort_by_key(|end| (end.port, end.lid));
            let at = (root, near.row(root));
            let Some(together) = together else {
                TreeReader::read_changed(&mut readers, at, &wanted, &mut |end, old, new| {
                    self.begin_port(end, &mut port, root);
                    self.compare_trees(end, old, new, &mut port);
                });
                self.finish_port(&mut port, root);
                continue;
            };
            TreeReader::read_both(&mut readers, at, &wanted, &mut |end, old, new| {
                together.add_tree(self.old, end, old, &mut through);
                // Equal trees on equal lanes wait for the same.
                match new {
                    Some(new) => together.add_tree(self.new, end, new, &mut through),
                    None if !together.has_equal_dependencies(self.old, self.new) => {
                        together.add_tree(self.new, end, old, &mut through);
                    }
                    None => {}
                }
                if !end.is_switch() && self.is_changed(end) {
                    self.begin_port(end, &mut port, root);
                    self.compare_trees(end, OldPaths::of_tree(old), new.unwrap_or(old), &mut port);
                }
            });
            self.finish_port(&mut port, root);
        }
        port.done
    }

    fn is_changed(&self, end: &Destination) -> bool {
        self.changed.get(end.lid.index()) == Some(&true)
    }

    /// Another port may begin: the pairs of the one before.
    fn begin_port(&self, end: &Destination, port: &mut PortComparison, root: u32) {
        if port.number == Some(end.port) {
            return;
        }
        self.finish_port(port, root);
        port.number = Some(end.port);
    }

    /// Counts the pairs from the terminals of the switches that move to the port under way.
    fn finish_port(&self, port: &mut PortComparison, root: u32) {
        let Some(number) = port.number.take() else { return };
        let mut beside = self.problem.graph.terminals_of(root).iter();
        let terminal = beside.find(|terminal| terminal.switch_port == number);
        let class = terminal.map_or(0, |terminal| self.pairs.class(terminal.port));
        let senders = self.pairs.senders_to(class);
        let moving = (0u32..).zip(&port.moves).filter(|(_, moves)| **moves);
        let moved = moving.map(|(switch, _)| u64::from(senders.senders_from(switch, root))).sum();
        port.moves.fill(false);
        if let Some(terminal) = terminal.filter(|_| moved > 0) {
            port.done.push(MovedTerminal { port: terminal.port, moved, pairs: senders.senders() });
        }
    }

    /// Compares the trees of a destination, of which the old one may be given by its column alone.
    fn compare_trees(
        &self,
        end: &Destination,
        old: OldPaths<'_>,
        new: &RouteTree<'_>,
        port: &mut PortComparison,
    ) {
        // With a new path from everywhere an old path stays or gives way, whether it arrived or not. Else old paths count
        // that have no new one.
        let (order, all) = match old.tree {
            Some(old) if !new.whole => (old.order, false),
            _ => (new.order, new.order.len() == port.seen.len()),
        };
        if !all {
            port.seen.fill(PathChange::Nothing);
            new.order.iter().for_each(|switch| port.seen[*switch as usize] = PathChange::Moves);
        }
        // An old path stays where its entry stays and what lies behind it does; the next switch comes first.
        for switch in order {
            let at = *switch as usize;
            let stays = old.ways[at] == new.ways[at]
                && (*switch == new.root || port.seen[new.ways[at].switch() as usize] == PathChange::Stays);
            port.seen[at] = if stays { PathChange::Stays } else { PathChange::Moves };
        }
        if self.old.lanes == PathLanes::One && self.new.lanes == PathLanes::One {
            let both = port.moves.iter_mut().zip(&port.seen);
            both.for_each(|(moves, seen)| *moves |= *seen == PathChange::Moves);
            return;
        }
        for (at, seen) in port.seen.iter().enumerate() {
            let lanes = || self.old.lane(at as u32, end.lid) != self.new.lane(at as u32, end.lid);
            port.moves[at] |= *seen == PathChange::Moves || (*seen == PathChange::Stays && lanes());
        }
    }
}

impl JointDependencies<'_> {
    fn has_equal_dependencies(&self, old: &Routes, new: &Routes) -> bool {
        self.traffic.one_lane || (old.lanes == PathLanes::One && new.lanes == PathLanes::One)
    }

    fn add_tree(&self, routes: &Routes, end: &Destination, tree: &RouteTree<'_>, through: &mut [u16]) {
        let graph = &self.traffic.problem.graph;
        self.traffic.sources(routes, end, tree, through);
        add_tree(graph, &self.dependencies, tree, through);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoProgress, Request, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Fabric, Faults};

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    fn shortest(problem: &Problem<'_>) -> Routes {
        (find_engine("minhop").unwrap().route)(problem, &Request::default(), &NoProgress).unwrap().routes
    }

    fn host_behind(problem: &Problem<'_>, switch: u32) -> Lid {
        problem.graph.terminals_of(switch)[0].lid.unwrap()
    }

    /// Lets a switch send to a LID over the other of its two cables to switches.
    fn turn_round(problem: &Problem<'_>, routes: &mut Routes, switch: u32, lid: Lid) {
        let leaving = &problem.graph.channels()[problem.graph.outgoing(switch)];
        let other = leaving.iter().find(|channel| Some(channel.from_port) != routes.get(switch, lid));
        routes.set(switch, lid, Some(other.unwrap().from_port));
    }

    fn on_lane_1(lid: Lid) -> PathLanes {
        let mut lane = vec![0; lid.index() + 1];
        lane[lid.index()] = 1;
        PathLanes::ByDestination { lanes: 2, lane }
    }

    #[test]
    fn only_blocks_with_another_entry_are_to_be_written() {
        let old = vec![NO_PATH; 130];
        let mut new = old.clone();
        new[70] = 1;
        let one = RouteDifference { entries: 1, blocks: 1, switches: 1, moved_pairs: 0 };
        assert_eq!((compare_rows(&old, &new), compare_rows(&old, &old)), (one, RouteDifference::default()));
    }

    #[test]
    fn another_lane_moves_the_pairs_of_its_lid_and_is_counted_by_source_switch() {
        let (fabric, faults) = (fabric("torus,dims=4,terminals=2"), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let old = shortest(&problem);
        let mut new = old.clone();
        new.lanes = on_lane_1(host_behind(&problem, 0));
        assert_eq!(count_changed_lanes(&problem, &old, &new, false), 4);
        assert_eq!(count_changed_lanes(&problem, &new, &old, false), 4);
        assert_eq!(count_changed_lanes(&problem, &new, &new, false), 0);
        // All other hosts send to the LID.
        let moved = RouteDifference { moved_pairs: 7, ..RouteDifference::default() };
        assert_eq!(RouteDifference::between(&problem, &old, &new), moved);
        let port = problem.graph.terminals_of(0)[0].port;
        let found = compare_partitioned(&problem, &old, &new, None, None);
        assert_eq!(found.moved, [MovedTerminal { port, moved: 7, pairs: 7 }]);
    }

    #[test]
    fn another_path_to_a_switch_moves_no_pair_of_hosts() {
        let (fabric, faults) = (fabric("torus,dims=4,terminals=2"), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let old = shortest(&problem);
        let mut new = old.clone();
        let own = problem.destinations_behind(0).iter().find(|end| end.is_switch()).unwrap();
        turn_round(&problem, &mut new, 2, own.lid);
        let scope = RouteScope { switches: true, ..RouteScope::default() };
        let (difference, _) = compare_routes(&problem, &old, &new, &scope);
        let entry = RouteDifference { entries: 1, blocks: 1, switches: 1, moved_pairs: 0 };
        assert_eq!((difference, RouteDifference::between(&problem, &old, &new)), (entry, entry));
    }

    #[test]
    fn a_path_moves_in_its_own_part_of_the_fabric_and_no_other_does() {
        // Two rings of four, with the cables between them failed.
        let fabric = fabric("torus,dims=2x4,terminals=2");
        let mut faults = Faults::default();
        for channel in Problem::new(&fabric, &Faults::default()).graph.channels() {
            if channel.from / 4 != channel.to / 4 {
                faults.mark(ElementId::Link(channel.link));
            }
        }
        let problem = Problem::new(&fabric, &faults);
        assert_eq!(problem.graph.components().1, 2);
        let old = shortest(&problem);
        let mut new = old.clone();
        for (far, near) in [(2, 0), (6, 4)] {
            turn_round(&problem, &mut new, far, host_behind(&problem, near));
        }
        let moved = RouteDifference { entries: 2, blocks: 2, switches: 2, moved_pairs: 4 };
        assert_eq!(RouteDifference::between(&problem, &old, &new), moved);
    }
}
