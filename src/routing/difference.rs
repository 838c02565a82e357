//! What a change from one set of routes to another means: entries and blocks to write, pairs whose path moves, and
//! whether packets on old and new paths together can deadlock.

use rayon::prelude::*;

use super::certificate::dependencies::{Cycle, Dependencies, Traffic, add_tree};
use super::certificate::{LaneKnowledge, Scope};
use super::problem::{Destination, Problem};
use super::trees::{Distances, Reader, Tree, Way, Ways, batches};
use crate::fabric::{BLOCK_LIDS, Lid, NO_PATH, Routes};

/// What changes between two sets of routes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Difference {
    /// Entries of forwarding tables.
    pub entries: u64,
    /// Blocks of 64 LIDs, as they are written.
    pub blocks: u64,
    pub switches: u64,
    /// Ordered pairs of terminals with another path or lane to a LID, or a path where there was none, or none any more.
    pub moved_pairs: u64,
}

impl Difference {
    pub fn between(problem: &Problem<'_>, old: &Routes, new: &Routes) -> Self {
        let (table, changed) = (Ways::new(&problem.graph), changed_lids(problem, old, new));
        let moves = Moves { problem, table: &table, old, new, changed: &changed };
        let rows = problem.switches().into_par_iter().map(|switch| row(old.row(switch), new.row(switch)));
        let mut all = rows.reduce(Self::default, Self::plus);
        all.moved_pairs = batches(problem).into_par_iter().map(|roots| moves.behind(roots)).sum();
        all
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
    let mut changed = vec![false; length];
    for switch in problem.switches() {
        let (here, there) = (old.row(switch), new.row(switch));
        if same_lanes && here == there {
            continue;
        }
        for (lid, changed) in changed.iter_mut().enumerate() {
            let entry = |row: &[u8]| row.get(lid).copied().unwrap_or(NO_PATH);
            *changed |= entry(here) != entry(there);
            if let Some(lid) = Lid::new(lid as u32).filter(|_| !same_lanes) {
                *changed |= old.lane(switch, lid) != new.lane(switch, lid);
            }
        }
    }
    changed
}

fn row(old: &[u8], new: &[u8]) -> Difference {
    let length = old.len().max(new.len());
    let entry = |row: &[u8], lid: usize| row.get(lid).copied().unwrap_or(NO_PATH);
    let mut found = Difference::default();
    if old == new {
        return found;
    }
    for start in (0..length).step_by(BLOCK_LIDS.into()) {
        let block = start..length.min(start + usize::from(BLOCK_LIDS));
        let changed = block.filter(|lid| entry(old, *lid) != entry(new, *lid)).count() as u64;
        found.entries += changed;
        found.blocks += u64::from(changed > 0);
    }
    found.switches = u64::from(found.entries > 0);
    found
}

/// Looks for paths that move, destination by destination.
struct Moves<'a> {
    problem: &'a Problem<'a>,
    table: &'a Ways,
    old: &'a Routes,
    new: &'a Routes,
    changed: &'a [bool],
}

/// A path as seen from its source.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// Neither set of routes has one.
    Nothing,
    Stays,
    Moves,
}

impl Moves<'_> {
    fn behind(&self, roots: std::ops::Range<u32>) -> u64 {
        let near = Distances::to(&self.problem.graph, roots.clone());
        let mut reader = Reader::new(self.problem, self.table);
        roots.map(|root| self.to_terminals(root, near.row(root), &mut reader)).sum()
    }

    fn to_terminals(&self, root: u32, near: &[u32], reader: &mut Reader<'_>) -> u64 {
        let mut wanted: Vec<Destination> = self.problem.behind(root).to_vec();
        wanted.retain(|end| !end.is_switch() && self.changed.get(end.lid.index()) == Some(&true));
        wanted.sort_by_key(|end| (end.port, end.lid));
        let never = |_: &Destination, _: &Destination| false;
        let (mut new_ways, mut seen) = (Vec::new(), Vec::new());
        reader.read(self.new, (root, near), &wanted, &never, &mut |_, tree| {
            new_ways.push(tree.ways.to_vec());
            let mut arrives = vec![Seen::Nothing; near.len()];
            tree.order.iter().for_each(|switch| arrives[*switch as usize] = Seen::Moves);
            seen.push(arrives);
        });
        let (mut moved, mut port) = (0, None);
        // Which sources move to any LID of the port.
        let mut moves = vec![false; near.len()];
        let mut both = new_ways.iter().zip(&mut seen);
        reader.read(self.old, (root, near), &wanted, &never, &mut |run, tree| {
            let (Some(end), Some((new_ways, seen))) = (run.first(), both.next()) else { return };
            if port.replace(end.port) != Some(end.port) {
                moved += self.pairs(root, &moves);
                moves.fill(false);
            }
            stay(tree, new_ways, seen);
            for (switch, seen) in (0u32..).zip(seen.iter()) {
                let lanes = || self.old.lane(switch, end.lid) != self.new.lane(switch, end.lid);
                moves[switch as usize] |= *seen == Seen::Moves || (*seen == Seen::Stays && lanes());
            }
        });
        moved + self.pairs(root, &moves)
    }

    /// Pairs from the terminals of some switches to one behind `root`.
    fn pairs(&self, root: u32, sources: &[bool]) -> u64 {
        let senders = |switch: u32| {
            let terminals = self.problem.graph.terminals_of(switch).iter();
            let count = terminals.filter(|terminal| terminal.lid.is_some()).count() as u64;
            count.saturating_sub(u64::from(switch == root))
        };
        (0u32..).zip(sources).filter(|(_, moves)| **moves).map(|(at, _)| senders(at)).sum()
    }
}

/// An old path stays where its entry stays and what lies behind it does; the next switch comes first.
fn stay(old: &Tree<'_>, new_ways: &[Way], seen: &mut [Seen]) {
    for switch in old.order {
        let at = *switch as usize;
        let beyond = *switch == old.root || seen[old.ways[at].to() as usize] == Seen::Stays;
        seen[at] = if old.ways[at] == new_ways[at] && beyond { Seen::Stays } else { Seen::Moves };
    }
}

/// Whether a change may be made while traffic flows (dissertation, definition 5.5, condition 3).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Transition {
    /// No lane has a cycle of the dependencies of both; `None` when lanes are not known.
    pub safe: Option<bool>,
    /// One for each lane that has any; a proof names its routes: 0 the old, 1 the new.
    pub cycles: Vec<Cycle>,
}

/// Old and new paths together.
pub fn transition(problem: &Problem<'_>, old: &Routes, new: &Routes, scope: &Scope) -> Transition {
    let one_lane = scope.lanes == LaneKnowledge::Unknown;
    let traffic = Traffic::new(problem, scope);
    let lanes = traffic.lanes(old).max(traffic.lanes(new));
    let dependencies = Dependencies::new(&problem.graph, lanes);
    let table = Ways::new(&problem.graph);
    batches(problem).par_iter().for_each(|roots| {
        let near = Distances::to(&problem.graph, roots.clone());
        let mut reader = Reader::new(problem, &table);
        let mut through = vec![0u16; problem.graph.switch_count()];
        for root in roots.clone() {
            let mut wanted = problem.behind(root).to_vec();
            wanted.retain(|end| scope.switches || !end.is_switch());
            for routes in [old, new] {
                let see = &mut |run: &[Destination], tree: &Tree<'_>| {
                    traffic.sources(routes, &run[0], tree, &mut through);
                    add_tree(&problem.graph, &dependencies, tree, &mut through);
                };
                reader.read(
                    routes,
                    (root, near.row(root)),
                    &wanted,
                    &|a, b| traffic.alike(routes, a, b),
                    see,
                );
            }
        }
    });
    let cycles = traffic.cycles(&dependencies, lanes, &[old, new]);
    Transition { safe: (!one_lane).then_some(cycles.is_empty()), cycles }
}
