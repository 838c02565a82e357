//! The networks that the dissertation works through, and the numbers that come of them here: a ring of five with a shortcut
//! (figures 6.3 to 6.7), and the impasse with its way out (figures 6.8 and 6.9). Switch `n1` of a figure is switch 0 here.

use super::central::most_central;
use crate::acyclic::dependency_order::{AcyclicDependencies, DependencyState};
use crate::acyclic::escape_paths::{EscapeKind, EscapePaths};
use crate::acyclic::tree_search::TreeSearch;
use crate::line_trees::flat_graph::{FlatGraph, NONE};
use fabdeck_fabric::{FabricBuilder, Faults, Guid, NodeFacts, NodeKind, PortNum, SwitchGraph};

/// A number or a list of one of the dissertation's figures, beside what the data structures of `nue` give.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FigureValue {
    /// The figure, and what the value is of.
    pub label: &'static str,
    /// The value of the figure.
    pub paper: String,
    /// The value computed here.
    pub ours: String,
    /// Why the figure's value is wrong, where it is.
    pub error: Option<&'static str>,
}

/// Figure 6.3a. In this order of cables the ways over n3 come before those over n1, as in the figures' trees.
pub(super) const RING: &[(u64, u64)] = &[(3, 5), (1, 2), (2, 3), (3, 4), (4, 5), (5, 1)];

/// Figure 6.8a, n4 with its islands between n3 and n5, inside a larger network: n11 is where routes lead, n12 and the
/// cables 1-2 and 9-10 are what earlier routes went over.
pub(super) const IMPASSE: &[(u64, u64)] = &[
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

/// The network with these cables.
pub(super) fn network(switches: u64, cables: &[(u64, u64)]) -> Option<FlatGraph> {
    let mut builder = FabricBuilder::new();
    let mut keys = Vec::new();
    for number in 1..=switches {
        let facts = NodeFacts::new(NodeKind::Switch, Guid(number), 36, format!("n{number}"));
        keys.push(builder.add_node(facts).ok()?);
    }
    let mut taken = vec![0u8; keys.len()];
    for (a, b) in cables {
        let mut end = |number: u64| {
            let at = (number - 1) as usize;
            taken[at] += 1;
            (keys[at], PortNum(taken[at]))
        };
        let (a, b) = (end(*a), end(*b));
        builder.connect(a, b).ok()?;
    }
    Some(FlatGraph::new(&SwitchGraph::new(&builder.finish(), &Faults::default())))
}

/// The channel from one switch of a figure to another.
pub(super) fn channel(net: &FlatGraph, from: u32, to: u32) -> Option<u32> {
    net.leaving(from - 1).find(|channel| net.to[*channel as usize] == to - 1)
}

/// A path of a figure as the dependencies between its channels.
pub(super) fn turns(net: &FlatGraph, path: &[u32]) -> Option<Vec<(u32, u32)>> {
    let channels: Option<Vec<u32>> = path.windows(2).map(|two| channel(net, two[0], two[1])).collect();
    Some(channels?.windows(2).map(|two| (two[0], two[1])).collect())
}

/// Every dependency of the complete graph (definition 6.1): all turns but the one back.
pub(super) fn complete_graph(net: &FlatGraph) -> Vec<(u32, u32)> {
    let turns = |held: u32| net.leaving(net.to[held as usize]).map(move |wanted| (held, wanted));
    let all = (0..net.channel_count() as u32).flat_map(turns);
    all.filter(|(held, wanted)| net.from[*held as usize] != net.to[*wanted as usize]).collect()
}

/// Those in use, by the names of the figures: where held, where turned, where to.
pub(super) fn used_turns(net: &FlatGraph, used: &AcyclicDependencies) -> Vec<[u32; 3]> {
    let name = |(held, wanted): &(u32, u32)| {
        [net.from[*held as usize], net.to[*held as usize], net.to[*wanted as usize]].map(|at| at + 1)
    };
    let all = complete_graph(net);
    let is_used = |turn: &&(u32, u32)| used.state(net, turn.0, turn.1) == DependencyState::Used;
    let mut names: Vec<[u32; 3]> = all.iter().filter(is_used).map(name).collect();
    names.sort_unstable();
    names
}

pub(super) fn escape_dependencies(net: &FlatGraph, root: u32, destinations: &[u32]) -> AcyclicDependencies {
    let mut wanted = vec![false; net.switch_count()];
    destinations.iter().for_each(|at| wanted[*at as usize - 1] = true);
    EscapePaths::new(net, &[root - 1], EscapeKind::Tree).dependencies(net, &wanted)
}

/// Where each switch goes on to, by the names of the figures; 0 for nowhere.
pub(super) fn next_hops(net: &FlatGraph, search: &TreeSearch) -> Vec<u32> {
    let way = |at: u32| match search.next(at) {
        NONE => 0,
        channel => net.to[channel as usize] + 1,
    };
    (0..net.switch_count() as u32).map(way).collect()
}

/// What earlier routes left: (n4, n3, n1) and (n4, n5, n7) would close a cycle.
pub(super) fn restricted(net: &FlatGraph, more: &[&[u32]]) -> Option<AcyclicDependencies> {
    let below = [3, 4, 8, 9, 10, 8, 4];
    let left = [&[3, 1, 2][..], &below, &[3]].concat();
    let right = [&[5, 7, 12, 5, 4][..], &below[2..], &[5]].concat();
    let mut used = AcyclicDependencies::new(net, (0..net.channel_count() as u32).collect());
    let mut before = Vec::new();
    for path in [&left[..], &right[..]].into_iter().chain(more.iter().copied()) {
        for (held, wanted) in turns(net, path)? {
            if !used.try_use(net, held, wanted) {
                return None;
            }
            before.push((held, wanted));
        }
    }
    used.commit_tree(net, before.into_iter());
    Some(used)
}

/// Six hops to n3 over n1 or n2, nine to n5 over n7.
pub(super) fn far_away(net: &FlatGraph) -> Option<Vec<u64>> {
    let mut weights = vec![1; net.channel_count()];
    for (from, hops) in [(1, 5), (2, 5), (7, 8)] {
        weights[channel(net, from, 11)? as usize] = hops;
    }
    Some(weights)
}

/// The numbers of figures 6.3 to 6.9, beside ours.
pub fn figure_values() -> Vec<FigureValue> {
    let mut values = Vec::new();
    for figures in [ring_values, impasse_values] {
        values.extend(figures().unwrap_or_default());
    }
    values
}

fn value(label: &'static str, paper: impl ToString, ours: impl ToString) -> FigureValue {
    FigureValue { label, paper: paper.to_string(), ours: ours.to_string(), error: None }
}

fn state_word(used: &AcyclicDependencies, net: &FlatGraph, path: &[u32]) -> Option<&'static str> {
    let (held, wanted) = *turns(net, path)?.first()?;
    Some(match used.state(net, held, wanted) {
        DependencyState::Used => "used",
        DependencyState::Blocked => "blocked",
        DependencyState::Free => "free",
    })
}

/// Turns as words, `1-5-3 2-3-5`.
fn turn_words(turns: &[[u32; 3]]) -> String {
    let words: Vec<String> = turns.iter().map(|[a, b, c]| format!("{a}-{b}-{c}")).collect();
    words.join(" ")
}

fn ring_values() -> Option<Vec<FigureValue>> {
    let net = network(5, RING)?;
    let mut values = vec![
        value("figure 6.3: channels", 12, net.channel_count()),
        value("figure 6.3: dependencies of the complete graph", 18, complete_graph(&net).len()),
    ];
    let mut used = AcyclicDependencies::new(&net, (0..net.channel_count() as u32).collect());
    for path in [[3, 5, 4], [5, 4, 3], [4, 3, 5]] {
        let (held, wanted) = *turns(&net, &path)?.first()?;
        used.try_use(&net, held, wanted);
    }
    values.push(value(
        "figure 6.4: (n3,n5,n4) after the third step",
        "used",
        state_word(&used, &net, &[3, 5, 4])?,
    ));
    values.push(value(
        "figure 6.4: (n5,n4,n3) after the third step",
        "used",
        state_word(&used, &net, &[5, 4, 3])?,
    ));
    values.push(value(
        "figure 6.4: (n4,n3,n5) would close a cycle",
        "blocked",
        state_word(&used, &net, &[4, 3, 5])?,
    ));
    let escape = escape_dependencies(&net, 5, &[1, 2, 3, 4, 5]);
    let tree = "1-5-3 1-5-4 2-3-5 3-5-1 3-5-4 4-5-1 4-5-3 5-3-2";
    values.push(value(
        "figure 6.5: turns of the escape paths below n5",
        tree,
        turn_words(&used_turns(&net, &escape)),
    ));
    let few = |root| used_turns(&net, &escape_dependencies(&net, root, &[1, 2, 3])).len();
    values.push(value("figure 6.6: dependencies for n1, n2, n3 from the root n2", 4, few(2)));
    values.push(FigureValue {
        error: Some("error of the paper: the drawn tree has six, five are those of the tree 2-1-5-3-4"),
        ..value("figure 6.6: the same from the root n5", 5, few(5))
    });
    let root = most_central(&net, &[0, 1, 2]).map_or_else(|| "none".to_owned(), |at| format!("n{}", at + 1));
    values.push(value("figure 6.6: most central switch", "n2", root));
    let mut used = escape;
    for path in [[1, 2, 3], [2, 3, 5], [2, 3, 4], [3, 4, 5], [3, 5, 1]] {
        let (held, wanted) = *turns(&net, &path)?.first()?;
        used.try_use(&net, held, wanted);
    }
    values.push(value(
        "figure 6.7: dependencies in use after five steps",
        8 + 3,
        used_turns(&net, &used).len(),
    ));
    Some(values)
}

fn impasse_values() -> Option<Vec<FigureValue>> {
    let net = network(12, IMPASSE)?;
    let mut used = restricted(&net, &[])?;
    let mut search = TreeSearch::new(&net);
    let is_routed = search.route_all(&net, &mut used, &far_away(&net)?, 10);
    let words = |routed: bool| if routed { "all" } else { "not all" };
    let costs: Vec<String> = [3u32, 4, 5].map(|at| search.cost(at - 1).to_string()).into();
    let hops: Vec<String> = next_hops(&net, &search).iter().map(ToString::to_string).collect();
    Some(vec![
        value("figure 6.8: (n4,n3,n1)", "blocked", state_word(&used, &net, &[4, 3, 1])?),
        value("figure 6.8: (n4,n5,n7)", "blocked", state_word(&used, &net, &[4, 5, 7])?),
        value("figure 6.9: switches with a path to n11", "all", words(is_routed)),
        value("figure 6.9: hops of n3, n4 and n5 to n11", "6 7 8", costs.join(" ")),
        value(
            "figure 6.9: next switch of n1 to n12 toward n11",
            "11 11 2 3 4 5 11 4 8 8 0 7",
            hops.join(" "),
        ),
    ])
}
