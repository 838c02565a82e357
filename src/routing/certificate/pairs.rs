//! Pairs without a path: counted by kind and cause, the first of them listed.

use super::verdict::{Kind, LISTED, LostPair, LostPairs};
use crate::fabric::{Fabric, Lid, NodeId, PortId, PortNum};
use crate::routing::problem::{Destination, Problem};
use crate::routing::trees::{Cause, FAR, Tree};

/// Mellanox's device id of aggregation nodes.
const AGGREGATION_DEVICE: u32 = 0xCF09;

/// Who sends and who receives, switch by switch.
#[derive(Debug)]
pub struct Ends<'p> {
    pub problem: &'p Problem<'p>,
    /// Terminals with a LID of each switch.
    pub terminals: Vec<u32>,
    /// Those of them that are aggregation nodes.
    aggregation: Vec<u32>,
    /// The switch itself is a source.
    own: Vec<bool>,
}

impl<'p> Ends<'p> {
    pub fn new(problem: &'p Problem<'p>, switches: bool) -> Self {
        let count = problem.graph.switch_count();
        let (mut terminals, mut aggregation) = (vec![0; count], vec![0; count]);
        for terminal in problem.graph.terminals().iter().filter(|terminal| terminal.lid.is_some()) {
            terminals[terminal.switch as usize] += 1;
            aggregation[terminal.switch as usize] += u32::from(aggregates(problem.fabric, terminal.port));
        }
        let own = |switch| problem.behind(switch).iter().any(Destination::is_switch);
        let own = problem.switches().map(|switch| switches && own(switch)).collect();
        Self { problem, terminals, aggregation, own }
    }

    /// Ordered pairs in scope.
    pub fn pairs(&self) -> u64 {
        let terminals: u64 = self.terminals.iter().map(|count| u64::from(*count)).sum();
        let ends = terminals + self.own.iter().filter(|own| **own).count() as u64;
        ends * ends.saturating_sub(1)
    }

    /// Ends that send from a switch to a destination behind `root`; nobody sends to itself.
    fn senders(&self, from: u32, root: u32) -> u64 {
        let all = u64::from(self.terminals[from as usize]) + u64::from(self.own[from as usize]);
        all.saturating_sub(u64::from(from == root))
    }

    /// The port that a destination belongs to.
    fn port_of(&self, root: u32, end: &Destination) -> Option<PortId> {
        let fabric = self.problem.fabric;
        let own = fabric.port_of(NodeId(root), end.port)?;
        if end.is_switch() { Some(own) } else { fabric.peer(own) }
    }
}

fn aggregates(fabric: &Fabric, port: PortId) -> bool {
    let facts = &fabric.node(fabric.port(port).node).facts;
    facts.device_id == Some(AGGREGATION_DEVICE) || facts.description.contains("Aggregation Node")
}

/// The lost pairs of some destinations. Those of one port come one behind the other, so that a pair is lost only
/// when no LID of the port is reached.
#[derive(Debug)]
pub struct Losses<'e, 'p> {
    ends: &'e Ends<'p>,
    pub lost: LostPairs,
    /// The port under way: its first LID, and the sources that reached none of its LIDs so far.
    open: Option<(u32, Destination)>,
    unserved: Vec<(u32, Cause)>,
}

impl<'e, 'p> Losses<'e, 'p> {
    pub fn new(ends: &'e Ends<'p>) -> Self {
        Self { ends, lost: LostPairs::default(), open: None, unserved: Vec::new() }
    }

    pub fn add(&mut self, end: &Destination, tree: &Tree<'_>) {
        let first = self.open.is_none_or(|(root, open)| (root, open.port) != (tree.root, end.port));
        if first {
            self.close(tree.near);
            self.open = Some((tree.root, *end));
        }
        if tree.whole {
            self.unserved.clear();
            return;
        }
        for switch in self.ends.problem.switches().filter(|switch| tree.near[*switch as usize] != FAR) {
            if let Some(cause) = tree.cause(switch) {
                let senders = self.ends.senders(switch, tree.root);
                self.lost.lids += senders;
                if first && senders > 0 {
                    self.unserved.push((switch, cause));
                }
            }
        }
        if !first {
            self.unserved.retain(|(switch, _)| tree.cause(*switch).is_some());
        }
    }

    /// Counts what is left of the port under way. `near` may be any row of its part.
    pub fn close(&mut self, near: &[u32]) {
        let Some((root, end)) = self.open.take() else { return };
        let cut_off = |switch: &u32| near[*switch as usize] == FAR && self.ends.problem.graph.alive(*switch);
        let cut_off: Vec<u32> = self.ends.problem.switches().filter(cut_off).collect();
        let mut all = std::mem::take(&mut self.unserved);
        all.extend(cut_off.into_iter().map(|switch| (switch, Cause::CutOff)));
        all.sort_unstable();
        let room = self.room_for(end.lid);
        let mut listed = Vec::new();
        for (switch, cause) in all.drain(..) {
            self.count(switch, cause, root, &end);
            if listed.len() < room {
                self.list(switch, cause, root, &end, &mut listed);
            }
        }
        self.unserved = all;
        self.lost.first.append(&mut listed);
        keep_first(&mut self.lost.first);
    }

    fn room_for(&self, lid: Lid) -> usize {
        match self.lost.first.get(LISTED - 1) {
            Some(last) if last.to < lid => 0,
            _ => LISTED,
        }
    }

    fn count(&mut self, switch: u32, cause: Cause, root: u32, end: &Destination) {
        let at = switch as usize;
        let (aggregation, own) = (self.ends.aggregation[at], u64::from(self.ends.own[at]));
        let mut by_kind = [0; 3];
        let to = self.ends.port_of(root, end).map(|port| aggregates(self.ends.problem.fabric, port));
        let (hosts, aggregation) = (u64::from(self.ends.terminals[at] - aggregation), u64::from(aggregation));
        // Nobody sends to itself.
        let to_itself = u64::from(switch == root);
        match (end.is_switch(), to == Some(true)) {
            (true, _) => by_kind[2] = hosts + aggregation + own.saturating_sub(to_itself),
            (false, true) => by_kind = [0, (hosts + aggregation).saturating_sub(to_itself), own],
            (false, false) => by_kind = [hosts.saturating_sub(to_itself), aggregation, own],
        }
        for (kind, pairs) in by_kind.into_iter().enumerate() {
            self.lost.counts[kind][cause as usize] += pairs;
        }
    }

    fn list(&self, switch: u32, cause: Cause, root: u32, end: &Destination, listed: &mut Vec<LostPair>) {
        let (fabric, graph) = (self.ends.problem.fabric, &self.ends.problem.graph);
        let Some(to) = self.ends.port_of(root, end) else { return };
        let terminals = graph.terminals_of(switch).iter().filter(|terminal| terminal.lid.is_some());
        let own = fabric.port_of(NodeId(switch), PortNum::MANAGEMENT);
        let own = own.filter(|_| self.ends.own[switch as usize]);
        for from in terminals.map(|terminal| terminal.port).chain(own).filter(|from| *from != to) {
            let switches = end.is_switch() || Some(from) == own;
            let kind = match aggregates(fabric, from) || aggregates(fabric, to) {
                _ if switches => Kind::Switches,
                true => Kind::Aggregation,
                false => Kind::Hosts,
            };
            listed.push(LostPair { to: end.lid, from_switch: switch, from, kind, cause });
        }
    }
}

fn keep_first(first: &mut Vec<LostPair>) {
    first.sort_unstable();
    first.truncate(LISTED);
}

/// Two counts of different destinations together.
pub fn join(mut one: LostPairs, mut other: LostPairs) -> LostPairs {
    for (here, there) in one.counts.iter_mut().flatten().zip(other.counts.iter().flatten()) {
        *here += there;
    }
    one.lids += other.lids;
    one.first.append(&mut other.first);
    keep_first(&mut one.first);
    one
}
