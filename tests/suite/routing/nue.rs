//! `nue`: everything connected and free of deadlocks with any number of lanes.

use fabdeck_fabric::{
    Fabric, FabricBuilder, Faults, Guid, Lid, Lmc, NodeFacts, NodeKind, PathLanes, PortNum,
};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{
    EngineAnswer, EngineRefusal, NoProgress, Problem, Request, RouteProgress, find_engine,
};

use super::oracle::{OracleVerdict, judge};
use super::random_fabrics::sketch;
use super::{fabric, route, route_as};

fn nue(problem: &Problem<'_>, lanes: u8) -> EngineAnswer {
    route_as("nue", problem, &Request { lanes, ..Request::default() }).unwrap()
}

/// What the engine promises, by the naive judge.
fn holds(what: &str, problem: &Problem<'_>, lanes: u8) -> OracleVerdict {
    let answer = nue(problem, lanes);
    let verdict = judge(problem, &answer.routes);
    let kept = verdict.lost.is_empty()
        && verdict.lost_switches.is_empty()
        && !(verdict.loops || verdict.cycle || verdict.cycle_switches)
        && verdict.lanes.iter().all(|lane| *lane < lanes)
        && answer.routes.lane_count() <= lanes;
    assert!(kept, "{what}, {lanes} lanes: {verdict:?}");
    // The first remark says in words how many destinations use the escape paths.
    let remark = &answer.remarks[0];
    let fell = answer.fell_back.unwrap();
    let is_searched = remark.ends_with("destinations use the escape paths");
    let words = if is_searched { format!("{fell} of ") } else { String::new() };
    assert!(remark.starts_with(&words) && (is_searched || fell == 0), "{what}: {fell}, {remark}");
    verdict
}

/// Switches 1 to n with one host each, cabled as listed; several cables of one pair are parallel links.
fn by_hand(switches: u64, cables: &[(u64, u64)]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut keys = Vec::new();
    for number in 1..=switches {
        let switch = NodeFacts::new(NodeKind::Switch, Guid(number), 36, format!("n{number}"));
        let host = NodeFacts::new(NodeKind::ChannelAdapter, Guid(100 + number), 1, format!("h{number}"));
        let (switch, host) = (builder.add_node(switch).unwrap(), builder.add_node(host).unwrap());
        builder.port(switch, PortNum(0)).lid = Lid::new(number as u32);
        builder.port(host, PortNum(1)).lid = Lid::new(100 + number as u32);
        builder.connect((switch, PortNum(1)), (host, PortNum(1))).unwrap();
        keys.push((switch, 1u8));
    }
    for (a, b) in cables {
        for end in [a, b] {
            keys[*end as usize - 1].1 += 1;
        }
        let [a, b] = [a, b].map(|end| (keys[*end as usize - 1].0, PortNum(keys[*end as usize - 1].1)));
        builder.connect(a, b).unwrap();
    }
    builder.finish()
}

/// Figure 6.3a: a ring of five with a shortcut.
const RING: &[(u64, u64)] = &[(1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (3, 5)];

#[test]
fn the_ring_of_five_with_a_shortcut_needs_one_lane() {
    // Figures 6.1 to 6.7: without the shortcut no shortest-path routing does.
    for (name, cables) in [("ring", &RING[..5]), ("ring with shortcut", RING)] {
        let (fabric, faults) = (by_hand(5, cables), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let one = holds(name, &problem, 1);
        assert!(one.detour || name != "ring", "{name}: {one:?}");
        for lanes in 2..=8 {
            holds(name, &problem, lanes);
        }
        // A lane for each destination leaves nothing to avoid.
        assert!(!holds(name, &problem, 5).detour, "{name}");
    }
}

#[test]
fn named_fabrics_keep_every_promise_at_any_number_of_lanes() {
    for (name, lanes) in [
        ("demo", &[1, 8][..]),
        ("torus,dims=5", &[1, 2, 3, 4, 5, 6, 7, 8]),
        ("torus,dims=4x4", &[1, 2, 3, 8]),
        ("torus,dims=3x3x3", &[1, 4, 8]),
        ("torus,dims=5x4,redundancy=2", &[1, 4]),
        ("mesh,dims=4x3", &[1, 2]),
        ("kautz,d=2,k=3", &[1, 2, 5]),
        ("kary,k=3,n=3", &[1, 4]),
        ("dragonfly,a=4,h=2,g=5", &[1, 3, 7]),
        ("random,switches=20,links=40,faults=3", &[1, 2, 6]),
        ("random,switches=12,links=14,faults=40%,disconnect=yes", &[1, 2, 8]),
    ] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        lanes.iter().for_each(|lanes| drop(holds(name, &problem, *lanes)));
    }
}

#[test]
fn one_lane_is_never_worse_than_up_and_down() {
    let mut unused = 0;
    for seed in 0..300 {
        let sketch = sketch(seed, false);
        let (fabric, faults) = sketch.build();
        let problem = Problem::new(&fabric, &faults);
        let first = fabric.switches().next().map(|(_, node)| node.guid());
        let roots = first.filter(|_| seed % 2 == 0).into_iter().collect();
        let request = Request { lanes: 1, roots, ..Request::default() };
        let [one, other] = ["nue", "updn"].map(|id| route_as(id, &problem, &request).unwrap());
        let [nue, updn] = [&one, &other].map(|answer| judge(&problem, &answer.routes).busiest);
        assert!(nue <= updn, "seed {seed}: {nue} {updn}\n{}", sketch.text());
        // A search without a result is reported, and not that nothing was searched.
        if one.remarks[0].starts_with("the result of the search is not used") {
            let as_updn = one.remarks[1].contains("Up*/Down* routes, better on one lane");
            let ways = ["trees on one lane, along a", "ways up and down, ranks"];
            let along = ways.iter().any(|way| one.remarks[1].starts_with(way));
            assert!(as_updn || along, "seed {seed}: {:?}", one.remarks);
            unused += 1;
        }
    }
    assert!(unused > 0);
}

#[test]
fn trees_are_not_searched_and_say_so() {
    let (fabric, faults) = (fabric("kary,k=4,n=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    for lanes in [1, 4, 8] {
        let verdict = holds("tree", &problem, lanes);
        assert!(verdict.busiest == 12 && !verdict.detour, "{lanes}: {verdict:?}");
        let remarks = nue(&problem, lanes).remarks;
        assert_eq!(remarks[0], "no destination was searched and none uses the escape paths");
    }
}

#[test]
fn trees_with_links_missing_stay_balanced_on_one_lane() {
    let (fabric, faults) = (fabric("switch648,faults=1%"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let [one, eight] = [1, 8].map(|lanes| nue(&problem, lanes));
    assert_eq!(one, eight);
    assert_eq!(one.remarks[0], "no destination was searched and none uses the escape paths");
    let [busiest, updn] = [&one, &route_as("updn", &problem, &Request::default()).unwrap()].map(|answer| {
        let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
        let certificate = certify(&problem, &answer.routes, &scope, &NoProgress).unwrap();
        assert!(certificate.is_clean(), "{certificate:?}");
        certificate.edge_forwarding_index.max
    });
    // OpenSM's comes to 1,026 at best; balanced Up*/Down* routes go round what is missing switch by switch.
    assert!(busiest <= 950 && busiest < updn, "{busiest} {updn}");
}

#[test]
fn what_finds_no_tree_of_its_own_takes_the_first_one_of_its_switch() {
    // The order stands when every switch has its first tree; without these 5x5x5 sends 2 % over escape paths.
    for (name, lanes) in [("torus,dims=5x5x5,terminals=4,faults=1%", 4), ("torus,dims=12x12,terminals=4", 8)]
    {
        let (fabric, faults) = (fabric(name), Faults::default());
        let answer = nue(&Problem::new(&fabric, &faults), lanes);
        let (fell, all) = answer.remarks[0].split_once(" of ").unwrap();
        let all = all.split(' ').next().unwrap();
        let (fell, all): (u32, u32) = (fell.parse().unwrap(), all.parse().unwrap());
        assert!(all > 400 && fell * 100 < all, "{name}: {}", answer.remarks[0]);
    }
}

#[test]
fn given_roots_are_taken_in_turns_and_must_exist() {
    let (fabric, faults) = (fabric("torus,dims=4x4,terminals=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let names: Vec<_> = fabric.switches().take(2).map(|(_, node)| node.clone()).collect();
    let roots = names.iter().map(|node| node.guid()).collect();
    let mut request = Request { lanes: 3, roots, ..Request::default() };
    let remarks = route_as("nue", &problem, &request).unwrap().remarks;
    for (lane, at) in [(0, 0), (1, 1), (2, 0)] {
        let root = format!("root of lane {lane}: {}", names[at].facts.description.trim());
        assert!(remarks.contains(&root), "{root}: {remarks:?}");
    }
    request.roots = vec![Guid(0x1234)];
    assert!(matches!(route_as("nue", &problem, &request), Err(EngineRefusal::Request { engine: "nue", .. })));
}

#[test]
fn threads_change_nothing() {
    for name in ["torus,dims=4x4x3,terminals=2", "random,switches=30,links=70,terminals=3"] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| [1, 3, 8].map(|lanes| nue(&problem, lanes)))
        };
        let one = with(1);
        assert_eq!(one, with(2), "{name}");
        assert_eq!(one, with(2), "{name}, once more");
    }
}

#[test]
fn tori_stay_far_below_one_spanning_tree() {
    let (fabric, faults) = (fabric("torus,dims=4x4x4,terminals=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    // OpenSM's come to 760, 188 and 274; no routes to less than 128.
    for (lanes, bound) in [(1, 300), (4, 160), (8, 160)] {
        let verdict = holds("torus", &problem, lanes);
        assert!(verdict.busiest <= bound, "{lanes} lanes: {}", verdict.busiest);
    }
}

#[test]
fn a_port_with_fewer_lanes_limits_them() {
    let mut builder = FabricBuilder::new();
    let ends = [1, 2, 3].map(|number| {
        let key = builder
            .add_node(NodeFacts::new(NodeKind::Switch, Guid(number), 4, format!("n{number}")))
            .unwrap();
        builder.port(key, PortNum(0)).lid = Lid::new(number as u32);
        key
    });
    for at in 0..3 {
        builder.connect((ends[at], PortNum(1)), (ends[(at + 1) % 3], PortNum(2))).unwrap();
    }
    builder.port(ends[1], PortNum(2)).operational_lanes = Some(2);
    let (fabric, faults) = (builder.finish(), Faults::default());
    let answer = nue(&Problem::new(&fabric, &faults), 3);
    assert_eq!(answer.routes.lane_count(), 2);
}

#[test]
fn every_lid_of_a_port_is_reached_on_the_lane_of_its_layer() {
    let mut builder = FabricBuilder::new();
    let ends = [1u32, 2, 3, 4].map(|number| {
        let switch = NodeFacts::new(NodeKind::Switch, Guid(number.into()), 4, "");
        let host = NodeFacts::new(NodeKind::ChannelAdapter, Guid((100 + number).into()), 1, "");
        let (switch, host) = (builder.add_node(switch).unwrap(), builder.add_node(host).unwrap());
        builder.port(switch, PortNum(0)).lid = Lid::new(number);
        let facts = builder.port(host, PortNum(1));
        (facts.lid, facts.lmc) = (Lid::new(8 * number), Lmc::new(2).unwrap());
        builder.connect((switch, PortNum(3)), (host, PortNum(1))).unwrap();
        switch
    });
    for at in 0..4 {
        builder.connect((ends[at], PortNum(1)), (ends[(at + 1) % 4], PortNum(2))).unwrap();
    }
    let (fabric, faults) = (builder.finish(), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    holds("four LIDs a port", &problem, 1);
    holds("four LIDs a port", &problem, 2);
    // With two, Up*/Down* on one lane does as well.
    let routes = nue(&problem, 3).routes;
    let PathLanes::ByDestination { lanes: 3, lane } = &routes.lanes else { panic!("{:?}", routes.lanes) };
    assert!((1..4).all(|more| lane[8] == lane[8 + more]));
}

#[test]
fn nothing_to_route_no_lane_and_cancelling() {
    let empty = Fabric::default();
    let faults = Faults::default();
    assert!(nue(&Problem::new(&empty, &faults), 8).routes.row(0).is_empty());
    let fabric = fabric("torus,dims=3x3");
    let problem = Problem::new(&fabric, &faults);
    let none = route_as("nue", &problem, &Request { lanes: 0, ..Request::default() });
    assert!(matches!(none, Err(EngineRefusal::Request { engine: "nue", .. })));
    struct CancelledPulse;
    impl RouteProgress for CancelledPulse {
        fn report(&self, _: usize, _: usize) {}
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    let stopped = (find_engine("nue").unwrap().route)(&problem, &Request::default(), &CancelledPulse);
    assert_eq!(stopped, Err(EngineRefusal::Cancelled));
}

/// On trees one lane is enough, unless the layers of the dissertation are asked for.
#[test]
fn with_the_plain_search_a_tree_has_as_many_layers_as_asked_for() {
    for (name, most) in [("kary,k=4,n=2", 4), ("kary,k=3,n=3", 8), ("torus,dims=4x4,terminals=2", 3)] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        for lanes in 1..=most {
            let request = Request { lanes, plain_search: true, ..Request::default() };
            let answer = route_as("nue", &problem, &request).unwrap();
            assert_eq!(answer.routes.lane_count(), lanes, "{name}");
            let said =
                answer.remarks.iter().any(|remark| remark.contains("Up*/Down*") || remark.contains("moved"));
            assert!(!said, "{name}: {:?}", answer.remarks);
            let verdict = judge(&problem, &answer.routes);
            assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{name}: {verdict:?}");
            assert!(!verdict.loops && !verdict.cycle && !verdict.cycle_switches, "{name}: {verdict:?}");
        }
        if name.starts_with("kary") {
            assert_eq!(route("nue", &problem).unwrap().routes.lane_count(), 1, "{name}");
        }
    }
}
