//! Tables and lists that OpenSM and its companions leave behind: read, written, cut short, put to a fabric.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeSet;
use std::path::Path;

use fabdeck_fabric::observe::{Notes, PolicyLevels, SubnetManager};
use fabdeck_fabric::{
    Fabric, FabricBuilder, Guid, Lane, Lid, LinkSpeed, LinkWidth, Lmc, NodeFacts, NodeId, NodeKey, NodeKind,
    PortNum, PortState, ServiceLevel, Sl2Vl, Tables,
};
use fabdeck_files::content::{TableFile, TopologyFile};
use fabdeck_files::text::Input;
use fabdeck_files::{
    fdbs, guid2lid, guids, label_sheet, lfts, name_map, partitions, psl, qos_policy, sl2vl, slvl, subnet_lst,
};
use proptest::prelude::*;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("FABDECK_ROOT")).join("tests/fixtures/tables").join(name)).unwrap()
}

fn lid(value: u32) -> Lid {
    Lid::new(value).unwrap()
}

fn codes(notes: &Notes) -> Vec<&'static str> {
    notes.iter().map(|note| note.code).collect()
}

/// Everything a table file says, each fact a line.
fn facts(file: &TableFile) -> BTreeSet<String> {
    let mut facts = BTreeSet::new();
    for section in &file.sections {
        let (node, tables) = (section.node, &section.tables);
        let routed = tables.lft.iter().flat_map(|lft| lft.routed_lids());
        facts.extend(routed.map(|(lid, port)| format!("{node}: {lid} by {port}")));
        let groups = tables.mft.iter().flat_map(|mft| &mft.groups);
        facts.extend(groups.map(|(group, ports)| format!("{node}: group {group:#x} by {ports:?}")));
        facts.extend(tables.sl2vl.iter().map(|(key, lanes)| format!("{node}: lanes {key:?} {lanes:?}")));
    }
    facts.extend(file.owners.iter().map(|(lid, guid)| format!("{lid} is {guid}'s")));
    facts
}

/// Reads every beginning of a file: it must say no more than the whole, and must say that it is cut unless the cut
/// lies where a whole file may end.
fn cut_everywhere(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Option<(BTreeSet<String>, bool)>,
    whole_at: impl Fn(&str) -> bool,
) {
    let (all, _) = read(bytes).expect("the whole file is fine");
    for end in 0..bytes.len() {
        let Some((some, noted)) = read(&bytes[..end]) else { continue };
        let shown = String::from_utf8_lossy(&bytes[..end]);
        let extra: Vec<_> = some.difference(&all).collect();
        assert!(extra.is_empty(), "{extra:?} after\n{shown}");
        assert!(noted || whole_at(&shown.replace('\r', "")), "no note after\n{shown}");
    }
}

fn cut_tables(name: &str, reader: Reader, whole_at: impl Fn(&str) -> bool) {
    let bytes = fixture(name);
    let read = |bytes: &[u8]| {
        let file = reader(Input::new(name, bytes)).ok()?;
        Some((facts(&file), file.notes.is_partial()))
    };
    cut_everywhere(&bytes, read, whole_at);
}

type Reader = fn(Input<'_>) -> Result<TableFile, Box<fabdeck_files::FileError>>;

#[test]
fn a_cut_dump_of_tables_says_so() {
    let counted = |text: &str| text.trim_end_matches('\n').trim_end().ends_with("lids dumped");
    cut_tables("opensm-lfts.dump", lfts::read, counted);
    cut_tables("dump_lfts.txt", lfts::read, |_| false);
    cut_tables("dump_mfts.txt", lfts::read, counted);
    // The end of a table is nowhere said; a lone table has a note of its own, and a file may end without a newline.
    let whole = String::from_utf8(fixture("opensm.fdbs")).unwrap();
    let row = |text: &str| ["yes", "no", "UNREACHABLE", "\n"].iter().any(|last| text.ends_with(last));
    let alone = |text: &str| row(text) && (text.matches("Switch").count() == 1 || text == whole.trim_end());
    cut_tables("opensm.fdbs", fdbs::read, alone);
    cut_tables("opensm.mcfdbs", fdbs::read, |text| text.ends_with('\n'));
    let ruled = |text: &str| {
        text.trim_end_matches('\n').ends_with("\n#--------------------------------------------------------")
    };
    cut_tables("opensm-sl2vl.dump", sl2vl::read, ruled);
    let byte = |text: &str| text.ends_with('\n') || text.lines().last().is_some_and(|line| line.len() == 62);
    cut_tables("lanes.slvl", slvl::read, byte);
}

#[test]
fn a_cut_list_says_so() {
    let bytes = fixture("roots.guids");
    let read = |bytes: &[u8]| {
        let file = guids::read(Input::new("g", bytes)).ok()?;
        Some((file.guids.iter().map(|guid| guid.to_string()).collect(), file.notes.is_partial()))
    };
    // A list has no end of its own, and what follows a GUID says nothing.
    let whole = |text: &str| {
        let last = text.lines().last().unwrap_or_default();
        text.ends_with('\n') || last.len() >= 18 || last.contains('#') || last.trim().is_empty()
    };
    cut_everywhere(&bytes, read, whole);

    let bytes = fixture("guid2lid");
    let read = |bytes: &[u8]| {
        let file = guid2lid::read(Input::new("g", bytes)).ok()?;
        let facts = file.lids.iter().map(|(guid, lids)| format!("{guid} {lids:?}")).collect();
        Some((facts, file.notes.is_partial()))
    };
    cut_everywhere(&bytes, read, |text| {
        text.ends_with('\n') || text.lines().last().is_some_and(|l| l.len() == 32)
    });

    let bytes = fixture("lanes.psl");
    let read = |bytes: &[u8]| {
        let file = psl::read(Input::new("p", bytes)).ok()?;
        let PolicyLevels::ByPath(table) = &file.levels else { panic!("{:?}", file.levels) };
        let rows = table.sources.iter().flat_map(|(source, row)| row.iter().map(move |path| (source, path)));
        let facts = rows.map(|(source, (lid, level))| format!("{source} {lid} {level:?}")).collect();
        Some((facts, file.notes.is_partial()))
    };
    cut_everywhere(&bytes, read, |text| {
        let last = text.lines().last().unwrap_or_default();
        let level = last.split(' ').nth(2).unwrap_or_default();
        text.ends_with('\n') || last.starts_with('#') || !["", "1"].contains(&level)
    });

    let bytes = fixture("node-name-map");
    let read = |bytes: &[u8]| {
        let file = name_map::read(Input::new("n", bytes)).ok()?;
        let facts = file.names.by_guid.iter().map(|(guid, name)| format!("{guid} {name}")).collect();
        Some((facts, file.notes.is_partial()))
    };
    let whole = |text: &str| {
        let last = text.lines().last().unwrap_or_default().trim();
        text.ends_with('\n') || last.is_empty() || last.starts_with('#') || last.matches('"').count() >= 2
    };
    cut_everywhere(&bytes, read, whole);
}

fn cables(file: &TopologyFile) -> BTreeSet<String> {
    let fabric = &file.fabric;
    let mut facts = BTreeSet::new();
    for (id, link) in fabric.links() {
        let ends = fabric.ends(id).map(|(node, port)| format!("{}/{port}", fabric.node(node).guid()));
        facts.insert(format!("{ends:?}"));
        for port in [link.a, link.b].map(|port| fabric.port(port)) {
            let (node, facts_of) = (fabric.node(port.node), &port.facts);
            let said = [
                facts_of.speed.map(|speed| format!("speed {speed}")),
                facts_of.width.map(|width| format!("width {width}")),
                facts_of.state.map(|state| format!("state {state}")),
                facts_of.lid.map(|lid| format!("lid {lid}")),
            ];
            let place = format!("{}/{}", node.guid(), port.number);
            facts.extend(said.into_iter().flatten().map(|said| format!("{place} {said}")));
        }
    }
    facts.extend(fabric.nodes().map(|(_, node)| format!("{} {:?}", node.guid(), node.facts.description)));
    facts
}

#[test]
fn a_cut_list_of_cables_says_so() {
    let bytes = fixture("opensm-subnet.lst");
    let read = |bytes: &[u8]| {
        let file = subnet_lst::read(Input::new("lst", bytes)).ok()?;
        Some((cables(&file), file.notes.is_partial()))
    };
    // After each pair of lines a smaller subnet is described in full, and before the first twin a subnet whose cables
    // stand once; a speed at the end may be whole.
    let speed = |text: &str| text.trim_end().rsplit("SPD=").next().is_some_and(|word| !word.contains(' '));
    cut_everywhere(&bytes, read, |text| {
        speed(text) && (text.lines().count() % 2 == 0 || text.lines().count() == 1)
    });
}

#[test]
fn the_list_of_cables_is_met_with_a_reading_or_a_note() {
    let bytes = fixture("opensm-subnet.lst");
    let file = subnet_lst::read(Input::new("opensm-subnet.lst", &bytes)).unwrap();
    let notes: Vec<String> = file.notes.iter().map(|note| note.to_string()).collect();
    insta::assert_snapshot!("lst_notes", notes.join("\n"));
    insta::assert_snapshot!("lst_cables", cables(&file).into_iter().collect::<Vec<_>>().join("\n"));
    let manager =
        SubnetManager { guid: Guid(0x00fa_b200_0000_0011), state: Some("MASTER".to_owned()), priority: None };
    assert_eq!(file.subnet_manager, Some(manager));
    let switch = file.fabric.node(NodeId(1));
    assert_eq!((switch.facts.port_count, switch.facts.device_id), (36, Some(0xC738)));
    let mut out = Vec::new();
    subnet_lst::write(&file.fabric, file.subnet_manager.as_ref(), &mut out).unwrap();
    let again = subnet_lst::read(Input::new("opensm-subnet.lst", &out)).unwrap();
    assert_eq!((again.fabric, again.subnet_manager), (file.fabric, file.subnet_manager));
}

#[test]
fn what_the_tools_print_is_met_with_a_reading_or_a_note() {
    let bytes = fixture("dump_lfts.txt");
    assert!(lfts::looks_like(&String::from_utf8_lossy(&bytes)));
    let file = lfts::read(Input::new("dump_lfts.txt", &bytes)).unwrap();
    let notes: Vec<String> = file.notes.iter().map(|note| note.to_string()).collect();
    insta::assert_snapshot!("dump_lfts_notes", notes.join("\n"));
    insta::assert_snapshot!("dump_lfts_facts", facts(&file).into_iter().collect::<Vec<_>>().join("\n"));
    let bytes = fixture("dump_mfts.txt");
    let file = lfts::read(Input::new("dump_mfts.txt", &bytes)).unwrap();
    assert_eq!(codes(&file.notes), Vec::<&str>::new());
    insta::assert_snapshot!("dump_mfts_facts", facts(&file).into_iter().collect::<Vec<_>>().join("\n"));
}

#[test]
fn the_lists_of_operators() {
    let bytes = fixture("roots.guids");
    let file = guids::read(Input::new("roots.guids", &bytes)).unwrap();
    assert_eq!(file.guids, [3, 4, 5, 6].map(|n| Guid(0x00fa_b100_0000_0000 + n)));
    assert_eq!(codes(&file.notes), ["FN-331", "FN-332"]);
    let bytes = fixture("node-name-map");
    let file = name_map::read(Input::new("node-name-map", &bytes)).unwrap();
    let names: Vec<&str> = file.names.by_guid.values().map(String::as_str).collect();
    assert_eq!(names, ["IB1 (Rack 11 slot 1)   ", "rack ", "spine zero"]);
    assert_eq!(codes(&file.notes), ["FN-334", "FN-335", "FN-336"]);
    let bytes = fixture("guid2lid");
    let file = guid2lid::read(Input::new("guid2lid", &bytes)).unwrap();
    assert_eq!(file.lids[&Guid(0x00fa_b200_0000_0011)], (lid(4), Lmc::new(1).unwrap()));
    assert_eq!(codes(&file.notes), Vec::<&str>::new());
}

#[test]
fn no_format_takes_a_file_of_another() {
    type Detector = (&'static str, fn(&str) -> bool);
    let detectors: [Detector; 12] = [
        (lfts::ID, lfts::looks_like),
        (fdbs::ID, fdbs::looks_like),
        (subnet_lst::ID, subnet_lst::looks_like),
        (sl2vl::ID, sl2vl::looks_like),
        (slvl::ID, slvl::looks_like),
        (guid2lid::ID, guid2lid::looks_like),
        (name_map::ID, name_map::looks_like),
        (guids::ID, guids::looks_like),
        (partitions::ID, partitions::looks_like),
        (qos_policy::ID, qos_policy::looks_like),
        (psl::ID, psl::looks_like),
        (label_sheet::ID, label_sheet::looks_like),
    ];
    let files = [
        ("opensm-lfts.dump", "lfts"),
        ("dump_lfts.txt", "lfts"),
        ("dump_mfts.txt", "lfts"),
        ("opensm.fdbs", "fdbs"),
        ("opensm.mcfdbs", "fdbs"),
        ("opensm-subnet.lst", "lst"),
        ("opensm-sl2vl.dump", "sl2vl"),
        ("lanes.slvl", "slvl"),
        ("roots.guids", "guids"),
        ("guid2lid", "guid2lid"),
        ("node-name-map", "node-name-map"),
        ("partitions.conf", "partitions"),
        ("lanes.psl", "psl"),
        ("labels.csv", "label-sheet"),
    ];
    for (name, format) in files {
        let text = String::from_utf8_lossy(&fixture(name)).into_owned();
        let takers: Vec<&str> =
            detectors.iter().filter(|(_, looks)| looks(&text)).map(|(id, _)| *id).collect();
        assert_eq!(takers, [format], "{name}");
    }
}

/// The numbers from which a connected fabric is made: each list is read round and round.
#[derive(Debug, Clone)]
struct Seeds {
    switches: usize,
    hosts: usize,
    names: Vec<String>,
    numbers: Vec<u32>,
}

fn seeds() -> impl Strategy<Value = Seeds> {
    let name = prop_oneof![
        "[ -~]{0,24}",
        "\\PC{0,12}",
        Just("} LID:0001 PN:01 } {".to_owned()),
        Just("a 'quoted' \"name\" guid 0x1 portguid 0x2:".to_owned()),
    ];
    let names = proptest::collection::vec(name, 1..6);
    let numbers = proptest::collection::vec(any::<u32>(), 8..40);
    (1..5usize, 1..6usize, names, numbers).prop_map(|(switches, hosts, names, numbers)| Seeds {
        switches,
        hosts,
        names,
        numbers,
    })
}

const PORTS: u8 = 12;

impl Seeds {
    fn pick(&self, at: usize, below: u32) -> u32 {
        (self.numbers[at % self.numbers.len()].rotate_left(at as u32 % 31)) % below
    }

    /// A chain of switches with a loop back on the first, hosts spread over them; everything that a list of cables
    /// tells is told.
    fn fabric(&self, lmc: u32) -> Fabric {
        let mut builder = FabricBuilder::new();
        let base = u64::from(self.pick(0, 0xFFFF)) << 20 | 0xA_0000;
        let switches: Vec<NodeKey> = (0..self.switches)
            .map(|at| self.node(&mut builder, NodeKind::Switch, base + at as u64, PORTS))
            .collect();
        let mut next = vec![1u8; self.switches];
        let mut free = |at: usize| {
            next[at] += 1;
            PortNum(next[at] - 1)
        };
        let mut cables = vec![((switches[0], free(0)), (switches[0], free(0)))];
        for at in 1..self.switches {
            cables.push(((switches[at - 1], free(at - 1)), (switches[at], free(at))));
        }
        for host in 0..self.hosts {
            let guid = base + 0x100 * (host as u64 + 1);
            let kind = if host == 3 { NodeKind::Router } else { NodeKind::ChannelAdapter };
            let key = self.node(&mut builder, kind, guid, 2);
            let lids = 1 << lmc;
            let first = 64 + (host as u32 + 1) * 16;
            for port in 1..=1 + (host % 2) as u8 {
                let facts = builder.port(key, PortNum(port));
                facts.guid = Some(Guid(guid + u64::from(port)));
                facts.lid = Lid::new(first + u32::from(port - 1) * lids);
                facts.lmc = Lmc::new(lmc).unwrap();
                cables.push((
                    (key, PortNum(port)),
                    (switches[host % self.switches], free(host % self.switches)),
                ));
            }
        }
        for (at, (a, b)) in cables.into_iter().enumerate() {
            builder.connect(a, b).unwrap();
            for (offset, (key, port)) in [a, b].into_iter().enumerate() {
                let facts = builder.port(key, port);
                facts.state = PortState::ALL.get(1 + self.pick(at + offset, 3) as usize).copied();
                facts.width = LinkWidth::ALL.get(self.pick(at + 2, 5) as usize).copied();
                facts.speed = LinkSpeed::ALL.get(self.pick(at + 3, 9) as usize).copied();
            }
        }
        builder.finish()
    }

    fn node(&self, builder: &mut FabricBuilder, kind: NodeKind, guid: u64, ports: u8) -> NodeKey {
        let at = builder.len();
        let mut facts = NodeFacts::new(kind, Guid(guid), ports, self.names[at % self.names.len()].clone());
        facts.vendor_id = Some(self.pick(at, 0x100_0000));
        facts.device_id = Some(self.pick(at + 1, 0x1_0000));
        facts.revision = Some(self.pick(at + 2, 0x1000));
        facts.system_image_guid = Some(Guid(guid + 7));
        let key = builder.add_node(facts).unwrap();
        if kind == NodeKind::Switch {
            let facts = builder.port(key, PortNum(0));
            (facts.guid, facts.lid) = (Some(Guid(guid)), Lid::new(at as u32 + 1));
        }
        key
    }

    fn tables(&self, fabric: &Fabric) -> Tables {
        let mut tables = Tables::default();
        let top = fabric.top_lid().unwrap().value();
        for (id, node) in fabric.nodes() {
            let held = tables.node_mut(id);
            if node.is_switch() {
                let lft = held.lft.get_or_insert_default();
                for to in 1..=u32::from(top) {
                    let port = self.pick(id.index() + to as usize, 14);
                    lft.set(lid(to), PortNum::new(port).filter(|port| port.value() <= PORTS));
                }
            }
            let ports: Vec<u8> = if node.is_switch() { (1..4).collect() } else { vec![1] };
            for (at, out) in ports.into_iter().enumerate() {
                let mut lanes = Sl2Vl::default();
                for sl in 0..16 {
                    lanes.set(
                        ServiceLevel::new(sl).unwrap(),
                        Lane::new(self.pick(at + sl as usize, 16)).unwrap(),
                    );
                }
                held.sl2vl.insert((PortNum(0), PortNum(out)), lanes);
            }
        }
        tables
    }
}

fn applied(file: TableFile, fabric: &Fabric) -> (Tables, Vec<&'static str>) {
    let (mut tables, mut notes) = (Tables::default(), Notes::new());
    notes.extend(file.notes.clone());
    file.apply_to(fabric, &mut tables, &mut notes);
    (tables, codes(&notes))
}

/// What one format holds of the tables.
fn only(tables: &Tables, keep: impl Fn(&mut fabdeck_fabric::NodeTables)) -> Tables {
    let mut kept = tables.clone();
    kept.nodes.values_mut().for_each(keep);
    kept.nodes.retain(|_, held| *held != Default::default());
    kept
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn cables_written_are_cables_read(seeds in seeds()) {
        let fabric = seeds.fabric(0);
        let guid = fabric.nodes().last().map(|(_, node)| Guid(node.guid().0 + 1)).unwrap();
        let manager = Some(SubnetManager { guid, state: Some("MASTER".to_owned()), priority: None });
        let mut out = Vec::new();
        subnet_lst::write(&fabric, manager.as_ref(), &mut out).unwrap();
        let file = subnet_lst::read(Input::new("lst", &out)).unwrap();
        prop_assert_eq!(codes(&file.notes), Vec::<&str>::new());
        prop_assert_eq!(file.fabric, fabric);
        prop_assert_eq!(file.subnet_manager, manager);
    }

    #[test]
    fn tables_written_are_tables_read(seeds in seeds(), lmc in 0..2u32) {
        let fabric = seeds.fabric(lmc);
        let tables = seeds.tables(&fabric);
        let routes = only(&tables, |held| held.sl2vl.clear());
        let lanes = only(&tables, |held| held.lft = None);
        let none = Vec::<&str>::new();

        let mut out = Vec::new();
        prop_assert!(lfts::write(&fabric, &routes, &mut out).unwrap().is_empty());
        prop_assert_eq!(applied(lfts::read(Input::new("l", &out)).unwrap(), &fabric), (routes.clone(), none.clone()));

        let mut out = Vec::new();
        prop_assert!(fdbs::write(&fabric, &routes, &mut out).unwrap().is_empty());
        let alone = if fabric.switch_count() == 1 { vec!["FN-302"] } else { none.clone() };
        prop_assert_eq!(applied(fdbs::read(Input::new("f", &out)).unwrap(), &fabric), (routes, alone));

        let mut out = Vec::new();
        sl2vl::write(&fabric, &lanes, &mut out).unwrap();
        prop_assert_eq!(applied(sl2vl::read(Input::new("s", &out)).unwrap(), &fabric), (lanes.clone(), none.clone()));

        let mut out = Vec::new();
        slvl::write(&fabric, &lanes, &mut out).unwrap();
        let of_switches = Tables { nodes: lanes.nodes.into_iter().filter(|(id, _)| fabric.node(*id).is_switch()).collect(), only: None };
        prop_assert_eq!(applied(slvl::read(Input::new("v", &out)).unwrap(), &fabric), (of_switches, none));
    }

    #[test]
    fn guids_written_are_guids_read(set in proptest::collection::btree_set(1..u64::MAX, 0..20)) {
        let list: Vec<Guid> = set.into_iter().map(Guid).collect();
        let mut out = b"# list\n".to_vec();
        guids::write(&list, &mut out).unwrap();
        let file = guids::read(Input::new("g", &out)).unwrap();
        prop_assert_eq!((file.guids, codes(&file.notes)), (list, Vec::<&str>::new()));
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "((Unicast lids|Switch|\\{ SW|0x[0-9a-f]{0,4}| guid 0x1|[ -~]{0,8}|:|\r?\n|\\PC)){0,40}") {
        let input = Input::new("x", text.as_bytes());
        let _ = (lfts::read(input), fdbs::read(input), subnet_lst::read(input), sl2vl::read(input));
        let _ = (slvl::read(input), guids::read(input), guid2lid::read(input), name_map::read(input));
    }
}

#[test]
fn entries_that_opensm_must_not_load_are_left_out_with_a_note() {
    let seeds = Seeds { switches: 2, hosts: 1, names: vec!["n".to_owned()], numbers: vec![1; 8] };
    let fabric = seeds.fabric(0);
    let mut tables = Tables::default();
    let lft = tables.node_mut(NodeId(0)).lft.get_or_insert_default();
    lft.set(lid(1), Some(PortNum(0)));
    lft.set(lid(2), Some(PortNum(PORTS + 1)));
    lft.set(lid(0xBFFF), Some(PortNum(1)));
    let mut out = Vec::new();
    let notes = lfts::write(&fabric, &tables, &mut out).unwrap();
    let note = notes.iter().next().unwrap();
    assert_eq!((note.code, note.count, note.partial), ("FN-309", 3, true));
    let file = lfts::read(Input::new("l", &out)).unwrap();
    assert_eq!(file.sections.len(), 1, "a switch without a table must not get an empty one");
    assert_eq!(file.sections[0].tables.lft.as_ref().unwrap().routed_lids().count(), 1);
}
