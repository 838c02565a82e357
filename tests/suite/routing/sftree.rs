//! `sftree`: all that `ftree` has, and everything reaches everything on one lane.

use std::collections::BTreeSet;

use fabdeck_fabric::{Fabric, FabricBuilder, Faults, Guid, NodeFacts, NodeId, NodeKind, PortNum};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{NoProgress, Problem, Request};

use super::oracle::judge;
use super::{fabric, route, route_as, same_on_two_threads};

fn holds(name: &str) {
    let (fabric, faults) = (fabric(name), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let verdict = judge(&problem, &route("sftree", &problem).unwrap().routes);
    assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{name}: {verdict:?}");
    assert!(!verdict.loops && !verdict.cycle && !verdict.cycle_switches, "{name}: {verdict:?}");
}

#[test]
fn every_pair_of_switches_is_served_without_a_cycle() {
    for name in [
        "demo",
        "kary,k=2,n=3",
        "kary,k=3,n=3,aggregation=yes",
        "kary,k=2,n=4,aggregation=yes",
        "gft2,n=2,m=4,r=6,redundancy=3,aggregation=yes",
        "kary,k=3,n=3,aggregation=yes,faults=5%",
        "mport,m=4,n=3",
    ] {
        holds(name);
    }
}

/// Figure 3: two pods and two cores' worth of tops; X1 and X2 meet below A1, X1 and Y1 at the root of the subtree.
#[test]
fn tops_without_a_common_switch_above_meet_in_the_subtree() {
    let (fabric, faults) = (fabric("kary,k=2,n=3"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let answer = route("sftree", &problem).unwrap();
    let walk = |from: u32, to: u32| {
        let lid = problem.destinations_behind(to)[0].lid;
        let (mut at, mut path) = (from, vec![from]);
        while at != to && path.len() < 20 {
            let port = answer.routes.get(at, lid).unwrap();
            let leaving = &problem.graph.channels()[problem.graph.outgoing(at)];
            at = leaving.iter().find(|channel| channel.from_port == port).unwrap().to;
            path.push(at);
        }
        path.iter().map(|at| fabric.node(NodeId(*at)).facts.description.clone()).collect::<Vec<_>>()
    };
    let named = |name: &str| {
        let node = |node: &fabdeck_fabric::Node| node.facts.description.split(' ').next() == Some(name);
        fabric.switches().find(|(_, at)| node(at)).unwrap().0.0
    };
    let turn = |from: &str, to: &str| walk(named(from), named(to));
    assert_eq!(turn("spine0", "spine2"), ["spine0", "mid0", "spine2"]);
    assert_eq!(turn("spine0", "spine1"), ["spine0", "mid0", "leaf0", "mid1", "spine1"]);
    assert_eq!(turn("mid0", "mid1"), ["mid0", "leaf0", "mid1"]);
    assert_eq!(turn("mid2", "mid3"), ["mid2", "spine2", "mid0", "leaf0", "mid1", "spine3", "mid3"]);
    // A1 and A2 by the tops above both, as by `ftree`.
    for (a, b, tops) in [("mid0", "mid2", ["spine0", "spine2"]), ("mid1", "mid3", ["spine1", "spine3"])] {
        for (from, to) in [(a, b), (b, a)] {
            let path = turn(from, to);
            assert!(path.len() == 3 && tops.contains(&path[1].as_str()), "{path:?}");
        }
    }
    // Down and up again happens in the subtree, once, and only where up and down leads nowhere.
    let height =
        |name: &str| ["leaf", "mid", "spine"].iter().position(|rank| name.starts_with(rank)).unwrap();
    let plain = route("ftree", &problem).unwrap().routes;
    for (from, to) in problem.switches().flat_map(|from| problem.switches().map(move |to| (from, to))) {
        let path = walk(from, to);
        let below = |three: &&[String]| {
            let [a, b, c] = [0, 1, 2].map(|place| height(&three[place]));
            b < a && b < c
        };
        let valleys: Vec<&str> = path.windows(3).filter(below).map(|three| three[1].as_str()).collect();
        let inside = valleys.iter().all(|at| ["leaf0", "mid0", "mid1"].contains(at));
        let ordered = from == to || plain.get(from, problem.destinations_behind(to)[0].lid).is_some();
        assert!(inside && valleys.len() == usize::from(!ordered), "{path:?}");
    }
    assert!(answer.remarks.iter().any(|remark| remark.starts_with("root of the subtree: leaf0")));
}

#[test]
fn the_root_is_not_the_switch_of_the_manager() {
    let (fabric, faults) = (fabric("kary,k=2,n=3"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let first = problem.graph.terminals_of(0)[0];
    let manager = Some(fabric.node(fabric.port(first.port).node).guid());
    let plain = route("sftree", &problem).unwrap();
    let moved = route_as("sftree", &problem, &Request { manager, ..Request::default() }).unwrap();
    assert_ne!(plain.remarks[1], moved.remarks[1]);
    assert!(!judge(&problem, &moved.routes).cycle_switches);
}

#[test]
fn hosts_take_the_paths_of_ftree() {
    let (fabric, faults) = (fabric("kary,k=3,n=3"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let (one, other) = (route("ftree", &problem).unwrap().routes, route("sftree", &problem).unwrap().routes);
    for switch in problem.switches() {
        for end in problem.destinations().iter().filter(|end| !end.is_switch()) {
            let port = one.get(switch, end.lid);
            assert!(port.is_none() || port == other.get(switch, end.lid), "{switch} {}", end.lid);
        }
    }
}

/// On trees of this size fewer starts are tried; the subtree alone loads this one's busiest channel three times as much.
#[test]
fn large_irregular_trees_are_hardly_busier_than_under_ftree() {
    let (fabric, faults) = (fabric("irregular,family=tier,size=large,seed=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let [ftree, sftree] = ["ftree", "sftree"].map(|engine| {
        let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
        let found = certify(&problem, &route(engine, &problem).unwrap().routes, &scope, &NoProgress).unwrap();
        assert_eq!(found.lost.total(), 0, "{engine}");
        found.edge_forwarding_index.max
    });
    assert!(sftree * 20 <= ftree * 21, "{sftree} {ftree}");
}

#[test]
fn one_and_two_threads_agree() {
    same_on_two_threads("sftree", "kary,k=4,n=3,faults=5%,aggregation=yes");
    same_on_two_threads("sftree", "racks648,aggregation=yes");
}

/// The switches of the hole in lemma 5.9 (docs/engines.md), by their numbers, and the cables between them.
const SEVEN: [&str; 7] = ["L", "B", "C", "M1", "M2", "S1", "S2"];
const CABLES: [(usize, usize); 8] = [(0, 3), (0, 4), (1, 4), (2, 3), (3, 5), (3, 6), (4, 5), (4, 6)];

/// A host on each leaf, behind port 1; the other ports in the order of the cables.
fn seven_switches() -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut ports = [2u8; 7];
    let switches: Vec<_> = (0u64..)
        .zip(SEVEN)
        .map(|(at, name)| {
            builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(0x100 + at), 8, name.to_owned())).unwrap()
        })
        .collect();
    for leaf in 0..3 {
        let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(0x200 + leaf), 1, format!("host {leaf}"));
        let host = builder.add_node(facts).unwrap();
        builder.connect((switches[leaf as usize], PortNum(1)), (host, PortNum(1))).unwrap();
    }
    for (a, b) in CABLES {
        builder.connect((switches[a], PortNum(ports[a])), (switches[b], PortNum(ports[b]))).unwrap();
        ports[a] += 1;
        ports[b] += 1;
    }
    builder.finish().with_fresh_lids(None)
}

#[test]
fn the_paths_of_the_lemma_close_a_cycle_and_those_here_do_not() {
    let (fabric, faults) = (seven_switches(), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let at = |name: &str| SEVEN.iter().position(|own| *own == name).unwrap() as u32;
    // From and to spines, whose U-turns algorithm 2 makes at the chips; from and to hosts.
    let paths: [(&[&str], bool); 4] = [
        (&["S1", "M2", "S2"], true),
        (&["S2", "M1", "S1"], true),
        (&["C", "M1", "S1", "M2", "B"], false),
        (&["B", "M2", "S2", "M1", "C"], false),
    ];
    let judged = |paths: &[(&[&str], bool)]| {
        let mut routes = problem.empty_routes();
        for (path, of_switch) in paths {
            let last = at(path[path.len() - 1]);
            let end =
                problem.destinations_behind(last).iter().find(|end| end.is_switch() == *of_switch).unwrap();
            routes.set(last, end.lid, Some(end.port));
            for hop in path.windows(2) {
                let leaving = &problem.graph.channels()[problem.graph.outgoing(at(hop[0]))];
                let taken = leaving.iter().find(|channel| channel.to == at(hop[1])).unwrap();
                routes.set(at(hop[0]), end.lid, Some(taken.from_port));
            }
        }
        let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
        certify(&problem, &routes, &scope, &NoProgress).unwrap()
    };
    for left_out in 0..paths.len() {
        let three: Vec<_> = (0..paths.len()).filter(|at| *at != left_out).map(|at| paths[at]).collect();
        assert!(judged(&three).cycles.is_empty(), "without {left_out}");
    }
    let seen = judged(&paths);
    assert_eq!((seen.deadlock_free, seen.cycles.len()), (Some(false), 1));
    let channel = |id| {
        let channel = problem.graph.channel(id);
        format!("{}>{}", SEVEN[channel.from as usize], SEVEN[channel.to as usize])
    };
    let cycle: BTreeSet<String> = seen.cycles[0].channels.iter().map(|id| channel(*id)).collect();
    assert_eq!(cycle, ["M1>S1", "M2>S2", "S1>M2", "S2>M1"].map(str::to_owned).into());
    let verdict = judge(&problem, &route("sftree", &problem).unwrap().routes);
    assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{verdict:?}");
    assert!(!verdict.loops && !verdict.cycle && !verdict.cycle_switches, "{verdict:?}");
}
