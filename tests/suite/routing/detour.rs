//! Routes around failed links: they reach everything, leave other paths as they are, and close no loop.

use std::collections::BTreeSet;

use fabdeck_fabric::{ElementId, Fabric, Faults, LinkId, PortNum, Routes};
use fabdeck_routing::certificate::{Certificate, LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{NoProgress, Problem, route_around};

use super::common::{fabric, route};

fn certificate(problem: &Problem<'_>, routes: &Routes) -> Certificate {
    let scope = RouteScope { switches: false, lanes: LaneKnowledge::Known };
    certify(problem, routes, &scope, &NoProgress).unwrap()
}

fn trunks(fabric: &Fabric) -> Vec<LinkId> {
    fabric.links().map(|(id, _)| id).filter(|id| fabric.is_between_switches(*id)).collect()
}

fn without(links: &[LinkId]) -> Faults {
    let mut faults = Faults::new();
    links.iter().for_each(|link| _ = faults.mark(ElementId::Link(*link)));
    faults
}

/// The ports of links at switches.
fn ports(fabric: &Fabric, links: &[LinkId]) -> BTreeSet<(u32, PortNum)> {
    let ends = links.iter().map(|link| fabric.link(*link)).flat_map(|link| [link.a, link.b]);
    ends.map(|port| (fabric.port(port).node.0, fabric.port(port).number)).collect()
}

/// Every link of trees, alone and with a second one.
#[test]
fn paths_around_a_link_of_a_tree_are_complete_and_others_stay() {
    for (name, engine) in
        [("kary,k=3,n=2", "updn"), ("kary,k=3,n=3", "minhop"), ("xgft,m=4x4,w=1x3", "ftree")]
    {
        let fabric = fabric(name);
        let none = Faults::new();
        let routes = route(engine, &Problem::new(&fabric, &none)).unwrap().routes;
        let trunks = trunks(&fabric);
        for (at, link) in trunks.iter().enumerate() {
            let other = trunks[(at + trunks.len() / 2) % trunks.len()];
            for links in [vec![*link], vec![*link, other]] {
                let faults = without(&links);
                let problem = Problem::new(&fabric, &faults);
                let detour = route_around(&problem, &routes, &ports(&fabric, &links));
                let found = certificate(&problem, &detour.routes);
                let defects = (found.lost.total(), found.loops.count, found.deadlock_free);
                assert_eq!(defects, (0, 0, Some(true)), "{name} without {links:?}");
                let row = |routes: &Routes, switch| routes.row(switch).to_vec();
                for switch in problem.switches() {
                    let (old, new) = (row(&routes, switch), row(&detour.routes, switch));
                    let differs = (0..old.len()).filter(|lid| old[*lid] != new[*lid]);
                    let moved: Vec<usize> = detour.lids.iter().map(|lid| lid.index()).collect();
                    assert!(differs.into_iter().all(|lid| moved.contains(&lid)), "{name}: other paths moved");
                }
            }
        }
        let (faults, problem) = (Faults::new(), Problem::new(&fabric, &none));
        assert!(faults.is_empty() && route_around(&problem, &routes, &BTreeSet::new()).entries == 0);
    }
}

/// Around a link of a ring the paths go the long way, which the certificate then judges. Without both links a switch is cut
/// off, and its LIDs are named.
#[test]
fn what_has_no_other_path_is_named() {
    let fabric = fabric("torus,dims=5");
    let none = Faults::new();
    let routes = route("minhop", &Problem::new(&fabric, &none)).unwrap().routes;
    let trunks = trunks(&fabric);
    let faults = without(&trunks[..1]);
    let problem = Problem::new(&fabric, &faults);
    let detour = route_around(&problem, &routes, &ports(&fabric, &trunks[..1]));
    let found = certificate(&problem, &detour.routes);
    assert!(detour.stranded.is_empty() && found.lost.total() == 0 && !detour.lids.is_empty());
    // Both links of the first switch.
    let of_first: Vec<LinkId> = trunks
        .into_iter()
        .filter(|id| {
            [fabric.link(*id).a, fabric.link(*id).b].iter().any(|port| fabric.port(*port).node.0 == 0)
        })
        .collect();
    assert_eq!(of_first.len(), 2);
    let faults = without(&of_first);
    let detour = route_around(&Problem::new(&fabric, &faults), &routes, &ports(&fabric, &of_first));
    assert!(!detour.stranded.is_empty() && detour.stranded.is_subset(&detour.lids));
}
