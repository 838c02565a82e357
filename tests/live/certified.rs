//! The certificate beside ibdmchk, which reads links and tables and looks for credit loops in its own way.

use std::fs;

use fabdeck::fabric::{Fabric, Faults, NodeId, PortNum, Routes, Tables};
use fabdeck::files::{fdbs, subnet_lst};
use fabdeck::routing::certificate::{Certificate, LaneKnowledge, Scope, certify};
use fabdeck::routing::{NoPulse, Problem, Request, engine};

use crate::stage;

/// What ibdmchk makes of routes. It crashes after it has printed, so that its words count and not its exit.
struct Report {
    text: String,
    loops: bool,
    broken: bool,
}

fn tables_of(fabric: &Fabric, routes: &Routes) -> Tables {
    let mut tables = Tables::default();
    for (switch, _) in fabric.switches() {
        tables.entry(switch).lft = Some(routes.lft(switch.0));
    }
    tables
}

fn ibdmchk(fabric: &Fabric, routes: &Routes, switches: bool) -> Report {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (mut list, mut lines) = (Vec::new(), Vec::new());
    subnet_lst::write(fabric, None, &mut list).unwrap();
    fdbs::write(fabric, &tables_of(fabric, routes), &mut lines).unwrap();
    fs::write(folder.path().join("fabric.lst"), list).unwrap();
    fs::write(folder.path().join("fabric.fdbs"), lines).unwrap();
    fs::write(folder.path().join("none"), "").unwrap();
    let mut args = vec!["-s", "fabric.lst", "-f", "fabric.fdbs", "-m", "none", "-l", "0"];
    args.extend(switches.then_some("-a"));
    let text = stage::ibdmchk(folder.path(), &args);
    let loops = text.contains("Found credit loop");
    let lines = text.lines().filter(|line| line.contains("-E-"));
    let broken = lines.filter(|line| !line.contains("redit")).count() > 0;
    Report { text, loops, broken }
}

fn certificate(fabric: &Fabric, routes: &Routes, switches: bool) -> Certificate {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    certify(&problem, routes, &Scope { switches, lanes: LaneKnowledge::Known }, &NoPulse).unwrap()
}

fn minhop(fabric: &Fabric) -> Routes {
    let faults = Faults::default();
    let problem = Problem::new(fabric, &faults);
    (engine("minhop").unwrap().route)(&problem, &Request::default(), &NoPulse).unwrap().routes
}

/// (Fabric, whether switches talk too, whether that can deadlock).
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
    // Its aggregation nodes on spines close a circle.
    ("demo", false, true),
    ("kary,k=4,n=2", true, true),
];

#[test]
fn ibdmchk_finds_the_credit_loops_that_the_certificate_finds() {
    for (name, switches, deadlocks) in FABRICS {
        let fabric = stage::fabric(name);
        let routes = minhop(&fabric);
        let (seen, report) = (certificate(&fabric, &routes, *switches), ibdmchk(&fabric, &routes, *switches));
        println!(
            "{name}, switches {switches}: free {:?}, ibdmchk loops {}",
            seen.deadlock_free, report.loops
        );
        assert_eq!(seen.deadlock_free, Some(!report.loops), "{name}, {switches}: {}", report.text);
        assert_eq!(report.loops, *deadlocks, "{name}, {switches}: {}", report.text);
        assert!(seen.lost.total() == 0 && !report.broken, "{name}, {switches}: {}", report.text);
    }
}

/// One entry taken out: both miss paths.
#[test]
fn ibdmchk_misses_the_paths_that_the_certificate_misses() {
    for name in ["kary,k=4,n=2", "torus,dims=4x4", "demo"] {
        let fabric = stage::fabric(name);
        let mut routes = minhop(&fabric);
        let faults = Faults::default();
        let problem = Problem::new(&fabric, &faults);
        let leaf = problem.switches().find(|switch| !problem.graph.terminals_of(*switch).is_empty()).unwrap();
        let far = problem.graph.terminals().iter().rfind(|terminal| terminal.switch != leaf).unwrap();
        assert_ne!(fabric.port_of(NodeId(leaf), PortNum::MANAGEMENT), None);
        routes.set(leaf, far.lid.unwrap(), None);
        let (seen, report) = (certificate(&fabric, &routes, false), ibdmchk(&fabric, &routes, false));
        assert!(seen.lost.total() > 0 && report.broken, "{name}: {:?}\n{}", seen.lost, report.text);
    }
}
