//! Compares the certificate with ibdmchk, which reads links and tables and searches credit loops independently.

use std::fmt::Write as _;
use std::fs;

use fabdeck_fabric::{Fabric, Faults, Lid, NodeId, PathLanes, PortNum, Routes, Tables};
use fabdeck_files::{fdbs, slvl, subnet_lst};
use fabdeck_routing::certificate::{Certificate, LaneKnowledge, RouteScope, certify};
use fabdeck_routing::{NoProgress, Problem, Request, find_engine};

use crate::ibsim;

/// ibdmchk's verdict on routes. It crashes after printing, so its output counts and its exit code does not.
struct Report {
    text: String,
    loops: bool,
    broken: bool,
}

fn tables_of(fabric: &Fabric, routes: &Routes) -> Tables {
    let mut tables = Tables::default();
    for (switch, _) in fabric.switches() {
        tables.node_mut(switch).lft = Some(routes.lft(switch.0));
    }
    tables
}

/// `levels` holds the service level of each path, one a line; without it all paths share a lane.
fn ibdmchk(fabric: &Fabric, routes: &Routes, switches: bool, levels: Option<&str>) -> Report {
    ibdmchk_with(fabric, routes, switches, (levels, None))
}

/// The same, with SL2VL tables that map these levels; without them a level is the number of a lane.
fn ibdmchk_with(
    fabric: &Fabric,
    routes: &Routes,
    switches: bool,
    (levels, lanes): (Option<&str>, Option<&Tables>),
) -> Report {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (mut list, mut lines) = (Vec::new(), Vec::new());
    subnet_lst::write(fabric, None, &mut list).unwrap();
    fdbs::write(fabric, &tables_of(fabric, routes), &mut lines).unwrap();
    fs::write(folder.path().join("fabric.lst"), list).unwrap();
    fs::write(folder.path().join("fabric.fdbs"), lines).unwrap();
    fs::write(folder.path().join("none"), "").unwrap();
    let mut args = vec!["-s", "fabric.lst", "-f", "fabric.fdbs", "-m", "none", "-l", "0"];
    args.extend(switches.then_some("-a"));
    if let Some(levels) = levels {
        fs::write(folder.path().join("levels"), levels).unwrap();
        args.extend(["-c", "levels"]);
    }
    if let Some(lanes) = lanes {
        let mut rows = Vec::new();
        slvl::write(fabric, lanes, &mut rows).unwrap();
        fs::write(folder.path().join("fabric.slvl"), rows).unwrap();
        args.extend(["-d", "fabric.slvl"]);
    }
    let text = ibsim::ibdmchk(folder.path(), &args);
    let loops = text.contains("Found credit loop");
    let lines = text.lines().filter(|line| line.contains("-E-"));
    let broken = lines.filter(|line| !line.contains("redit")).count() > 0;
    Report { text, loops, broken }
}

fn certificate(fabric: &Fabric, routes: &Routes, switches: bool) -> Certificate {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    certify(&problem, routes, &RouteScope { switches, lanes: LaneKnowledge::Known }, &NoProgress).unwrap()
}

fn routed(id: &str, fabric: &Fabric, lanes: u8) -> Routes {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let request = Request { lanes, ..Request::default() };
    (find_engine(id).unwrap().route)(&problem, &request, &NoProgress).unwrap().routes
}

/// The lane of the path from each adapter to each LID of another, as service level in ibdmchk's format.
fn levels(fabric: &Fabric, lane: impl Fn(u32, Lid) -> u8) -> String {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    let ends: Vec<_> = problem.graph.terminals().iter().filter(|terminal| terminal.lid.is_some()).collect();
    let mut lines = String::new();
    for (from, to) in ends.iter().flat_map(|from| ends.iter().map(move |to| (from, to))) {
        let guid = fabric.node(fabric.port(from.port).node).guid();
        let lid = to.lid.unwrap();
        writeln!(lines, "{guid} {lid} {}", lane(from.switch, lid)).unwrap();
    }
    lines
}

/// (Fabric, whether switches send too, whether that can deadlock.)
const FABRICS: &[(&str, bool, bool)] = &[
    ("torus,dims=5", false, true),
    ("torus,dims=6", false, true),
    ("torus,dims=5", true, true),
    ("torus,dims=3", false, false),
    ("kary,k=3,n=3", false, false),
    ("kary,k=3,n=3", true, true),
    ("kary,k=4,n=2", false, false),
    ("torus,dims=4x4", false, true),
    ("kautz,d=2,k=3", false, true),
    // On this fabric minhop closes no credit loop between hosts and aggregation nodes, but it does between switches.
    ("demo", false, false),
    ("demo", true, true),
    ("kary,k=4,n=2", true, true),
    ("torus,dims=6", true, true),
    ("gft2,n=2,m=4,r=6,redundancy=2", false, false),
    ("gft2,n=2,m=4,r=6,redundancy=2", true, false),
    ("xgft,m=4x3x2,w=1x2x3", false, false),
    ("xgft,m=4x3x2,w=1x2x3", true, true),
    ("kary,k=3,n=3,faults=3", false, false),
    ("kary,k=3,n=3,faults=3", true, true),
    ("dragonfly,a=3,p=1,h=1,g=4", false, true),
    ("random,switches=12,links=24,terminals=1", false, true),
    ("torus,dims=3x3x3,terminals=1", false, false),
    ("mesh,dims=4x4,terminals=1", false, true),
    ("racks648,hosts=54", false, true),
];

#[test]
fn ibdmchk_finds_the_credit_loops_that_the_certificate_finds() {
    for (name, switches, deadlocks) in FABRICS {
        let fabric = ibsim::fabric(name);
        let routes = routed("minhop", &fabric, 1);
        let seen = certificate(&fabric, &routes, *switches);
        let report = ibdmchk(&fabric, &routes, *switches, None);
        println!(
            "{name}, switches {switches}: free {:?}, ibdmchk loops {}",
            seen.deadlock_free, report.loops
        );
        assert_eq!(seen.deadlock_free, Some(!report.loops), "{name}, {switches}: {}", report.text);
        assert_eq!(report.loops, *deadlocks, "{name}, {switches}: {}", report.text);
        assert!(seen.lost.total() == 0 && !report.broken, "{name}, {switches}: {}", report.text);
    }
}

/// Engines whose tables have no credit loop on one lane, which ibdmchk has to confirm; `ftree` and `dmodk` refuse fabrics
/// that are no trees.
const TREE_ENGINES: &[&str] = &["updn", "dnup", "ftree", "sftree", "dmodk"];
const ON_ONE_LANE: &[(&str, &[&str])] = &[
    ("kary,k=4,n=2", TREE_ENGINES),
    ("kary,k=3,n=3", TREE_ENGINES),
    ("kary,k=3,n=3,faults=3", TREE_ENGINES),
    ("kary,k=3,n=3,aggregation=yes", TREE_ENGINES),
    ("xgft,m=4x3x2,w=1x2x3", TREE_ENGINES),
    ("gft2,n=2,m=4,r=6,redundancy=2", TREE_ENGINES),
    ("demo", TREE_ENGINES),
    ("racks648,hosts=54", TREE_ENGINES),
    ("torus,dims=5", &["updn", "dnup"]),
    ("torus,dims=4x4", &["updn", "dnup"]),
    ("mesh,dims=4x4,terminals=1", &["updn", "dnup"]),
    ("kautz,d=2,k=3", &["updn", "dnup"]),
    ("dragonfly,a=3,p=1,h=1,g=4", &["updn", "dnup"]),
    ("random,switches=12,links=24,terminals=1", &["updn", "dnup"]),
];

#[test]
fn ibdmchk_agrees_on_tables_that_need_no_lanes() {
    let mut left_out = 0;
    for (name, engines) in ON_ONE_LANE {
        let fabric = ibsim::fabric(name);
        for (id, switches) in engines.iter().flat_map(|id| [(*id, false), (*id, true)]) {
            let routes = routed(id, &fabric, 1);
            let seen = certificate(&fabric, &routes, switches);
            let report = ibdmchk(&fabric, &routes, switches, None);
            let what = format!("{id}, {name}, switches {switches}");
            println!(
                "{what}: {} lost, ibdmchk loops {}, broken {}",
                seen.lost.total(),
                report.loops,
                report.broken
            );
            assert_eq!(seen.deadlock_free, Some(!report.loops), "{what}: {}", report.text);
            assert!(!report.loops, "{what}: {}", report.text);
            assert_eq!(seen.lost.total() > 0, report.broken, "{what}: {:?}\n{}", seen.lost, report.text);
            // Only `ftree` leaves pairs without a path, by its nature.
            assert!(id == "ftree" || !report.broken, "{what}: {}", report.text);
            left_out += i32::from(report.broken);
        }
    }
    assert!(left_out > 0, "ftree leaves pairs of upper switches out");
}

/// Judges the same tables twice: on the lanes of their engine, and with all paths on one lane.
#[test]
fn ibdmchk_finds_that_lanes_break_the_credit_loops() {
    let all = [
        ("dfsssp", "torus,dims=5", 8),
        ("dfsssp", "torus,dims=4x4", 8),
        ("dfsssp", "kautz,d=2,k=3", 8),
        ("dfsssp", "dragonfly,a=3,p=1,h=1,g=4", 8),
        ("lash", "torus,dims=5", 8),
        ("lash", "torus,dims=4x4", 8),
        ("lash", "dragonfly,a=3,p=1,h=1,g=4", 8),
        ("nue", "torus,dims=4x4", 4),
        ("nue", "random,switches=12,links=24,terminals=1", 2),
    ];
    let mut broken_up = 0;
    for (id, name, lanes) in all {
        let fabric = ibsim::fabric(name);
        let routes = routed(id, &fabric, lanes);
        let on_lanes = levels(&fabric, |from, lid| routes.lane(from, lid).value());
        let report = ibdmchk(&fabric, &routes, false, Some(&on_lanes));
        let seen = certificate(&fabric, &routes, false);
        println!("{id}, {name}: {} lanes, ibdmchk loops {}", seen.lanes.len(), report.loops);
        assert!(seen.deadlock_free == Some(true) && !report.loops, "{id}, {name}: {}", report.text);
        assert!(seen.lost.total() == 0 && !report.broken, "{id}, {name}: {}", report.text);
        let one = ibdmchk(&fabric, &routes, false, Some(&levels(&fabric, |_, _| 0)));
        let scope = RouteScope { switches: false, lanes: LaneKnowledge::Unknown };
        let faults = Faults::default();
        let seen = certify(&Problem::new(&fabric, &faults), &routes, &scope, &NoProgress).unwrap();
        assert_eq!(one.loops, !seen.cycles.is_empty(), "{id}, {name}, one lane: {}", one.text);
        broken_up += i32::from(one.loops);
    }
    assert!(broken_up >= 3, "{broken_up} fabrics have loops without their lanes");
}

/// `torus2qos` by its levels and SL2VL tables; on level 0 the same tables have a credit loop where rings have five or more
/// switches.
#[test]
fn ibdmchk_finds_that_lanes_of_torus2qos_break_the_credit_loops() {
    for (name, loops) in [
        ("torus,dims=5", true),
        ("torus,dims=5x4", true),
        ("torus,dims=5x6,redundancy=1,terminals=1", true),
        ("torus,dims=5x3x3,terminals=1", true),
        ("mesh,dims=4x4,terminals=1", false),
    ] {
        let fabric = ibsim::fabric(name);
        let routes = routed("torus2qos", &fabric, 4);
        let PathLanes::ByHop { tables, .. } = &routes.lanes else { panic!("{name}: {:?}", routes.lanes) };
        let own = levels(&fabric, |from, lid| routes.lane(from, lid).value());
        let seen = certificate(&fabric, &routes, false);
        let report = ibdmchk_with(&fabric, &routes, false, (Some(&own), Some(tables)));
        println!("{name}: {} lanes, ibdmchk loops {}", seen.lanes.len(), report.loops);
        assert!(seen.deadlock_free == Some(true) && !report.loops, "{name}: {}", report.text);
        assert!(seen.lost.total() == 0 && !report.broken, "{name}: {}", report.text);
        let zero = levels(&fabric, |_, _| 0);
        let report = ibdmchk_with(&fabric, &routes, false, (Some(&zero), Some(tables)));
        assert_eq!(report.loops, loops, "{name} on level 0: {}", report.text);
    }
}

/// `dor` promises no more than shortest paths: both find the same credit loops.
#[test]
fn ibdmchk_finds_the_credit_loops_of_dor() {
    for (name, loops) in [
        ("torus,dims=5", true),
        ("torus,dims=5x5,redundancy=1,terminals=1", true),
        ("torus,dims=3x3x3,terminals=1", false),
        ("mesh,dims=4x4,terminals=1", false),
        ("mesh,dims=3x3x2,redundancy=2", false),
        ("kautz,d=2,k=3", true),
        ("dragonfly,a=3,p=1,h=1,g=4", true),
    ] {
        let fabric = ibsim::fabric(name);
        let routes = routed("dor", &fabric, 1);
        let (seen, report) = (certificate(&fabric, &routes, false), ibdmchk(&fabric, &routes, false, None));
        println!("{name}: free {:?}, ibdmchk loops {}", seen.deadlock_free, report.loops);
        assert_eq!((seen.deadlock_free, report.loops), (Some(!loops), loops), "{name}: {}", report.text);
        assert!(seen.lost.total() == 0 && !report.broken, "{name}: {}", report.text);
    }
}

/// ibdmchk with an LMC takes each LID behind the base LID for one that nothing reaches. So it judges the base LIDs of
/// tables in which the entries of the other LIDs stand there in turn.
#[test]
fn ibdmchk_agrees_on_tables_for_several_lids() {
    for (id, name) in
        [("opt", "gft2,n=4,m=4,r=6,lmc=1"), ("mlid", "kary,k=3,n=2,lmc=2"), ("mlid", "kary,k=3,n=3,lmc=1")]
    {
        let fabric = ibsim::fabric(name);
        let routes = routed(id, &fabric, 1);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let ends = problem.graph.terminals();
        let seen = certificate(&fabric, &routes, false);
        assert_eq!((seen.deadlock_free, seen.lost.total()), (Some(true), 0), "{id}, {name}");
        let lids = fabric.port(ends[0].port).facts.lmc.lid_count();
        let at_base = |routes: &Routes, offset: u16| {
            let mut moved = routes.clone();
            for (switch, end) in
                problem.switches().flat_map(|switch| ends.iter().map(move |end| (switch, end)))
            {
                let base = end.lid.unwrap();
                let lid = Lid::new(u32::from(base.value() + offset)).unwrap();
                moved.set(switch, base, routes.get(switch, lid));
            }
            moved
        };
        let mut differing = 0;
        for offset in 0..lids {
            let moved = at_base(&routes, offset);
            differing += usize::from(moved != routes);
            let report = ibdmchk(&fabric, &moved, false, None);
            println!("{id}, {name}, LID {offset}: ibdmchk loops {}", report.loops);
            assert!(!report.loops && !report.broken, "{id}, {name}, LID {offset}: {}", report.text);
        }
        assert!(differing > 0, "{id}, {name}: all LIDs have the same paths");

        // An entry of the last LID is missing: both see it.
        let (leaf, base) = (ends[0].switch, ends.last().unwrap().lid.unwrap());
        let mut cut = routes.clone();
        cut.set(leaf, Lid::new(u32::from(base.value() + lids - 1)).unwrap(), None);
        let seen = certificate(&fabric, &cut, false);
        assert!(seen.lost.lids > 0, "{id}, {name}: {:?}", seen.lost);
        let report = ibdmchk(&fabric, &at_base(&cut, lids - 1), false, None);
        assert!(report.broken, "{id}, {name}: {}", report.text);
    }
}

/// With one entry removed, ibdmchk and the certificate both miss paths.
#[test]
fn ibdmchk_misses_the_paths_that_the_certificate_misses() {
    for name in ["kary,k=4,n=2", "torus,dims=4x4", "demo"] {
        let fabric = ibsim::fabric(name);
        let mut routes = routed("minhop", &fabric, 1);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let leaf = problem.switches().find(|switch| !problem.graph.terminals_of(*switch).is_empty()).unwrap();
        let far = problem.graph.terminals().iter().rfind(|terminal| terminal.switch != leaf).unwrap();
        assert_ne!(fabric.port_of(NodeId(leaf), PortNum::MANAGEMENT), None);
        routes.set(leaf, far.lid.unwrap(), None);
        let (seen, report) = (certificate(&fabric, &routes, false), ibdmchk(&fabric, &routes, false, None));
        assert!(seen.lost.total() > 0 && report.broken, "{name}: {:?}\n{}", seen.lost, report.text);
    }
}
