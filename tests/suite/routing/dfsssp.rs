//! `dfsssp`: what `sssp` holds, and no cycle on any lane, for adapters and for switches.

use std::sync::atomic::{AtomicUsize, Ordering};

use fabdeck_fabric::{Fabric, Faults, PathLanes, Routes};
use fabdeck_routing::certificate::{LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{
    DEGRADED_REMARK, EngineRefusal, NoProgress, Problem, Request, RouteProgress, find_engine,
};

use super::oracle::judge;
use super::{fabric, route, route_as};

fn holds(name: &str, fabric: &Fabric, faults: &Faults, lanes: u8) {
    let problem = Problem::new(fabric, faults);
    let request = Request { lanes, ..Request::default() };
    let answer = match route_as("dfsssp", &problem, &request) {
        Ok(answer) => answer,
        Err(refusal) => return refused_rightly(name, &problem, lanes, &refusal),
    };
    let routes = answer.routes;
    let verdict = judge(&problem, &routes);
    assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{name}: {verdict:?}");
    assert!(!verdict.loops && !verdict.detour, "{name}: {verdict:?}");
    assert!(!verdict.cycle && !verdict.cycle_switches, "{name}: {verdict:?}");
    assert!(routes.lane_count() <= lanes, "{name}: {}", routes.lane_count());
    assert!(verdict.lanes.iter().all(|lane| *lane < routes.lane_count()), "{name}: {verdict:?}");
}

/// More lanes are needed than were given: so many as it says will do, one less will not, and on one lane shortest paths
/// wait for each other in a credit loop.
fn refused_rightly(name: &str, problem: &Problem<'_>, lanes: u8, refusal: &EngineRefusal) {
    let EngineRefusal::Lanes { engine: "dfsssp", needed, given } = refusal else {
        panic!("{name}: {refusal}")
    };
    assert!(*needed > u32::from(lanes) && *given == lanes, "{name}: {refusal}");
    let with = |lanes: u32| {
        let lanes = u8::try_from(lanes).unwrap();
        route_as("dfsssp", problem, &Request { lanes, ..Request::default() })
    };
    assert!(*needed <= 15, "{name}: {refusal}");
    let served = with(*needed).unwrap_or_else(|refusal| panic!("{name}: {refusal}, with as many as it said"));
    assert_eq!(u32::from(served.routes.lane_count()), *needed, "{name}");
    let verdict = judge(problem, &served.routes);
    assert!(!verdict.cycle && !verdict.cycle_switches, "{name}: {verdict:?}");
    assert_eq!(
        with(needed - 1).unwrap_err(),
        EngineRefusal::Lanes { engine: "dfsssp", needed: *needed, given: *needed as u8 - 1 }
    );
    let plain = judge(problem, &route("sssp", problem).unwrap().routes);
    assert!(plain.cycle || plain.cycle_switches, "{name}: sssp needs no second lane");
}

#[test]
fn promises_hold_on_named_fabrics() {
    for name in [
        "demo",
        "kary,k=3,n=3",
        "kary,k=3,n=3,aggregation=yes",
        "mport,m=4,n=2",
        "torus,dims=5",
        "torus,dims=4x3",
        "torus,dims=3x3x3",
        "kautz,d=2,k=3,redundancy=2",
        "dragonfly,a=3,p=2,h=1,g=4",
        "random,switches=30,links=70",
        "random,switches=12,links=14,faults=40%,disconnect=yes",
    ] {
        for lanes in [1, 2, 8] {
            holds(name, &fabric(name), &Faults::default(), lanes);
        }
    }
}

#[test]
fn a_ring_with_traffic_all_around_needs_two_lanes() {
    let (fabric, faults) = (fabric("torus,dims=5"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let one = Request { lanes: 1, ..Request::default() };
    let refused = route_as("dfsssp", &problem, &one).unwrap_err();
    assert_eq!(refused, EngineRefusal::Lanes { engine: "dfsssp", needed: 2, given: 1 });
    assert_eq!(refused.to_string(), "FD-8002: dfsssp needs 2 lanes here and may use 1");
    let refused = route_as("sar", &problem, &one).unwrap_err();
    assert_eq!(refused.to_string(), "FD-8002: sar needs 2 lanes here and may use 1");
    let two = Request { lanes: 2, ..Request::default() };
    assert_eq!(route_as("dfsssp", &problem, &two).unwrap().routes.lane_count(), 2);
}

#[test]
fn trees_stay_on_one_lane_with_their_switches() {
    for name in ["kary,k=4,n=2", "kary,k=3,n=3", "kary,k=3,n=3,aggregation=yes"] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let request = Request { lanes: 1, ..Request::default() };
        match route_as("dfsssp", &problem, &request) {
            Ok(answer) => assert_eq!(answer.routes.lanes, PathLanes::One, "{name}"),
            // Adapters on spines send and receive: shortest paths among them turn in every leaf.
            Err(refused) => {
                assert!(name.ends_with("aggregation=yes"), "{name}: {refused}");
                refused_rightly(name, &problem, 1, &refused);
            }
        }
    }
}

#[test]
fn a_torus_too_large_for_balanced_routes_gets_trees_alike() {
    let (fabric, faults) = (fabric("torus,dims=6x6x6,terminals=1"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let answer = route("dfsssp", &problem).unwrap();
    assert!(answer.routes.lane_count() <= 8, "{}", answer.routes.lane_count());
    assert!(
        answer.remarks.iter().any(|remark| remark.contains("trees are the same")),
        "{:?}",
        answer.remarks
    );
}

#[test]
fn adapters_take_the_routes_of_sssp() {
    let (fabric, faults) = (fabric("random,switches=20,links=50"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let plain = route("sssp", &problem).unwrap().routes;
    let laned = route("dfsssp", &problem).unwrap().routes;
    for end in problem.destinations().iter().filter(|end| !end.is_switch()) {
        assert!(problem.switches().all(|from| plain.get(from, end.lid) == laned.get(from, end.lid)));
    }
}

/// The escape tree's turns come before any path and would take a second lane, or other channels, on most of these trees
/// with failed links.
#[test]
fn what_has_no_cycle_on_one_lane_stays_there_as_sssp_made_it() {
    let trees = (0..25).map(|seed| format!("gft2,n=4,m=8,r=12,faults=3%,seed={seed}"));
    let small = (0..16).map(|seed| format!("gft2,n=2,m=4,r=6,faults=10%,seed={seed}"));
    let mut acyclic = 0;
    for name in trees.chain(small) {
        let (fabric, faults) = (fabric(&name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let plain = route("sssp", &problem).unwrap().routes;
        if judge(&problem, &plain).cycle_switches {
            continue;
        }
        acyclic += 1;
        let laned = route("dfsssp", &problem).unwrap().routes;
        assert_eq!(laned.lanes, PathLanes::One, "{name}");
        assert!(laned == plain, "{name}: other tables than sssp's");
    }
    assert!(acyclic > 20, "{acyclic} fabrics without a cycle show little");
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    for name in ["torus,dims=4x4", "random,switches=40,links=120", "juropa,switch-faults=20%"] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let engines = if name.starts_with("juropa") { &["sssp"][..] } else { &["sssp", "dfsssp"] };
        for id in engines {
            let with = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| route(id, &problem))
            };
            assert!(with(1) == with(2), "{name}: {id}");
        }
    }
}

/// Cancels after a number of steps.
struct PulseLimit(AtomicUsize);

impl RouteProgress for PulseLimit {
    fn report(&self, _: usize, _: usize) {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).ok();
    }

    fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }
}

#[test]
fn it_stops_when_cancelled() {
    let (fabric, faults) = (fabric("torus,dims=6x6"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    for id in ["sssp", "dfsssp"] {
        for steps in [0, 1, 2, 3] {
            let pulse = PulseLimit(AtomicUsize::new(steps));
            let answer = (find_engine(id).unwrap().route)(&problem, &Request::default(), &pulse);
            assert!(matches!(answer, Err(EngineRefusal::Cancelled)), "{id} after {steps}");
        }
    }
}

/// Four lanes are too few here, and two far too few: routes that go up and down need fewer.
#[test]
fn with_too_few_lanes_it_degrades_and_says_so_and_is_never_worse_than_up_and_down() {
    let mut degraded = 0;
    for name in [
        "racks648,faults=5%,seed=1",
        "irregular,family=half,seed=1",
        "irregular,family=racks,seed=2",
        "irregular,family=director,seed=1",
        "torus,dims=4x4",
        "random,switches=20,links=40,faults=3",
    ] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let most = |routes: &Routes| {
            let scope = RouteScope { switches: true, lanes: LaneKnowledge::Known };
            let certificate = certify(&problem, routes, &scope, &NoProgress).unwrap();
            assert!(certificate.is_clean(), "{name}");
            certificate.edge_forwarding_index.max
        };
        let bound = most(&route("updn", &problem).unwrap().routes);
        for (id, lanes) in [("dfsssp", 1), ("dfsssp", 2), ("sar", 2), ("dfsssp", 3)] {
            let request = Request { lanes, ..Request::default() };
            let Ok(answer) = route_as(id, &problem, &request) else { continue };
            let says = answer.remarks.iter().any(|remark| remark.starts_with(DEGRADED_REMARK));
            assert_eq!(says, answer.degraded, "{name}: {:?}", answer.remarks);
            assert!(answer.routes.lane_count() <= lanes, "{name}");
            if answer.degraded {
                assert!(most(&answer.routes) <= bound, "{name}, {id} on {lanes} lanes");
                degraded += 1;
            }
        }
    }
    assert!(degraded > 0);
}

/// The paths from switches to LIDs on each lane.
fn paths_on_lanes(problem: &Problem<'_>, routes: &Routes) -> Vec<u64> {
    let mut paths = vec![0; routes.lane_count().into()];
    for from in problem.switches() {
        for end in problem.destinations() {
            paths[usize::from(routes.lane(from, end.lid).value())] += 1;
        }
    }
    paths
}

/// Algorithm 3.6, line 16: the same tables, with paths on every lane that there is.
#[test]
fn with_the_option_paths_are_spread_over_empty_lanes() {
    let (by_pair, by_destination) = ("torus,dims=5x5,terminals=2", "kary,k=4,n=2");
    for (name, engine) in [(by_pair, "dfsssp"), (by_destination, "dfsssp"), (by_pair, "sar")] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let plain = route(engine, &problem).unwrap().routes;
        let used = plain.lane_count();
        assert!(used < 8, "{name}");
        for lanes in [used, used + 1, 8] {
            let request = Request { lanes, spread_lanes: true, ..Request::default() };
            let spread = route_as(engine, &problem, &request).unwrap().routes;
            assert!(problem.switches().all(|switch| spread.row(switch) == plain.row(switch)), "{name}");
            let paths = paths_on_lanes(&problem, &spread);
            assert_eq!(paths.len(), usize::from(lanes), "{name}");
            let (before, after) = (paths_on_lanes(&problem, &plain), paths.iter().max().unwrap());
            let most = before.iter().max().unwrap();
            assert!(paths.iter().all(|paths| *paths > 0), "{name}: {paths:?}");
            assert!(lanes == used || after < most, "{name}: {before:?}, {paths:?}");
            let verdict = judge(&problem, &spread);
            assert!(!verdict.cycle && !verdict.cycle_switches, "{name}: {verdict:?}");
        }
    }
}
