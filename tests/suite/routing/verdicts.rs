//! Verdicts over tables that came from files: what no file says of levels, and what a file that was cut does not say.

use super::{fabric, route};
use fabdeck::catalogue::snapshot::Snapshot;
use fabdeck::operations::check::certificate_text::report_lines;
use fabdeck::operations::check::judgement::CertificateReport;
use fabdeck::operations::lanes::levels::{LevelsInForce, check_in_force};
use fabdeck_fabric::observe::{Notes, Observation};
use fabdeck_fabric::{Fabric, Faults, PortNum, ServiceLevel, Sl2Vl, Tables};
use fabdeck_files::text::Input;
use fabdeck_files::{fdbs, lfts};
use fabdeck_routing::{NoProgress, Problem};

/// Forwarding tables of an engine as a file of one of OpenSM's dumps.
fn dump(fabric: &Fabric, engine: &str) -> String {
    let faults = Faults::default();
    let routes = route(engine, &Problem::new(fabric, &faults)).unwrap().routes;
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        tables.node_mut(id).lft = Some(routes.lft(id.0));
    }
    let mut out = Vec::new();
    lfts::write(fabric, &tables, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn judged(fabric: &Fabric, text: &str, map: fn(&mut Tables, &Fabric)) -> CertificateReport {
    let file = lfts::read(Input::new("opensm-lfts.dump", text.as_bytes())).unwrap();
    let (mut tables, mut notes) = (Tables::default(), Notes::new());
    notes.extend(file.notes.clone());
    file.apply_to(fabric, &mut tables, &mut notes);
    map(&mut tables, fabric);
    let observation = Observation { fabric: fabric.clone(), tables, notes, ..Observation::default() };
    let look = Snapshot::new("here", observation, &Default::default());
    check_in_force(
        &look,
        &look.observation.tables,
        &Faults::default(),
        false,
        LevelsInForce::Unsaid,
        &NoProgress,
    )
    .unwrap()
}

fn unmapped(_: &mut Tables, _: &Fabric) {}

/// Every level on the lane of its number, as stock switches have it: that puts no lane in use.
fn identity(tables: &mut Tables, fabric: &Fabric) {
    for (id, _) in fabric.switches() {
        let ports: Vec<PortNum> = fabric.ports_of(id).map(|(_, port)| port.number).collect();
        let mut row = Sl2Vl::default();
        for level in 0..8 {
            row.set(ServiceLevel::new(level).unwrap(), fabdeck_fabric::Lane::new(level).unwrap());
        }
        let all = ports.iter().flat_map(|from| ports.iter().map(move |to| ((*from, *to), row)));
        tables.node_mut(id).sl2vl = all.collect();
    }
}

#[test]
fn a_credit_loop_of_stock_tables_is_a_finding() {
    let fabric = fabric("torus,dims=4x4");
    let text = dump(&fabric, "minhop");
    for mapped in [unmapped as fn(&mut Tables, &Fabric), identity] {
        let report = judged(&fabric, &text, mapped);
        assert_eq!((report.deadlock_free, report.lanes_from), (Some(false), "level 0 assumed"));
        assert!(
            report.defect_words().iter().any(|fault| fault.contains("credit loop")),
            "{:?}",
            report.defect_words()
        );
        let lines = report_lines(&report);
        let said = lines.iter().find(|(label, _)| *label == "deadlock").map(|(_, text)| text.as_str());
        let said = said.unwrap();
        assert!(said.starts_with("credit loop: "), "{said}");
        assert!(said.ends_with("(level 0 assumed: no source states levels)"), "{said}");
        assert!(report.cycle.is_some() && report.cycle_lane == Some(0));
    }
    let free = judged(&fabric, &dump(&fabric, "updn"), identity);
    assert_eq!((free.deadlock_free, free.has_findings()), (Some(true), false));
}

/// A table that ends in its middle: what lies beyond the cut may lead anywhere, and no pair is said to have no path.
#[test]
fn what_lies_beyond_the_cut_of_a_table_is_unread() {
    let fabric = fabric("kary,k=4,n=3");
    let text = dump(&fabric, "updn");
    let whole = judged(&fabric, &text, unmapped);
    assert_eq!((whole.unreachable, whole.unread_pairs, whole.unread_tables), (0, 0, 0));
    // In the last table but one, after ten lines, and at the end of a line as a full disk would not have it.
    let last: Vec<usize> = text.match_indices("Unicast lids").map(|(at, _)| at).collect();
    let at = last[last.len() - 2];
    let ends: Vec<usize> = text[at..].match_indices('\n').map(|(end, _)| at + end + 1).collect();
    for end in [ends[12], ends[12] + 7] {
        let cut = judged(&fabric, &text[..end], unmapped);
        assert_eq!((cut.unreachable, cut.lost_lids, cut.loops), (0, 0, 0), "{cut:?}");
        assert!(cut.unread_pairs > 0 && cut.unread_tables == 2, "{cut:?}");
        assert!(!cut.defect_words().iter().any(|fault| fault.contains("no path")));
    }
}

/// dump_lfts writes the range of a table into its heading: within it rows that do not come are unread, beyond it there
/// is nothing to read.
#[test]
fn a_heading_says_how_far_a_table_would_have_gone() {
    let switch = "Unicast lids [0x0-0x50] of switch Lid 1 guid 0x00fab10000000001 (leaf):\n";
    let rows = "0x0001 000 : x\n0x0002 001 : x\n";
    let read = |text: &str| lfts::read(Input::new("d", text.as_bytes())).unwrap();
    let blocks = |text: &str| read(text).sections[0].tables.unread.iter().copied().collect::<Vec<_>>();
    assert_eq!(blocks(&format!("{switch}{rows}")), [0, 1]);
    assert_eq!(blocks(&format!("{switch}{rows}0x0041 001 : x\n")), [1]);
    // Lines are missing somewhere.
    assert_eq!(blocks(&format!("{switch}{rows}7 valid lids dumped\n")), [0, 1]);
    assert!(blocks(&format!("{switch}{rows}2 valid lids dumped\n")).is_empty());
    // A block that the tool could not read is unknown.
    let failed = "SubnGet(LFT) failed on switch 'a' DR path slid 0; dlid 0; 0 Node GUID 0xfab10000000001 SMA LID 1; \
                  MAD status 0x110 AM 0x1\n";
    assert_eq!(blocks(&format!("{switch}{rows}{failed}2 valid lids dumped\n")), [1]);
    // Routes of OpenSM have no counts: the last table is cut where it ends before the others.
    let table = |guid: &str, rows: &str| {
        format!("osm_ucast_mgr_dump_ucast_routes: Switch {guid}\nLID    : Port : Hops : Optimal\n{rows}")
    };
    let row = |lid: &str| format!("{lid} : 001  : 01   : yes\n");
    let text = table("0x00fab10000000001", &(row("0x0001") + &row("0x0081")))
        + &table("0x00fab10000000002", &row("0x0001"));
    let file = fdbs::read(Input::new("opensm.fdbs", text.as_bytes())).unwrap();
    let unread: Vec<Vec<u16>> =
        file.sections.iter().map(|section| section.tables.unread.iter().copied().collect()).collect();
    assert_eq!(unread, [vec![], vec![0, 1, 2]]);
}
