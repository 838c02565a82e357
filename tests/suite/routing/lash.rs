//! `lash`: one shortest way for each pair of switches, and a lane for each pair, both ways alike.

use std::collections::BTreeSet;

use fabdeck_fabric::{Faults, Lid, PathLanes};
use fabdeck_routing::{EngineRefusal, Problem, Request};

use super::certificate::{any_fabric, certificate};
use super::oracle::judge;
use super::{fabric, is_long, route_as, same_on_two_threads};

fn on_lanes(problem: &Problem<'_>, lanes: u8) -> Result<fabdeck_routing::EngineAnswer, EngineRefusal> {
    route_as("lash", problem, &Request { lanes, ..Request::default() })
}

/// A LID of each switch that has any.
fn lid_of(problem: &Problem<'_>, switch: u32) -> Option<Lid> {
    problem.destinations_behind(switch).first().map(|end| end.lid)
}

#[test]
fn both_paths_of_a_pair_are_shortest_and_on_one_lane_and_no_lane_has_a_cycle() {
    let named = [
        "demo",
        "kary,k=3,n=3",
        "torus,dims=5x4,terminals=2",
        "kautz,d=2,k=3",
        "dragonfly,a=3,p=1,h=1,g=4",
        "random,switches=24,links=50,faults=3",
        "random,switches=12,links=14,faults=40%,disconnect=yes",
    ];
    let mut laned = 0;
    let any = (0..60).map(|seed| (format!("seed {seed}"), any_fabric(seed)));
    for (name, fabric) in named.map(|name| (name.to_owned(), fabric(name))).into_iter().chain(any) {
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let routes = on_lanes(&problem, 15).unwrap().routes;
        let verdict = judge(&problem, &routes);
        assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{name}: {verdict:?}");
        assert!(!verdict.loops && !verdict.detour, "{name}: {verdict:?}");
        assert!(!verdict.cycle && !verdict.cycle_switches, "{name}: {verdict:?}");
        for from in problem.switches() {
            for to in problem.switches() {
                let (Some(here), Some(there)) = (lid_of(&problem, from), lid_of(&problem, to)) else {
                    continue;
                };
                assert_eq!(routes.lane(from, there), routes.lane(to, here), "{name}: {from}, {to}");
            }
        }
        laned += usize::from(routes.lane_count() > 1);
    }
    assert!(laned > 20, "{laned}");
}

/// Lanes and the paths of the busiest channel, as OpenSM 3.3.23 has them on the same fabrics.
#[test]
fn lanes_and_load_are_those_of_opensm() {
    let mut rows = vec![
        ("switch648", 1, 11_340),
        ("racks648", 2, 23_328),
        ("torus,dims=4x4x4,terminals=4", 5, 768),
        ("torus,dims=7x7x7,terminals=4", 8, 4_704),
        ("dragonfly,a=12,p=6,h=6,g=15", 4, 4_104),
        ("kautz,d=5,k=3,terminals=7,redundancy=2", 5, 4_704),
    ];
    if is_long() {
        rows.push(("kautz,d=7,k=3,terminals=6,redundancy=2", 6, 7_344));
        rows.push(("switch3456", 5, 476_928));
        rows.push(("juropa", 5, 1_026_432));
    }
    for (name, lanes, most) in rows {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = on_lanes(&problem, 15).unwrap().routes;
        let seen = certificate(&problem, &routes, true);
        let found = (routes.lane_count(), seen.edge_forwarding_index.max);
        println!("{name}: {found:?}");
        assert!(found.0.abs_diff(lanes) <= 1, "{name}: {found:?}, OpenSM {lanes}");
        assert!(found.1.abs_diff(most) * 20 <= most, "{name}: {found:?}, OpenSM {most}");
        assert_eq!((seen.deadlock_free, seen.lost.total()), (Some(true), 0), "{name}");
    }
}

#[test]
fn a_refusal_has_the_number_of_lanes_that_serve() {
    let (fabric, faults) = (fabric("torus,dims=6x6x6,terminals=4"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let refusal = on_lanes(&problem, 8).unwrap_err();
    let EngineRefusal::Lanes { engine: "lash", needed, given: 8 } = refusal else { panic!("{refusal}") };
    assert!((8..=10).contains(&needed), "{refusal}, OpenSM 9");
    let served = on_lanes(&problem, needed as u8).unwrap().routes;
    assert_eq!(u32::from(served.lane_count()), needed);
    assert_eq!(certificate(&problem, &served, true).deadlock_free, Some(true));
}

/// Pairs move to other lanes after all have one, until sizes differ by fewer than six.
#[test]
fn lanes_have_about_as_many_pairs() {
    let (fabric, faults) = (fabric("torus,dims=5x5,terminals=1"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let answer = on_lanes(&problem, 15).unwrap();
    let PathLanes::ByPair { lanes, .. } = answer.routes.lanes else { panic!("one lane") };
    let mut sizes = vec![0u32; lanes.into()];
    for from in problem.switches() {
        for to in (from + 1)..problem.graph.switch_count() as u32 {
            let lane = answer.routes.lane(from, lid_of(&problem, to).unwrap());
            sizes[usize::from(lane.value())] += 1;
        }
    }
    let words: Vec<String> = sizes.iter().map(u32::to_string).collect();
    assert!(answer.remarks[0].ends_with(&words.join(", ")), "{sizes:?}, {:?}", answer.remarks);
    assert_eq!(sizes.iter().sum::<u32>(), 25 * 24 / 2);
    // As many as the greedy put on each lane before pairs moved: the first has the most and the last one a few.
    let greedy = lanes_by_the_book(&problem, &answer.routes);
    let spread = |sizes: &[u32]| sizes.iter().max().unwrap() - sizes.iter().min().unwrap();
    println!("{greedy:?} before, {sizes:?} after");
    assert!(spread(&sizes) * 3 < spread(&greedy), "{greedy:?} before, {sizes:?} after");
    assert_eq!(sizes.len(), greedy.len());
    let moved = sizes.iter().zip(&greedy).map(|(after, before)| after.saturating_sub(*before)).sum::<u32>();
    assert!(moved > 100, "{moved} pairs moved");
}

/// The greedy as it is described, with a search for cycles from nothing for each pair: the pairs of each lane.
fn lanes_by_the_book(problem: &Problem<'_>, routes: &fabdeck_fabric::Routes) -> Vec<u32> {
    let path = |from: u32, to: u32| {
        let lid = lid_of(problem, to).unwrap();
        let (mut at, mut channels) = (from, Vec::new());
        while at != to {
            let port = routes.get(at, lid).unwrap();
            let leaving = problem.graph.outgoing(at);
            let taken = leaving.clone().find(|id| problem.graph.channels()[*id].from_port == port).unwrap();
            channels.push(taken);
            at = problem.graph.channels()[taken].to;
        }
        channels
    };
    let mut lanes: Vec<BTreeSet<(usize, usize)>> = Vec::new();
    let mut sizes: Vec<u32> = Vec::new();
    for low in problem.switches() {
        for high in (low + 1)..problem.graph.switch_count() as u32 {
            let wanted: BTreeSet<(usize, usize)> = [path(low, high), path(high, low)]
                .iter()
                .flat_map(|path| path.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>())
                .collect();
            let fits = |lane: &BTreeSet<(usize, usize)>| !has_cycle(&lane.union(&wanted).copied().collect());
            match lanes.iter().position(fits) {
                Some(lane) => {
                    lanes[lane].extend(wanted);
                    sizes[lane] += 1;
                }
                None => {
                    lanes.push(wanted);
                    sizes.push(1);
                }
            }
        }
    }
    sizes
}

fn has_cycle(dependencies: &BTreeSet<(usize, usize)>) -> bool {
    let mut left = dependencies.clone();
    loop {
        let held: BTreeSet<usize> = left.iter().map(|(from, _)| *from).collect();
        let before = left.len();
        // A channel that waits for nothing is part of no cycle.
        left.retain(|(_, to)| held.contains(to));
        if left.len() == before {
            return !left.is_empty();
        }
    }
}

#[test]
fn there_are_as_many_lanes_as_the_greedy_needs() {
    for name in [
        "torus,dims=5,terminals=1",
        "torus,dims=5x5,terminals=1",
        "torus,dims=4x3x3,terminals=1",
        "kautz,d=2,k=3,terminals=1",
        "random,switches=30,links=60,terminals=1,seed=4",
        "dragonfly,a=4,p=1,h=1,g=5",
    ] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = on_lanes(&problem, 15).unwrap().routes;
        assert_eq!(usize::from(routes.lane_count()), lanes_by_the_book(&problem, &routes).len(), "{name}");
    }
}

#[test]
fn threads_change_nothing() {
    same_on_two_threads("lash", "torus,dims=5x5,terminals=2");
    same_on_two_threads("lash", "random,switches=60,links=140,seed=5");
}
