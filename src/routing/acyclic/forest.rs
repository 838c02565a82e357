//! Tables as trees, one for each LID, with what they put on channels and the dependencies that they use.

use rayon::prelude::*;

use super::dependency_order::AcyclicDependencies;
use super::escape_paths::EscapePaths;
use crate::engine::Request;
use crate::line_trees::flat_graph::{FlatGraph, NONE};
use crate::problem::{Destination, Problem};
use crate::ranks::{self, ComputeAdapters};
use fabdeck_fabric::{NO_PATH, NodeId, PathLanes, Routes};

/// A place in a table that leads nowhere.
pub(super) const NOWHERE: u8 = u8::MAX;

/// Tables with more entries are not taken apart: there the time is worth more than the balance.
const MAX_ENTRIES: usize = 1 << 24;

const PORTS: usize = 256;

/// Trees that are read at a time.
const READ_BATCH: usize = 32;

/// The flow of a switch that does not arrive.
pub(super) const ABSENT: u32 = u32::MAX;

/// A LID, and the switch that it lies behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeRoot {
    pub switch: u32,
    pub end: Destination,
    /// It is one of an adapter that computes.
    pub of_host: bool,
    pub lane: u8,
}

#[derive(Clone, Debug)]
pub(crate) struct DestinationForest<'n> {
    pub(super) net: &'n FlatGraph,
    /// Adapters of each switch that compute.
    pub(super) hosts: Vec<u32>,
    pub(super) roots: Vec<TreeRoot>,
    /// For each tree and switch the place of the channel that it takes.
    pub(super) table: Vec<u8>,
    /// For each tree and switch the paths that come by it, its own among them; `ABSENT` where it does not arrive.
    pub(super) flow: Vec<u32>,
    /// Paths from adapters to adapters over each channel.
    pub(super) load: Vec<u64>,
    /// By lane.
    pub(super) used: Vec<AcyclicDependencies>,
    /// What was set aside for trees that find no other way, by lane; nothing where that was not asked for.
    pub(super) escape: Vec<Option<EscapePaths>>,
}

impl<'n> DestinationForest<'n> {
    /// Nothing for routes that are too many, or whose lanes are not by destination.
    pub fn read(
        problem: &Problem<'_>,
        request: &Request,
        net: &'n FlatGraph,
        routes: &Routes,
    ) -> Option<Self> {
        let computing = ComputeAdapters::new(problem.fabric, request);
        let lane_of: &dyn Fn(usize) -> u8 = match &routes.lanes {
            PathLanes::One => &|_| 0,
            PathLanes::ByDestination { lane, .. } => &|lid| lane.get(lid).copied().unwrap_or(0),
            _ => return None,
        };
        let roots: Vec<TreeRoot> = problem
            .switches()
            .flat_map(|switch| problem.destinations_behind(switch).iter().map(move |end| (switch, *end)))
            .map(|(switch, end)| {
                let port = problem.fabric.port_of(NodeId(switch), end.port);
                let adapter = port.filter(|_| !end.is_switch()).and_then(|port| problem.fabric.peer(port));
                let of_host = adapter.is_some_and(|adapter| computing.is_compute(adapter));
                TreeRoot { switch, end, of_host, lane: lane_of(end.lid.index()) }
            })
            .collect();
        if roots.len() * net.switch_count() > MAX_ENTRIES {
            return None;
        }
        let mut place = vec![NOWHERE; net.switch_count() * PORTS];
        for (id, channel) in (0..).zip(problem.graph.channels()) {
            place[channel.from as usize * PORTS + usize::from(channel.from_port.value())] = net.place(id);
        }
        let width = net.switch_count().max(1);
        let mut table = vec![NOWHERE; roots.len() * net.switch_count()];
        let mut flow = vec![ABSENT; table.len()];
        // Rows of the tables are read in pieces, so that what is written stays near the processor.
        let pieces = table.par_chunks_mut(width * READ_BATCH).zip(flow.par_chunks_mut(width * READ_BATCH));
        pieces.zip(roots.par_chunks(READ_BATCH)).for_each_init(Vec::new, |order, ((table, flow), roots)| {
            for switch in 0..net.switch_count() {
                let (row, places) = (routes.row(switch as u32), &place[switch * PORTS..(switch + 1) * PORTS]);
                for (own, root) in table[switch..].iter_mut().step_by(width).zip(roots) {
                    let port = row.get(root.end.lid.index()).copied().unwrap_or(NO_PATH);
                    *own = places[usize::from(port)];
                }
            }
            for ((row, flow), root) in
                table.chunks_exact_mut(width).zip(flow.chunks_exact_mut(width)).zip(roots)
            {
                row[root.switch as usize] = NOWHERE;
                count_paths(net, row, root.switch, order, flow);
            }
        });
        Some(Self {
            net,
            hosts: ranks::hosts(problem, request),
            roots,
            table,
            flow,
            load: Vec::new(),
            used: Vec::new(),
            escape: Vec::new(),
        })
    }

    /// Keeps no more than the paths between adapters.
    pub fn prune(&mut self) {
        let switches = self.net.switch_count();
        for tree in 0..self.roots.len() {
            let (root, is_loaded) = (self.roots[tree].switch as usize, self.is_loaded(tree));
            let own = tree * switches..(tree + 1) * switches;
            let row = self.table[own.clone()].iter_mut().zip(&mut self.flow[own]).enumerate();
            for (switch, (place, flow)) in row {
                let carries = is_loaded && *flow != ABSENT && *flow > 0;
                if !carries {
                    (*place, *flow) = (NOWHERE, if switch == root { 0 } else { ABSENT });
                }
            }
        }
    }

    /// Takes up the dependencies of all trees, and counts their paths; false where the dependencies have a cycle.
    pub fn adopt_dependencies(&mut self) -> bool {
        let net = self.net;
        let lanes = self.roots.iter().map(|root| usize::from(root.lane) + 1).max().unwrap_or(0);
        let nothing = || (vec![vec![0u32; net.dependency_count()]; lanes], vec![0u64; net.channel_count()]);
        // Each share has counters of its own, so there are few of them.
        let share = self.roots.len().div_ceil(rayon::current_num_threads() * 2).max(1);
        let counted = (0..self.roots.len()).into_par_iter().with_min_len(share).fold(
            nothing,
            |(mut uses, mut load), tree| {
                self.count_uses(tree, &mut uses[usize::from(self.roots[tree].lane)]);
                if self.is_loaded(tree) {
                    self.for_each_flow(tree, |channel, paths| load[channel as usize] += u64::from(paths));
                }
                (uses, load)
            },
        );
        let (uses, load) = counted
            .reduce_with(|(mut uses, mut load), other| {
                let all = uses.iter_mut().flatten().zip(other.0.iter().flatten());
                all.for_each(|(one, other)| *one += other);
                load.iter_mut().zip(&other.1).for_each(|(one, other)| *one += other);
                (uses, load)
            })
            .unwrap_or_else(nothing);
        let used: Option<Vec<_>> =
            uses.into_iter().map(|uses| AcyclicDependencies::from_uses(net, uses)).collect();
        let is_free = used.is_some();
        (self.used, self.load) = (used.unwrap_or_default(), load);
        is_free
    }

    fn count_uses(&self, tree: usize, uses: &mut [u32]) {
        let (net, root, row, flow) = (self.net, self.roots[tree].switch, self.row(tree), self.flows(tree));
        for (switch, (place, flow)) in (0..).zip(row.iter().zip(flow)) {
            if *flow == ABSENT || switch == root {
                continue;
            }
            let held = net.channel_at(switch, *place);
            let to = net.to[held as usize];
            if to != root {
                uses[net.dependency_at(held, row[to as usize])] += 1;
            }
        }
    }

    /// Paths of a tree over each channel that it takes.
    pub(super) fn for_each_flow(&self, tree: usize, mut each: impl FnMut(u32, u32)) {
        let (net, root) = (self.net, self.roots[tree].switch);
        for (switch, (place, flow)) in (0..).zip(self.row(tree).iter().zip(self.flows(tree))) {
            if *flow != ABSENT && switch != root {
                each(net.channel_at(switch, *place), *flow);
            }
        }
    }

    /// Paths over each channel to the wanted LIDs; `senders` is the number of senders of each switch.
    pub(super) fn channel_loads(
        &self,
        senders: &[u32],
        wanted: &(dyn Fn(&TreeRoot) -> bool + Sync),
    ) -> Vec<u64> {
        let nothing = || vec![0u64; self.net.channel_count()];
        if *senders == *self.net.senders {
            let mut load = nothing();
            for tree in (0..self.roots.len()).filter(|tree| wanted(&self.roots[*tree])) {
                self.for_each_flow(tree, |channel, paths| load[channel as usize] += u64::from(paths));
            }
            return load;
        }
        let counted = (0..self.roots.len()).into_par_iter().filter(|tree| wanted(&self.roots[*tree])).fold(
            || (TreeView::new(self.net), nothing()),
            |(mut view, mut load), tree| {
                view.read(self, tree, senders);
                view.for_each_flow(|channel, paths| load[channel as usize] += paths);
                (view, load)
            },
        );
        counted.map(|(_, load)| load).reduce(nothing, |mut one, other| {
            one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
            one
        })
    }

    pub(super) fn is_loaded(&self, tree: usize) -> bool {
        !self.roots[tree].end.is_switch()
    }

    pub(super) fn row(&self, tree: usize) -> &[u8] {
        &self.table[tree * self.net.switch_count()..(tree + 1) * self.net.switch_count()]
    }

    pub(super) fn flows(&self, tree: usize) -> &[u32] {
        &self.flow[tree * self.net.switch_count()..(tree + 1) * self.net.switch_count()]
    }

    /// Counts the paths of a tree that was changed.
    pub(super) fn recount(&mut self, tree: usize, order: &mut Vec<u32>) {
        let own = tree * self.net.switch_count()..(tree + 1) * self.net.switch_count();
        count_paths(self.net, &self.table[own.clone()], self.roots[tree].switch, order, &mut self.flow[own]);
    }

    #[inline]
    pub(super) fn channel(&self, tree: usize, switch: u32) -> u32 {
        match self.table[tree * self.net.switch_count() + switch as usize] {
            NOWHERE => NONE,
            place => self.net.channel_at(switch, place),
        }
    }

    pub(super) fn set(&mut self, tree: usize, switch: u32, channel: u32) {
        let place = if channel == NONE { NOWHERE } else { self.net.place(channel) };
        self.table[tree * self.net.switch_count() + switch as usize] = place;
    }

    /// Paths over the busiest channel.
    pub fn max_load(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Puts the trees into tables that lead to the same LIDs.
    pub fn write_routes(&self, problem: &Problem<'_>, routes: &mut Routes) {
        let (channels, stride) = (problem.graph.channels(), routes.stride().max(1));
        routes.entries_mut().par_chunks_exact_mut(stride).enumerate().for_each(|(switch, row)| {
            let mut ports = [NO_PATH; PORTS];
            for (port, channel) in ports.iter_mut().zip(&channels[problem.graph.outgoing(switch as u32)]) {
                *port = channel.from_port.value();
            }
            let places = self.table.iter().skip(switch).step_by(self.net.switch_count());
            for (root, place) in
                self.roots.iter().zip(places).filter(|(root, _)| root.switch as usize != switch)
            {
                if let Some(own) = row.get_mut(root.end.lid.index()) {
                    *own = ports[usize::from(*place)];
                }
            }
        });
    }
}

/// Counts the paths that come by each switch of a tree; `order` is for who is behind whom, and serves again.
fn count_paths(net: &FlatGraph, row: &[u8], root: u32, order: &mut Vec<u32>, flow: &mut [u32]) {
    // Not looked at yet.
    const UNSEEN: u32 = ABSENT - 1;
    flow.fill(UNSEEN);
    flow[root as usize] = net.senders[root as usize];
    order.clear();
    for start in 0..row.len() as u32 {
        let (first, mut at) = (order.len(), start);
        // Free of cycles, so this ends.
        while flow[at as usize] == UNSEEN && row[at as usize] != NOWHERE {
            flow[at as usize] = net.senders[at as usize];
            order.push(at);
            at = net.to[net.channel_at(at, row[at as usize]) as usize];
        }
        if flow[at as usize] == UNSEEN || flow[at as usize] == ABSENT {
            flow[at as usize] = ABSENT;
            order.drain(first..).for_each(|switch| flow[switch as usize] = ABSENT);
        }
        // Nearest to the root first.
        order[first..].reverse();
    }
    for at in order.iter().rev() {
        let behind = net.to[net.channel_at(*at, row[*at as usize]) as usize];
        flow[behind as usize] += flow[*at as usize];
    }
}

/// One tree of a forest, laid out.
#[derive(Clone, Debug)]
pub(super) struct TreeView<'n> {
    net: &'n FlatGraph,
    pub root: u32,
    /// Of each switch the channel that it takes, `NONE` where that does not arrive.
    pub next: Vec<u32>,
    /// Paths that come by each switch.
    flow: Vec<u64>,
    hops: Vec<u32>,
    /// Switches that arrive, each behind the one that it goes to; the root first.
    pub order: Vec<u32>,
    path: Vec<u32>,
}

impl<'n> TreeView<'n> {
    pub fn new(net: &'n FlatGraph) -> Self {
        let count = net.switch_count();
        Self {
            net,
            root: NONE,
            next: vec![NONE; count],
            flow: vec![0; count],
            hops: vec![NONE; count],
            order: Vec::with_capacity(count),
            path: Vec::new(),
        }
    }

    pub fn read(&mut self, forest: &DestinationForest<'_>, tree: usize, senders: &[u32]) {
        let (net, root) = (self.net, forest.roots[tree].switch);
        self.root = root;
        self.hops.fill(NONE);
        self.hops[root as usize] = 0;
        self.next[root as usize] = NONE;
        self.order.clear();
        self.order.push(root);
        for (switch, place) in (0..).zip(forest.row(tree)).filter(|(switch, _)| *switch != root) {
            self.next[switch as usize] =
                if *place == NOWHERE { NONE } else { net.channel_at(switch, *place) };
        }
        for start in 0..net.switch_count() as u32 {
            let mut at = start;
            // Free of cycles, so this ends.
            while self.hops[at as usize] == NONE && self.next[at as usize] != NONE {
                self.path.push(at);
                at = net.to[self.next[at as usize] as usize];
            }
            while let Some(switch) = self.path.pop() {
                let beyond = self.hops[at as usize];
                if beyond == NONE {
                    self.next[switch as usize] = NONE;
                } else {
                    self.hops[switch as usize] = beyond + 1;
                    self.order.push(switch);
                }
                at = switch;
            }
        }
        self.order.iter().for_each(|at| self.flow[*at as usize] = u64::from(senders[*at as usize]));
        for at in self.order.iter().skip(1).rev() {
            let behind = net.to[self.next[*at as usize] as usize];
            self.flow[behind as usize] += self.flow[*at as usize];
        }
    }

    pub fn has_path(&self, switch: u32) -> bool {
        self.hops[switch as usize] != NONE
    }

    pub fn for_each_flow(&self, mut each: impl FnMut(u32, u64)) {
        self.order.iter().skip(1).for_each(|at| each(self.next[*at as usize], self.flow[*at as usize]));
    }
}
