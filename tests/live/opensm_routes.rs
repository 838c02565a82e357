//! OpenSM routes a generated fabric: every entry of its dumps is read correctly, and OpenSM and ibdmchk read the
//! files written here.

use std::collections::BTreeMap;
use std::fs;

use fabdeck_fabric::observe::Notes;
use fabdeck_fabric::{Fabric, FabricDiff, Guid, Lid, NodeKind, Tables};
use fabdeck_files::content::{Content, TableFile};
use fabdeck_files::{fdbs, lfts, sl2vl, subnet_lst};

use crate::ibsim::{self, Stage};

const SHORT: &[(&str, &[&str])] = &[
    ("demo", &["-R", "minhop", "-Q"]),
    ("torus,dims=3x3x2", &["-R", "dfsssp", "-Q"]),
    ("random,switches=24,links=90", &["-R", "nue", "--nue_max_num_vls", "4", "-Q"]),
    ("kary,k=3,n=3,faults=3", &["-R", "updn", "-l", "1"]),
];
const LONG: &[(&str, &[&str])] = &[
    ("torus,dims=4x4x3", &["-R", "dfsssp", "-Q"]),
    ("random,switches=125,links=1000", &["-R", "nue", "--nue_max_num_vls", "4", "-Q"]),
    ("kary,k=4,n=3,faults=3", &["-R", "updn", "-l", "1"]),
    ("switch648", &["-R", "ftree"]),
    ("switch3456", &["-R", "minhop"]),
    ("racks648", &["-R", "nue", "-Q"]),
];

/// Switch GUID -> LID -> port, from a reader that knows only the two kinds of lines it needs.
pub type PlainTables = BTreeMap<u64, BTreeMap<u32, u32>>;

#[test]
fn every_entry_of_opensm_is_read_and_ours_are_read_by_opensm_and_ibdmchk() {
    for (name, engine) in SHORT.iter().chain(LONG.iter().filter(|_| ibsim::long())) {
        let stage = Stage::play(&ibsim::fabric(name));
        stage.opensm(engine);
        let seen = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
        let fabric = ibsim::topology("ibnetdiscover", seen.as_bytes()).fabric;
        let tables = tables_are_read(name, &stage, &fabric);
        links_are_read(name, &stage, &fabric);
        lids_are_read(name, &stage, &fabric);
        lanes_are_read(name, &stage, &fabric, engine.contains(&"-Q"));
        ibdmchk_accepts(name, &stage, &fabric, &tables);
        println!("{name} {}: {} entries", engine.join(" "), entries(&tables));
    }
}

/// The tables in OpenSM's dump, in the switches (dump_lfts) and in the route dump are the same.
fn tables_are_read(name: &str, stage: &Stage, fabric: &Fabric) -> Tables {
    let (_, bytes) = stage.dump("opensm-lfts.dump");
    let dump = ibsim::tables("opensm-lfts.dump", &bytes);
    assert!(dump.notes.is_empty(), "{name}: {:?}", dump.notes);
    let tables = bound(name, fabric, &dump);
    let naive = read_plainly(&String::from_utf8(bytes).unwrap(), "Unicast lids", " guid ");
    assert_eq!(naive, plain_of(fabric, &tables), "{name}: opensm-lfts.dump");

    let (_, bytes) = stage.dump("opensm.fdbs");
    let routes = bound(name, fabric, &ibsim::tables("opensm.fdbs", &bytes));
    assert_eq!(plain_of(fabric, &routes), naive, "{name}: opensm.fdbs");

    let held = stage.run("dump_lfts", "infiniband-diags", &[] as &[&str]);
    let held = bound(name, fabric, &ibsim::tables("dump_lfts", held.as_bytes()));
    let mut held = plain_of(fabric, &held);
    // dump_lfts omits the last LID if it is a multiple of 64.
    let mut expected = naive;
    for row in expected.values_mut().chain(held.values_mut()) {
        row.retain(|lid, _| lid % 64 != 0);
    }
    assert_eq!(held, expected, "{name}: dump_lfts");
    tables
}

pub fn bound(name: &str, fabric: &Fabric, file: &TableFile) -> Tables {
    let (mut tables, mut notes) = (Tables::default(), Notes::new());
    file.apply_to(fabric, &mut tables, &mut notes);
    assert!(notes.is_empty(), "{name}: {notes:?}");
    tables
}

pub fn plain_of(fabric: &Fabric, tables: &Tables) -> PlainTables {
    let row = |node| {
        let lft = tables.lft(node).map(|lft| lft.routed_lids().collect::<Vec<_>>()).unwrap_or_default();
        lft.into_iter().map(|(lid, port)| (u32::from(lid.value()), u32::from(port.value()))).collect()
    };
    fabric.switches().map(|(id, node)| (node.guid().0, row(id))).collect()
}

/// Parses `0x0001 003 ...` lines under headings with a GUID.
pub fn read_plainly(text: &str, heading: &str, before_guid: &str) -> PlainTables {
    let hex = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let mut plain = PlainTables::new();
    let mut switch = 0;
    for line in text.lines() {
        if line.starts_with(heading) {
            let guid = line.split_once(before_guid).unwrap().1.split_whitespace().next().unwrap();
            switch = hex(guid);
            plain.entry(switch).or_default();
        } else if line.starts_with("0x") {
            let mut words = line.split_whitespace();
            let lid = hex(words.next().unwrap()) as u32;
            plain.entry(switch).or_default().insert(lid, words.next().unwrap().parse().unwrap());
        }
    }
    plain
}

fn entries(tables: &Tables) -> usize {
    tables.nodes.values().filter_map(|node| node.lft.as_ref()).map(|lft| lft.routed_lids().count()).sum()
}

/// The list of links equals the fabric of ibnetdiscover, except for what the list does not contain.
fn links_are_read(name: &str, stage: &Stage, fabric: &Fabric) {
    let (_, bytes) = stage.dump("opensm-subnet.lst");
    let list = ibsim::topology("opensm-subnet.lst", &bytes);
    let told = ["revision", "LMC", "enhanced port 0", "speed", "state", "device", "vendor", "GUID"];
    let untold = |change: &fabdeck_fabric::FabricDifference| match change {
        fabdeck_fabric::FabricDifference::NodeChanged { what, .. }
        | fabdeck_fabric::FabricDifference::PortChanged { what, .. } => !told.contains(what),
        _ => true,
    };
    let differences: Vec<_> =
        FabricDiff::between(fabric, &list.fabric).changes.into_iter().filter(untold).collect();
    assert!(differences.is_empty(), "{name}: {}: {}", differences.len(), differences[0]);
    let mut again = Vec::new();
    subnet_lst::write(&list.fabric, list.subnet_manager.as_ref(), &mut again).unwrap();
    assert!(again == bytes, "{name}: opensm-subnet.lst is not written as OpenSM writes it");
}

/// OpenSM's cache of LIDs agrees with the ports.
fn lids_are_read(name: &str, stage: &Stage, fabric: &Fabric) {
    let (_, bytes) = stage.dump("guid2lid");
    let Content::Lids(file) = ibsim::read("guid2lid", &bytes) else { panic!("{name}: guid2lid") };
    let owned = |(guid, (lid, lmc)): (&Guid, &(Lid, fabdeck_fabric::Lmc))| {
        let port = fabric.port_by_lid(*lid).unwrap_or_else(|| panic!("{name}: nobody has LID {lid}"));
        let node = fabric.port(port).node;
        let known = fabric.port_by_guid(*guid) == Some(port) || fabric.node_by_guid(*guid) == Some(node);
        // A base switch port 0 has one LID whatever the LMC; guid2lid reserves the whole span.
        let span = fabric.node(node).is_switch() || fabric.port(port).facts.lmc == *lmc;
        assert!(known && span, "{name}: {guid} has LID {lid}, LMC {lmc}");
    };
    file.lids.iter().for_each(owned);
    let addressed =
        fabric.nodes().filter(|(id, _)| fabric.ports_of(*id).any(|(_, p)| p.facts.lid.is_some())).count();
    assert_eq!(file.lids.len(), addressed, "{name}: guid2lid");
}

/// With QoS, the dump has the lanes of every pair of ports, and they are written back byte for byte.
fn lanes_are_read(name: &str, stage: &Stage, fabric: &Fabric, dumped: bool) {
    if !dumped {
        assert!(!stage.folder.path().join("opensm-sl2vl.dump").exists(), "{name}: lanes without QoS");
        return;
    }
    let (_, bytes) = stage.dump("opensm-sl2vl.dump");
    let tables = bound(name, fabric, &ibsim::tables("opensm-sl2vl.dump", &bytes));
    let mut again = Vec::new();
    sl2vl::write(fabric, &tables, &mut again).unwrap();
    assert!(again == bytes, "{name}: opensm-sl2vl.dump is not written as OpenSM writes it");
}

/// ibdmchk reads fabdeck's list of links and routes, and finds the same as in OpenSM's own.
fn ibdmchk_accepts(name: &str, stage: &Stage, fabric: &Fabric, tables: &Tables) {
    let folder = stage.folder.path();
    let (mut list, mut routes) = (Vec::new(), Vec::new());
    subnet_lst::write(fabric, None, &mut list).unwrap();
    let left_out = fdbs::write(fabric, tables, &mut routes).unwrap();
    assert!(left_out.is_empty(), "{name}: {left_out:?}");
    fs::write(folder.join("ours.lst"), list).unwrap();
    fs::write(folder.join("ours.fdbs"), routes).unwrap();
    fs::write(folder.join("none"), "").unwrap();
    let check = |list: &str, routes: &str| {
        // With `-l 0` ibdmchk follows the first LID of a port; `-l 1` fails on OpenSM's own files, because switches
        // have one LID.
        let report = ibsim::ibdmchk(folder, &["-s", list, "-f", routes, "-m", "none", "-l", "0"]);
        assert!(
            report.contains("Fabric Qualities Report") || report.contains("CA to CA"),
            "{name}: {report}"
        );
        report
            .lines()
            .filter(|line| !line.contains(list) && !line.contains(routes))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let (ours, theirs) = (check("ours.lst", "ours.fdbs"), check("opensm-subnet.lst", "opensm.fdbs"));
    assert_eq!(ours, theirs, "{name}: ibdmchk sees another fabric in our files");
    // ibdmchk knows one lane only, so it finds credit loops where an engine needs several.
    let errors = ours.lines().filter(|line| line.contains("-E-") && !line.contains("credit loop"));
    assert_eq!(errors.collect::<Vec<_>>(), [""; 0], "{name}: {ours}");
}

/// OpenSM's `file` engine loads fabdeck's tables, and the switches then hold them unchanged.
#[test]
fn opensm_loads_tables_that_are_written_here() {
    let stage = Stage::play(&ibsim::fabric("switch648"));
    stage.opensm(&["-R", "updn"]);
    let seen = stage.run("ibnetdiscover", "infiniband-diags", &[] as &[&str]);
    let fabric = ibsim::topology("ibnetdiscover", seen.as_bytes()).fabric;
    let (_, bytes) = stage.dump("opensm-lfts.dump");
    let mut tables = bound("switch648", &fabric, &ibsim::tables("opensm-lfts.dump", &bytes));
    // One route differs from any of OpenSM's: another way up to the last host.
    let leaf = fabric.switches().next().unwrap().0;
    let host =
        fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter).last().unwrap().0;
    let lid = fabric.ports_of(host).find_map(|(_, port)| port.facts.lid).unwrap();
    let lft = tables.node_mut(leaf).lft.as_mut().unwrap();
    let before = lft.get(lid).unwrap();
    let ups: Vec<_> = fabric
        .ports_of(leaf)
        .filter(|(_, p)| p.link.is_some_and(|l| fabric.is_between_switches(l)))
        .collect();
    let other = ups.iter().map(|(_, port)| port.number).find(|number| *number != before).unwrap();
    lft.set(lid, Some(other));
    let mut text = Vec::new();
    assert!(lfts::write(&fabric, &tables, &mut text).unwrap().is_empty());
    let file = stage.folder.path().join("ours.lft");
    fs::write(&file, text).unwrap();
    stage.opensm(&["-R", "file,no_fallback", "-U", &file.display().to_string()]);
    let held = stage.run("dump_lfts", "infiniband-diags", &[] as &[&str]);
    let held = bound("switch648", &fabric, &ibsim::tables("dump_lfts", held.as_bytes()));
    let mut expected = plain_of(&fabric, &tables);
    let mut held = plain_of(&fabric, &held);
    for row in expected.values_mut().chain(held.values_mut()) {
        row.retain(|lid, _| lid % 64 != 0);
    }
    assert_eq!(held, expected);
}
