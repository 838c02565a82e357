//! Shortest paths in hops, balanced per switch: of the ports that lead nearer to a destination each LID takes the one
//! with the fewest LIDs so far, the lowest port number among equals. No promise about deadlocks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::hops::{HopCount, UNREACHABLE, changed_switches, hop_matrix, update_matrix};
use crate::engine::{EngineAnswer, EngineRefusal, Request, RouteProgress};
use crate::incremental::{IncrementalAnswer, PreviousRun};
use crate::problem::{Destination, Problem};
use fabdeck_fabric::{NO_PATH, Routes, SwitchGraph};

pub fn route(
    problem: &Problem<'_>,
    _: &Request,
    pulse: &dyn RouteProgress,
) -> Result<EngineAnswer, EngineRefusal> {
    let hops = hop_matrix(&problem.graph);
    let mut routes = problem.empty_routes();
    fill_rows(problem, &hops, &LidTurns::new(problem), &mut routes, &|_| true, pulse)?;
    Ok(routes.into())
}

/// What a row was made of.
#[derive(Debug)]
struct MinhopState {
    graph: SwitchGraph,
    /// By switch, the LIDs behind it.
    behind: Vec<Vec<Destination>>,
    hops: Vec<Vec<HopCount>>,
    turns: LidTurns,
}

/// A row follows from the channels of its switch, from which of them lead nearer to each other switch, and from the
/// LIDs behind those. It is taken over where all of that is what it was.
pub fn route_incrementally(
    problem: &Problem<'_>,
    request: &Request,
    past: Option<&PreviousRun>,
    pulse: &dyn RouteProgress,
) -> Result<IncrementalAnswer, EngineRefusal> {
    let (graph, count) = (&problem.graph, problem.graph.switch_count());
    let stride = problem.fabric.top_lid().map_or(0, |lid| lid.index() + 1);
    let fits = |(made, routes): &(&MinhopState, &Routes)| {
        made.graph.switch_count() == count && routes.switch_count() == count && routes.stride() == stride
    };
    let before = past.and_then(|past| past.state::<MinhopState>(request)).filter(fits);
    let behind: Vec<_> =
        problem.switches().map(|switch| problem.destinations_behind(switch).to_vec()).collect();
    let turns = LidTurns::new(problem);
    let (hops, stale) = match before {
        None => (hop_matrix(graph), vec![true; count]),
        Some((made, _)) => {
            let touched = changed_switches(&made.graph, graph);
            let hops = update_matrix(&made.graph, &made.hops, graph, &touched);
            let mut stale = match made.behind == behind {
                true => stale_switches(graph, (&made.hops, &hops), &touched),
                false => vec![true; count],
            };
            let levels = made.turns.level.iter().zip(&turns.level);
            stale.iter_mut().zip(levels).for_each(|(stale, (old, new))| *stale |= old != new);
            (hops, stale)
        }
    };
    let reused = stale.iter().filter(|stale| !**stale).count();
    let mut routes = match before {
        Some((_, routes)) if reused > 0 => routes.clone(),
        _ => problem.empty_routes(),
    };
    fill_rows(problem, &hops, &turns, &mut routes, &|switch| stale[switch], pulse)?;
    let kept = Arc::new(MinhopState { graph: graph.clone(), behind, hops, turns });
    Ok(IncrementalAnswer { answer: routes.into(), state: kept, reused: before.map(|_| reused) })
}

/// Switches from which other channels lead nearer to some switch than before.
fn stale_switches(
    graph: &SwitchGraph,
    (before, now): (&[Vec<HopCount>], &[Vec<HopCount>]),
    touched: &[u32],
) -> Vec<bool> {
    let others: Vec<usize> = (0..now.len()).filter(|to| before[*to] != now[*to]).collect();
    let switches = (0..graph.switch_count() as u32).into_par_iter();
    switches
        .map(|switch| {
            let nearer = |hops: &[Vec<HopCount>], next: usize, to: usize| {
                let here = hops[switch as usize][to];
                here != UNREACHABLE && hops[next][to].saturating_add(1) == here
            };
            let channels = &graph.channels()[graph.outgoing(switch)];
            let mut nexts = channels.iter().map(|channel| channel.to as usize);
            let changed = |next| others.iter().any(|to| nearer(before, next, *to) != nearer(now, next, *to));
            touched.binary_search(&switch).is_ok() || nexts.any(changed)
        })
        .collect()
}

/// Fills the rows of the switches that are wanted.
fn fill_rows(
    problem: &Problem<'_>,
    hops: &[Vec<HopCount>],
    turns: &LidTurns,
    routes: &mut Routes,
    wanted: &(dyn Fn(usize) -> bool + Sync),
    pulse: &dyn RouteProgress,
) -> Result<(), EngineRefusal> {
    let (stride, switches) = (routes.stride().max(1), routes.switch_count());
    let done = AtomicUsize::new(0);
    let rows = routes.entries_mut().par_chunks_exact_mut(stride).enumerate();
    rows.filter(|(switch, _)| wanted(*switch)).for_each(|(switch, row)| {
        if !pulse.is_cancelled() {
            row.fill(NO_PATH);
            fill_row(problem, hops, turns, switch as u32, row);
            pulse.report(done.fetch_add(1, Ordering::Relaxed) + 1, switches);
        }
    });
    pulse.check_cancelled()
}

/// What tables lead to, in the order in which it is shared out.
#[derive(Debug)]
struct LidTurns {
    /// Switches with adapters, those with most LIDs of them first.
    by_adapters: Vec<u32>,
    /// All switches, for their own LIDs: hardly anything goes there, so they take what ways are left.
    all: Vec<u32>,
    /// Hops to the nearest adapter's switch. Of the LIDs behind a leaf few come by at a switch above, those to which the
    /// switches below chose the same way. Where all switches begin at the same way these would go on by the same one
    /// again; so a switch begins at another way for each leaf, and the higher it stands the farther on.
    level: Vec<u32>,
    /// Adapters behind each switch first, then its own: what is shared out at a time, and where that begins.
    ends: [SwitchLids; 2],
}

/// LIDs behind switches, side by side.
#[derive(Debug)]
struct SwitchLids {
    lids: Vec<u32>,
    first: Vec<u32>,
}

impl SwitchLids {
    fn new(problem: &Problem<'_>, of_switch: bool) -> Self {
        let mut ends = Self { lids: Vec::new(), first: vec![0] };
        for switch in problem.switches() {
            let wanted =
                problem.destinations_behind(switch).iter().filter(|end| end.is_switch() == of_switch);
            ends.lids.extend(wanted.map(|end| end.lid.index() as u32));
            ends.first.push(ends.lids.len() as u32);
        }
        ends
    }

    fn lids_behind(&self, switch: u32) -> &[u32] {
        &self.lids[self.first[switch as usize] as usize..self.first[switch as usize + 1] as usize]
    }
}

impl LidTurns {
    fn new(problem: &Problem<'_>) -> Self {
        let adapters =
            |switch: u32| problem.destinations_behind(switch).iter().filter(|end| !end.is_switch()).count();
        let mut by_adapters: Vec<u32> = problem.switches().filter(|switch| adapters(*switch) > 0).collect();
        by_adapters.sort_by_key(|switch| std::cmp::Reverse(adapters(*switch)));
        let level = switch_levels(&problem.graph, &by_adapters);
        let ends = [false, true].map(|of_switch| SwitchLids::new(problem, of_switch));
        Self { by_adapters, all: problem.switches().collect(), level, ends }
    }
}

fn switch_levels(graph: &SwitchGraph, by_adapters: &[u32]) -> Vec<u32> {
    let mut level = vec![0; graph.switch_count()];
    let mut seen = vec![false; graph.switch_count()];
    by_adapters.iter().for_each(|switch| seen[*switch as usize] = true);
    let mut queue: VecDeque<u32> = by_adapters.iter().copied().collect();
    while let Some(switch) = queue.pop_front() {
        for channel in &graph.channels()[graph.outgoing(switch)] {
            if !std::mem::replace(&mut seen[channel.to as usize], true) {
                level[channel.to as usize] = level[switch as usize] + 1;
                queue.push_back(channel.to);
            }
        }
    }
    level
}

/// A row in the making.
struct RowWriter<'a> {
    hops: &'a [Vec<HopCount>],
    ends: &'a [SwitchLids; 2],
    /// The port of each channel.
    ports: Vec<u8>,
    switch: u32,
    level: usize,
    /// Of each channel the LIDs that go there.
    lids_on: Vec<u32>,
    /// Words of bits for each switch: the channels that lead nearer to it.
    nearer: Vec<u64>,
    words: usize,
    ways: Vec<usize>,
    loads: Vec<u32>,
}

fn fill_row(problem: &Problem<'_>, hops: &[Vec<HopCount>], turns: &LidTurns, switch: u32, row: &mut [u8]) {
    let channels = &problem.graph.channels()[problem.graph.outgoing(switch)];
    let words = channels.len().div_ceil(64).max(1);
    let neighbours: Vec<u32> = channels.iter().map(|channel| channel.to).collect();
    let mut making = RowWriter {
        ends: &turns.ends,
        ports: channels.iter().map(|channel| channel.from_port.value()).collect(),
        nearer: nearer_channels(hops, switch, &neighbours, words),
        words,
        hops,
        switch,
        level: turns.level[switch as usize] as usize,
        lids_on: vec![0u32; channels.len()],
        ways: Vec::with_capacity(channels.len()),
        loads: Vec::with_capacity(channels.len()),
    };
    problem.destinations_behind(switch).iter().for_each(|end| row[end.lid.index()] = end.port.value());
    for (turn, to) in turns.by_adapters.iter().enumerate() {
        making.share_out(*to, (false, turn), row);
    }
    turns.all.iter().for_each(|to| making.share_out(*to, (true, 0), row));
}

/// For each switch, `words` words of bits: the channels that lead nearer to it.
fn nearer_channels(hops: &[Vec<HopCount>], switch: u32, neighbours: &[u32], words: usize) -> Vec<u64> {
    let here = &hops[switch as usize];
    let mut bits = vec![0; here.len() * words];
    for (place, neighbour) in neighbours.iter().enumerate() {
        let (word, bit) = (place / 64, place % 64);
        let there = hops[*neighbour as usize].iter().zip(here);
        let is_nearer =
            |(there, here): (&HopCount, &HopCount)| u64::from(there.wrapping_add(1) == *here) << bit;
        if words == 1 {
            bits.iter_mut().zip(there).for_each(|(own, pair)| *own |= is_nearer(pair));
        } else {
            bits[word..].iter_mut().step_by(words).zip(there).for_each(|(own, pair)| *own |= is_nearer(pair));
        }
    }
    bits
}

impl RowWriter<'_> {
    /// Shares the LIDs of a switch, or of the adapters behind it, out over the ways to there.
    fn share_out(&mut self, to: u32, (of_switch, turn): (bool, usize), row: &mut [u8]) {
        let here = self.hops[self.switch as usize][to as usize];
        if to == self.switch || here == UNREACHABLE {
            return;
        }
        self.ways.clear();
        let bits = &self.nearer[to as usize * self.words..(to as usize + 1) * self.words];
        for (word, bits) in bits.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                self.ways.push(word * 64 + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        if let [only] = self.ways[..] {
            let lids = self.ends[usize::from(of_switch)].lids_behind(to);
            lids.iter().for_each(|lid| row[*lid as usize] = self.ports[only]);
            self.lids_on[only] += lids.len() as u32;
            return;
        }
        if self.ways.is_empty() {
            return;
        }
        // Only where the LIDs of a leaf come out even: where they do not, the next leaf begins elsewhere anyway.
        let lids = self.ends[usize::from(of_switch)].lids_behind(to);
        // The sum of digits: leaves under one switch are often as many places apart as there are ways.
        let (count, mut turn, mut digits) = (self.ways.len().max(2), turn, 0);
        while turn > 0 {
            digits += turn % count;
            turn /= count;
        }
        if lids.len().is_multiple_of(count) {
            let begin = self.level * digits % self.ways.len();
            self.ways.rotate_left(begin);
        }
        // Each LID takes the way with the fewest LIDs, the first of equals. So all ways at the least load take one in turn,
        // and then all that stand at the next one.
        self.loads.clear();
        self.loads.extend(self.ways.iter().map(|at| self.lids_on[*at]));
        if let [first, others @ ..] = &self.loads[..]
            && others.iter().all(|load| load == first)
        {
            return self.share_out_evenly(*first, lids, row);
        }
        let mut lids = lids.iter();
        while lids.len() > 0
            && let Some(least) = self.loads.iter().copied().min()
        {
            let ways = self.ways.iter().zip(&mut self.loads).filter(|(_, load)| **load == least);
            for ((at, load), lid) in ways.zip(lids.by_ref()) {
                row[*lid as usize] = self.ports[*at];
                *load += 1;
            }
        }
        for (at, load) in self.ways.iter().zip(&self.loads) {
            self.lids_on[*at] = *load;
        }
    }

    /// The same over ways that have equal loads: each takes one in turn, again and again.
    fn share_out_evenly(&mut self, load: u32, lids: &[u32], row: &mut [u8]) {
        let count = self.ways.len();
        for turn in lids.chunks(count) {
            for (at, lid) in self.ways.iter().zip(turn) {
                row[*lid as usize] = self.ports[*at];
            }
        }
        let (each, more) = (lids.len() / count, lids.len() % count);
        for (place, at) in self.ways.iter().enumerate() {
            self.lids_on[*at] = load + each as u32 + u32::from(place < more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Fabric, Faults, Lid, NodeId, PortNum};

    fn minhop(fabric: &Fabric, faults: &Faults) -> Routes {
        route(&Problem::new(fabric, faults), &Request::default(), &NoProgress).unwrap().routes
    }

    fn fabric(name: &str) -> Fabric {
        generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
    }

    /// Follows a table from a switch; how many switches it takes to the LID.
    fn walk(fabric: &Fabric, tables: &Routes, from: NodeId, lid: Lid) -> Option<usize> {
        let target = fabric.port_by_lid(lid)?;
        let mut at = from;
        for steps in 0..64 {
            let egress = tables.get(at.0, lid)?;
            if egress == PortNum::MANAGEMENT {
                return (fabric.port(target).node == at).then_some(steps);
            }
            let peer = fabric.peer(fabric.port_of(at, egress)?)?;
            if peer == target {
                return Some(steps);
            }
            at = fabric.port(peer).node;
        }
        None
    }

    #[test]
    fn every_switch_reaches_every_lid_on_a_shortest_path() {
        for name in
            ["demo", "kary,k=3,n=3", "torus,dims=4x3", "random,switches=20,links=40", "dragonfly,a=4,h=2,g=5"]
        {
            let fabric = fabric(name);
            let tables = minhop(&fabric, &Faults::default());
            let graph = SwitchGraph::new(&fabric, &Faults::default());
            let hops = hop_matrix(&graph);
            for (port, facts) in fabric.ports().filter_map(|(id, port)| Some((id, port.facts.lid?))) {
                let end = fabric.port(port).node;
                let last = match fabric.node(end).is_switch() {
                    true => end,
                    false => fabric.port(fabric.peer(port).unwrap()).node,
                };
                for (switch, _) in fabric.switches() {
                    let taken = walk(&fabric, &tables, switch, facts);
                    let shortest = usize::from(hops[last.index()][switch.index()]);
                    assert_eq!(taken, Some(shortest), "{name}: {switch:?} to {facts}");
                }
            }
        }
    }

    #[test]
    fn lids_spread_evenly_over_the_ways_up() {
        let fabric = fabric("kary,k=4,n=2");
        let tables = minhop(&fabric, &Faults::default());
        let leaf = fabric.switches().find(|(id, _)| {
            fabric.ports_of(*id).any(|(_, port)| {
                port.peer.is_some_and(|peer| !fabric.node(fabric.port(peer).node).is_switch())
            })
        });
        let mut used = std::collections::BTreeMap::<PortNum, u32>::new();
        for (lid, port) in tables.lft(leaf.unwrap().0.0).routed_lids() {
            let owner = fabric.port(fabric.port_by_lid(lid).unwrap()).node;
            if !fabric.node(owner).is_switch() {
                *used.entry(port).or_default() += 1;
            }
        }
        // Four hosts of its own, twelve others over four ways up.
        assert_eq!(used.len(), 8);
        assert!(used.values().all(|lids| *lids == 1 || *lids == 3 || *lids == 2 || *lids == 4), "{used:?}");
    }

    #[test]
    fn every_one_of_seventy_cables_is_used() {
        let fabric = fabric("random,switches=2,links=70,terminals=70");
        let tables = minhop(&fabric, &Faults::default());
        let graph = SwitchGraph::new(&fabric, &Faults::default());
        for switch in 0..2 {
            let ports: std::collections::BTreeSet<PortNum> =
                graph.channels()[graph.outgoing(switch)].iter().map(|channel| channel.from_port).collect();
            let away = graph.terminals_of(1 - switch).iter().filter_map(|end| end.lid);
            let taken: std::collections::BTreeSet<PortNum> =
                away.filter_map(|lid| tables.get(switch, lid)).collect();
            assert_eq!((taken.len(), taken), (70, ports), "switch {switch}");
        }
    }

    #[test]
    fn what_is_cut_off_has_no_entry() {
        let fabric = fabric("torus,dims=3");
        let mut faults = Faults::default();
        faults.mark(ElementId::Node(NodeId(1)));
        let tables = minhop(&fabric, &faults);
        assert!(tables.lft(1).is_empty());
        let lid = fabric.address_of(fabric.port_of(NodeId(1), PortNum(0)).unwrap()).unwrap().0;
        assert!((0..3).all(|switch| tables.get(switch, lid).is_none()));
    }
}
