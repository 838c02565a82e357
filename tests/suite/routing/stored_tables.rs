//! `file`: the tables of a dump on the fabric as it is now.

use std::sync::Arc;

use fabdeck_fabric::observe::PolicyLevels;
use fabdeck_fabric::{ElementId, Fabric, Faults, Guid, Lid, Lmc, NodeId, PathLevelTable, PortNum, Routes};
use fabdeck_files::psl;
use fabdeck_files::text::Input;
use fabdeck_routing::certificate::Certificate;
use fabdeck_routing::{EngineAnswer, EngineRefusal, Problem, Request, StoredTables};

use super::certificate::{Dice, certificate};
use super::{fabric, is_long, route, route_as};

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
        levels: None,
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

/// The levels of the paths of routes, through the file format.
fn listed(fabric: &Fabric, routes: &Routes) -> PathLevelTable {
    let mut text = Vec::new();
    psl::write(fabric, routes, &mut text).unwrap();
    match psl::read(Input::new("levels", &text)).unwrap().levels {
        PolicyLevels::ByPath(levels) => levels,
        other => panic!("{other:?}"),
    }
}

fn with_levels(
    problem: &Problem<'_>,
    tables: &StoredTables,
    lanes: u8,
) -> Result<EngineAnswer, EngineRefusal> {
    let request = Request { tables: Some(Arc::new(tables.clone())), ..Request::default() };
    route_as("file", problem, &request.with_lanes(Some(lanes), None))
}

/// A list of levels puts paths on their lanes, after LIDs have moved too.
#[test]
fn levels_beside_the_tables_are_lanes_and_follow_the_guids() {
    for (name, engine) in [("torus,dims=5,terminals=2", "lash"), ("torus,dims=5x4,terminals=1", "dfsssp")] {
        let (old, faults) = (fabric(name), Faults::default());
        let problem = Problem::new(&old, &faults);
        let routes = route(engine, &problem).unwrap().routes;
        let count = routes.lane_count();
        let mut tables = dumped(&problem, &routes);
        // On one lane the same tables have a credit loop.
        let seen = certificate(&problem, &by_file(&problem, &tables).routes, true);
        assert_eq!(seen.deadlock_free, Some(false), "{name}");
        tables.levels = Some(listed(&old, &routes));
        let new = with_other_lids(&old);
        for fabric in [&old, &new] {
            let problem = Problem::new(fabric, &faults);
            let answer = with_levels(&problem, &tables, 8).unwrap();
            let seen = certificate(&problem, &answer.routes, true);
            assert_eq!((seen.deadlock_free, seen.lost.total()), (Some(true), 0), "{name}");
            assert_eq!((answer.routes.lane_count(), seen.lanes.len()), (count, usize::from(count)), "{name}");
            let refused = with_levels(&problem, &tables, count - 1).unwrap_err();
            let wanted = EngineRefusal::Lanes { engine: "file", needed: u32::from(count), given: count - 1 };
            assert_eq!(refused, wanted);
        }
    }
}

#[test]
fn levels_that_differ_behind_a_switch_are_refused_and_missing_ones_counted() {
    let (fabric, faults) = (fabric("torus,dims=5,terminals=2"), Faults::default());
    let problem = Problem::new(&fabric, &faults);
    let routes = route("lash", &problem).unwrap().routes;
    let mut tables = dumped(&problem, &routes);
    let levels = listed(&fabric, &routes);
    let host = |at: usize| fabric.node(fabric.port(problem.graph.terminals_of(0)[at].port).node).guid();
    let far = problem.destinations_behind(2).iter().find(|end| !end.is_switch()).unwrap().lid;
    let mut gone = levels.clone();
    gone.sources.get_mut(&host(1)).unwrap().remove(&far);
    tables.levels = Some(gone);
    let answer = with_levels(&problem, &tables, 8).unwrap();
    assert_eq!(count(&answer, "paths between hosts"), 1, "{:?}", answer.remarks);
    let mut other = levels;
    *other.sources.get_mut(&host(1)).unwrap().get_mut(&far).unwrap() =
        fabdeck_fabric::ServiceLevel::new(7).unwrap();
    tables.levels = Some(other);
    let refused = with_levels(&problem, &tables, 8).unwrap_err().to_string();
    assert!(refused.contains("on different levels") && refused.contains(&far.to_string()), "{refused}");
}

/// On random fabrics with failed links the tables of an engine come back from a dump, with other LIDs too.
#[test]
fn tables_of_random_fabrics_come_back_with_any_lids() {
    for seed in 0..if is_long() { 1_000 } else { 60 } {
        let (switches, dice) = (6 + seed % 20, &mut Dice(seed));
        let links = switches + switches / 2;
        let old = fabric(&format!("random,switches={switches},links={links},terminals=2,seed={seed}"));
        let mut faults = Faults::default();
        for _ in 0..dice.below(4) {
            let between = old.links().map(|(id, _)| id).filter(|id| old.is_between_switches(*id));
            let links: Vec<_> = between.collect();
            faults.mark(ElementId::Link(links[dice.below(links.len())]));
        }
        let problem = Problem::new(&old, &faults);
        let routes = route("minhop", &problem).unwrap().routes;
        let tables = dumped(&problem, &routes);
        let answer = by_file(&problem, &tables);
        assert!(answer.routes == routes && answer.remarks.is_empty(), "seed {seed}: {:?}", answer.remarks);
        let before = certificate(&problem, &routes, true);
        let new = with_other_lids(&old);
        let problem = Problem::new(&new, &faults);
        let answer = by_file(&problem, &tables);
        let after = certificate(&problem, &answer.routes, true);
        assert!(count(&answer, "LIDs that follow") > 0, "seed {seed}");
        let figures = |seen: &Certificate| {
            (seen.lost.total(), seen.loops.count, seen.edge_forwarding_index.max, seen.deadlock_free)
        };
        assert_eq!(figures(&after), figures(&before), "seed {seed}");
    }
}
