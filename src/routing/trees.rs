//! The tree of each destination over the switches, read from the forwarding tables column by column. The certificate,
//! differences and lost paths all use it, so a destination costs one pass over the switches.

use std::ops::Range;

use super::column_bytes::ColumnBytes;
use super::problem::{Destination, Problem};
use fabdeck_fabric::{Channel, Lid, NO_PATH, Routes, SwitchGraph};

/// The number of switches whose destinations are read together: the bits of a word of the breadth-first search.
pub(crate) const SWITCHES_AT_ONCE: usize = 64;

/// Columns that are gathered together: about what one line of memory holds of a row.
const COLUMNS_AT_ONCE: usize = 64;

/// The distance between two switches that no cables connect.
pub(crate) const UNREACHABLE: u32 = u32::MAX;

/// Numbers of hops from here on mean that there is no path.
const LOST: u32 = u32::MAX - 8;
const UNKNOWN: u32 = u32::MAX;
const ON_PATH: u32 = u32::MAX - 1;
const NO_ROUTE: u32 = u32::MAX - 2;
const DEAD_END: u32 = u32::MAX - 3;
const LOOPS: u32 = u32::MAX - 4;
const UNREAD: u32 = u32::MAX - 5;

/// Why a path does not arrive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Cause {
    /// No cables connect the two ends.
    CutOff,
    /// The switch of the source has no entry.
    NoRoute,
    /// The path ends at a switch without an entry, or at a port that leads elsewhere.
    DeadEnd,
    /// The path enters a forwarding loop.
    Loop,
    /// The path meets an entry that was not read, so it is unknown whether it arrives.
    Unread,
}

impl Cause {
    /// All causes, in the order of [`LostPairs::counts`](crate::certificate::LostPairs::counts).
    pub const ALL: [Self; 5] = [Self::CutOff, Self::NoRoute, Self::DeadEnd, Self::Loop, Self::Unread];
}

/// Where an entry leads: the next switch, and the place of the channel among those that leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NextHop(u32);

impl NextHop {
    /// No entry.
    const ABSENT: Self = Self(0xFF);
    /// An entry that leads to no other switch and not to the destination.
    const ASTRAY: Self = Self(0x1FF);
    const ARRIVED: Self = Self(0x2FF);
    /// An entry that was not read.
    const UNREAD: Self = Self(0x3FF);

    fn is_hop(self) -> bool {
        self.0 & 0xFF != 0xFF
    }

    /// The next switch, for an entry whose tree has more than 0 hops.
    pub fn switch(self) -> u32 {
        self.0 >> 8
    }

    /// The place of the channel among those that leave the switch.
    pub(crate) fn place(self) -> u32 {
        self.0 & 0xFF
    }
}

/// Where the ports of all switches lead.
#[derive(Debug)]
pub struct PortMap {
    first: Vec<u32>,
    ways: Vec<NextHop>,
}

impl PortMap {
    /// Collects the ports of a graph.
    pub fn new(graph: &SwitchGraph) -> Self {
        let (mut first, mut ways) = (vec![0], Vec::new());
        for switch in 0..graph.switch_count() as u32 {
            let leaving = &graph.channels()[graph.outgoing(switch)];
            let start = ways.len();
            let top = leaving.iter().map(|channel| channel.from_port.index() + 1).max().unwrap_or(0);
            ways.resize(start + top, NextHop::ASTRAY);
            for (place, channel) in leaving.iter().enumerate() {
                ways[start + channel.from_port.index()] = NextHop(channel.to << 8 | place as u32);
            }
            first.push(ways.len() as u32);
        }
        Self { first, ways }
    }

    /// Where a port leads; `None` when to no other switch.
    pub fn hop(&self, switch: u32, port: u8) -> Option<NextHop> {
        self.ports_of(switch as usize).get(usize::from(port)).copied().filter(|way| way.is_hop())
    }

    /// The channel and the switch that the entry of a LID leads to.
    pub fn next(&self, graph: &SwitchGraph, routes: &Routes, switch: u32, lid: Lid) -> Option<(usize, u32)> {
        let port = routes.row(switch).get(lid.index()).copied().unwrap_or(NO_PATH);
        let way = self.hop(switch, port)?;
        Some((graph.outgoing(switch).start + way.place() as usize, way.switch()))
    }

    /// Where the ports of a switch lead, by their numbers.
    pub(crate) fn ports_of(&self, switch: usize) -> &[NextHop] {
        &self.ways[self.first[switch] as usize..self.first[switch + 1] as usize]
    }
}

/// The distances in hops between all switches and some targets.
#[derive(Debug)]
pub(crate) struct Distances {
    first: u32,
    switches: usize,
    hops: Vec<u32>,
}

impl Distances {
    /// Computes the distances to at most 64 switches at once, with a bit for each (Then et al., "The more the
    /// merrier").
    pub(crate) fn measure(graph: &SwitchGraph, targets: Range<u32>) -> Self {
        let switches = graph.switch_count();
        let mut hops = vec![UNREACHABLE; targets.len() * switches];
        let (mut seen, mut front) = (vec![0u64; switches], vec![0u64; switches]);
        for (bit, target) in targets.clone().enumerate().filter(|(_, target)| graph.is_alive(*target)) {
            hops[bit * switches + target as usize] = 0;
            seen[target as usize] |= 1 << bit;
            front[target as usize] |= 1 << bit;
        }
        let heads: Vec<u32> = graph.channels().iter().map(|channel| channel.to).collect();
        let mut next = vec![0u64; switches];
        for steps in 1.. {
            let mut any = 0;
            for switch in 0..switches {
                let leaving = &heads[graph.outgoing(switch as u32)];
                let mut fresh = leaving.iter().fold(0, |bits, to| bits | front[*to as usize]) & !seen[switch];
                next[switch] = fresh;
                seen[switch] |= fresh;
                any |= fresh;
                while fresh != 0 {
                    hops[fresh.trailing_zeros() as usize * switches + switch] = steps;
                    fresh &= fresh - 1;
                }
            }
            if any == 0 {
                break;
            }
            std::mem::swap(&mut front, &mut next);
        }
        Self { first: targets.start, switches, hops }
    }

    /// The distances of all switches to a target.
    pub(crate) fn row(&self, target: u32) -> &[u32] {
        let start = (target - self.first) as usize * self.switches;
        &self.hops[start..start + self.switches]
    }
}

/// The paths to one destination.
#[derive(Debug)]
pub(crate) struct RouteTree<'r> {
    /// The switch of the destination.
    pub(crate) root: u32,
    /// The next hop of each switch.
    pub(crate) ways: &'r [NextHop],
    hops: &'r [u32],
    /// The switches whose paths arrive, the root first, the next hop of each before it.
    pub(crate) order: &'r [u32],
    /// Whether the path of every connected switch arrives.
    pub(crate) whole: bool,
    /// Whether the tree is whole and no path is longer than necessary.
    pub(crate) shortest: bool,
    /// The forwarding loops, each from its lowest switch on.
    pub(crate) loops: &'r [Vec<u32>],
    /// The distance of each switch in hops of cables.
    pub(crate) near: &'r [u32],
}

impl RouteTree<'_> {
    /// The number of switch-to-switch hops of the path from a switch.
    pub(crate) fn hops(&self, switch: u32) -> Option<u32> {
        Some(self.hops[switch as usize]).filter(|hops| *hops < LOST)
    }

    /// Why there is no path from a switch.
    pub(crate) fn cause(&self, switch: u32) -> Option<Cause> {
        match self.hops[switch as usize] {
            hops if hops < LOST => None,
            LOOPS => Some(Cause::Loop),
            NO_ROUTE => Some(Cause::NoRoute),
            DEAD_END => Some(Cause::DeadEnd),
            UNREAD => Some(Cause::Unread),
            _ => Some(Cause::CutOff),
        }
    }

    /// The channel of the path from a switch to the next; the root has none.
    pub(crate) fn channel(&self, graph: &SwitchGraph, switch: u32) -> usize {
        graph.outgoing(switch).start + self.ways[switch as usize].place() as usize
    }
}

/// What old routes have for a destination.
#[derive(Clone, Copy)]
pub(crate) struct OldPaths<'t> {
    /// The next hop of each switch.
    pub(crate) ways: &'t [NextHop],
    pub(crate) tree: Option<&'t RouteTree<'t>>,
}

impl<'t> OldPaths<'t> {
    pub(crate) fn of_tree(tree: &'t RouteTree<'t>) -> Self {
        Self { ways: tree.ways, tree: Some(tree) }
    }
}

/// Reads the trees of destinations and reuses its buffers.
#[derive(Debug)]
pub(crate) struct TreeReader<'p> {
    problem: &'p Problem<'p>,
    table: &'p PortMap,
    columns: Vec<NextHop>,
    bytes: ColumnBytes<'p>,
    /// The switches in the part of the root, in an order that the last trees had.
    hint: Vec<u32>,
    /// Hops of all switches together on shortest paths.
    fewest: u64,
    hops: Vec<u32>,
    order: Vec<u32>,
    path: Vec<u32>,
    loops: Vec<Vec<u32>>,
}

impl<'p> TreeReader<'p> {
    /// A reader of the trees of routes.
    pub(crate) fn new(problem: &'p Problem<'p>, table: &'p PortMap, routes: &'p Routes) -> Self {
        let switches = problem.graph.switch_count();
        Self {
            problem,
            table,
            columns: Vec::new(),
            bytes: ColumnBytes::new(routes, switches),
            hint: Vec::with_capacity(switches),
            fewest: 0,
            hops: vec![UNKNOWN; switches],
            order: Vec::with_capacity(switches),
            path: Vec::new(),
            loops: Vec::new(),
        }
    }

    /// Calls `see` with the trees of destinations at one switch. Neighbours with the same tree share a call where
    /// `alike` returns `true`.
    pub(crate) fn read(
        &mut self,
        (root, near): (u32, &[u32]),
        wanted: &[Destination],
        alike: &dyn Fn(&Destination, &Destination) -> bool,
        see: &mut dyn FnMut(&[Destination], &RouteTree<'_>),
    ) {
        self.begin_root(near);
        for batch in wanted.chunks(COLUMNS_AT_ONCE) {
            self.gather(root, batch);
            let mut start = 0;
            while let Some(first) = batch.get(start) {
                let ways = self.column(start);
                let same = |at: &usize| alike(first, &batch[*at]) && self.column(*at) == ways;
                let end = start + 1 + (start + 1..batch.len()).take_while(same).count();
                see(&batch[start..end], &self.resolve_tree(start, (root, near)));
                start = end;
            }
        }
    }

    /// Calls `see` with the trees that two sets of routes have for destinations at one switch; the second tree is
    /// absent where the columns are equal.
    pub(crate) fn read_both(
        readers: &mut [Self; 2],
        (root, near): (u32, &[u32]),
        wanted: &[Destination],
        see: &mut dyn FnMut(&Destination, &RouteTree<'_>, Option<&RouteTree<'_>>),
    ) {
        let [old, new] = readers;
        old.begin_root(near);
        new.begin_root(near);
        for batch in wanted.chunks(COLUMNS_AT_ONCE) {
            old.gather(root, batch);
            new.gather(root, batch);
            for (at, end) in batch.iter().enumerate() {
                let equal = old.column(at) == new.column(at);
                let second = (!equal).then(|| new.resolve_tree(at, (root, near)));
                see(end, &old.resolve_tree(at, (root, near)), second.as_ref());
            }
        }
    }

    /// Calls `see` with what two sets of routes have for destinations at one switch. The old tree is left out where the new
    /// one is whole.
    pub(crate) fn read_changed(
        readers: &mut [Self; 2],
        (root, near): (u32, &[u32]),
        wanted: &[Destination],
        see: &mut dyn FnMut(&Destination, OldPaths<'_>, &RouteTree<'_>),
    ) {
        let [old, new] = readers;
        old.begin_root(near);
        new.begin_root(near);
        for batch in wanted.chunks(COLUMNS_AT_ONCE) {
            old.gather(root, batch);
            new.gather(root, batch);
            for (at, end) in batch.iter().enumerate() {
                let tree = new.resolve_tree(at, (root, near));
                match tree.whole {
                    true => see(end, OldPaths { ways: old.column(at), tree: None }, &tree),
                    false => {
                        let before = old.resolve_tree(at, (root, near));
                        see(end, OldPaths::of_tree(&before), &tree);
                    }
                }
            }
        }
    }

    /// Trees of another root come.
    fn begin_root(&mut self, near: &[u32]) {
        let (hint, far) = (&mut self.hint, near.len());
        hint.clear();
        hint.extend((0..far as u32).filter(|switch| near[*switch as usize] != UNREACHABLE));
        hint.sort_by_key(|switch| near[*switch as usize]);
        self.fewest = hint.iter().map(|switch| u64::from(near[*switch as usize])).sum();
    }

    fn column(&self, at: usize) -> &[NextHop] {
        let switches = self.problem.graph.switch_count();
        &self.columns[at * switches..(at + 1) * switches]
    }

    /// The tree of a column that was gathered.
    fn resolve_tree<'a>(&'a mut self, at: usize, (root, near): (u32, &'a [u32])) -> RouteTree<'a> {
        let switches = self.problem.graph.switch_count();
        let place = at * switches..(at + 1) * switches;
        let columns = std::mem::take(&mut self.columns);
        let (whole, total) = self.follow(&columns[place.clone()], root, near);
        self.columns = columns;
        // No path is shorter than the cables are, so equal sums are equal paths.
        let shortest = whole && total == self.fewest;
        let order = if whole { &self.hint } else { &self.order };
        let (hops, loops) = (&self.hops, &self.loops);
        RouteTree { root, ways: &self.columns[place], hops, order, whole, shortest, loops, near }
    }

    /// The columns of some LIDs: switches outside, as rows lie in memory.
    fn gather(&mut self, root: u32, batch: &[Destination]) {
        let switches = self.problem.graph.switch_count();
        self.columns.resize(batch.len() * switches, NextHop::ABSENT);
        self.bytes.fetch(batch);
        for (switch, ports) in self.bytes.rows().enumerate() {
            let ways = self.table.ports_of(switch);
            let column = self.columns[switch..].iter_mut().step_by(switches);
            for (way, port) in column.zip(ports) {
                *way = match ways.get(usize::from(*port)) {
                    Some(way) => *way,
                    None if *port == NO_PATH => NextHop::ABSENT,
                    None => NextHop::ASTRAY,
                };
            }
        }
        let root = root as usize;
        let own = self.columns[root..].iter_mut().step_by(switches);
        let ports = self.bytes.rows().nth(root).unwrap_or_default();
        for ((way, port), end) in own.zip(ports).zip(batch) {
            *way = match *port {
                NO_PATH => NextHop::ABSENT,
                port if port == end.port.value() => NextHop::ARRIVED,
                // At its own switch a packet that does not leave by the right port has gone astray.
                _ => NextHop::ASTRAY,
            };
        }
        for (switch, unread) in self.bytes.routes().unread_entries() {
            let column = self.columns[switch as usize..].iter_mut().step_by(switches);
            let hidden =
                column.zip(batch).filter(|(way, end)| **way == NextHop::ABSENT && unread.has_lid(end.lid));
            hidden.for_each(|(way, _)| *way = NextHop::UNREAD);
        }
    }

    /// Finds the hops of every switch; true when all of them arrive, with the sum of their hops, and `hint` is then an
    /// order of the tree.
    fn follow(&mut self, ways: &[NextHop], root: u32, near: &[u32]) -> (bool, u64) {
        self.loops.clear();
        if let Some(total) = self.follow_hint(ways, root) {
            return (true, total);
        }
        self.walk_all(ways, root, near);
        let whole = self.order.len() == self.hint.len();
        if whole {
            // What is behind one switch is mostly routed alike: the next tree will fit this order.
            self.hint.clone_from(&self.order);
        }
        (whole, self.order.iter().map(|switch| u64::from(self.hops[*switch as usize])).sum())
    }

    fn follow_hint(&mut self, ways: &[NextHop], root: u32) -> Option<u64> {
        self.hops.fill(UNKNOWN);
        if ways.get(root as usize) != Some(&NextHop::ARRIVED) {
            return None;
        }
        self.hops[root as usize] = 0;
        let mut total = 0;
        for switch in &self.hint {
            let way = ways[*switch as usize];
            if !way.is_hop() {
                if *switch == root {
                    continue;
                }
                return None;
            }
            let beyond = self.hops[way.switch() as usize];
            if beyond >= LOST {
                return None;
            }
            self.hops[*switch as usize] = beyond + 1;
            total += u64::from(beyond) + 1;
        }
        Some(total)
    }

    /// Walks from every switch until something is known.
    fn walk_all(&mut self, ways: &[NextHop], root: u32, near: &[u32]) {
        self.hops.fill(UNKNOWN);
        self.order.clear();
        for start in 0..ways.len() as u32 {
            if near[start as usize] == UNREACHABLE {
                continue;
            }
            let mut at = start;
            while self.hops[at as usize] == UNKNOWN {
                self.hops[at as usize] = ON_PATH;
                self.path.push(at);
                let way = ways[at as usize];
                if !way.is_hop() {
                    break;
                }
                at = way.switch();
            }
            if self.path.is_empty() {
                continue;
            }
            self.unwind(ways, root, at);
        }
    }

    /// Settles what lies on the path, from its end, which is `at`.
    fn unwind(&mut self, ways: &[NextHop], root: u32, at: u32) {
        let mut beyond = self.hops[at as usize];
        if beyond == ON_PATH && ways[at as usize].is_hop() {
            let start = self.path.iter().position(|switch| *switch == at).unwrap_or(0);
            let mut round = self.path[start..].to_vec();
            let lowest = (0..round.len()).min_by_key(|place| round[*place]).unwrap_or(0);
            round.rotate_left(lowest);
            self.loops.push(round);
            beyond = LOOPS;
        } else if beyond == ON_PATH {
            // The last of the path ends there: at the destination, or for want of a way.
            self.path.pop();
            beyond = match ways[at as usize] {
                NextHop::ARRIVED => 0,
                NextHop::ABSENT => NO_ROUTE,
                NextHop::UNREAD => UNREAD,
                _ => DEAD_END,
            };
            self.hops[at as usize] = beyond;
            if beyond == 0 {
                debug_assert_eq!(at, root);
                self.order.push(at);
            }
        }
        while let Some(switch) = self.path.pop() {
            beyond = match beyond {
                LOOPS | UNREAD => beyond,
                hops if hops < LOST => {
                    self.order.push(switch);
                    hops + 1
                }
                _ => DEAD_END,
            };
            self.hops[switch as usize] = beyond;
        }
    }
}

/// The ranges of switches whose destinations are read together.
pub fn switch_batches(problem: &Problem<'_>) -> Vec<Range<u32>> {
    batches_of(problem.graph.switch_count())
}

/// The same of a number of switches.
pub(crate) fn batches_of(switches: usize) -> Vec<Range<u32>> {
    let (count, size) = (switches as u32, SWITCHES_AT_ONCE as u32);
    (0..count.div_ceil(size)).map(|batch| batch * size..count.min((batch + 1) * size)).collect()
}

/// The place of a channel among those that leave its switch.
pub(crate) fn place_of(graph: &SwitchGraph, id: usize) -> u32 {
    let channel: &Channel = &graph.channels()[id];
    (id - graph.outgoing(channel.from).start) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minhop::hops_to;
    use crate::{NoProgress, Request, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{ElementId, Faults, NodeId, PortNum};

    #[test]
    fn many_searches_at_once_find_what_one_at_a_time_does() {
        for name in ["demo", "torus,dims=9x9", "random,switches=70,links=90,seed=2,faults=40%,disconnect=yes"]
        {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            let mut faults = Faults::default();
            faults.mark(ElementId::Node(NodeId(3)));
            let problem = Problem::new(&fabric, &faults);
            for roots in switch_batches(&problem) {
                let near = Distances::measure(&problem.graph, roots.clone());
                for root in roots {
                    let one = hops_to(&problem.graph, root);
                    let one =
                        one.iter().map(|hops| if *hops == u16::MAX { UNREACHABLE } else { (*hops).into() });
                    assert!(one.eq(near.row(root).iter().copied()), "{name}: {root}");
                }
            }
        }
    }

    #[test]
    fn equal_trees_are_shown_together_and_a_round_from_its_lowest_switch() {
        let fabric = generate(&"torus,dims=5".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let mut routes = (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress)
            .unwrap()
            .routes;
        let table = PortMap::new(&problem.graph);
        let near = Distances::measure(&problem.graph, 0..1);
        let look = |routes: &Routes| {
            let mut seen = Vec::new();
            TreeReader::new(&problem, &table, routes).read(
                (0, near.row(0)),
                problem.destinations_behind(0),
                &|_, _| true,
                &mut |run, tree| seen.push((run.len(), tree.whole, tree.shortest, tree.loops.to_vec())),
            );
            seen
        };
        let good = look(&routes);
        assert_eq!(good.iter().map(|run| run.0).sum::<usize>(), problem.destinations_behind(0).len());
        assert!(good.iter().all(|(_, whole, shortest, loops)| *whole && *shortest && loops.is_empty()));
        let port = |from: u32, to: u32| -> PortNum {
            let leaving = &problem.graph.channels()[problem.graph.outgoing(from)];
            leaving.iter().find(|channel| channel.to == to).unwrap().from_port
        };
        let lid: Lid = problem.destinations_behind(0)[0].lid;
        let far = problem.switches().find(|switch| near.row(0)[*switch as usize] == 2).unwrap();
        let leaving = &problem.graph.channels()[problem.graph.outgoing(far)];
        let next = leaving.iter().find(|channel| near.row(0)[channel.to as usize] == 1).unwrap().to;
        routes.set(far, lid, Some(port(far, next)));
        routes.set(next, lid, Some(port(next, far)));
        let bad = look(&routes);
        assert_eq!((bad[0].0, bad[0].1), (1, false));
        assert_eq!(bad[0].3, [vec![far.min(next), far.max(next)]]);
    }
}
