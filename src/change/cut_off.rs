//! Nodes that a plan cuts off although they answer: tables lead to them now, and no longer once the plan is applied.

use std::collections::BTreeSet;

use fabdeck_fabric::observe::digits_in_groups;
use serde::{Deserialize, Serialize};

use super::surviving_fabric::SurvivingFabric;
use fabdeck_fabric::{Fabric, Faults, Lid, NodeId, PortId, PortNum, Routes, SwitchGraph, Tables, Terminal};
use fabdeck_routing::trees::PortMap;

/// Nodes that answer now and have no route after a plan, by name. Also the number of ordered pairs of terminals that
/// lose their path with them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CutOffReport {
    pub switches: Vec<String>,
    pub hosts: Vec<String>,
    pub aggregation_nodes: Vec<String>,
    pub pairs: u64,
}

/// Number of names of one kind that a sentence lists.
const MAX_NAMES: usize = 3;

impl CutOffReport {
    /// Compares the reach of the tables before a plan and after it, from the switches that the plan is for.
    pub fn of(
        standing: &SurvivingFabric<'_>,
        (before, after): (&Tables, &Tables),
        name: &dyn Fn(NodeId) -> String,
    ) -> Self {
        let fabric = standing.fabric;
        if !before.has_forwarding() {
            return Self::default();
        }
        let now = Reachability::new(fabric, &Faults::new(), before);
        let then = Reachability::new(fabric, standing.faults, after);
        let held: Vec<u32> =
            fabric.switches().map(|(id, _)| id).filter(|id| standing.contains(*id)).map(|id| id.0).collect();
        let cut = now.lost_terminals(&then, standing, &held);
        let left: BTreeSet<NodeId> = now
            .terminals()
            .filter(|end| !cut.contains(&end.port))
            .map(|end| fabric.port(end.port).node)
            .collect();
        let nodes: BTreeSet<NodeId> = cut.iter().map(|port| fabric.port(*port).node).collect();
        let mut found = Self { pairs: now.count_lost_pairs(&then, &cut), ..Self::default() };
        found.switches = now.lost_switches(standing, &held).into_iter().map(name).collect();
        for id in nodes.difference(&left) {
            match fabric.node(*id).facts.is_aggregation() {
                true => found.aggregation_nodes.push(name(*id)),
                false => found.hosts.push(name(*id)),
            }
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// `Answers now and will be cut off: spine-2, 1 aggregation node, 88 pairs`.
    pub fn words(&self) -> Option<String> {
        if self.is_empty() {
            return None;
        }
        let mut parts: Vec<String> = self.switches.iter().take(MAX_NAMES).cloned().collect();
        parts.extend(count_text(self.switches.len(), "switch", "switches"));
        parts.extend(self.hosts.iter().take(MAX_NAMES).cloned());
        parts.extend(count_text(self.hosts.len(), "host", "hosts"));
        let count = |count: usize, one: &str| {
            format!("{} {one}{}", digits_in_groups(count), if count == 1 { "" } else { "s" })
        };
        let aggregation = self.aggregation_nodes.len();
        parts.extend((aggregation > 0).then(|| count(aggregation, "aggregation node")));
        parts.push(count(usize::try_from(self.pairs).unwrap_or(usize::MAX), "pair"));
        Some(format!("Answers now and will be cut off: {}", parts.join(", ")))
    }
}

/// The number of those that are not named: `2 more hosts`.
fn count_text(count: usize, one: &str, some: &str) -> Option<String> {
    let more = count.saturating_sub(MAX_NAMES);
    let what = if more == 1 { one } else { some };
    (more > 0).then(|| format!("{} more {what}", digits_in_groups(more)))
}

/// The reach of tables over the working cables.
struct Reachability<'a> {
    fabric: &'a Fabric,
    graph: SwitchGraph,
    ways: PortMap,
    routes: Routes,
}

impl<'a> Reachability<'a> {
    /// A failed switch forwards nothing, whatever its table holds.
    fn new(fabric: &'a Fabric, faults: &Faults, tables: &Tables) -> Self {
        let graph = SwitchGraph::new(fabric, faults);
        let held = |id: NodeId| tables.lft(id).filter(|_| !faults.is_node_failed(id));
        let routes = Routes::from_tables(fabric.switches().map(|(id, _)| held(id)));
        Self { fabric, ways: PortMap::new(&graph), graph, routes }
    }

    fn terminals(&self) -> impl Iterator<Item = &Terminal> {
        self.graph.terminals().iter().filter(|end| end.lid.is_some())
    }

    fn contains(&self, end: &Terminal) -> bool {
        let mut beside = self.graph.terminals_of(end.switch).iter();
        self.graph.is_alive(end.switch) && beside.any(|other| other.port == end.port)
    }

    /// Whether a path leads from a switch to a port of the switch `root`.
    fn has_path(&self, from: u32, (root, port, lids): (u32, PortNum, &[Lid])) -> bool {
        lids.iter().any(|lid| {
            let mut at = from;
            for _ in 0..=self.graph.switch_count() {
                if at == root {
                    return self.routes.get(at, *lid) == Some(port);
                }
                match self.ways.next(&self.graph, &self.routes, at, *lid) {
                    Some((_, to)) => at = to,
                    None => return false,
                }
            }
            false
        })
    }

    fn is_reachable(&self, from: u32, end: &Terminal) -> bool {
        self.contains(end) && self.has_path(from, (end.switch, end.switch_port, &lids(self.fabric, end.port)))
    }

    /// Terminals that answer, and that some switch of `held` reaches now but none reaches then.
    fn lost_terminals(&self, then: &Self, standing: &SurvivingFabric<'_>, held: &[u32]) -> BTreeSet<PortId> {
        let answers = |end: &&Terminal| self.fabric.node(self.fabric.port(end.port).node).facts.answered;
        let stays =
            |end: &&Terminal| standing.contains(NodeId(end.switch)) && then.is_reachable(end.switch, end);
        let reached = |reach: &Self, end: &Terminal| held.iter().any(|from| reach.is_reachable(*from, end));
        let lost = self.terminals().filter(answers).filter(|end| !stays(end));
        lost.filter(|end| reached(self, end) && !reached(then, end)).map(|end| end.port).collect()
    }

    /// Switches that answer and are cabled to `held` now. Then no working cable leads to them: `held` are all switches of
    /// the part that stands, and these are outside it.
    fn lost_switches(&self, standing: &SurvivingFabric<'_>, held: &[u32]) -> Vec<NodeId> {
        let (part, _) = self.graph.components();
        let parts: BTreeSet<u32> = held.iter().map(|id| part[*id as usize]).collect();
        let others =
            self.fabric.switches().filter(|(id, node)| !standing.contains(*id) && node.facts.answered);
        others.map(|(id, _)| id).filter(|id| parts.contains(&part[id.index()])).collect()
    }

    /// Number of ordered pairs with a path now and an end that is cut off, minus those that keep their path.
    fn count_lost_pairs(&self, then: &Self, cut: &BTreeSet<PortId>) -> u64 {
        if cut.is_empty() {
            return 0;
        }
        let switches = self.graph.switch_count();
        // Per switch: the terminals that stay, those that are cut off, and of these the ones whose cable works.
        let (mut stay, mut gone, mut cabled) =
            (vec![0u64; switches], vec![0u64; switches], vec![0u64; switches]);
        for end in self.terminals() {
            let at = end.switch as usize;
            match cut.contains(&end.port) {
                false => stay[at] += 1,
                true => {
                    gone[at] += 1;
                    cabled[at] += u64::from(then.contains(end));
                }
            }
        }
        let mut pairs = 0;
        for end in self.terminals() {
            let is_cut = cut.contains(&end.port);
            for from in (0..switches as u32).filter(|from| stay[*from as usize] + gone[*from as usize] > 0) {
                let at = from as usize;
                let own = u64::from(is_cut && from == end.switch);
                let senders = if is_cut { stay[at] + gone[at] - own } else { gone[at] };
                if senders == 0 || !self.is_reachable(from, end) {
                    continue;
                }
                // Two terminals that are both cut off may keep the path between them.
                let kept = is_cut && cabled[at] > own && then.is_reachable(from, end);
                pairs += senders - if kept { cabled[at] - own } else { 0 };
            }
        }
        pairs
    }
}

/// All LIDs of a port.
fn lids(fabric: &Fabric, port: PortId) -> Vec<Lid> {
    let facts = &fabric.port(port).facts;
    let Some(base) = facts.lid else { return Vec::new() };
    let count = u32::from(facts.lmc.lid_count());
    (0..count).filter_map(|more| Lid::new(u32::from(base.value()) + more)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabdeck_fabric::generate::{FabricSpec, generate};
    use fabdeck_fabric::{Element, ElementId, NameMap, Names};
    use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

    fn tables(fabric: &Fabric, faults: &Faults) -> Tables {
        let problem = Problem::new(fabric, faults);
        let routes =
            (find_engine("updn").unwrap().route)(&problem, &Request::default(), &NoProgress).unwrap().routes;
        let mut tables = Tables::default();
        for (id, _) in fabric.switches().filter(|(id, _)| !faults.is_node_failed(*id)) {
            tables.node_mut(id).lft = Some(routes.lft(id.0));
        }
        tables
    }

    /// What a plan for these marks cuts off. A marked switch keeps its present table.
    fn cut_off_by(marks: &[&str]) -> CutOffReport {
        let fabric = generate(&"demo".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let names = Names::new(&fabric, &NameMap::default());
        let mut faults = Faults::new();
        for mark in marks {
            faults.mark(Element::find(&fabric, &names, mark).unwrap());
        }
        let before = tables(&fabric, &Faults::new());
        let mut after = tables(&fabric, &faults);
        for (id, _) in fabric.switches().filter(|(id, _)| faults.is_node_failed(*id)) {
            after.node_mut(id).lft = before.lft(id).cloned();
        }
        let name = |id: NodeId| names.name(id).to_owned();
        let found = CutOffReport::of(&SurvivingFabric::new(&fabric, &faults, None), (&before, &after), &name);
        // Without marks, unchanged tables cut nothing off.
        let stays =
            CutOffReport::of(&SurvivingFabric::new(&fabric, &Faults::new(), None), (&before, &before), &name);
        assert!(stays.is_empty(), "{stays:?}");
        found
    }

    #[test]
    fn a_switch_that_answers_is_named_with_what_hangs_on_it() {
        let spine = cut_off_by(&["switch:spine-2"]);
        let words = "Answers now and will be cut off: spine-2, 1 aggregation node, 88 pairs";
        assert_eq!(spine.words().as_deref(), Some(words));
        let leaf = cut_off_by(&["switch:rack2-leaf"]);
        assert_eq!(
            (leaf.switches.as_slice(), leaf.hosts.len(), leaf.pairs),
            (&["rack2-leaf".to_owned()][..], 6, 574)
        );
        assert!(leaf.words().unwrap().contains("3 more hosts, 1 aggregation node, 574 pairs"), "{leaf:?}");
    }

    #[test]
    fn what_keeps_a_route_is_not_named() {
        assert!(cut_off_by(&[]).is_empty());
        // A leaf keeps its other cables.
        let fabric = generate(&"demo".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let link = fabric.links().map(|(id, _)| id).find(|id| fabric.is_between_switches(*id)).unwrap();
        let names = Names::new(&fabric, &NameMap::default());
        let link = Element::from_id(&fabric, &names, ElementId::Link(link)).to_string();
        assert!(cut_off_by(&[&link]).is_empty());
    }

    #[test]
    fn a_host_behind_a_failed_cable_is_cut_off_though_its_entries_stay() {
        let fabric = generate(&"demo".parse::<FabricSpec>().unwrap()).unwrap().fabric;
        let names = Names::new(&fabric, &NameMap::default());
        let graph = SwitchGraph::new(&fabric, &Faults::new());
        let node = |port: PortId| fabric.node(fabric.port(port).node);
        let host = graph.terminals().iter().find(|end| !node(end.port).facts.is_aggregation()).unwrap();
        let mut faults = Faults::new();
        faults.mark(ElementId::Link(fabric.port(host.port).link.unwrap()));
        let tables = tables(&fabric, &Faults::new());
        let name = |id: NodeId| names.name(id).to_owned();
        let standing = SurvivingFabric::new(&fabric, &faults, None);
        let found = CutOffReport::of(&standing, (&tables, &tables), &name);
        assert_eq!(found.hosts, [name(fabric.port(host.port).node)], "{found:?}");
    }
}
