//! Marks that come and go one at a time over paths that stay: a mark costs a look at the ports whose paths cross it,
//! and what was found for all others stands.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::failed_parts::FailedParts;
use super::path_index::{ElementLoss, LossCounts, MarkIndex, PathIndex, PathLosses};
use crate::terminal_pairs::TerminalPairs;
use fabdeck_fabric::{Channel, ElementId, Fabric, Faults, Partitions, PortId, SwitchGraph, Terminal};

/// How many ports that keep some of their LIDs only are named.
const MAX_NAMED: usize = 5;

/// Marks over the paths in force, and the paths that they take.
#[derive(Clone, Debug)]
pub struct MarkedPaths {
    paths: Arc<PathIndex>,
    faults: Faults,
    /// Where the LIDs of each port lie.
    ports: Vec<Range<u32>>,
    /// What is lost on the way to each port, and over all.
    taken: Vec<LossCounts>,
    total: LossCounts,
    alone: BTreeMap<ElementId, u64>,
    /// Pairs that cables connect, and would without marks.
    connected: u64,
    whole: u64,
    /// Pairs that cables connected and one end of which failed.
    ended: u64,
    /// Pairs that the marks cut off and that had no path before.
    cut_off_without_path: u64,
    /// Ports to which some pair has no path, without any mark.
    incomplete: Vec<usize>,
    /// Links between switches that are down.
    links: usize,
}

impl MarkedPaths {
    /// Makes a value without marks.
    pub fn new(paths: Arc<PathIndex>) -> Self {
        let ports = paths.ports();
        let unmarked = MarkIndex::new(paths.graph(), &FailedParts::default());
        let whole = connected_pairs(paths.graph(), paths.scope(), &unmarked);
        let lacks = |at: &usize| paths.without_path_to(ports[*at].clone()).next().is_some();
        let incomplete = match paths.without_path() {
            0 => Vec::new(),
            _ => (0..ports.len()).into_par_iter().with_min_len(256).filter(lacks).collect(),
        };
        Self {
            cut_off_without_path: 0,
            incomplete,
            faults: Faults::new(),
            taken: vec![LossCounts::default(); ports.len()],
            ports,
            total: LossCounts::default(),
            alone: BTreeMap::new(),
            connected: whole,
            whole,
            ended: 0,
            links: 0,
            paths,
        }
    }

    /// The marks.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    pub(super) fn paths(&self) -> &PathIndex {
        &self.paths
    }

    /// The ports to which pairs have no path because of the marks: the switch and the class of each, and the number of
    /// those pairs.
    pub(super) fn losses_to_ports(&self) -> impl Iterator<Item = (PortId, (u32, u32), u64)> {
        let hit = self.taken.iter().zip(&self.ports).filter(|(taken, _)| taken.pairs > 0);
        hit.filter_map(|(taken, lids)| {
            let place = (self.paths.end_of_port(lids)?.0, self.paths.class_of_port(lids));
            Some((self.paths.port_of_ends(lids)?, place, taken.pairs))
        })
    }

    /// Adds a mark; `None` when it was there, else the number of ports that were examined. `fabric` is the fabric
    /// of the paths.
    pub fn mark(&mut self, fabric: &Fabric, what: ElementId) -> Option<usize> {
        let touched = self.record_mark(fabric, what)?;
        self.recompute_ports(fabric, &touched);
        Some(touched.len())
    }

    /// Puts a mark down with what it takes alone; the ports to look at.
    fn record_mark(&mut self, fabric: &Fabric, what: ElementId) -> Option<Vec<usize>> {
        debug_assert!(self.paths.covers(what), "the index is of other marks");
        if !self.faults.mark(what) {
            return None;
        }
        let one = FailedParts::single(fabric, self.paths.graph(), what);
        let touched = self.affected_ports(&one);
        let marks = MarkIndex::new(self.paths.graph(), &one);
        let of = |at: &usize| self.paths.losses_of_port(self.ports[*at].clone(), &one, &marks).pairs;
        let alone = touched.par_iter().with_min_len(256).map(of).sum();
        self.alone.insert(what, alone);
        Some(touched)
    }

    /// Removes a mark; `None` when there was none, else the number of ports that were examined.
    pub fn unmark(&mut self, fabric: &Fabric, what: ElementId) -> Option<usize> {
        if !self.faults.unmark(what) {
            return None;
        }
        self.alone.remove(&what);
        let touched = self.affected_ports(&FailedParts::single(fabric, self.paths.graph(), what));
        self.recompute_ports(fabric, &touched);
        Some(touched.len())
    }

    /// Replaces the marks by others; examines each port once.
    pub fn set_marks(&mut self, fabric: &Fabric, faults: &Faults) {
        let held: BTreeSet<ElementId> = self.faults.iter().collect();
        let wanted: BTreeSet<ElementId> = faults.iter().collect();
        let mut look = vec![false; self.ports.len()];
        for what in held.difference(&wanted) {
            self.faults.unmark(*what);
            self.alone.remove(what);
            let touched = self.affected_ports(&FailedParts::single(fabric, self.paths.graph(), *what));
            touched.into_iter().for_each(|at| look[at] = true);
        }
        for what in wanted.difference(&held) {
            let touched = self.record_mark(fabric, *what).unwrap_or_default();
            touched.into_iter().for_each(|at| look[at] = true);
        }
        let touched: Vec<usize> = (0..look.len()).filter(|at| look[*at]).collect();
        self.recompute_ports(fabric, &touched);
    }

    /// The paths that all marks together take.
    pub fn path_losses(&self) -> PathLosses {
        let alone = |(what, pairs): (&ElementId, &u64)| ElementLoss { what: *what, pairs: *pairs };
        let (paths, LossCounts { pairs, lids, partial }) = (&self.paths, self.total);
        let share = if paths.pairs() == 0 { 0.0 } else { pairs as f64 / paths.pairs() as f64 };
        let named = self.taken.iter().zip(&self.ports).filter(|(taken, _)| taken.partial > 0);
        PathLosses {
            pairs,
            share,
            lids,
            partial,
            partial_ports: named.filter_map(|(_, lids)| paths.port_of_ends(lids)).take(MAX_NAMED).collect(),
            critical: self.whole.saturating_sub(self.connected),
            ended: self.ended,
            critical_without_path: self.cut_off_without_path,
            links: self.links,
            elements: self.alone.iter().map(alone).collect(),
        }
    }

    /// The ports to which a path crosses what is struck.
    fn affected_ports(&self, struck: &FailedParts) -> Vec<usize> {
        let all = self.ports.par_iter().with_min_len(256).enumerate();
        all.filter(|(_, port)| self.paths.is_crossed((*port).clone(), struck)).map(|(at, _)| at).collect()
    }

    fn recompute_ports(&mut self, fabric: &Fabric, touched: &[usize]) {
        let struck = FailedParts::new(fabric, self.paths.graph(), &self.faults);
        let marks = MarkIndex::new(self.paths.graph(), &struck);
        let of = |at: &usize| self.paths.losses_of_port(self.ports[*at].clone(), &struck, &marks);
        let fresh: Vec<LossCounts> = touched.par_iter().with_min_len(256).map(of).collect();
        for (at, fresh) in touched.iter().zip(fresh) {
            let held = std::mem::replace(&mut self.taken[*at], fresh);
            self.total = self.total.with_replaced(held, fresh);
        }
        self.connected = connected_pairs(self.paths.graph(), self.paths.scope(), &marks);
        self.ended = pairs_with_failed_end(self.paths.graph(), self.paths.scope(), &marks);
        self.links = links_down(self.paths.graph(), &marks);
        self.cut_off_without_path = match self.whole == self.connected {
            true => 0,
            false => self.cut_off_without_path(&marks),
        };
    }

    /// Ordered pairs that cables connect without the marks and no longer with them, and that no table led along before.
    fn cut_off_without_path(&self, marks: &MarkIndex) -> u64 {
        let graph = self.paths.graph();
        let (whole, part) = (graph.components().0, components(graph, marks));
        let failed = |switch: u32, port: u8| marks.ends.binary_search(&(switch, port)).is_ok();
        let failed_on: Vec<Vec<PortId>> = (0..graph.switch_count() as u32)
            .map(|switch| {
                let ends = graph.terminals_of(switch).iter().filter(|terminal| terminal.lid.is_some());
                let failed = ends.filter(|terminal| failed(switch, terminal.switch_port.value()));
                failed.map(|terminal| terminal.port).collect()
            })
            .collect();
        let failed_senders = |switch: u32, class: u32| {
            let ports = failed_on[switch as usize].iter();
            ports.filter(|port| self.paths.scope().is_sender(class, **port)).count() as u64
        };
        let of = |at: &usize| -> u64 {
            let lids = &self.ports[*at];
            let Some((root, port)) = self.paths.end_of_port(lids) else { return 0 };
            let gone = failed(root, port) || part[root as usize] == u32::MAX;
            let class = self.paths.class_of_port(lids);
            let absent = self.paths.without_path_to(lids.clone());
            let once = absent.filter(|(switch, _)| whole[*switch as usize] == whole[root as usize]);
            once.map(|(switch, senders)| match gone || part[switch as usize] != part[root as usize] {
                true => senders,
                false => failed_senders(switch, class),
            })
            .sum()
        };
        self.incomplete.par_iter().with_min_len(256).map(of).sum()
    }
}

/// Ordered pairs of adapter ports that cables connect without marks and not with them, whatever the tables are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CutOffPairs {
    /// All of them.
    pub pairs: u64,
    /// Those of which an end failed itself or with its cable.
    pub ended: u64,
}

impl CutOffPairs {
    /// Counts the pairs that marks cut off. With partitions, only ends that share one are pairs.
    pub fn count(fabric: &Fabric, faults: &Faults, partitions: Option<&Partitions>) -> Self {
        let graph = SwitchGraph::new(fabric, &Faults::new());
        let unmarked = MarkIndex::new(&graph, &FailedParts::default());
        let marks = MarkIndex::new(&graph, &FailedParts::new(fabric, &graph, faults));
        let scope = TerminalPairs::new(&graph, partitions);
        let before = connected_pairs(&graph, &scope, &unmarked);
        Self {
            pairs: before.saturating_sub(connected_pairs(&graph, &scope, &marks)),
            ended: pairs_with_failed_end(&graph, &scope, &marks),
        }
    }
}

/// Ordered pairs of terminals with a LID that cables connect without marks, and one end of which failed.
fn pairs_with_failed_end(graph: &SwitchGraph, scope: &TerminalPairs, marks: &MarkIndex) -> u64 {
    let (part, _) = graph.components();
    let ends = || graph.terminals().iter().filter(|terminal| terminal.lid.is_some());
    let works = |terminal: &&Terminal| {
        let at = (terminal.switch, terminal.switch_port.value());
        !marks.switches[terminal.switch as usize] && marks.ends.binary_search(&at).is_err()
    };
    let place = |terminal: &Terminal| (part[terminal.switch as usize], terminal.port);
    scope.within_parts(ends().map(place)) - scope.within_parts(ends().filter(works).map(place))
}

/// Links between switches that marks take down, those of failed switches included.
fn links_down(graph: &SwitchGraph, marks: &MarkIndex) -> usize {
    let channels = graph.channels().iter().enumerate();
    let once = channels.filter(|(id, channel)| *id < channel.reverse.index());
    let down = |(id, channel): &(usize, &Channel)| {
        let ends = [channel.from, channel.to];
        marks.channels[*id]
            || marks.channels.get(channel.reverse.index()) == Some(&true)
            || ends.iter().any(|switch| marks.switches[*switch as usize])
    };
    once.filter(down).count()
}

/// Ordered pairs of terminals with a LID that cables connect which are not marked.
fn connected_pairs(graph: &SwitchGraph, scope: &TerminalPairs, marks: &MarkIndex) -> u64 {
    let part = components(graph, marks);
    let ends = graph.terminals().iter().filter(|terminal| terminal.lid.is_some());
    let works = |terminal: &&Terminal| {
        marks.ends.binary_search(&(terminal.switch, terminal.switch_port.value())).is_err()
    };
    scope.within_parts(ends.filter(works).map(|terminal| (part[terminal.switch as usize], terminal.port)))
}

/// The first switch of the part that each switch is in, over cables that are not marked; `u32::MAX` for one that failed.
pub(super) fn components(graph: &SwitchGraph, marks: &MarkIndex) -> Vec<u32> {
    let mut part = vec![u32::MAX; graph.switch_count()];
    let works = |switch: u32| graph.is_alive(switch) && !marks.switches[switch as usize];
    let mut queue = Vec::new();
    for start in 0..graph.switch_count() as u32 {
        if part[start as usize] != u32::MAX || !works(start) {
            continue;
        }
        part[start as usize] = start;
        queue.push(start);
        while let Some(switch) = queue.pop() {
            for id in graph.outgoing(switch).filter(|id| !marks.channels[*id]) {
                let to = graph.channels()[id].to;
                if part[to as usize] == u32::MAX && works(to) {
                    part[to as usize] = start;
                    queue.push(to);
                }
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoProgress, Problem, Request, find_engine};
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{LinkId, NodeId};

    #[test]
    fn pairs_without_a_path_are_cut_off_with_the_switch_of_their_destination() {
        // Four switches in a ring, two hosts each.
        let fabric = generate(&"torus,dims=4,terminals=2".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let mut routes = (find_engine("minhop").unwrap().route)(&problem, &Request::default(), &NoProgress)
            .unwrap()
            .routes;
        // The switch on the far side has no entry for one of the hosts, and no other path to that host leads over it.
        let lid = problem.graph.terminals_of(0)[0].lid.unwrap();
        routes.set(2, lid, None);
        let paths = PathIndex::new(&problem, Arc::new(routes), &NoProgress).unwrap();
        let mut marked = MarkedPaths::new(Arc::new(paths));
        assert_eq!(marked.path_losses().critical_without_path, 0);
        marked.mark(&fabric, ElementId::Node(NodeId(0))).unwrap();
        let losses = marked.path_losses();
        // Six hosts to two and back, and the two to each other.
        assert_eq!((losses.critical, losses.ended), (26, 26));
        assert_eq!(losses.critical_without_path, 2);
    }

    #[test]
    fn an_index_of_marks_says_of_them_what_a_whole_one_says() {
        let names = ["demo", "kary,k=4,n=2", "torus,dims=4x3", "irregular,family=racks,seed=3"];
        for name in names {
            let fabric = generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric;
            let none = Faults::default();
            let problem = Problem::new(&fabric, &none);
            let answer = (find_engine("updn").unwrap().route)(&problem, &Request::default(), &NoProgress);
            let mut routes = answer.unwrap().routes;
            // Some switches have no entry for some hosts.
            for (at, terminal) in problem.graph.terminals().iter().enumerate().step_by(5) {
                let from = (at * 3 % problem.graph.switch_count()) as u32;
                terminal.lid.into_iter().for_each(|lid| routes.set(from, lid, None));
            }
            let routes = Arc::new(routes);
            let whole = PathIndex::new(&problem, routes.clone(), &NoProgress).unwrap();
            let (links, whole) = (fabric.links().count(), Arc::new(whole));
            for step in 1..links {
                let mut marks = Faults::default();
                let link = |at: usize| ElementId::Link(LinkId((at % links) as u32));
                (0..=step % 3).for_each(|more| _ = marks.mark(link(step * (1 + more * 5))));
                if step % 4 == 0 {
                    marks.mark(ElementId::Node(NodeId((step % problem.graph.switch_count()) as u32)));
                }
                let own = PathIndex::of_marks(&problem, routes.clone(), None, &marks, &NoProgress).unwrap();
                assert!(own.memory_bytes() <= whole.memory_bytes());
                let [whole, own] = [whole.clone(), Arc::new(own)].map(|paths| {
                    let mut marked = MarkedPaths::new(paths.clone());
                    marked.set_marks(&fabric, &marks);
                    let ends = marked.hit_ports(&fabric, None);
                    (marked.path_losses(), ends, paths.expected(2), paths.without_path())
                });
                assert_eq!(whole, own, "{name}: {step}");
            }
        }
    }
}
