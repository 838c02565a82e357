//! `updn`: everything reached on one lane without a cycle, on any fabric.

use fabdeck::fabric::{Faults, NodeId};
use fabdeck::routing::{Problem, Refusal, Request};
use proptest::prelude::*;

use super::oracle::judge;
use super::{fabric, route, route_as, same_on_two_threads};

fn holds(name: &str, request: &Request) {
    let (fabric, faults) = (fabric(name), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let verdict = judge(&problem, &route_as("updn", &problem, request).unwrap().routes);
    assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{name}: {verdict:?}");
    assert!(!verdict.loops && !verdict.cycle && !verdict.cycle_switches, "{name}: {verdict:?}");
}

#[test]
fn no_cycle_where_others_have_one() {
    for name in [
        "demo",
        "torus,dims=5",
        "torus,dims=6",
        "torus,dims=4x3x3",
        "dragonfly,a=4,p=1,h=2,g=9",
        "kautz,d=2,k=3,aggregation=yes",
        "kautz,d=3,k=2",
        "kary,k=3,n=3,aggregation=yes",
        "random,switches=20,links=40,faults=3",
    ] {
        holds(name, &Request::default());
    }
}

#[test]
fn a_tree_has_its_spines_as_roots_and_is_balanced_as_one() {
    let (fabric, faults) = (fabric("kary,k=4,n=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let answer = route("updn", &problem).unwrap();
    assert_eq!(answer.remarks[0], "4 roots at the centre of the fabric");
    let verdict = judge(&problem, &answer.routes);
    assert!(!verdict.detour && verdict.busiest == 12, "{verdict:?}");
}

#[test]
fn roots_can_be_given_and_are_looked_for() {
    let fabric = fabric("torus,dims=3x3");
    let faults = Faults::default();
    let problem = Problem::new(&fabric, &faults);
    let guid = |switch| fabric.node(NodeId(switch)).guid();
    let mut request = Request { roots: vec![guid(0), guid(4)], ..Request::default() };
    let verdict = judge(&problem, &route_as("updn", &problem, &request).unwrap().routes);
    assert!(
        verdict.lost.is_empty() && verdict.lost_switches.is_empty() && !verdict.cycle_switches,
        "{verdict:?}"
    );
    request.roots.push("0x1234".parse().unwrap());
    assert!(matches!(route_as("updn", &problem, &request), Err(Refusal::Request { engine: "updn", .. })));
}

#[test]
fn one_and_two_threads_agree() {
    same_on_two_threads("updn", "random,switches=40,links=90,aggregation=yes");
    same_on_two_threads("updn", "kary,k=4,n=3,faults=5%");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn any_fabric_is_connected_without_a_cycle(
        switches in 3u32..16,
        more in 0u32..20,
        faults in 0u32..50,
        seed in 0u64..1000,
        aggregation in any::<bool>(),
        roots in prop::collection::vec(0u32..3, 0..3),
    ) {
        let aggregation = if aggregation { "yes" } else { "no" };
        let name = format!(
            "random,switches={switches},links={},faults={faults}%,disconnect=yes,aggregation={aggregation},\
             terminals=1,seed={seed}",
            switches + more
        );
        let built = fabric(&name);
        let guids = roots.iter().filter(|root| **root < built.switch_count() as u32);
        let roots = guids.map(|root| built.node(NodeId(*root)).guid()).collect();
        holds(&name, &Request { roots, ..Request::default() });
    }
}
