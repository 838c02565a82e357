//! Differences between two sets of routes: entries and blocks to write, pairs whose path moves, and whether packets on
//! old and new paths together can deadlock.

use std::ops::Range;

use rayon::prelude::*;

use super::certificate::Scope;
use super::certificate::dependencies::{Cycle, Dependencies, Traffic, add_tree};
use super::problem::{Destination, Problem};
use super::trees::{Distances, FAR, Reader, Tree, Ways, batches};
use fabdeck_fabric::{BLOCK_LIDS, Lanes, Lid, NO_PATH, PortNum, Routes, block_of};

/// The differences between two sets of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// The number of forwarding table entries that differ.
    pub entries: u64,
    /// The number of blocks of 64 LIDs to write.
    pub blocks: u64,
    /// The number of switches with differences.
    pub switches: u64,
    /// Ordered pairs of terminals with another path or lane to a LID, with a new path, or without one now.
    pub moved_pairs: u64,
}

impl Difference {
    /// Compares two sets of routes.
    pub fn between(problem: &Problem<'_>, old: &Routes, new: &Routes) -> Self {
        Change::new(problem, old, new).seen(None).0
    }

    fn plus(self, other: Self) -> Self {
        Self {
            entries: self.entries + other.entries,
            blocks: self.blocks + other.blocks,
            switches: self.switches + other.switches,
            moved_pairs: self.moved_pairs + other.moved_pairs,
        }
    }
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

fn row(old: &[u8], new: &[u8]) -> Difference {
    let mut found = Difference::default();
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
pub fn changed_lanes(problem: &Problem<'_>, old: &Routes, new: &Routes, switches: bool) -> u64 {
    if old.lanes == Lanes::One && new.lanes == Lanes::One {
        return 0;
    }
    let sends = |switch: &u32| {
        problem.graph.alive(*switch) && problem.behind(*switch).iter().any(|end| switches || !end.is_switch())
    };
    let changed = |switch: u32| {
        let ends = problem.destinations().iter().filter(|end| switches || !end.is_switch());
        ends.filter(|end| old.lane(switch, end.lid) != new.lane(switch, end.lid)).count() as u64
    };
    problem.switches().into_par_iter().filter(sends).map(changed).sum()
}

/// Whether a change can be written while traffic flows (dissertation, definition 5.5, condition 3).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Transition {
    /// Whether no lane has a credit loop of old and new dependencies together; `None` when the lanes are not known.
    pub safe: Option<bool>,
    /// One credit loop for each lane that has any. The routes of a proof are 0 for the old and 1 for the new ones.
    pub cycles: Vec<Cycle>,
}

/// Judges old and new paths together.
pub fn transition(problem: &Problem<'_>, old: &Routes, new: &Routes, scope: &Scope) -> Transition {
    Change::new(problem, old, new).seen(Some(scope)).1
}

/// Computes difference and transition in one pass over all destinations.
pub fn compare(problem: &Problem<'_>, old: &Routes, new: &Routes, scope: &Scope) -> (Difference, Transition) {
    Change::new(problem, old, new).seen(Some(scope))
}

/// Looks at old and new paths destination by destination.
struct Change<'a> {
    problem: &'a Problem<'a>,
    table: Ways,
    old: &'a Routes,
    new: &'a Routes,
    changed: Vec<bool>,
    /// Terminals with a LID of each switch.
    terminals: Vec<u32>,
}

/// What becomes of dependencies, where they are asked for.
struct Together<'a> {
    traffic: Traffic<'a>,
    dependencies: Dependencies,
}

/// A path as seen from its source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Neither set of routes has one.
    Nothing,
    Stays,
    Moves,
}

/// What is used over and over for the destinations of one port.
struct Port {
    number: Option<PortNum>,
    seen: Vec<Seen>,
    /// Which sources move to any LID of it.
    moves: Vec<bool>,
}

impl<'a> Change<'a> {
    fn new(problem: &'a Problem<'a>, old: &'a Routes, new: &'a Routes) -> Self {
        let terminals = problem.graph.senders();
        let changed = changed_lids(problem, old, new);
        Self { problem, table: Ways::new(&problem.graph), old, new, changed, terminals }
    }

    fn seen(&self, scope: Option<&Scope>) -> (Difference, Transition) {
        let (problem, old, new) = (self.problem, self.old, self.new);
        let rows = problem.switches().into_par_iter().map(|switch| row(old.row(switch), new.row(switch)));
        let mut all = rows.reduce(Difference::default, Difference::plus);
        let together = scope.map(|scope| {
            let traffic = Traffic::new(problem, scope);
            let lanes = traffic.lanes(old).max(traffic.lanes(new));
            (Together { traffic, dependencies: Dependencies::new(&problem.graph, lanes) }, lanes)
        });
        let both = together.as_ref().map(|(together, _)| together);
        all.moved_pairs = batches(problem).into_par_iter().map(|roots| self.behind(roots, both)).sum();
        let Some((Together { traffic, dependencies }, lanes)) = together else {
            return (all, Transition::default());
        };
        let cycles = traffic.cycles(&dependencies, lanes, &[old, new]);
        let known = !traffic.one_lane;
        (all, Transition { safe: known.then_some(cycles.is_empty()), cycles })
    }

    fn behind(&self, roots: Range<u32>, together: Option<&Together<'_>>) -> u64 {
        let switches = self.problem.graph.switch_count();
        let near = Distances::to(&self.problem.graph, roots.clone());
        let mut readers = [(); 2].map(|()| Reader::new(self.problem, &self.table));
        let mut through = vec![0u16; switches];
        let mut port =
            Port { number: None, seen: vec![Seen::Nothing; switches], moves: vec![false; switches] };
        let mut moved = 0;
        for root in roots {
            let mut wanted = self.problem.behind(root).to_vec();
            wanted.retain(|end| match together {
                Some(together) => together.traffic.switches || !end.is_switch(),
                None => !end.is_switch() && self.is_changed(end),
            });
            wanted.sort_by_key(|end| (end.port, end.lid));
            let see = &mut |end: &Destination, old: &Tree<'_>, new: Option<&Tree<'_>>| {
                if let Some(together) = together {
                    together.add(self.old, end, old, &mut through);
                    // Equal trees on equal lanes wait for the same.
                    match new {
                        Some(new) => together.add(self.new, end, new, &mut through),
                        None if !together.alike(self.old, self.new) => {
                            together.add(self.new, end, old, &mut through);
                        }
                        None => {}
                    }
                }
                if !end.is_switch() && self.is_changed(end) {
                    moved += self.port(end, &mut port, root);
                    self.compare(end, old, new.unwrap_or(old), &mut port);
                }
            };
            Reader::read_both(&mut readers, [self.old, self.new], (root, near.row(root)), &wanted, see);
            moved += self.close(&mut port, root);
        }
        moved
    }

    fn is_changed(&self, end: &Destination) -> bool {
        self.changed.get(end.lid.index()) == Some(&true)
    }

    /// Another port may begin: the pairs of the one before.
    fn port(&self, end: &Destination, port: &mut Port, root: u32) -> u64 {
        if port.number == Some(end.port) {
            return 0;
        }
        let moved = self.close(port, root);
        port.number = Some(end.port);
        moved
    }

    /// Pairs from the terminals of the switches that move to the port under way.
    fn close(&self, port: &mut Port, root: u32) -> u64 {
        if port.number.take().is_none() {
            return 0;
        }
        let all = port.moves.iter().zip(&self.terminals);
        let moved: u64 = all.filter(|(moves, _)| **moves).map(|(_, count)| u64::from(*count)).sum();
        // Nobody sends to itself.
        let itself = port.moves[root as usize] && self.terminals[root as usize] > 0;
        port.moves.fill(false);
        moved - u64::from(itself)
    }

    fn compare(&self, end: &Destination, old: &Tree<'_>, new: &Tree<'_>, port: &mut Port) {
        if !(old.whole && new.whole) {
            port.seen.fill(Seen::Nothing);
            new.order.iter().for_each(|switch| port.seen[*switch as usize] = Seen::Moves);
        }
        // An old path stays where its entry stays and what lies behind it does; the next switch comes first.
        for switch in old.order {
            let at = *switch as usize;
            let stays = old.ways[at] == new.ways[at]
                && (*switch == old.root || port.seen[old.ways[at].to() as usize] == Seen::Stays);
            port.seen[at] = if stays { Seen::Stays } else { Seen::Moves };
        }
        if old.whole && new.whole {
            // What is in no part of the root has kept the value of another.
            let cut = old.near.iter().enumerate().filter(|(_, near)| **near == FAR);
            cut.for_each(|(at, _)| port.seen[at] = Seen::Nothing);
        }
        let same_lanes = self.old.lanes == Lanes::One && self.new.lanes == Lanes::One;
        for (at, seen) in port.seen.iter().enumerate() {
            let lanes = || {
                let at = at as u32;
                !same_lanes && self.old.lane(at, end.lid) != self.new.lane(at, end.lid)
            };
            port.moves[at] |= *seen == Seen::Moves || (*seen == Seen::Stays && lanes());
        }
    }
}

impl Together<'_> {
    fn alike(&self, old: &Routes, new: &Routes) -> bool {
        self.traffic.one_lane || (old.lanes == Lanes::One && new.lanes == Lanes::One)
    }

    fn add(&self, routes: &Routes, end: &Destination, tree: &Tree<'_>, through: &mut [u16]) {
        let graph = &self.traffic.problem.graph;
        self.traffic.sources(routes, end, tree, through);
        add_tree(graph, &self.dependencies, tree, through);
    }
}
