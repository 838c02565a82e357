//! The networks that the dissertation works through: a ring of five with a shortcut (figures 6.3 to 6.7), and the
//! impasse with its way out (figures 6.8 and 6.9). Switch `n1` of a figure is switch 0 here.

use super::central::most_central;
use super::worked_examples::{
    self, IMPASSE, RING, complete_graph, escape_dependencies, figure_values, next_hops, used_turns,
};
use crate::acyclic::dependency_order::{AcyclicDependencies, DependencyState};
use crate::acyclic::tree_search::{TreeSearch, dependencies_of};
use crate::line_trees::flat_graph::FlatGraph;

fn net(switches: u64, cables: &[(u64, u64)]) -> FlatGraph {
    worked_examples::network(switches, cables).unwrap()
}

fn turns(net: &FlatGraph, path: &[u32]) -> Vec<(u32, u32)> {
    worked_examples::turns(net, path).unwrap()
}

fn restricted(net: &FlatGraph, more: &[&[u32]]) -> AcyclicDependencies {
    worked_examples::restricted(net, more).unwrap()
}

fn far_away(net: &FlatGraph) -> Vec<u64> {
    worked_examples::far_away(net).unwrap()
}

#[test]
fn every_value_of_the_figures_is_the_papers_but_the_wrong_one() {
    let values = figure_values();
    assert!(values.len() >= 14, "{}", values.len());
    for value in values {
        assert_eq!(value.paper == value.ours, value.error.is_none(), "{value:?}");
    }
}

/// Whether some of the dependencies go round, by taking away what nothing waits for.
fn has_cycle(mut turns: Vec<[u32; 3]>) -> bool {
    loop {
        let waited: Vec<[u32; 2]> = turns.iter().map(|[_, at, to]| [*at, *to]).collect();
        let before = turns.len();
        turns.retain(|[from, at, _]| waited.contains(&[*from, *at]));
        if turns.len() == before {
            return before > 0;
        }
    }
}

#[test]
fn figure_6_3_the_complete_graph_has_all_turns_but_those_back() {
    let net = net(5, RING);
    assert_eq!((net.channel_count(), complete_graph(&net).len()), (12, 18));
    // Room is kept for those back as well, one for each channel, and none of them may be used.
    assert_eq!(net.dependency_count(), 18 + 12);
    let mut used = AcyclicDependencies::new(&net, (0..12).collect());
    assert!((0..12).all(|held| !used.try_use(&net, held, net.reverse[held as usize])));
}

#[test]
fn figure_6_4_the_third_step_would_close_a_cycle() {
    let net = net(5, RING);
    let mut used = AcyclicDependencies::new(&net, (0..12).collect());
    for path in [[3, 5, 4], [5, 4, 3]] {
        let (held, wanted) = turns(&net, &path)[0];
        assert!(used.try_use(&net, held, wanted), "{path:?}");
    }
    let (held, wanted) = turns(&net, &[4, 3, 5])[0];
    assert_eq!(used.state(&net, held, wanted), DependencyState::Free);
    assert!(!used.try_use(&net, held, wanted));
    assert_eq!(used.state(&net, held, wanted), DependencyState::Blocked);
    assert_eq!(used_turns(&net, &used), [[3, 5, 4], [5, 4, 3]]);
}

#[test]
fn figure_6_5_escape_paths_are_those_of_the_tree_below_n5() {
    let net = net(5, RING);
    let used = used_turns(&net, &escape_dependencies(&net, 5, &[1, 2, 3, 4, 5]));
    // The cables 1-2 and 3-4 are left out: two turns at n3, six at n5.
    let tree = [[1, 5, 3], [1, 5, 4], [2, 3, 5], [3, 5, 1], [3, 5, 4], [4, 5, 1], [4, 5, 3], [5, 3, 2]];
    assert_eq!(used, tree);
    assert!(!has_cycle(used));
}

#[test]
fn figure_6_6_fewer_dependencies_from_a_root_amid_the_destinations() {
    let net = net(5, RING);
    let from_n2 = used_turns(&net, &escape_dependencies(&net, 2, &[1, 2, 3]));
    assert_eq!(from_n2.len(), 4, "{from_n2:?}");
    // The tree of figure 6.5a asks for six; the figure's five are those of the tree 2-1-5-3-4.
    let from_n5 = used_turns(&net, &escape_dependencies(&net, 5, &[1, 2, 3]));
    assert_eq!(from_n5, [[1, 5, 3], [2, 3, 5], [3, 5, 1], [4, 5, 1], [4, 5, 3], [5, 3, 2]]);
    // Which is why the root is looked for among them.
    assert_eq!(most_central(&net, &[0, 1, 2]), Some(1));
}

#[test]
fn figure_6_7_five_steps_beside_the_escape_paths() {
    let net = net(5, RING);
    let mut used = escape_dependencies(&net, 5, &[1, 2, 3, 4, 5]);
    for path in [[1, 2, 3], [2, 3, 5], [2, 3, 4], [3, 4, 5], [3, 5, 1]] {
        let (held, wanted) = turns(&net, &path)[0];
        assert!(used.try_use(&net, held, wanted), "{path:?}");
    }
    let now = used_turns(&net, &used);
    assert!(now.len() == 8 + 3 && !has_cycle(now.clone()), "{now:?}");
    // Of what is left, exactly what the search without an order finds to close a cycle is refused.
    for (held, wanted) in complete_graph(&net) {
        let name = [net.from[held as usize], net.to[held as usize], net.to[wanted as usize]].map(|at| at + 1);
        if !now.contains(&name) {
            let closes = has_cycle(now.iter().copied().chain([name]).collect());
            let mark = used.checkpoint();
            assert_eq!(used.try_use(&net, held, wanted), !closes, "{name:?}");
            used.roll_back(&net, mark);
        }
    }
}

#[test]
fn the_ring_with_its_shortcut_is_routed_destination_by_destination() {
    let net = net(5, RING);
    let mut used = escape_dependencies(&net, 5, &[1, 2, 3, 4, 5]);
    let weights = vec![1; net.channel_count()];
    let mut search = TreeSearch::new(&net);
    let reserved = used_turns(&net, &used);
    for destination in 1..=5 {
        assert!(search.route_all(&net, &mut used, &weights, destination - 1), "{destination}");
        used.commit_tree(&net, dependencies_of(&net, |at| search.next(at)));
        let now = used_turns(&net, &used);
        assert!(!has_cycle(now.clone()) && reserved.iter().all(|turn| now.contains(turn)), "{now:?}");
        let (mut hops, mut queue) = (Vec::new(), Vec::new());
        net.hops(&[destination - 1], &mut hops, &mut queue);
        match destination {
            // To n1 the tree alone is shortest: nothing more is used.
            1 => assert_eq!((next_hops(&net, &search), now), (vec![0, 1, 5, 5, 1], reserved.clone())),
            // To n2 n4 leaves the tree.
            2 => {
                let more: Vec<_> = now.iter().filter(|turn| !reserved.contains(turn)).collect();
                assert_eq!((next_hops(&net, &search), more), (vec![2, 0, 2, 3, 3], vec![&[4, 3, 2]]));
            }
            _ => {}
        }
        let far: u64 = hops.iter().map(|hops| u64::from(*hops)).sum();
        let paths: u64 = (0..5).map(|at| search.cost(at)).sum();
        assert!(paths >= far && paths <= far + 1, "{destination}: {paths} and {far}");
    }
}

#[test]
fn figures_6_8_and_6_9_the_island_is_reached_over_n2_and_is_a_shortcut_for_n5() {
    let net = net(12, IMPASSE);
    let mut used = restricted(&net, &[]);
    let mut search = TreeSearch::new(&net);
    let known = |used: &AcyclicDependencies, path: [u32; 3]| {
        let (held, wanted) = turns(&net, &path)[0];
        used.state(&net, held, wanted)
    };
    assert!(search.route_all(&net, &mut used, &far_away(&net), 10));
    assert_eq!([known(&used, [4, 3, 1]), known(&used, [4, 5, 7])], [DependencyState::Blocked; 2]);
    assert_eq!([3, 4, 5].map(|at| search.cost(at - 1)), [6, 7, 8]);
    // n1 to n12: n3 turned to n2 for n4's sake, n5 goes through n4, and n6 with it.
    assert_eq!(next_hops(&net, &search), [11, 11, 2, 3, 4, 5, 11, 4, 8, 8, 0, 7]);
    used.commit_tree(&net, dependencies_of(&net, |at| search.next(at)));
    // What was used before the way out was found is given back.
    assert_eq!([known(&used, [6, 5, 7]), known(&used, [3, 1, 11])], [DependencyState::Free; 2]);
    for path in [[4, 3, 2], [5, 4, 3], [6, 5, 4], [3, 2, 11]] {
        assert_eq!(known(&used, path), DependencyState::Used, "{path:?}");
    }
    assert!(!has_cycle(used_turns(&net, &used)));
}

#[test]
fn an_impasse_without_a_way_out_is_said_to_be_one() {
    let net = net(12, IMPASSE);
    // The alternatives of n3 and n5 would close a cycle as well.
    let mut used = restricted(&net, &[&[3, 2, 1, 3, 4], &[5, 12, 7, 5, 4]]);
    let before = used_turns(&net, &used);
    let mut search = TreeSearch::new(&net);
    let mark = used.checkpoint();
    assert!(!search.route_all(&net, &mut used, &far_away(&net), 10));
    assert_eq!([4, 8, 9, 10].map(|at| search.is_done(at - 1)), [false; 4]);
    used.roll_back(&net, mark);
    assert_eq!(used_turns(&net, &used), before);
}
