//! Gives switches that a tree leaves out a way to its destination, as far as the dependencies in use allow it.

use super::escape_paths::EscapePaths;
use super::forest::{ABSENT, DestinationForest, TreeView};
use super::tree_search::{TreeSearch, dependencies_of};
use crate::line_trees::flat_graph::NONE;

impl DestinationForest<'_> {
    /// Completes the trees that are wanted; true where nothing is left out of any of these.
    pub fn complete_trees(&mut self, wanted: CompletionScope) -> bool {
        self.complete_trees_while(wanted, |_| true)
    }

    /// The same, up to the first tree that cannot be completed.
    pub fn complete_trees_until_one_fails(&mut self, wanted: CompletionScope) -> bool {
        self.complete_trees_while(wanted, |whole| whole)
    }

    fn complete_trees_while(&mut self, wanted: CompletionScope, goes_on: impl Fn(bool) -> bool) -> bool {
        let (mut view, mut search) = (TreeView::new(self.net), TreeSearch::new(self.net));
        let (mut whole, mut order) = (true, Vec::new());
        for tree in 0..self.roots.len() {
            if goes_on(whole) && self.has_gaps(tree, wanted) {
                view.read(self, tree, &self.net.senders);
                whole &= self.complete_tree(tree, &view, &mut search);
                self.recount(tree, &mut order);
            }
        }
        whole
    }

    /// Sets the turns of spanning trees aside that close no cycle with what is used, so that every tree can be completed.
    pub fn reserve_escape(&mut self) {
        let net = self.net;
        self.escape = self.used.iter_mut().map(|used| EscapePaths::grow_within(net, used)).collect();
    }

    /// Whether no tree that is wanted leaves anything out.
    pub fn is_complete(&self, wanted: CompletionScope) -> bool {
        (0..self.roots.len()).all(|tree| !self.has_gaps(tree, wanted))
    }

    fn has_gaps(&self, tree: usize, wanted: CompletionScope) -> bool {
        let net = self.net;
        let part = net.part[self.roots[tree].switch as usize];
        let flows = self.flows(tree).iter().zip(&net.part).enumerate();
        let mut out = flows.filter(|(_, (flow, own))| **flow == ABSENT && **own == part).map(|(at, _)| at);
        match wanted {
            CompletionScope::Nothing => false,
            CompletionScope::BetweenHosts => self.roots[tree].of_host && out.any(|at| self.hosts[at] > 0),
            CompletionScope::BetweenAdapters => self.is_loaded(tree) && out.any(|at| net.senders[at] > 0),
            CompletionScope::Everything => out.next().is_some(),
        }
    }

    /// Gives switches back what they had in trees that were pruned since, as far as it fits.
    pub fn restore(&mut self, given: &Self) {
        let net = self.net;
        let (mut view, mut before) = (TreeView::new(net), TreeView::new(net));
        let mut is_back = vec![false; net.switch_count()];
        for tree in 0..self.roots.len() {
            view.read(self, tree, &net.senders);
            before.read(given, tree, &net.senders);
            let used = &mut self.used[usize::from(self.roots[tree].lane)];
            used.clear_refusals();
            let mut back = Vec::new();
            is_back.fill(false);
            for switch in before.order.iter().skip(1).copied() {
                if view.has_path(switch) {
                    continue;
                }
                let channel = before.next[switch as usize];
                let to = net.to[channel as usize];
                let arrives = view.has_path(to) || is_back[to as usize];
                let onward = view.next[to as usize];
                if arrives && (onward == NONE || used.try_use(net, channel, onward)) {
                    view.next[switch as usize] = channel;
                    is_back[switch as usize] = true;
                    back.push((switch, channel));
                }
            }
            let onward = |channel: u32| view.next[net.to[channel as usize] as usize];
            let turns = back.iter().map(|(_, channel)| (*channel, onward(*channel)));
            used.commit_tree(net, turns.filter(|(_, onward)| *onward != NONE));
            back.into_iter().for_each(|(switch, channel)| self.set(tree, switch, channel));
        }
    }

    fn complete_tree(&mut self, tree: usize, view: &TreeView<'_>, search: &mut TreeSearch) -> bool {
        let net = self.net;
        let mean = self.load.iter().sum::<u64>() / (self.load.len() as u64).max(1);
        // Hops come first: what is added lies beside paths that are balanced already.
        let weights: Vec<u64> = self.load.iter().map(|load| 4 * mean + 1 + load).collect();
        let used = &mut self.used[usize::from(self.roots[tree].lane)];
        used.clear_refusals();
        let mark = used.checkpoint();
        if !search.extend_tree(net, used, &weights, (view.root, &view.order[1..], &view.next)) {
            used.roll_back(net, mark);
            let lane = usize::from(self.roots[tree].lane);
            let Some(Some(escape)) = self.escape.get(lane) else { return false };
            escape.route(net, search, &weights, view.root);
            while search.improve_tree(net, used, &weights) {}
        }
        used.commit_tree(net, dependencies_of(net, |switch| search.next(switch)));
        used.release_tree(net, dependencies_of(net, |switch| view.next[switch as usize]));
        let is_loaded = self.is_loaded(tree);
        if is_loaded {
            view.for_each_flow(|channel, paths| self.load[channel as usize] -= paths);
            let load = &mut self.load;
            search.for_each_flow(net, &net.senders, |channel, paths| {
                load[channel as usize] += u64::from(paths)
            });
        }
        for switch in (0..net.switch_count() as u32).filter(|switch| *switch != view.root) {
            let channel = search.next(switch);
            if channel != NONE {
                self.set(tree, switch, channel);
            }
        }
        true
    }
}

/// What has to arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CompletionScope {
    Nothing,
    /// What adapters that compute send to each other.
    BetweenHosts,
    /// What all adapters send to each other.
    BetweenAdapters,
    /// What every switch sends to every LID.
    Everything,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acyclic::forest::NOWHERE;
    use crate::line_trees::flat_graph::FlatGraph;
    use crate::{NoProgress, Problem, Request, find_engine};
    use fabdeck_fabric::Faults;
    use fabdeck_fabric::generate::{FabricSpec, generate};

    #[test]
    fn all_that_was_pruned_comes_back_where_no_other_dependency_is_in_use() {
        let spec: FabricSpec = "kary,k=2,n=3".parse().unwrap();
        let (fabric, faults, request) =
            (generate(&spec).unwrap().fabric, Faults::default(), Request::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = (find_engine("updn").unwrap().route)(&problem, &request, &NoProgress).unwrap().routes;
        let net = FlatGraph::new(&problem.graph);
        let given = DestinationForest::read(&problem, &request, &net, &routes).unwrap();
        let mut pruned = given.clone();
        pruned.prune();
        assert!(pruned.adopt_dependencies());
        let absent =
            |forest: &DestinationForest<'_>| forest.flow.iter().filter(|flow| **flow == ABSENT).count();
        assert!(absent(&given) == 0 && absent(&pruned) > 0);
        assert_ne!(pruned.table, given.table);
        let switches = net.switch_count();
        for at in 0..given.table.len() {
            let tree = at / switches;
            let carries = given.is_loaded(tree) && given.flow[at] > 0;
            let root = given.roots[tree].switch as usize == at % switches;
            assert_eq!(pruned.table[at], if carries { given.table[at] } else { NOWHERE });
            assert_eq!(
                pruned.flow[at],
                if carries {
                    given.flow[at]
                } else if root {
                    0
                } else {
                    ABSENT
                }
            );
        }
        pruned.restore(&given);
        assert_eq!(pruned.table, given.table);
    }
}
