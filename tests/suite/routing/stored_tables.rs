//! `file`: the tables of a dump on the fabric as it is now.

use std::sync::Arc;

use fabdeck_fabric::{ElementId, Fabric, Faults, Guid, Lid, Lmc, NodeId, PortNum, Routes};
use fabdeck_routing::{EngineAnswer, EngineRefusal, Problem, Request, StoredTables};

use super::certificate::certificate;
use super::{fabric, route, route_as};

/// What a dump of these routes has.
fn dumped(problem: &Problem<'_>, routes: &Routes) -> StoredTables {
    let fabric = problem.fabric;
    let guid = |switch: u32| fabric.node(NodeId(switch)).guid();
    let owner = |end: &fabdeck_routing::Destination| {
        let port = fabric.port_by_lid(end.lid)?;
        Some((end.lid, fabric.port(port).facts.guid.unwrap_or(fabric.node(fabric.port(port).node).guid())))
    };
    StoredTables {
        switches: problem.switches().map(|switch| (guid(switch), routes.lft(switch))).collect(),
        owners: problem.destinations().iter().filter_map(owner).collect(),
    }
}

fn by_file(problem: &Problem<'_>, tables: &StoredTables) -> EngineAnswer {
    let request = Request { tables: Some(Arc::new(tables.clone())), ..Request::default() };
    route_as("file", problem, &request).unwrap()
}

/// The count in a remark.
fn count(answer: &EngineAnswer, what: &str) -> usize {
    let remark = answer.remarks.iter().find(|remark| remark.starts_with(what));
    remark.map_or(0, |remark| remark.rsplit(' ').next().unwrap().parse().unwrap())
}

#[test]
fn tables_come_back_as_they_were() {
    for (name, engine) in [("kary,k=3,n=3", "ftree"), ("torus,dims=4x3,terminals=2", "dor")] {
        let (fabric, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&fabric, &faults);
        let routes = route(engine, &problem).unwrap().routes;
        let answer = by_file(&problem, &dumped(&problem, &routes));
        assert!(answer.routes == routes && answer.remarks.is_empty(), "{name}: {:?}", answer.remarks);
    }
}

/// The same fabric with the LIDs of another run: the first one goes to another port.
fn with_other_lids(fabric: &Fabric) -> Fabric {
    let last = fabric.nodes().last().map(|(_, node)| node.guid());
    fabric.with_fresh_lids(last)
}

#[test]
fn lids_follow_the_guids_of_their_ports() {
    let (old, faults) = (fabric("kary,k=3,n=2"), Faults::default());
    let problem = Problem::new(&old, &faults);
    let mut tables = dumped(&problem, &route("minhop", &problem).unwrap().routes);
    let new = with_other_lids(&old);
    let problem = Problem::new(&new, &faults);
    let answer = by_file(&problem, &tables);
    assert!(count(&answer, "LIDs that follow") > 5, "{:?}", answer.remarks);
    let seen = certificate(&problem, &answer.routes, true);
    assert_eq!((seen.lost.total(), seen.loops.count), (0, 0));
    // Without owners each LID stays, and leads to the port that had it before.
    tables.owners.clear();
    let answer = by_file(&problem, &tables);
    assert_eq!(count(&answer, "LIDs that follow"), 0);
    assert!(certificate(&problem, &answer.routes, true).lost.total() > 0);
}

#[test]
fn a_lid_keeps_its_place_among_those_of_its_port() {
    let (fabric, faults) = (fabric("kary,k=2,n=2").with_lmc(Lmc::new(1).unwrap()), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let mut tables = dumped(&problem, &route("minhop", &problem).unwrap().routes);
    // The dump has the two LIDs of a port where the fabric has none: behind all others.
    let [first, second] = [0, 1].map(|at| {
        let ends = problem.destinations_behind(0).iter().filter(|end| !end.is_switch());
        ends.map(|end| end.lid).nth(at).unwrap()
    });
    let owner = tables.owners[&first];
    assert_eq!(owner, tables.owners[&second]);
    let top = u32::from(fabric.top_lid().unwrap().value());
    // The multiple of two above it: LIDs of a port begin at one.
    let base = (top + 2) & !1;
    for (at, lid) in [first, second].into_iter().enumerate() {
        let stored = Lid::new(base + at as u32).unwrap();
        tables.owners.remove(&lid);
        tables.owners.insert(stored, owner);
        for table in tables.switches.values_mut() {
            table.set(stored, table.get(lid));
            table.set(lid, None);
        }
    }
    let answer = by_file(&problem, &tables);
    assert_eq!(count(&answer, "LIDs that follow"), 2, "{:?}", answer.remarks);
    assert!(answer.routes == route("minhop", &problem).unwrap().routes);
}

#[test]
fn entries_to_failed_and_absent_ports_are_no_path_and_counted() {
    let (fabric, faults) = (fabric("kary,k=3,n=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let mut tables = dumped(&problem, &route("minhop", &problem).unwrap().routes);
    let channel = problem.graph.channels()[0];
    let by = |switch: u32, port: PortNum| {
        let table = &tables.switches[&fabric.node(NodeId(switch)).guid()];
        table.routed_lids().filter(|(_, taken)| *taken == port).count()
    };
    let hit = by(channel.from, channel.from_port) + by(channel.to, channel.to_port);
    let mut faults = Faults::default();
    faults.mark(ElementId::Link(channel.link));
    let marked = Problem::new(&fabric, &faults);
    let answer = by_file(&marked, &tables);
    assert!(hit > 0);
    assert_eq!(count(&answer, "entries whose port"), hit, "{:?}", answer.remarks);
    let seen = certificate(&marked, &answer.routes, false);
    assert!(seen.lost.total() > 0 && seen.loops.count == 0);
    // A port that no switch has, a switch that is not there, and one without a table.
    let (guid, lid) = (fabric.node(NodeId(0)).guid(), problem.destinations()[5].lid);
    tables.switches.get_mut(&guid).unwrap().set(lid, Some(PortNum(200)));
    let away = fabric.node(NodeId(1)).guid();
    let table = tables.switches.remove(&away).unwrap();
    tables.switches.insert(Guid(0xBAD), table);
    let answer = by_file(&problem, &tables);
    let counts = ["entries whose port", "switches of the file", "switches without a table"];
    assert_eq!(counts.map(|what| count(&answer, what)), [1, 1, 1], "{:?}", answer.remarks);
    assert_eq!((answer.routes.get(0, lid), answer.routes.get(1, lid)), (None, None));
}

#[test]
fn without_tables_or_with_lanes_it_refuses() {
    let (fabric, faults) = (fabric("kary,k=2,n=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let refused = |request: &Request| match route_as("file", &problem, request) {
        Err(EngineRefusal::Request { engine: "file", what }) => what,
        other => panic!("{other:?}"),
    };
    assert!(refused(&Request::default()).contains("--tables FILE"));
    let tables = Some(Arc::new(dumped(&problem, &route("minhop", &problem).unwrap().routes)));
    let asked =
        |lanes| Request { tables: tables.clone(), ..Request::default() }.with_lanes(Some(lanes), None);
    assert!(refused(&asked(2)).contains("--lanes"));
    assert_eq!(route_as("file", &problem, &asked(1)).unwrap().routes.lane_count(), 1);
}
