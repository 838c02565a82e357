use super::*;
use fabdeck_fabric::{Lft, NodeFacts, Sl2Vl};

/// Two switches in a row, a host with two ports on the first one.
fn fabric(lids: bool) -> Fabric {
    let mut builder = FabricBuilder::new();
    let one = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(1), 4, "one")).unwrap();
    let two = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(2), 4, "two")).unwrap();
    let host = builder.add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(16), 2, "host")).unwrap();
    for (key, lid) in [(one, 1), (two, 2)] {
        builder.port(key, PortNum(0)).lid = Lid::new(lid).filter(|_| lids);
    }
    for number in [1, 2] {
        let port = builder.port(host, PortNum(number));
        port.guid = Some(Guid(16 + u64::from(number)));
        port.lid = Lid::new(2 + u32::from(number)).filter(|_| lids);
        builder.connect((host, PortNum(number)), (one, PortNum(number))).unwrap();
    }
    builder.connect((one, PortNum(3)), (two, PortNum(3))).unwrap();
    builder.finish()
}

fn lid(value: u32) -> Lid {
    Lid::new(value).unwrap()
}

fn section(node: u64, routes: &[(u32, u8)]) -> TableSection {
    let mut lft = Lft::new();
    routes.iter().for_each(|(to, port)| lft.set(lid(*to), Some(PortNum(*port))));
    let tables = NodeTables { lft: Some(lft), ..NodeTables::default() };
    TableSection { node: Guid(node), tables, private_tables: 0, place: NotePlace::line("t", node) }
}

fn apply(file: &TableFile, fabric: &Fabric) -> (Tables, Notes) {
    let (mut tables, mut notes) = (Tables::default(), Notes::new());
    file.apply_to(fabric, &mut tables, &mut notes);
    (tables, notes)
}

fn codes(notes: &Notes) -> Vec<(&'static str, bool)> {
    notes.iter().map(|note| (note.code, note.partial)).collect()
}

#[test]
fn a_whole_dump_of_this_fabric_needs_no_note() {
    let fabric = fabric(true);
    let mut file =
        TableFile { sections: vec![section(1, &[(2, 3)]), section(2, &[(1, 3)])], ..TableFile::default() };
    file.owners = [(lid(1), Guid(1)), (lid(3), Guid(17)), (lid(4), Guid(18))].into();
    let (tables, notes) = apply(&file, &fabric);
    assert_eq!(codes(&notes), []);
    assert_eq!(tables.lft(NodeId(0)).unwrap().get(lid(2)), Some(PortNum(3)));
    // Applying the same tables again adds no note.
    let (mut again, mut notes) = (tables.clone(), Notes::new());
    file.apply_to(&fabric, &mut again, &mut notes);
    assert_eq!((again, codes(&notes)), (tables, vec![]));
}

#[test]
fn what_does_not_fit_is_noted_by_name() {
    let fabric = fabric(true);
    let mut file =
        TableFile { sections: vec![section(1, &[(2, 5)]), section(9, &[])], ..TableFile::default() };
    file.owners = [(lid(2), Guid(17)), (lid(3), Guid(17)), (lid(4), Guid(99)), (lid(9), Guid(1))].into();
    let (tables, notes) = apply(&file, &fabric);
    let expected = [("FN-341", false), ("FN-342", false), ("FN-344", true), ("FN-345", false)];
    assert_eq!(codes(&notes), expected);
    let owner = notes.iter().find(|note| note.code == "FN-342").unwrap();
    assert!(owner.text.contains("LID 2 belongs to 'host'") && owner.text.contains("'two'"), "{}", owner.text);
    assert_eq!(owner.count, 3);
    assert!(tables.lft(NodeId(0)).is_some());
}

#[test]
fn a_fabric_without_lids_is_said_once() {
    let mut file = TableFile { sections: vec![section(1, &[]), section(2, &[])], ..TableFile::default() };
    file.owners = [(lid(2), Guid(17))].into();
    assert_eq!(codes(&apply(&file, &fabric(false)).1), [("FN-343", false)]);
}

#[test]
fn of_two_tables_the_last_counts() {
    let sections = vec![section(1, &[(1, 0)]), section(2, &[(1, 3)]), section(1, &[(1, 2)])];
    let (tables, notes) = apply(&TableFile { sections, ..TableFile::default() }, &fabric(true));
    assert_eq!(codes(&notes), [("FN-346", false)]);
    assert_eq!(tables.lft(NodeId(0)).unwrap().get(lid(1)), Some(PortNum(2)));
}

#[test]
fn lanes_of_an_adapter_lie_under_its_port() {
    let mut section = section(18, &[]);
    section.tables = NodeTables::default();
    section.tables.sl2vl.insert((PortNum(0), PortNum(0)), Sl2Vl::default());
    let (tables, notes) =
        apply(&TableFile { sections: vec![section], ..TableFile::default() }, &fabric(true));
    assert_eq!(codes(&notes), [("FN-344", true)]);
    assert!(tables.nodes[&NodeId(2)].sl2vl.contains_key(&(PortNum(0), PortNum(2))));
}

#[test]
fn remembered_lids_go_to_a_fabric_without_any() {
    let lids = [(1, 1, 0), (2, 2, 0), (17, 4, 1), (18, 3, 0), (99, 9, 0)];
    let one = |(guid, base, lmc): (u64, u32, u32)| (Guid(guid), (lid(base), Lmc::new(lmc).unwrap()));
    let file = LidFile { lids: lids.map(one).into(), ..LidFile::default() };
    let mut notes = Notes::new();
    let given = file.assign_lids("guid2lid", &fabric(false), &mut notes);
    assert_eq!(codes(&notes), [("FN-348", false)]);
    assert_eq!(given.top_lid(), Lid::new(5));
    assert_eq!(given.links().len(), 3);
    // LIDs of the fabric are kept.
    let mut notes = Notes::new();
    assert_eq!(file.assign_lids("guid2lid", &fabric(true), &mut notes), fabric(true));
    assert_eq!(codes(&notes), [("FN-347", false), ("FN-348", false)]);
}
