//! What `--source` names: one file, several, a folder, a name; and every way in which that goes wrong.

use std::fs;
use std::path::Path;

use fabdeck_fabric::generate::{FabricSpec, generate};
use fabdeck_fabric::observe::{Observation, SubnetManager};
use fabdeck_fabric::{Fabric, Lid, NodeId, PortNum, Tables};
use fabdeck_files::{ibnetdiscover, lfts, subnet_lst};
use fabdeck_live::LiveOptions;
use fabdeck_mad::access::{NoObserver, ReadOptions, SourceError};
use tempfile::TempDir;

fn fabric(name: &str) -> Fabric {
    generate(&name.parse::<FabricSpec>().unwrap()).unwrap().fabric
}

fn look(path: &Path) -> Result<Observation, SourceError> {
    fabdeck_live::open(path.to_str().unwrap(), &LiveOptions::default())
        .and_then(|mut source| source.observe(ReadOptions::default(), &mut NoObserver))
}

fn refused(path: &Path) -> String {
    look(path).unwrap_err().to_string()
}

/// A folder with a topology, tables, names and what else lies around.
fn incident() -> (TempDir, Fabric) {
    let folder = tempfile::tempdir().unwrap();
    let fabric = fabric("kary,k=2,n=2,terminals=2");
    fs::write(folder.path().join("net.txt"), ibnetdiscover::write(&fabric, None).unwrap().text).unwrap();
    (folder, fabric)
}

fn with_tables(folder: &TempDir, fabric: &Fabric, port: u8) {
    let mut tables = Tables::default();
    for (id, _) in fabric.switches() {
        let lft = tables.node_mut(id).lft.get_or_insert_default();
        for lid in 1..=u32::from(fabric.top_lid().unwrap().value()) {
            lft.set(Lid::new(lid).unwrap(), Some(PortNum(port)));
        }
    }
    let mut text = Vec::new();
    lfts::write(fabric, &tables, &mut text).unwrap();
    fs::write(folder.path().join("tables.txt"), text).unwrap();
}

#[test]
fn a_folder_is_one_fabric_whatever_its_files_are_called() {
    let (folder, fabric) = incident();
    with_tables(&folder, &fabric, 1);
    let names = folder.path().join("names");
    fs::write(&names, "0x0002c90100000000 \"the first\"\n").unwrap();
    fs::write(folder.path().join("notes.md"), "it broke at night\n").unwrap();
    fs::write(folder.path().join(".hidden"), "Switch nonsense").unwrap();
    let seen = look(folder.path()).unwrap();
    assert_eq!(seen.fabric, fabric);
    assert_eq!(seen.tables.nodes.len(), fabric.switch_count());
    assert_eq!(seen.names.by_guid.len(), 1);
    let notes: Vec<&str> = seen.notes.iter().map(|note| note.code).collect();
    assert_eq!(notes, ["FN-501"], "the stranger is left out, and that is said: {:?}", seen.notes);
    assert!(!seen.is_partial());
}

#[test]
fn two_topologies_that_agree_are_one() {
    let (folder, fabric) = incident();
    fs::copy(folder.path().join("net.txt"), folder.path().join("again.txt")).unwrap();
    assert_eq!(look(folder.path()).unwrap().fabric, fabric);
}

#[test]
fn two_dumps_of_one_format_that_differ_are_refused_with_the_first_difference() {
    let (folder, _) = incident();
    let other = fabric("kary,k=2,n=2,terminals=1");
    fs::write(folder.path().join("other.txt"), ibnetdiscover::write(&other, None).unwrap().text).unwrap();
    let error = refused(folder.path());
    assert!(error.contains("FD-5007") && error.contains("is gone") | error.contains("came"), "{error}");
}

#[test]
fn the_format_that_tells_more_wins_and_the_difference_is_noted() {
    let (folder, fabric) = incident();
    let mut list = Vec::new();
    let other = self::fabric("kary,k=2,n=2,terminals=1");
    subnet_lst::write(&other, None, &mut list).unwrap();
    fs::write(folder.path().join("a.lst"), list).unwrap();
    let seen = look(folder.path()).unwrap();
    assert_eq!(seen.fabric, fabric);
    assert!(seen.notes.has("FN-505"), "{:?}", seen.notes);
}

/// What one format leaves open another fills in, and a port report, which cannot name adapters, contradicts none.
#[test]
fn a_second_format_adds_the_subnet_manager_and_no_false_alarm() {
    let (folder, fabric) = incident();
    let (id, host) = fabric.nodes().find(|(_, node)| !node.is_switch()).unwrap();
    let guid = fabric.ports_of(id).find_map(|(_, port)| port.facts.guid).unwrap();
    let manager = SubnetManager { guid, state: Some("MASTER".into()), priority: None };
    let mut list = Vec::new();
    subnet_lst::write(&fabric, Some(&manager), &mut list).unwrap();
    fs::write(folder.path().join("a.lst"), list).unwrap();
    let report = format!(
        "SW     5  1 {} 4x QDR - CA     9  1 {guid} ( 'leaf0' - '{}' )\n",
        fabric.node(NodeId(0)).guid(),
        host.facts.description
    );
    fs::write(folder.path().join("b.ports"), report).unwrap();
    let seen = look(folder.path()).unwrap();
    assert_eq!(seen.subnet_manager.as_ref().map(|manager| manager.guid), Some(guid), "{:?}", seen.notes);
    assert!(!seen.notes.has("FN-505"), "{:?}", seen.notes);
    assert_eq!(seen.fabric, fabric);
}

#[test]
fn lids_of_guid2lid_serve_a_topology_without_any() {
    let folder = tempfile::tempdir().unwrap();
    let text = "Switch\t2 \"S-0000000000000010\"\t\t# \"sw\" base port 0 lid 0 lmc 0\n\
                [1]\t\"H-0000000000000020\"[1](21) \t\t# \"host\" lid 0 4xEDR\n\n\
                Ca\t1 \"H-0000000000000020\"\t\t# \"host\"\n\
                [1](21) \t\"S-0000000000000010\"[1]\t\t# lid 0 lmc 0 \"sw\" lid 0 4xEDR\n";
    fs::write(folder.path().join("net"), text).unwrap();
    fs::write(
        folder.path().join("guid2lid"),
        "0x0000000000000010 0x0003 0x0003\n\n0x0000000000000021 0x0008 0x000b\n\n",
    )
    .unwrap();
    let seen = look(folder.path()).unwrap();
    assert_eq!(seen.fabric.top_lid(), Lid::new(0xb), "{:?}", seen.notes);
}

#[test]
fn keys_that_opensm_keeps_are_left_alone() {
    let (folder, _) = incident();
    fs::write(folder.path().join("guid2mkey"), "0x0000000000200004 0xfeedfacecafebeef\n\n").unwrap();
    let seen = look(folder.path()).unwrap();
    let said = format!("{seen:?}").to_lowercase();
    assert!(!said.contains("feedface") && !said.contains(&0xfeed_face_cafe_beef_u64.to_string()), "{said}");
}

#[test]
fn counters_can_be_looked_at_by_themselves_and_tables_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let counters = "# Port counters: Lid 2 port 1 (CapMask: 0x5A00)\nPortSelect:......................1\n\
                    PortXmitWait:....................7\n";
    let file = folder.path().join("p");
    fs::write(&file, counters).unwrap();
    let seen = look(&file).unwrap();
    assert_eq!(seen.counters.len(), 1);
    assert!(seen.is_partial() && seen.notes.has("FN-503"));
    with_tables(&folder, &fabric("kary,k=2,n=2"), 1);
    let error = refused(folder.path());
    assert!(error.contains("FD-5006") && error.contains("tables but no topology"), "{error}");
}

#[test]
fn what_is_no_source_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f");
    for (bytes, expected) in [
        (&b""[..], "empty"),
        (b" \n\n", "empty"),
        (b"hello\n", "the format of the content is unknown"),
        (b"\x2b\x83\xe7\x8f\x01\0\0\0", "ibnetdiscover --cache"),
        (b"\x7fELF\0\0", "binary"),
        (b"SwitchName=s0 Nodes=a,b\n", "topology.conf"),
        (b"{\"jobs\": []}", "JSON"),
    ] {
        fs::write(&file, bytes).unwrap();
        let error = refused(&file);
        assert!(error.contains(expected) && error.contains("FD-2002"), "{expected}: {error}");
    }
    for damaged in [&b"\x1f\x8b\x08\0\0"[..], b"\x28\xb5\x2f\xfd\0"] {
        fs::write(&file, damaged).unwrap();
        let error = refused(&file);
        assert!(error.contains("FD-2004"), "{error}");
    }
    assert!(refused(&folder.path().join("absent")).contains("FD-5003"));
    let empty = tempfile::tempdir().unwrap();
    assert!(refused(empty.path()).contains("no file here has a topology"));
}

#[test]
fn names_that_cannot_be() {
    let error = |text: &str| {
        fabdeck_live::open(text, &LiveOptions::default()).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert!(error("sim:nothing").contains("FD-3"), "{}", error("sim:nothing"));
    assert!(error("sim:torus,dims=0").contains("dims"), "{}", error("sim:torus,dims=0"));
    assert!(error("umad:a:b").contains("FD-5001"));
    assert!(error("").contains("FD-5002"));
}

#[test]
fn a_folder_that_is_no_incident_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..1100 {
        fs::write(folder.path().join(format!("{at}")), "").unwrap();
    }
    assert!(refused(folder.path()).contains("FD-5005"));
}
