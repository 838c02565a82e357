//! Pairs without a path: counted by kind and cause, the first of them listed.

use std::sync::Arc;

use super::report::{LostPair, LostPairs, MAX_LISTED, PairKind};
use crate::problem::{Destination, Problem};
use crate::trees::{Cause, RouteTree, UNREACHABLE};
use fabdeck_fabric::{Fabric, Lid, NodeId, Partitions, PortId, PortNum};

/// Who sends and who receives, switch by switch.
#[derive(Debug)]
pub struct PairEnds<'p> {
    pub problem: &'p Problem<'p>,
    /// Who may talk to whom; `None`: all to all.
    partitions: Option<&'p Partitions>,
    /// All of them, whatever their partitions.
    pub all: Arc<ClassSenders>,
}

/// Those that send to some destinations, switch by switch.
#[derive(Debug, Default)]
pub struct ClassSenders {
    /// Of the destinations; `None` where all send.
    class: Option<u32>,
    /// For each class whether it sends.
    shares: Vec<bool>,
    /// Terminals with a LID of each switch.
    pub terminals: Vec<u32>,
    /// Those of them that are aggregation nodes.
    aggregation: Vec<u32>,
    /// The switch itself is a source.
    own: Vec<bool>,
    /// The destinations themselves are counted among them.
    itself: bool,
}

impl ClassSenders {
    /// Of all ends, those of a class of partitions, or all.
    fn new(problem: &Problem<'_>, switches: bool, of: Option<(&Partitions, u32)>) -> Self {
        let count = problem.graph.switch_count();
        let shares = of.map(|(partitions, class)| partitions.classes_sharing(class)).unwrap_or_default();
        let sends = |port: PortId| of.is_none_or(|(held, _)| shares[held.class(port) as usize]);
        let (mut terminals, mut aggregation) = (vec![0; count], vec![0; count]);
        let addressed = problem.graph.terminals().iter().filter(|terminal| terminal.lid.is_some());
        for terminal in addressed.filter(|terminal| sends(terminal.port)) {
            terminals[terminal.switch as usize] += 1;
            aggregation[terminal.switch as usize] += u32::from(is_aggregation(problem.fabric, terminal.port));
        }
        let own = |switch| {
            let port = problem.fabric.port_of(NodeId(switch), PortNum::MANAGEMENT);
            problem.destinations_behind(switch).iter().any(Destination::is_switch) && port.is_some_and(sends)
        };
        let own = problem.switches().map(|switch| switches && own(switch)).collect();
        let class = of.map(|(_, class)| class);
        let itself = class.is_none_or(|class| shares[class as usize]);
        Self { class, shares, terminals, aggregation, own, itself }
    }

    /// The class of the destinations; 0 where all send.
    pub fn class(&self) -> u32 {
        self.class.unwrap_or(0)
    }

    /// How many terminals of the destination's own switch send to it; none sends to itself.
    pub fn local_senders(&self, root: u32) -> u32 {
        self.terminals[root as usize].saturating_sub(u32::from(self.itself))
    }

    /// Ends that send from a switch to a destination behind `root`.
    fn senders_from(&self, switch: u32, root: u32) -> u64 {
        let at = switch as usize;
        let all = u64::from(self.terminals[at]) + u64::from(self.own[at]);
        all.saturating_sub(u64::from(switch == root && self.itself))
    }
}

impl<'p> PairEnds<'p> {
    pub fn new(problem: &'p Problem<'p>, switches: bool, partitions: Option<&'p Partitions>) -> Self {
        Self { problem, partitions, all: Arc::new(ClassSenders::new(problem, switches, None)) }
    }

    /// Ordered pairs in scope.
    pub fn pairs(&self) -> u64 {
        let Some(partitions) = self.partitions else {
            let terminals: u64 = self.all.terminals.iter().map(|count| u64::from(*count)).sum();
            let ends = terminals + self.all.own.iter().filter(|own| **own).count() as u64;
            return ends * ends.saturating_sub(1);
        };
        let graph = &self.problem.graph;
        let terminals = graph.terminals().iter().filter(|terminal| terminal.lid.is_some());
        let switches = self.problem.switches().filter(|switch| self.all.own[*switch as usize]);
        let own =
            switches.filter_map(|switch| self.problem.fabric.port_of(NodeId(switch), PortNum::MANAGEMENT));
        let mut count = vec![0; partitions.class_count()];
        terminals.map(|terminal| terminal.port).chain(own).for_each(|port| {
            count[partitions.class(port) as usize] += 1;
        });
        partitions.pairs(&count)
    }

    /// Whether all talk to all.
    pub fn is_unpartitioned(&self) -> bool {
        self.partitions.is_none()
    }

    /// The class of a destination; 0 where there are no partitions.
    pub fn class(&self, root: u32, end: &Destination) -> u32 {
        let Some(partitions) = self.partitions else { return 0 };
        self.port_of(root, end).map_or(0, |port| partitions.class(port))
    }

    /// Those that send to destinations of a class; `held` are those of another one, often the same.
    pub fn senders_to(&self, class: u32, held: &Arc<ClassSenders>) -> Arc<ClassSenders> {
        match self.partitions {
            Some(partitions) if held.class != Some(class) => {
                let switches = self.all.own.contains(&true);
                Arc::new(ClassSenders::new(self.problem, switches, Some((partitions, class))))
            }
            _ => Arc::clone(held),
        }
    }

    /// Whether a port is one of those that send.
    pub fn is_sender(&self, senders: &ClassSenders, port: PortId) -> bool {
        self.partitions.is_none_or(|held| senders.shares.get(held.class(port) as usize) == Some(&true))
    }

    /// The port of a destination: port 0 of the switch `root`, or the adapter's port at the other end of the cable.
    fn port_of(&self, root: u32, end: &Destination) -> Option<PortId> {
        let fabric = self.problem.fabric;
        let own = fabric.port_of(NodeId(root), end.port)?;
        if end.is_switch() { Some(own) } else { fabric.peer(own) }
    }
}

fn is_aggregation(fabric: &Fabric, port: PortId) -> bool {
    fabric.node(fabric.port(port).node).facts.is_aggregation()
}

/// The lost pairs of some destinations. Those of one port come one behind the other, so that a pair is lost only
/// when no LID of the port is reached.
#[derive(Debug)]
pub struct LostPairCounter<'e, 'p> {
    ends: &'e PairEnds<'p>,
    pub lost: LostPairs,
    /// The port under way: its first LID, and the sources that reached none of its LIDs so far.
    open: Option<(u32, Destination, Arc<ClassSenders>)>,
    unserved: Vec<(u32, Cause)>,
    /// What is missing of the port under way, LID by LID.
    missing: Vec<(u32, Lid, Cause)>,
}

impl<'e, 'p> LostPairCounter<'e, 'p> {
    pub fn new(ends: &'e PairEnds<'p>) -> Self {
        Self { ends, lost: LostPairs::default(), open: None, unserved: Vec::new(), missing: Vec::new() }
    }

    pub fn add(&mut self, end: &Destination, tree: &RouteTree<'_>, senders: &Arc<ClassSenders>) {
        let known = self.open.as_ref();
        let first = known.is_none_or(|(root, open, _)| (*root, open.port) != (tree.root, end.port));
        if first {
            self.finish_port(tree.near);
            self.open = Some((tree.root, *end, Arc::clone(senders)));
        }
        if tree.whole {
            self.unserved.clear();
            return;
        }
        for switch in self.ends.problem.switches().filter(|switch| tree.near[*switch as usize] != UNREACHABLE)
        {
            if let Some(cause) = tree.cause(switch) {
                let senders = senders.senders_from(switch, tree.root);
                self.lost.lids += if cause == Cause::Unread { 0 } else { senders };
                if senders > 0 {
                    self.missing.push((switch, end.lid, cause));
                    self.unserved.extend(first.then_some((switch, cause)));
                }
            }
        }
        if !first {
            // One LID that is not known may serve them all.
            self.unserved.retain_mut(|(switch, cause)| match tree.cause(*switch) {
                Some(Cause::Unread) => {
                    *cause = Cause::Unread;
                    true
                }
                missing => missing.is_some(),
            });
        }
    }

    /// Counts what is left of the port under way. `near` may be any row of its part.
    pub fn finish_port(&mut self, near: &[u32]) {
        let Some((root, end, senders)) = self.open.take() else { return };
        self.count_partial(root, &end, &senders);
        let cut_off =
            |switch: &u32| near[*switch as usize] == UNREACHABLE && self.ends.problem.graph.is_alive(*switch);
        let cut_off: Vec<u32> = self.ends.problem.switches().filter(cut_off).collect();
        let mut all = std::mem::take(&mut self.unserved);
        all.extend(cut_off.into_iter().map(|switch| (switch, Cause::CutOff)));
        all.sort_unstable();
        let room = self.free_slots(end.lid);
        let mut listed = Vec::new();
        for (switch, cause) in all.drain(..) {
            self.count((switch, cause), root, &end, &senders);
            if listed.len() < room && cause != Cause::Unread {
                self.list((switch, cause, end.lid), root, &end, &senders, &mut listed);
            }
        }
        self.unserved = all;
        self.lost.first.append(&mut listed);
        keep_listed(&mut self.lost.first);
    }

    /// Sources that reach some LIDs of the port under way and miss others.
    fn count_partial(&mut self, root: u32, end: &Destination, senders: &ClassSenders) {
        let mut missing = std::mem::take(&mut self.missing);
        // What is missing of a port with one LID is not served.
        if missing.len() == self.unserved.len() {
            missing.clear();
        }
        missing.retain(|(.., cause)| *cause != Cause::Unread);
        missing.sort_unstable_by_key(|(switch, lid, _)| (*switch, *lid));
        missing.dedup_by_key(|(switch, ..)| *switch);
        missing.retain(|(switch, ..)| self.unserved.binary_search_by_key(switch, |(held, _)| *held).is_err());
        let mut listed = Vec::new();
        for (switch, lid, cause) in missing.drain(..) {
            self.lost.partial += senders.senders_from(switch, root);
            if listed.len() < MAX_LISTED {
                self.list((switch, cause, lid), root, end, senders, &mut listed);
            }
        }
        self.missing = missing;
        self.lost.first_partial.append(&mut listed);
        keep_listed(&mut self.lost.first_partial);
    }

    fn free_slots(&self, lid: Lid) -> usize {
        match self.lost.first.get(MAX_LISTED - 1) {
            Some(last) if last.to < lid => 0,
            _ => MAX_LISTED,
        }
    }

    fn count(&mut self, (switch, cause): (u32, Cause), root: u32, end: &Destination, senders: &ClassSenders) {
        let at = switch as usize;
        let (aggregation, own) = (senders.aggregation[at], u64::from(senders.own[at]));
        let mut by_kind = [0; 3];
        let to = self.ends.port_of(root, end).map(|port| is_aggregation(self.ends.problem.fabric, port));
        let (hosts, aggregation) = (u64::from(senders.terminals[at] - aggregation), u64::from(aggregation));
        // No host sends to itself.
        let to_itself = u64::from(switch == root && senders.itself);
        match (end.is_switch(), to == Some(true)) {
            (true, _) => by_kind[2] = hosts + aggregation + own.saturating_sub(to_itself),
            (false, true) => by_kind = [0, (hosts + aggregation).saturating_sub(to_itself), own],
            (false, false) => by_kind = [hosts.saturating_sub(to_itself), aggregation, own],
        }
        for (kind, pairs) in by_kind.into_iter().enumerate() {
            self.lost.counts[kind][cause as usize] += pairs;
        }
    }

    fn list(
        &self,
        (switch, cause, lid): (u32, Cause, Lid),
        root: u32,
        end: &Destination,
        senders: &ClassSenders,
        listed: &mut Vec<LostPair>,
    ) {
        let (fabric, graph) = (self.ends.problem.fabric, &self.ends.problem.graph);
        let Some(to) = self.ends.port_of(root, end) else { return };
        let terminals = graph.terminals_of(switch).iter().filter(|terminal| terminal.lid.is_some());
        let own = fabric.port_of(NodeId(switch), PortNum::MANAGEMENT);
        let own = own.filter(|_| senders.own[switch as usize]);
        let sends = |from: &PortId| *from != to && self.ends.is_sender(senders, *from);
        for from in terminals.map(|terminal| terminal.port).chain(own).filter(sends) {
            let switches = end.is_switch() || Some(from) == own;
            let kind = match is_aggregation(fabric, from) || is_aggregation(fabric, to) {
                _ if switches => PairKind::Switches,
                true => PairKind::Aggregation,
                false => PairKind::Hosts,
            };
            listed.push(LostPair { to: lid, from_switch: switch, from, kind, cause });
        }
    }
}

fn keep_listed(first: &mut Vec<LostPair>) {
    first.sort_unstable();
    first.truncate(MAX_LISTED);
}

/// Two counts of different destinations together.
pub fn merge(mut one: LostPairs, mut other: LostPairs) -> LostPairs {
    for (here, there) in one.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
        *here += there;
    }
    one.lids += other.lids;
    one.first.append(&mut other.first);
    keep_listed(&mut one.first);
    one.partial += other.partial;
    one.first_partial.append(&mut other.first_partial);
    keep_listed(&mut one.first_partial);
    one
}
