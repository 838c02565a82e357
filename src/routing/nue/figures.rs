//! The networks that the dissertation works through: a ring of five with a shortcut (figures 6.3 to 6.7), and the
//! impasse with its way out (figures 6.8 and 6.9). Switch `n1` of a figure is switch 0 here.

use super::central::most_central;
use crate::acyclic::dependency_order::{AcyclicDependencies, DependencyState};
use crate::acyclic::escape_paths::{EscapeKind, EscapePaths};
use crate::acyclic::tree_search::{TreeSearch, dependencies_of};
use crate::line_trees::flat_graph::{FlatGraph, NONE};
use fabdeck_fabric::{FabricBuilder, Faults, Guid, NodeFacts, NodeKind, PortNum, SwitchGraph};

/// Figure 6.3a. In this order of cables the ways over n3 come before those over n1, as in the figures' trees.
const RING: &[(u64, u64)] = &[(3, 5), (1, 2), (2, 3), (3, 4), (4, 5), (5, 1)];

/// Figure 6.8a, n4 with its islands between n3 and n5, inside a larger network: n11 is where routes lead, n12 and the
/// cables 1-2 and 9-10 are what earlier routes went over.
const IMPASSE: &[(u64, u64)] = &[
    (1, 3),
    (2, 3),
    (3, 4),
    (4, 5),
    (5, 7),
    (5, 6),
    (4, 8),
    (8, 9),
    (8, 10),
    (1, 2),
    (9, 10),
    (5, 12),
    (12, 7),
    (1, 11),
    (2, 11),
    (7, 11),
];

fn net(switches: u64, cables: &[(u64, u64)]) -> FlatGraph {
    let mut builder = FabricBuilder::new();
    let facts = |number| NodeFacts::new(NodeKind::Switch, Guid(number), 36, format!("n{number}"));
    let keys: Vec<_> = (1..=switches).map(|number| builder.add_node(facts(number)).unwrap()).collect();
    let mut taken = vec![0u8; keys.len()];
    for (a, b) in cables {
        let mut end = |number: u64| {
            let at = number as usize - 1;
            taken[at] += 1;
            (keys[at], PortNum(taken[at]))
        };
        let (a, b) = (end(*a), end(*b));
        builder.connect(a, b).unwrap();
    }
    FlatGraph::new(&SwitchGraph::new(&builder.finish(), &Faults::default()))
}

/// The channel from one switch of a figure to another.
fn channel(net: &FlatGraph, from: u32, to: u32) -> u32 {
    net.leaving(from - 1).find(|channel| net.to[*channel as usize] == to - 1).unwrap()
}

/// A path of a figure as the dependencies between its channels.
fn turns(net: &FlatGraph, path: &[u32]) -> Vec<(u32, u32)> {
    let channels: Vec<u32> = path.windows(2).map(|two| channel(net, two[0], two[1])).collect();
    channels.windows(2).map(|two| (two[0], two[1])).collect()
}

/// Every dependency of the complete graph (definition 6.1): all turns but the one back.
fn complete_graph(net: &FlatGraph) -> Vec<(u32, u32)> {
    let turns = |held: u32| net.leaving(net.to[held as usize]).map(move |wanted| (held, wanted));
    let all = (0..net.channel_count() as u32).flat_map(turns);
    all.filter(|(held, wanted)| net.from[*held as usize] != net.to[*wanted as usize]).collect()
}

/// Those in use, by the names of the figures: where held, where turned, where to.
fn used_turns(net: &FlatGraph, used: &AcyclicDependencies) -> Vec<[u32; 3]> {
    let name = |(held, wanted): &(u32, u32)| {
        [net.from[*held as usize], net.to[*held as usize], net.to[*wanted as usize]].map(|at| at + 1)
    };
    let all = complete_graph(net);
    let is_used = |turn: &&(u32, u32)| used.state(net, turn.0, turn.1) == DependencyState::Used;
    let mut names: Vec<[u32; 3]> = all.iter().filter(is_used).map(name).collect();
    names.sort_unstable();
    names
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

fn escape_dependencies(net: &FlatGraph, root: u32, destinations: &[u32]) -> AcyclicDependencies {
    let mut wanted = vec![false; net.switch_count()];
    destinations.iter().for_each(|at| wanted[*at as usize - 1] = true);
    EscapePaths::new(net, &[root - 1], EscapeKind::Tree).dependencies(net, &wanted)
}

/// Where each switch goes on to, by the names of the figures; 0 for nowhere.
fn next_hops(net: &FlatGraph, search: &TreeSearch) -> Vec<u32> {
    let way = |at: u32| match search.next(at) {
        NONE => 0,
        channel => net.to[channel as usize] + 1,
    };
    (0..net.switch_count() as u32).map(way).collect()
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

/// What earlier routes left: (n4, n3, n1) and (n4, n5, n7) would close a cycle.
fn restricted(net: &FlatGraph, more: &[&[u32]]) -> AcyclicDependencies {
    let below = [3, 4, 8, 9, 10, 8, 4];
    let left = [&[3, 1, 2][..], &below, &[3]].concat();
    let right = [&[5, 7, 12, 5, 4][..], &below[2..], &[5]].concat();
    let mut used = AcyclicDependencies::new(net, (0..net.channel_count() as u32).collect());
    let mut before = Vec::new();
    for path in [&left[..], &right[..]].into_iter().chain(more.iter().copied()) {
        for (held, wanted) in turns(net, path) {
            assert!(used.try_use(net, held, wanted), "{path:?}");
            before.push((held, wanted));
        }
    }
    used.commit_tree(net, before.into_iter());
    used
}

/// Six hops to n3 over n1 or n2, nine to n5 over n7.
fn far_away(net: &FlatGraph) -> Vec<u64> {
    let mut weights = vec![1; net.channel_count()];
    for (from, hops) in [(1, 5), (2, 5), (7, 8)] {
        weights[channel(net, from, 11) as usize] = hops;
    }
    weights
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
