use super::*;
use crate::far;
use crate::text::Input;
use fabdeck_fabric::{
    AdaptiveDoubt, AdaptiveMismatch, AdaptiveSettings, FabricBuilder, NodeFacts, NodeKind, PortNum,
};

fn fabric() -> Fabric {
    let mut builder = FabricBuilder::new();
    for guid in [1, 2] {
        builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(guid), 8, "sw")).unwrap();
    }
    builder.finish()
}

const ON: AdaptiveSettings = AdaptiveSettings {
    absent: false,
    adaptive: true,
    levels: u16::MAX,
    fast_recovery: false,
    hash_forwarding: false,
    weighted_hash: false,
    hash_levels: 0,
    failure_notices: false,
    sub_groups: 1,
    group_top: 1,
    private_tables: None,
    lane_input: Some(0),
};

fn far_text(table: &str) -> String {
    format!("Switch 0x1\nGroups Definition:\n0 0 0 \n1 0 0 5,6,\nLFT Definition:\n{table}0x0001 5 Free 1\n")
}

/// The doubt about switch 1, and the notes.
fn doubt(text: &str, linear: Option<u8>, private: u8) -> (Option<AdaptiveDoubt>, Vec<&'static str>) {
    let file = far::read(Input::new("f", text.as_bytes())).unwrap();
    let statements = BTreeMap::from([(Guid(1), AdaptiveStatement::Stated(ON))]);
    let (mut tables, mut notes) = (Tables::default(), Notes::new());
    if let Some(port) = linear {
        let mut lft = Lft::new();
        lft.set(Lid::new(1).unwrap(), Some(PortNum(port)));
        tables.node_mut(NodeId(0)).lft = Some(lft);
    }
    let private: BTreeMap<Guid, u8> = (private > 0).then_some((Guid(1), private)).into_iter().collect();
    apply_adaptive(&fabric(), &statements, &[file], &private, &mut tables, &mut notes);
    let held = &tables.nodes[&NodeId(0)];
    assert!(held.lft.is_some() || linear.is_none());
    (held.adaptive.as_ref().unwrap().doubt(), notes.iter().map(|note| note.code).collect())
}

#[test]
fn tables_of_one_numbered_table_are_free_of_doubt() {
    let numbered = far_text("PLFT_NUM: 0, top: 0x1\n");
    assert_eq!(doubt(&numbered, Some(5), 0), (None, vec![]));
    // Without another file the static ports are the linear table.
    assert_eq!(doubt(&numbered, None, 0), (None, vec![]));
}

#[test]
fn what_is_not_known_stays_a_doubt() {
    let plain = far_text("");
    assert_eq!(doubt(&plain, Some(5), 0).0, Some(AdaptiveDoubt::PrivateTables));
    let numbered = far_text("PLFT_NUM: 0, top: 0x1\n");
    let mismatch = AdaptiveMismatch::StaticPort(Lid::new(1).unwrap());
    assert_eq!(doubt(&numbered, Some(6), 0).0, Some(AdaptiveDoubt::NotUnderstood(mismatch)));
    let two = format!("{numbered}PLFT_NUM: 1, top: 0x1\n0x0001 6 Static 0\n");
    assert_eq!(doubt(&two, Some(5), 0), (Some(AdaptiveDoubt::NotRead), vec!["FN-445"]));
    // The file of linear tables shows a second table that the adaptive file lacks.
    assert_eq!(doubt(&numbered, Some(5), 2), (Some(AdaptiveDoubt::NotRead), vec!["FN-445"]));
    let cut = numbered.replace("Free 1\n", "Free 1");
    assert_eq!(doubt(&cut, Some(5), 0).0, Some(AdaptiveDoubt::NotRead));
}

#[test]
fn a_second_private_table_of_the_routes_is_no_linear_table() {
    let text = far_text("PLFT_NUM: 0, top: 0x1\n").replace("Switch 0x1", "Switch 0x9");
    let (found, codes) = doubt(&text, Some(5), 2);
    assert_eq!((found, codes), (Some(AdaptiveDoubt::NotRead), vec!["FN-341"]));
}
