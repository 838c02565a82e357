//! `ftree`: hosts of a tree on shortest paths, balanced; what has no way up and down is left out.

use fabdeck_fabric::{Faults, NodeId};
use fabdeck_routing::{EngineRefusal, Problem, Request};

use super::load::Traffic;
use super::oracle::judge;
use super::{fabric, route, route_as, same_on_two_threads};

#[test]
fn shift_permutations_meet_nowhere_on_full_trees() {
    for name in ["kary,k=2,n=3", "kary,k=3,n=3", "kary,k=4,n=2", "kary,k=2,n=4", "kary,k=5,n=2"] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = route("ftree", &problem).unwrap().routes;
        assert_eq!(Traffic::new(&problem, &routes).worst_shift(), 1, "{name}");
        let verdict = judge(&problem, &routes);
        assert!(verdict.lost.is_empty() && !verdict.detour && !verdict.cycle_switches, "{name}: {verdict:?}");
    }
}

#[test]
fn channels_are_loaded_as_evenly_as_by_the_subnet_manager() {
    for (name, most) in [("switch648", 630), ("racks648", 624)] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = route("ftree", &problem).unwrap().routes;
        let traffic = Traffic::new(&problem, &routes);
        assert!(traffic.busiest * 100 <= most * 102, "{name}: {}", traffic.busiest);
        assert_eq!(traffic.lost, 0, "{name}");
    }
}

/// Set `FABDECK_LONG=1` to run it: the large fabrics take their time without optimization.
#[test]
fn large_fabrics_are_loaded_as_evenly() {
    if !std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        return;
    }
    for (name, most) in [("switch3456", 3444), ("juropa", 7536), ("ranger", 4213)] {
        for engine in ["ftree", "sftree", "updn"] {
            let (fabric, faults) = (fabric(name), Faults::default());
            let problem = Problem::new(&fabric, &faults);
            let start = std::time::Instant::now();
            let routes = route(engine, &problem).unwrap().routes;
            let took = start.elapsed();
            let traffic = Traffic::new(&problem, &routes);
            println!("{name} {engine}: {} of {most}, {took:?}", traffic.busiest);
            assert!(
                engine == "updn" || traffic.busiest * 100 <= most * 102,
                "{name} {engine}: {}",
                traffic.busiest
            );
            assert_eq!(traffic.lost, 0, "{name} {engine}");
        }
    }
}

#[test]
fn what_is_no_tree_is_refused_by_name() {
    for name in ["torus,dims=5x5", "kautz,d=3,k=3", "dragonfly,a=4,p=2,h=2,g=9", "torus,dims=7"] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        for engine in ["ftree", "sftree"] {
            let Err(EngineRefusal::Unfit { why, .. }) = route(engine, &problem) else {
                panic!("{name} {engine}")
            };
            assert!(why.contains("not a tree") && why.contains("0x"), "{why}");
        }
    }
}

#[test]
fn roots_and_compute_nodes_can_be_given() {
    let (fabric, faults) = (fabric("kary,k=3,n=3,aggregation=yes"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let tops = fabric.switches().filter(|(_, node)| node.facts.description.starts_with("spine"));
    let roots = tops.map(|(_, node)| node.guid()).collect();
    let by_roots = route_as("ftree", &problem, &Request { roots, ..Request::default() }).unwrap();
    assert_eq!(by_roots.routes, route("ftree", &problem).unwrap().routes);
    let hosts = fabric.nodes().filter(|(_, node)| node.facts.description.starts_with("node"));
    let compute_nodes: Vec<_> = hosts.map(|(_, node)| node.guid()).collect();
    assert_eq!(compute_nodes.len(), 27);
    let by_hosts = route_as("ftree", &problem, &Request { compute_nodes, ..Request::default() }).unwrap();
    assert_eq!(by_hosts.routes, by_roots.routes);
    let compute_nodes = vec![fabric.node(NodeId(0)).guid()];
    let none = route_as("ftree", &problem, &Request { compute_nodes, ..Request::default() });
    assert!(matches!(none, Err(EngineRefusal::Request { engine: "ftree", .. })));
}

/// Who serves takes its turn after those that compute, named by node or by port.
#[test]
fn io_nodes_do_not_compute() {
    let (fabric, faults) = (fabric("kary,k=3,n=3"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let hosts: Vec<_> = problem.graph.terminals().iter().map(|terminal| terminal.port).collect();
    let node = |port: &fabdeck_fabric::PortId| fabric.node(fabric.port(*port).node).guid();
    let serves = |at: usize| at.is_multiple_of(3);
    let some = |wanted: bool| hosts.iter().enumerate().filter(move |(at, _)| serves(*at) == wanted);
    let compute_nodes = some(false).map(|(_, port)| node(port)).collect();
    let io_nodes = some(true).map(|(_, port)| node(port)).collect();
    let io_ports: Vec<_> = some(true).filter_map(|(_, port)| fabric.port(*port).facts.guid).collect();
    assert_eq!(io_ports.len(), 9);
    let plain = route("ftree", &problem).unwrap().routes;
    let routes = |request| route_as("ftree", &problem, &request).unwrap().routes;
    let by_hosts = routes(Request { compute_nodes, ..Request::default() });
    assert_ne!(by_hosts, plain);
    assert_eq!(routes(Request { io_nodes, ..Request::default() }), by_hosts);
    assert_eq!(routes(Request { io_nodes: io_ports, ..Request::default() }), by_hosts);
    let io_nodes = hosts.iter().map(node).collect();
    let none = route_as("ftree", &problem, &Request { io_nodes, ..Request::default() });
    assert!(matches!(none, Err(EngineRefusal::Request { engine: "ftree", .. })));
}

#[test]
fn one_and_two_threads_agree() {
    same_on_two_threads("ftree", "kary,k=4,n=3,faults=5%,aggregation=yes");
    same_on_two_threads("ftree", "racks648");
}

#[test]
fn a_tree_with_failed_links_keeps_its_hosts_connected() {
    for name in
        ["kary,k=5,n=3,faults=1%", "kary,k=5,n=3,faults=5%", "switch648,faults=5%", "switch648,faults=1"]
    {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = route("ftree", &problem).unwrap().routes;
        let traffic = Traffic::new(&problem, &routes);
        assert_eq!(traffic.lost, 0, "{name}");
        println!("{name}: {}", traffic.busiest);
    }
}
