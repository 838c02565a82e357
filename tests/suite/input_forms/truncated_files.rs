//! Files that end in the middle, each at many places: what was not read is neither without a path nor free of loops.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use super::{folder, look};
use crate::captures::sample_fabric::{BEGUN, Memory, header};
use crate::commands::binary::{fabdeck, home};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::check::judgement::CertificateReport;
use fabdeck::operations::lanes::levels::{LevelsInForce, check_in_force};
use fabdeck_fabric::observe::{Observation, Sweep};
use fabdeck_fabric::{Fabric, Faults, Lft, NodeKind};
use fabdeck_files::capture::Recorder;
use fabdeck_routing::NoProgress;

type Files = BTreeMap<&'static str, Vec<u8>>;

/// A tree of six switches in every form that tells its cables, and its tables in both.
fn site() -> Files {
    let home = home();
    let run = |line: &str| {
        let ended = fabdeck(&home).args(line.split(' ')).output().unwrap();
        assert!(ended.status.success(), "{line}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    run("generate kary,k=3,n=2 --format ibnetdiscover -o net");
    run("--source net route --engine updn -o it.plan");
    for format in ["lfts", "fdbs", "lst"] {
        run(&format!("convert net it.plan --to {format} -o {format}"));
    }
    let mut files: Files = ["net", "lfts", "fdbs", "lst"]
        .into_iter()
        .map(|name| (name, fs::read(home.path().join(name)).unwrap()))
        .collect();
    let fabric = look(&home.path().join("net")).unwrap().fabric;
    files.insert("ibdiagnet2.db_csv", db_csv(&fabric).into_bytes());
    files
}

/// The tables of ibdiagnet that a topology is read from, and counters behind them.
fn db_csv(fabric: &Fabric) -> String {
    let mut nodes = "START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID,PortGUID\n".to_owned();
    let mut ports = "START_PORTS\nNodeGuid,PortGuid,PortNum,LID,PortPhyState,PortState\n".to_owned();
    let mut links = "START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n".to_owned();
    let mut counters = "START_PM_INFO\nNodeGUID,PortGUID,PortNumber,PortXmitWait\n".to_owned();
    for (id, node) in fabric.nodes() {
        let (guid, facts) = (node.guid(), &node.facts);
        let kind = if facts.kind == NodeKind::Switch { 2 } else { 1 };
        writeln!(nodes, "\"{}\",{},{kind},{guid},{guid}", facts.description, facts.port_count).unwrap();
        for (at, port) in fabric.ports_of(id) {
            let lid = port.facts.lid.map_or(0, |lid| lid.value());
            let own = port.facts.guid.unwrap_or(guid);
            writeln!(ports, "{guid},{own},{},{lid},5,4", port.number).unwrap();
            if let Some(peer) = fabric.peer(at) {
                writeln!(counters, "{guid},{own},{},0", port.number).unwrap();
                let far = fabric.port(peer);
                if at < peer {
                    let far_guid = fabric.node(far.node).guid();
                    writeln!(links, "{guid},{},{far_guid},{}", port.number, far.number).unwrap();
                }
            }
        }
    }
    format!("{nodes}END_NODES\n\n{ports}END_PORTS\n\n{links}END_LINKS\n\n{counters}END_PM_INFO\n")
}

fn check(seen: Observation) -> (CertificateReport, Snapshot) {
    let look = Snapshot::new("site", seen, &Default::default());
    let tables = look.observation.tables.clone();
    let report =
        check_in_force(&look, &tables, &Faults::new(), false, LevelsInForce::Unsaid, &NoProgress).unwrap();
    (report, look)
}

/// Which ports cables join, and every table.
fn known(seen: &Observation) -> (usize, Vec<Option<&Lft>>) {
    let switches = seen.fabric.switches();
    (seen.fabric.links().len(), switches.map(|(id, _)| seen.tables.lft(id)).collect())
}

/// Checks the report of a part. Returns the number of pairs that were reported as unread.
fn judge(what: &str, seen: Observation, whole: &Observation) -> u64 {
    // Without a switch or a table there is nothing to check, which is said.
    if seen.fabric.switch_count() == 0 || !seen.tables.has_forwarding() {
        return 0;
    }
    let (report, look) = check(seen);
    let seen = &look.observation;
    assert_eq!(
        (report.unreachable, report.loops, report.partly_reached),
        (0, 0, 0),
        "{what}: {:?}",
        seen.notes
    );
    match report.deadlock_free {
        Some(false) => panic!("{what}: a credit loop in a tree"),
        Some(true) => assert_eq!(known(seen), known(whole), "{what}: free over what was not read"),
        None => {}
    }
    assert!(!seen.notes.has("FN-556"), "{what}: a dump that is cut is no fabric of two");
    report.unread_pairs
}

/// Each topology with tables of each form, either of them cut.
#[test]
fn no_verdict_is_given_over_what_was_not_read() {
    let files = site();
    for (topology, tables, cut) in [
        ("net", "lfts", "lfts"),
        ("net", "fdbs", "fdbs"),
        ("net", "lfts", "net"),
        ("lst", "lfts", "lst"),
        ("ibdiagnet2.db_csv", "fdbs", "ibdiagnet2.db_csv"),
        ("ibdiagnet2.db_csv", "lfts", "lfts"),
    ] {
        let at = |end: usize| {
            let held = |name: &'static str| {
                let bytes = files[name].as_slice();
                (name, if name == cut { &bytes[..end] } else { bytes })
            };
            let folder = folder(&[held(topology), held(tables)]);
            look(folder.path())
        };
        let size = files[cut].len();
        let whole = at(size).unwrap();
        assert!(!whole.is_partial(), "{topology} {tables}: {:?}", whole.notes);
        let (report, _) = check(whole.clone());
        assert_eq!((report.deadlock_free, report.unread_pairs, report.pairs), (Some(true), 0, 72));
        let lines: Vec<usize> =
            files[cut].iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
        let mut unread = 0;
        for end in (1..size).step_by(71).chain(lines.into_iter().step_by(3)).chain(size - 30..size) {
            // Where nothing is left of the topology, it is said that there is none.
            if let Ok(seen) = at(end) {
                unread += judge(&format!("{topology} {tables}, {cut} up to {end} of {size}"), seen, &whole);
            }
        }
        assert!(unread > 100, "{topology} {tables}, {cut}: {unread}");
    }
}

/// A capture of a folder whose topology was cut, and a capture that is cut itself.
#[test]
fn a_capture_gives_no_verdict_over_what_was_not_read() {
    let files = site();
    let recorded = |seen: &Observation| {
        let memory = Memory::default();
        let mut recorder = Recorder::new(memory.clone(), header());
        for second in 0..4 {
            recorder.record_sweep(BEGUN + 1000 * second, seen, &Sweep::default()).unwrap();
        }
        recorder.finish(BEGUN + 4000).unwrap();
        memory.bytes.take()
    };
    let shown = |bytes: &[u8]| look(&folder(&[("it.fdcap", bytes)]).path().join("it.fdcap"));
    let of = |net: &[u8]| look(folder(&[("net", net), ("lfts", &files["lfts"])]).path()).unwrap();
    let whole = of(&files["net"]);
    let bytes = recorded(&whole);
    assert_eq!(check(shown(&bytes).unwrap()).0.deadlock_free, Some(true));
    let mut unread = 0;
    for end in (1..bytes.len()).step_by(23) {
        if let Ok(seen) = shown(&bytes[..end]) {
            judge(&format!("capture up to {end}"), seen, &whole);
        }
    }
    // A line of the first records of hosts: all switches and no cable is missing; and one of a switch.
    for end in [1424, 985, 1533] {
        let part = of(&files["net"][..end]);
        let (before, _) = check(part.clone());
        let (after, _) = check(shown(&recorded(&part)).unwrap());
        let of = |report: &CertificateReport| (report.unreachable, report.unread_pairs, report.deadlock_free);
        assert_eq!(of(&before), of(&after), "{end}");
        assert_eq!((after.unreachable, after.deadlock_free), (0, None), "{end}");
        unread += after.unread_pairs;
    }
    assert!(unread > 0);
}

/// A switch alone in a file of routes: nothing says whether its table is whole but the LIDs of the fabric.
#[test]
fn the_only_table_of_a_file_is_whole_where_the_fabric_has_no_further_lids() {
    let net = "Switch\t8 \"S-0000000000000010\"\t\t# \"leaf\" base port 0 lid 1 lmc 0\n\
        [1]\t\"H-0000000000000020\"[1](21) \t\t# \"a\" lid 2 4xEDR\n\
        [2]\t\"H-0000000000000030\"[1](31) \t\t# \"b\" lid 3 4xEDR\n\n\
        Ca\t1 \"H-0000000000000020\"\t\t# \"a\"\n[1](21) \t\"S-0000000000000010\"[1]\t\t# lid 2 lmc 0 \"leaf\" lid 1 4xEDR\n\n\
        Ca\t1 \"H-0000000000000030\"\t\t# \"b\"\n[1](31) \t\"S-0000000000000010\"[2]\t\t# lid 3 lmc 0 \"leaf\" lid 1 4xEDR\n";
    let rows = "dump_ucast_routes: Switch 0x0000000000000010\nLID    : Port : Hops : Optimal\n\
        0x0001 : 000  : 00   : yes\n0x0002 : 001  : 01   : yes\n0x0003 : 002  : 01   : yes\n";
    let of = |rows: &str| look(folder(&[("net", net.as_bytes()), ("fdbs", rows.as_bytes())]).path()).unwrap();
    let whole = of(rows);
    assert!(!whole.is_partial(), "{:?}", whole.notes);
    assert_eq!(check(whole).0.deadlock_free, Some(true));
    let end = rows.rfind("0x0003").unwrap();
    let cut = of(&rows[..end]);
    assert!(cut.is_partial() && cut.notes.has("FN-302"), "{:?}", cut.notes);
    let (report, _) = check(cut);
    assert_eq!((report.unreachable, report.unread_pairs, report.deadlock_free), (0, 1, None));
}
