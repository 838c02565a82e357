//! `updn`: everything reached on one lane without a cycle, on any fabric.

use fabdeck_fabric::{FabricBuilder, Faults, Guid, Lid, NodeFacts, NodeId, NodeKind, PortNum};
use fabdeck_routing::{EngineRefusal, Problem, Request};

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
fn racks_joined_in_pairs_do_not_take_the_tops_from_a_tree() {
    // Two levels of 4 by 4 as it stands, and with a cable between the bottom switches of each pair.
    let mut builder = FabricBuilder::new();
    let switch = |number| NodeFacts::new(NodeKind::Switch, Guid(number), 36, "");
    let keys: Vec<_> = (1..=8).map(|number| builder.add_node(switch(number)).unwrap()).collect();
    for (number, key) in keys.iter().enumerate() {
        builder.port(*key, PortNum(0)).lid = Lid::new(number as u32 + 1);
    }
    for bottom in 0..4u8 {
        for other in 0..4u8 {
            let host = 4 * bottom + other;
            let facts = NodeFacts::new(NodeKind::ChannelAdapter, Guid(100 + u64::from(host)), 1, "");
            let key = builder.add_node(facts).unwrap();
            builder.port(key, PortNum(1)).lid = Lid::new(100 + u32::from(host));
            builder.connect((keys[usize::from(bottom)], PortNum(1 + other)), (key, PortNum(1))).unwrap();
            let top = (keys[4 + usize::from(other)], PortNum(1 + bottom));
            builder.connect((keys[usize::from(bottom)], PortNum(11 + other)), top).unwrap();
        }
    }
    for pair in [0, 2] {
        builder.connect((keys[pair], PortNum(21)), (keys[pair + 1], PortNum(21))).unwrap();
    }
    let (fabric, faults) = (builder.finish(), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let verdict = judge(&problem, &route("updn", &problem).unwrap().routes);
    assert!(verdict.lost.is_empty() && verdict.lost_switches.is_empty(), "{verdict:?}");
    assert!(!verdict.loops && !verdict.cycle && !verdict.cycle_switches, "{verdict:?}");
    // Between the racks of a pair the cable is shorter, and carries 4 times 4 paths.
    assert!(verdict.busiest <= 16, "{verdict:?}");
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
    assert!(matches!(
        route_as("updn", &problem, &request),
        Err(EngineRefusal::Request { engine: "updn", .. })
    ));
}

#[test]
fn one_and_two_threads_agree() {
    same_on_two_threads("updn", "random,switches=40,links=90,aggregation=yes");
    same_on_two_threads("updn", "kary,k=4,n=3,faults=5%");
}
