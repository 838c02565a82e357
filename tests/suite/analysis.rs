//! Lost paths against a walk over every path, and the disconnected-path curves of the dissertation, figure 4.2.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::routing::certificate::{Dice, any_fabric, certificate, damage, path};
use crate::routing::partitions::{drawn, talk};
use crate::routing::{fabric, route};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::preview::path_preview::Preview;
use fabdeck::operations::preview::whatif::CostBound;
use fabdeck_fabric::observe::{AdaptiveRouting, Observation};
use fabdeck_fabric::{ElementId, Fabric, Faults, LinkId, Lmc, NodeId, Partitions, PortId, Routes, Tables};
use fabdeck_routing::analysis::{CutOffPairs, MarkedPaths, PathIndex, PathLosses};
use fabdeck_routing::certificate::PairKind;
use fabdeck_routing::{Cause, NoProgress, Problem};

fn paths(problem: &Problem<'_>, routes: &Routes) -> Arc<PathIndex> {
    Arc::new(PathIndex::new(problem, Arc::new(routes.clone()), &NoProgress).unwrap())
}

/// What marks take, found from nothing.
fn lost(index: &Arc<PathIndex>, fabric: &Fabric, marks: &Faults) -> PathLosses {
    let mut marked = MarkedPaths::new(Arc::clone(index));
    marked.set_marks(fabric, marks);
    marked.path_losses()
}

/// The path between every two terminals that has one: the links that it takes, those of both ends included.
fn walks(fabric: &Fabric, problem: &Problem<'_>, routes: &Routes) -> Vec<(u32, Vec<LinkId>, [PortId; 2])> {
    let mut walks = Vec::new();
    let own = |port: PortId| fabric.port(port).link.unwrap();
    for to in problem.graph.terminals() {
        let from_switch = |switch| path(problem, routes, switch, to.lid.unwrap());
        let paths: Vec<_> = problem.switches().map(from_switch).collect();
        for from in problem.graph.terminals().iter().filter(|from| from.port != to.port) {
            let Some(path) = &paths[from.switch as usize] else { continue };
            let mut links = vec![own(from.port), own(to.port)];
            links.extend(path.iter().map(|id| problem.graph.channels()[*id as usize].link));
            walks.push((from.switch, links, [from.port, to.port]));
        }
    }
    walks
}

fn any_mark(fabric: &Fabric, dice: &mut Dice) -> ElementId {
    match dice.below(4) {
        0 => ElementId::Node(NodeId(dice.below(fabric.nodes().len()) as u32)),
        1 => ElementId::Port(PortId(dice.below(fabric.ports().len()) as u32)),
        _ => ElementId::Link(LinkId(dice.below(fabric.links().len()) as u32)),
    }
}

/// Ordered pairs of terminals that cables connect.
fn connected(problem: &Problem<'_>) -> u64 {
    let (part, parts) = problem.graph.components();
    let of =
        |number| problem.graph.terminals().iter().filter(|end| part[end.switch as usize] == number).count();
    (0..parts).map(of).map(|count| count as u64 * (count as u64).saturating_sub(1)).sum()
}

#[test]
fn lost_pairs_are_those_whose_walk_meets_a_mark() {
    let (mut taken, mut without) = (0, 0);
    let long = std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1");
    let seeds = if long { 300 } else { 100 };
    for seed in 0..seeds {
        let fabric = any_fabric(seed);
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let mut routes = route("minhop", &problem).unwrap().routes;
        let mut dice = Dice(seed + 7);
        if seed % 2 == 1 {
            damage(&problem, &mut routes, &mut dice);
        }
        let (index, walks) = (paths(&problem, &routes), walks(&fabric, &problem, &routes));
        let mut marks = Faults::default();
        for _ in 0..4 {
            marks.mark(any_mark(&fabric, &mut dice));
            let failed: Vec<bool> = fabric.links().map(|(id, _)| marks.is_link_failed(&fabric, id)).collect();
            let gone = walks.iter().filter(|(from, links, _)| {
                marks.is_node_failed(NodeId(*from)) || links.iter().any(|link| failed[link.index()])
            });
            let gone = gone.count();
            let lost = lost(&index, &fabric, &marks);
            assert_eq!(lost.pairs, gone as u64, "seed {seed}: {marks:?}");
            assert_eq!(lost.lids, lost.pairs, "seed {seed}");
            let marked = Problem::new(&fabric, &marks);
            let critical = connected(&problem) - connected(&marked);
            assert_eq!(lost.critical, critical, "seed {seed}: {marks:?}");
            // Those that are cut off are among the lost, whether they had a path or not.
            let (part, _) = marked.graph.components();
            let at = |port: PortId| {
                let end = marked.graph.terminals().iter().find(|end| end.port == port)?;
                Some(part[end.switch as usize])
            };
            let joined = |ends: &[PortId; 2]| at(ends[0]).is_some() && at(ends[0]) == at(ends[1]);
            let with_path = walks.iter().filter(|(.., ends)| !joined(ends)).count() as u64;
            assert_eq!(lost.critical_without_path, critical - with_path, "seed {seed}: {marks:?}");
            without += lost.critical_without_path;
            let most = lost.elements.iter().map(|one| one.pairs).max().unwrap_or(0);
            let sum: u64 = lost.elements.iter().map(|one| one.pairs).sum();
            assert!(most <= lost.pairs && lost.pairs <= sum, "seed {seed}: {lost:?}");
            taken += usize::from(gone > 0);
        }
        // A mark that is taken back leaves nothing behind.
        assert_eq!(
            lost(&index, &fabric, &Faults::default()),
            fabdeck_routing::analysis::PathLosses::default()
        );
    }
    assert!(taken > 2 * seeds as usize && without > seeds / 3, "{taken} {without}");
}

/// The part of a fabric that each terminal is in.
fn parts(problem: &Problem<'_>) -> BTreeMap<PortId, u32> {
    let (part, _) = problem.graph.components();
    problem.graph.terminals().iter().map(|end| (end.port, part[end.switch as usize])).collect()
}

fn joined(parts: &BTreeMap<PortId, u32>, [from, to]: [PortId; 2]) -> bool {
    parts.contains_key(&from) && parts.get(&from) == parts.get(&to)
}

/// What marks take of pairs that partitions permit, by these pairs and the walks of those that have a path. Returns the
/// senders by the ports that they do not reach.
fn assert_losses_of_pairs(
    (fabric, problem): (&Fabric, &Problem<'_>),
    marked: &MarkedPaths,
    pairs: &[[PortId; 2]],
    walks: &[(u32, Vec<LinkId>, [PortId; 2])],
) -> BTreeMap<PortId, u64> {
    let marks = marked.faults();
    let meets = |(from, links, _): &&(u32, Vec<LinkId>, [PortId; 2])| {
        marks.is_node_failed(NodeId(*from)) || links.iter().any(|link| marks.is_link_failed(fabric, *link))
    };
    let (before, after) = (parts(problem), parts(&Problem::new(fabric, marks)));
    let critical: Vec<_> =
        pairs.iter().filter(|ends| joined(&before, **ends) && !joined(&after, **ends)).collect();
    let ended = critical.iter().filter(|ends| ends.iter().any(|end| !after.contains_key(end))).count() as u64;
    let with_path = walks.iter().filter(|(.., ends)| !joined(&after, *ends)).count();
    let lost = marked.path_losses();
    assert_eq!(lost.pairs, walks.iter().filter(meets).count() as u64, "{marks:?}");
    assert_eq!((lost.critical, lost.ended), (critical.len() as u64, ended), "{marks:?}");
    assert_eq!(lost.critical_without_path, (critical.len() - with_path) as u64, "{marks:?}");
    let away: BTreeSet<PortId> = marked.hit_ports(fabric, None).cut_off.into_iter().collect();
    let mut senders: BTreeMap<PortId, u64> = BTreeMap::new();
    for (.., ends @ [_, to]) in walks.iter().filter(meets) {
        if ends.iter().all(|end| !away.contains(end)) {
            *senders.entry(*to).or_default() += 1;
        }
    }
    senders
}

/// With partitions, pairs are the ends that share one; everything else is as without them.
#[test]
fn pairs_among_partitions_are_those_whose_ends_share_one() {
    let (mut taken, mut cut, mut degraded) = (0, 0, 0);
    for seed in 0..60 {
        let fabric = any_fabric(seed);
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let mut routes = route("minhop", &problem).unwrap().routes;
        let mut dice = Dice(seed + 7);
        if seed % 2 == 1 {
            damage(&problem, &mut routes, &mut dice);
        }
        let members = drawn(&fabric, &mut dice);
        let partitions = Partitions::new(fabric.ports().len(), &members);
        let index =
            PathIndex::partitioned(&problem, Arc::new(routes.clone()), Some(&partitions), &NoProgress);
        let index = Arc::new(index.unwrap());
        let mut walks = walks(&fabric, &problem, &routes);
        walks.retain(|(.., [from, to])| talk(&members, *from, *to));
        let ends: Vec<PortId> = problem.graph.terminals().iter().map(|end| end.port).collect();
        let ordered = ends.iter().flat_map(|from| ends.iter().map(move |to| [*from, *to]));
        let pairs: Vec<_> = ordered.filter(|[from, to]| from != to && talk(&members, *from, *to)).collect();
        let all = ends.len() * ends.len().saturating_sub(1);
        assert_eq!(index.pairs(), pairs.len() as u64, "seed {seed}");
        assert_eq!(index.kept_apart_pairs(), Some((all - pairs.len()) as u64), "seed {seed}");
        assert_eq!(index.without_path(), (pairs.len() - walks.len()) as u64, "seed {seed}");
        let mut marked = MarkedPaths::new(Arc::clone(&index));
        for _ in 0..4 {
            marked.mark(&fabric, any_mark(&fabric, &mut dice));
            let senders = assert_losses_of_pairs((&fabric, &problem), &marked, &pairs, &walks);
            let lost = marked.path_losses();
            let by_cables = CutOffPairs::count(&fabric, marked.faults(), Some(&partitions));
            assert_eq!((by_cables.pairs, by_cables.ended), (lost.critical, lost.ended), "seed {seed}");
            // A sender that is cut off may have had no path before; then fewer are named than walks say.
            if index.without_path() == 0 {
                let hit = marked.hit_ports(&fabric, None).degraded;
                let named: BTreeMap<PortId, u64> = hit.iter().map(|one| (one.port, one.senders)).collect();
                assert_eq!(named, senders, "seed {seed}: {:?}", marked.faults());
                degraded += named.len();
            }
            (taken, cut) = (taken + lost.pairs, cut + lost.critical);
        }
    }
    assert!(taken > 1_000 && cut > 300 && degraded > 100, "{taken} {cut} {degraded}");
}

/// Whom marks hit, by walking every path and by the parts that are left.
#[test]
fn hit_ports_are_those_that_walks_and_parts_name() {
    let (mut cut_off, mut degraded) = (0, 0);
    for seed in 0..150 {
        let fabric = any_fabric(seed);
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let routes = route("minhop", &problem).unwrap().routes;
        let (index, walks) = (paths(&problem, &routes), walks(&fabric, &problem, &routes));
        let mut dice = Dice(seed + 11);
        let mut marks = Faults::default();
        for _ in 0..4 {
            marks.mark(any_mark(&fabric, &mut dice));
            let marked = Problem::new(&fabric, &marks);
            let (part, parts) = marked.graph.components();
            let left: BTreeMap<PortId, u32> =
                marked.graph.terminals().iter().map(|end| (end.port, part[end.switch as usize])).collect();
            let size = |number: &u32| left.values().filter(|part| *part == number).count();
            let mut sizes: Vec<(usize, u32)> = (0..parts).map(|number| (size(&number), number)).collect();
            sizes.sort_unstable();
            // Which of equal parts is the rest of the fabric is another test's.
            let (Some((most, main)), second) = (sizes.pop(), sizes.pop()) else { continue };
            if problem.graph.components().1 > 1 || second.is_some_and(|(size, _)| size == most) {
                continue;
            }
            let ends = problem.graph.terminals().iter().map(|end| end.port);
            let gone: BTreeSet<PortId> = ends.filter(|port| left.get(port) != Some(&main)).collect();
            let meets = |(from, links, _): &&(u32, Vec<LinkId>, [PortId; 2])| {
                marks.is_node_failed(NodeId(*from))
                    || links.iter().any(|link| marks.is_link_failed(&fabric, *link))
            };
            let mut senders: BTreeMap<PortId, u64> = BTreeMap::new();
            for (.., [from, to]) in walks.iter().filter(meets) {
                if !gone.contains(from) && !gone.contains(to) {
                    *senders.entry(*to).or_default() += 1;
                }
            }
            let mut set = MarkedPaths::new(Arc::clone(&index));
            set.set_marks(&fabric, &marks);
            let hit = set.hit_ports(&fabric, None);
            assert_eq!(hit.cut_off.iter().copied().collect::<BTreeSet<_>>(), gone, "seed {seed}: {marks:?}");
            let found: BTreeMap<PortId, u64> =
                hit.degraded.iter().map(|one| (one.port, one.senders)).collect();
            assert_eq!(found, senders, "seed {seed}: {marks:?}");
            (cut_off, degraded) = (cut_off + gone.len(), degraded + senders.len());
        }
    }
    assert!(cut_off > 300 && degraded > 300, "{cut_off} {degraded}");
}

/// A fabric whose terminals own two LIDs each.
fn with_two_lids(name: &str) -> Fabric {
    use fabdeck_fabric::{FabricBuilder, Lid};
    let plain = fabric(name);
    let mut builder = FabricBuilder::default();
    let mut next = 1;
    let keys: Vec<_> = plain.nodes().map(|(_, node)| builder.add_node(node.facts.clone()).unwrap()).collect();
    for (_, port) in plain.ports() {
        let key = keys[port.node.index()];
        let mut facts = port.facts.clone();
        if facts.lid.is_some() {
            let lmc = u32::from(!plain.node(port.node).is_switch());
            next += next % 2;
            (facts.lid, facts.lmc) = (Lid::new(next), Lmc::new(lmc).unwrap());
            next += 2;
        }
        *builder.port(key, port.number) = facts;
    }
    for (_, link) in plain.links() {
        let end = |port: PortId| (keys[plain.port(port).node.index()], plain.port(port).number);
        builder.connect(end(link.a), end(link.b)).unwrap();
    }
    builder.finish()
}

#[test]
fn with_two_lids_a_pair_is_lost_when_both_are() {
    for name in ["kary,k=3,n=2", "torus,dims=4x4", "kautz,d=2,k=3"] {
        let fabric = with_two_lids(name);
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let routes = route("minhop", &problem).unwrap().routes;
        let index = paths(&problem, &routes);
        let mut dice = Dice(11);
        let mut saved = 0;
        for _ in 0..20 {
            let mut marks = Faults::default();
            (0..1 + dice.below(4)).for_each(|_| {
                marks.mark(any_mark(&fabric, &mut dice));
            });
            let (mut pairs, mut lids, mut partial, mut ended) = (0, 0, 0, 0);
            for from in problem.graph.terminals() {
                for to in problem.graph.terminals().iter().filter(|to| to.port != from.port) {
                    let base = u32::from(to.lid.unwrap().value());
                    let up = |port: PortId| !marks.is_link_failed(&fabric, fabric.port(port).link.unwrap());
                    let stands = (0..2).filter(|more| {
                        let lid = fabdeck_fabric::Lid::new(base + more).unwrap();
                        let channels = path(&problem, &routes, from.switch, lid).unwrap();
                        let link = |id: &u32| problem.graph.channels()[*id as usize].link;
                        up(from.port)
                            && up(to.port)
                            && channels.iter().all(|id| !marks.is_link_failed(&fabric, link(id)))
                    });
                    let stands = stands.count() as u64;
                    lids += 2 - stands;
                    pairs += u64::from(stands == 0);
                    partial += u64::from(stands == 1);
                    ended += u64::from(!(up(from.port) && up(to.port)));
                }
            }
            let lost = lost(&index, &fabric, &marks);
            let told = (lost.pairs, lost.lids, lost.partial, lost.ended);
            assert_eq!(told, (pairs, lids, partial, ended), "{name}: {marks:?}");
            assert_eq!(lost.partial_ports.is_empty(), partial == 0, "{name}: {marks:?}");
            let links = fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id));
            let down = links.filter(|id| marks.is_link_failed(&fabric, *id)).count();
            assert_eq!(lost.links, down, "{name}: {marks:?}");
            saved += partial;
        }
        assert!(saved > 0, "{name}");
    }
}

/// Marks that come and go in any order: what is kept is what a look from nothing finds, after each step.
#[test]
fn marks_that_come_and_go_leave_what_a_look_from_nothing_finds() {
    let mut spared = 0;
    for seed in 0..60 {
        let fabric = match seed % 3 {
            0 => with_two_lids(["kary,k=3,n=2", "torus,dims=4x4", "kautz,d=2,k=3"][seed as usize / 3 % 3]),
            _ => any_fabric(seed),
        };
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let mut routes = route("minhop", &problem).unwrap().routes;
        let mut dice = Dice(seed + 29);
        if seed % 2 == 1 {
            damage(&problem, &mut routes, &mut dice);
        }
        let index = paths(&problem, &routes);
        let mut marked = MarkedPaths::new(Arc::clone(&index));
        let mut jump = marked.clone();
        for _ in 0..16 {
            let held: Vec<ElementId> = marked.faults().iter().collect();
            let looked = match dice.below(3) {
                0 if !held.is_empty() => {
                    let what = held[dice.below(held.len())];
                    let looked = marked.unmark(&fabric, what);
                    assert_eq!(marked.unmark(&fabric, what), None);
                    looked
                }
                _ => {
                    let what = any_mark(&fabric, &mut dice);
                    let looked = marked.mark(&fabric, what);
                    assert_eq!(marked.mark(&fabric, what), None);
                    looked
                }
            };
            spared += usize::from(looked.is_some_and(|ports| ports < problem.graph.terminals().len()));
            assert_eq!(
                marked.path_losses(),
                lost(&index, &fabric, marked.faults()),
                "seed {seed}: {:?}",
                marked.faults()
            );
        }
        jump.set_marks(&fabric, marked.faults());
        assert_eq!(
            (jump.path_losses(), jump.faults()),
            (marked.path_losses(), marked.faults()),
            "seed {seed}"
        );
        jump.set_marks(&fabric, &Faults::default());
        assert_eq!(jump.path_losses(), fabdeck_routing::analysis::PathLosses::default(), "seed {seed}");
    }
    assert!(spared > 200, "{spared}");
}

/// The certificate of the same: one LID without a path costs no pair.
#[test]
fn with_two_lids_a_missing_entry_costs_a_lid_and_no_pair() {
    let fabric = with_two_lids("kary,k=3,n=2");
    let none = Faults::default();
    let problem = Problem::new(&fabric, &none);
    let mut routes = route("minhop", &problem).unwrap().routes;
    let (from, to) = (&problem.graph.terminals()[0], problem.graph.terminals().last().unwrap());
    let senders = problem.graph.terminals_of(from.switch).len() as u64;
    let base = to.lid.unwrap();
    let second = fabdeck_fabric::Lid::new(u32::from(base.value()) + 1).unwrap();
    for (lid, lids, pairs) in [(second, senders, 0), (base, 2 * senders, senders)] {
        routes.set(from.switch, lid, None);
        let seen = certificate(&problem, &routes, false);
        let partial: Vec<_> = seen.lost.first_partial.iter().map(|pair| (pair.to, pair.cause)).collect();
        assert_eq!(seen.lost.partial, senders - pairs);
        assert_eq!(partial, vec![(second, Cause::NoRoute); (senders - pairs) as usize]);
        assert_eq!((seen.lost.lids, seen.lost.total()), (lids, pairs), "{:?}", seen.lost);
        assert_eq!(seen.lost.by_cause(Cause::NoRoute), pairs);
    }
    let terminals = problem.graph.terminals().len() as u64;
    let seen = certificate(&problem, &routes, false);
    assert_eq!(seen.pairs, terminals * (terminals - 1));
    assert_eq!(seen.lengths.paths(), 2 * seen.pairs - seen.lost.lids);
}

#[test]
fn pairs_of_aggregation_nodes_are_counted_apart() {
    let fabric = fabric("demo");
    let none = Faults::default();
    let problem = Problem::new(&fabric, &none);
    let mut routes = route("minhop", &problem).unwrap().routes;
    let aggregates = |end: &&fabdeck_fabric::Terminal| {
        fabric.node(fabric.port(end.port).node).facts.description.contains("Aggregation Node")
    };
    let to = problem.graph.terminals().iter().find(aggregates).unwrap();
    let from = problem.graph.terminals().iter().find(|end| end.switch != to.switch).unwrap();
    routes.set(from.switch, to.lid.unwrap(), None);
    let seen = certificate(&problem, &routes, false);
    assert!(seen.lost.total() > 0);
    assert_eq!(seen.lost.by_kind(PairKind::Aggregation), seen.lost.total());
    let all = certificate(&problem, &routes, true);
    assert_eq!(all.lost.by_kind(PairKind::Aggregation), seen.lost.total());
    assert!(all.lost.by_kind(PairKind::Switches) > 0);
}

/// The mean of lost pairs over some seeds, Proposition 4.2, and the exact mean.
fn curve(
    fabric: &Fabric,
    index: &Arc<PathIndex>,
    links: &[LinkId],
    (faults, seeds): (usize, u64),
) -> (f64, f64, f64) {
    let taken = |seed: u64| {
        let mut dice = Dice(seed * 7_919 + faults as u64);
        let mut drawn = links.to_vec();
        let mut marks = Faults::default();
        for at in 0..faults {
            let other = at + dice.below(drawn.len() - at);
            drawn.swap(at, other);
            marks.mark(ElementId::Link(drawn[at]));
        }
        lost(index, fabric, &marks).pairs
    };
    let sum: u64 = (1..=seeds).into_par_iter().map(taken).sum();
    let expected = index.expected(faults);
    (sum as f64 / seeds as f64, expected.linear, expected.mean)
}

/// Each link of a tree carries the same in its stage: going up, a switch takes the digit of its rank from the number
/// of the destination. The curves are of perfectly balanced routes.
fn balanced(problem: &Problem<'_>) -> Routes {
    let graph = &problem.graph;
    let far = u32::MAX;
    let hops_from = |start: Vec<u32>| {
        let mut hops = vec![far; graph.switch_count()];
        start.iter().for_each(|switch| hops[*switch as usize] = 0);
        let mut queue = std::collections::VecDeque::from(start);
        while let Some(at) = queue.pop_front() {
            for channel in &graph.channels()[graph.outgoing(at)] {
                if hops[channel.to as usize] == far {
                    hops[channel.to as usize] = hops[at as usize] + 1;
                    queue.push_back(channel.to);
                }
            }
        }
        hops
    };
    let leaves = problem.switches().filter(|switch| !graph.terminals_of(*switch).is_empty()).collect();
    let rank = hops_from(leaves);
    let mut routes = problem.empty_routes();
    let mut number = 0;
    for to in problem.switches() {
        let hops = hops_from(vec![to]);
        for end in problem.destinations_behind(to) {
            for switch in problem.switches().filter(|switch| hops[*switch as usize] != far) {
                let leaving = &graph.channels()[graph.outgoing(switch)];
                let nearer = |to: u32| hops[to as usize] + 1 == hops[switch as usize];
                let ways: Vec<_> = leaving.iter().filter(|channel| nearer(channel.to)).collect();
                let digit = ways.len().pow(rank[switch as usize]);
                let port =
                    if ways.is_empty() { end.port } else { ways[number / digit % ways.len()].from_port };
                routes.set(switch, end.lid, Some(port));
            }
            number += usize::from(!end.is_switch());
        }
    }
    routes
}

/// The exact mean of one and of two faults is that of all links and all pairs of links.
#[test]
fn the_exact_mean_is_the_mean_over_all_sets_of_links() {
    for name in ["kary,k=3,n=2", "torus,dims=4x3", "random,switches=9,links=14,seed=3"] {
        let fabric = fabric(name);
        let none = Faults::default();
        let problem = Problem::new(&fabric, &none);
        let index = paths(&problem, &route("minhop", &problem).unwrap().routes);
        let links = fabric.links().map(|(id, _)| id).filter(|link| fabric.is_between_switches(*link));
        let links: Vec<LinkId> = links.collect();
        let taken = |some: &[LinkId]| {
            let mut marks = Faults::default();
            some.iter().for_each(|link| {
                marks.mark(ElementId::Link(*link));
            });
            lost(&index, &fabric, &marks).pairs
        };
        let one: Vec<u64> = links.iter().map(|link| taken(&[*link])).collect();
        let two = links.iter().enumerate().flat_map(|(at, a)| links[at + 1..].iter().map(move |b| [*a, *b]));
        let two: Vec<u64> = two.map(|both| taken(&both)).collect();
        for (faults, all) in [(1, &one), (2, &two)] {
            let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
            assert!((index.expected(faults).mean - mean).abs() < 1e-6, "{name}, {faults}: {mean}");
        }
        let expected = index.expected(1);
        let (best, worst) = (one.iter().min().copied().unwrap(), one.iter().max().copied().unwrap());
        assert_eq!((expected.best, expected.worst), (best, worst), "{name}");
    }
}

/// Figure 4.2a: links of a 10-ary 3-tree fail, 100 seeds, without rerouting. Set `FABDECK_LONG=1` for more points.
#[test]
fn disconnected_paths_follow_proposition_4_2_and_the_exact_mean() {
    let long = std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1");
    let percents: &[f64] = if long { &[0.5, 1.0, 2.0, 3.0, 5.0, 10.0] } else { &[1.0, 3.0, 10.0] };
    let name = "kary,k=10,n=3";
    let fabric = fabric(name);
    let none = Faults::default();
    let problem = Problem::new(&fabric, &none);
    let index = paths(&problem, &balanced(&problem));
    let links: Vec<LinkId> =
        fabric.links().map(|(id, _)| id).filter(|link| fabric.is_between_switches(*link)).collect();
    assert_eq!(index.expected(1).links, links.len());
    for percent in percents {
        let faults = (links.len() as f64 * percent / 100.0).round() as usize;
        let (measured, linear, exact) = curve(&fabric, &index, &links, (faults, 100));
        println!("{name}, {percent} %: measured {measured:.0}, linear {linear:.0}, exact {exact:.0}");
        if *percent <= 3.0 {
            assert!((measured / linear - 1.0).abs() < 0.05, "{percent} %: {measured} and {linear}");
        }
        assert!((measured / exact - 1.0).abs() < 0.01, "{percent} %: {measured} and {exact}");
    }
}

/// What is not known of the tables in force cannot be counted as lost, so the count is a bound and says so.
#[test]
fn what_marks_take_is_a_bound_where_tables_are_missing_or_do_not_tell_the_paths() {
    let fabric = fabric("kary,k=3,n=2");
    let none = Faults::default();
    let problem = Problem::new(&fabric, &none);
    let routes = route("minhop", &problem).unwrap().routes;
    let mut tables = Tables::default();
    fabric.switches().for_each(|(id, _)| tables.node_mut(id).lft = Some(routes.lft(id.0)));
    let cost = |tables: &Tables, adaptive| {
        let observation = Observation { fabric: fabric.clone(), adaptive, ..Observation::default() };
        let look = Snapshot::new("here", observation, &Default::default());
        Preview::with_marks(&look, tables, &none).unwrap().cost(None)
    };
    let whole = cost(&tables, None);
    assert_eq!((whole.bound(), whole.without_path_before), (CostBound::Exact, 0));
    assert_eq!(whole.lost_words(), "0 of 72 pairs until rerouted (0.0 %)");
    let adaptive = cost(&tables, Some(AdaptiveRouting::On(2)));
    assert_eq!((adaptive.bound(), adaptive.adaptive_routing), (CostBound::ByStaticPorts, Some(2)));
    tables.node_mut(NodeId(0)).lft = None;
    let unread = cost(&tables, None);
    // Three hosts behind the first leaf, of nine: they neither send nor receive.
    let among = 3 * 2 + 2 * 3 * 6;
    assert_eq!((unread.unread_tables, unread.without_path_before), (1, among));
    assert!(
        unread.bound() == CostBound::AtLeast && unread.lost_words().starts_with("at least 0 of 72"),
        "{}",
        unread.lost_words()
    );
}
