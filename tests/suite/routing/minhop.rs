//! `minhop`: shortest paths to everything, cycles where there are rings.

use fabdeck_fabric::Faults;
use fabdeck_routing::Problem;

use super::certificate::certificate;
use super::oracle::judge;
use super::{fabric, route};

#[test]
fn everything_is_reached_on_shortest_paths() {
    for name in [
        "demo",
        "kary,k=3,n=3",
        "torus,dims=4x3",
        "random,switches=20,links=40,faults=3",
        "kautz,d=2,k=3",
        "random,switches=12,links=14,faults=40%,disconnect=yes",
    ] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let verdict = judge(&problem, &route("minhop", &problem).unwrap().routes);
        assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{name}: {verdict:?}");
        assert!(!verdict.loops && !verdict.detour, "{name}: {verdict:?}");
    }
}

/// A matrix of hops in bytes would take the far end of a long line for one that no cable leads to.
#[test]
fn a_line_of_three_hundred_switches_is_served_from_end_to_end() {
    let (fabric, faults) = (fabric("mesh,dims=300,terminals=1"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let routes = route("minhop", &problem).unwrap().routes;
    let seen = certificate(&problem, &routes, false);
    assert_eq!((seen.lost.total(), seen.lengths.longest), (0, 299));
}
