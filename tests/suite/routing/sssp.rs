//! `sssp`: shortest paths to everything, evenly over all channels.

use fabdeck_fabric::{ElementId, Faults, NodeId};
use fabdeck_routing::Problem;

use super::oracle::judge;
use super::{fabric, route};

#[test]
fn everything_is_reached_on_shortest_paths() {
    for name in [
        "demo",
        "kary,k=3,n=3",
        "mport,m=4,n=2",
        "torus,dims=4x3",
        "random,switches=20,links=40,faults=3",
        "kautz,d=2,k=3,redundancy=2",
        "dragonfly,a=3,p=2,h=1,g=4",
        "random,switches=12,links=14,faults=40%,disconnect=yes",
    ] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let verdict = judge(&problem, &route("sssp", &problem).unwrap().routes);
        assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{name}: {verdict:?}");
        assert!(!verdict.loops && !verdict.detour, "{name}: {verdict:?}");
    }
}

#[test]
fn the_busiest_channel_is_no_busier_than_of_minhop() {
    for name in ["torus,dims=4x4", "kautz,d=3,k=2", "dragonfly,a=4,p=2,h=2,g=5"] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let busiest = |engine| judge(&problem, &route(engine, &problem).unwrap().routes).busiest;
        assert!(busiest("sssp") <= busiest("minhop"), "{name}");
    }
}

#[test]
fn a_tree_in_good_order_is_balanced_perfectly() {
    // Four hosts on each of four leaves, four ways up: every channel carries one twelfth of 16 * 12 / 4.
    let (fabric, faults) = (fabric("kary,k=4,n=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    assert_eq!(judge(&problem, &route("sssp", &problem).unwrap().routes).busiest, 12);
}

#[test]
fn failed_switches_lead_nowhere_and_are_led_to_from_nowhere() {
    let fabric = fabric("torus,dims=3x3");
    let mut faults = Faults::default();
    faults.mark(ElementId::Node(NodeId(4)));
    let problem = Problem::new(&fabric, &faults);
    let routes = route("sssp", &problem).unwrap().routes;
    assert!(routes.lft(4).is_empty());
    let verdict = judge(&problem, &routes);
    assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty() && !verdict.detour, "{verdict:?}");
}
