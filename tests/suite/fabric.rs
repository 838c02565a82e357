//! The fabric as a value: names, elements, faults, the switch graph and differences.

use fabdeck_fabric::{
    Element, ElementError, ElementId, Fabric, FabricBuilder, FabricDiff, Faults, Guid, Lid, LinkSpeed,
    NameMap, Names, NodeFacts, NodeKey, NodeKind, PortNum, PortState, SwitchGraph,
};

fn switch(b: &mut FabricBuilder, guid: u64, name: &str) -> NodeKey {
    b.add_node(NodeFacts::new(NodeKind::Switch, Guid(guid), 8, name)).unwrap()
}

fn host(b: &mut FabricBuilder, guid: u64, name: &str) -> NodeKey {
    b.add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(guid), 1, name)).unwrap()
}

/// ```text
///  leaf0 ==== leaf1      two parallel cables (ports 1, 2), a self-loop on leaf0 (3 to 4)
///   |          |
///  n0 HCA-1   n1 HCA-1   and an island switch; both spare switches bear one name
/// ```
fn small() -> Fabric {
    let mut b = FabricBuilder::new();
    let leaf0 = switch(&mut b, 0x10, "leaf0 ");
    let leaf1 = switch(&mut b, 0x11, "leaf1");
    switch(&mut b, 0x12, "spare");
    switch(&mut b, 0x13, "spare");
    let n0 = host(&mut b, 0x20, "n0 HCA-1");
    let n1 = host(&mut b, 0x21, "n1 HCA-1");
    for port in [1, 2] {
        b.connect((leaf0, PortNum(port)), (leaf1, PortNum(port))).unwrap();
    }
    b.connect((leaf0, PortNum(3)), (leaf0, PortNum(4))).unwrap();
    b.connect((leaf0, PortNum(8)), (n0, PortNum(1))).unwrap();
    b.connect((leaf1, PortNum(8)), (n1, PortNum(1))).unwrap();
    b.port(leaf0, PortNum::MANAGEMENT).lid = Lid::new(1);
    b.port(n0, PortNum(1)).guid = Some(Guid(0x2001));
    b.port(n0, PortNum(1)).lid = Lid::new(5);
    b.finish()
}

fn names(fabric: &Fabric) -> Names {
    Names::new(fabric, &NameMap::default())
}

fn resolve(fabric: &Fabric, text: &str) -> Result<ElementId, ElementError> {
    text.parse::<Element>()?.resolve(fabric, &names(fabric))
}

#[test]
fn a_node_is_found_by_name_guid_port_guid_or_host_word() {
    let fabric = small();
    let n0 = ElementId::Node(fabric.node_by_guid(Guid(0x20)).unwrap());
    for text in ["host:n0", "host:n0 HCA-1", "host:0x20", "host:0x0000000000000020", "host:0x2001"] {
        assert_eq!(resolve(&fabric, text), Ok(n0), "{text}");
    }
    let leaf0 = ElementId::Node(fabric.node_by_guid(Guid(0x10)).unwrap());
    assert_eq!(
        resolve(&fabric, "switch:leaf0"),
        Ok(leaf0),
        "a trailing blank of the description does not matter"
    );
    assert!(
        matches!(resolve(&fabric, "switch:n0"), Err(ElementError::Unknown { .. })),
        "a host is no switch"
    );
    assert!(matches!(resolve(&fabric, "host:leaf0"), Err(ElementError::Unknown { .. })));
}

#[test]
fn a_name_borne_twice_is_refused_with_the_guids() {
    let fabric = small();
    let Err(ElementError::Ambiguous { guids, .. }) = resolve(&fabric, "switch:spare") else {
        panic!("ambiguous")
    };
    assert_eq!(guids, [Guid(0x12).to_string(), Guid(0x13).to_string()]);
    assert_eq!(
        names(&fabric).unique_name(&fabric, fabric.node_by_guid(Guid(0x12)).unwrap()),
        Guid(0x12).to_string()
    );
}

#[test]
fn the_name_map_goes_before_the_description() {
    let fabric = small();
    let mut map = NameMap::default();
    map.by_guid.insert(Guid(0x12), "rack 7".into());
    let names = Names::new(&fabric, &map);
    let found = "switch:rack 7".parse::<Element>().unwrap().resolve(&fabric, &names);
    assert_eq!(found, Ok(ElementId::Node(fabric.node_by_guid(Guid(0x12)).unwrap())));
    assert!(
        "switch:spare".parse::<Element>().unwrap().resolve(&fabric, &names).is_ok(),
        "no longer ambiguous"
    );
}

#[test]
fn either_end_names_a_link_and_errors_name_the_node() {
    let fabric = small();
    let one = resolve(&fabric, "link:leaf0[2]").unwrap();
    assert_eq!(resolve(&fabric, "link:leaf1/2"), Ok(one));
    assert!(matches!(resolve(&fabric, "link:leaf0[0]"), Err(ElementError::NoLink { .. })));
    let error = resolve(&fabric, "port:leaf0[7]").unwrap_err();
    assert_eq!(error.to_string(), "FD-1104: leaf0 has no known port 7");
    let error = resolve(&fabric, "switch:leaf").unwrap_err().to_string();
    assert!(error.contains("leaf0, leaf1"), "{error}");
}

#[test]
fn marks_survive_their_text_form() {
    let fabric = small();
    let mut faults = Faults::new();
    for text in ["link:leaf0[2]", "port:leaf1[8]", "switch:0x13", "host:n1"] {
        assert!(faults.mark(resolve(&fabric, text).unwrap()));
    }
    let mut again = Faults::new();
    for element in faults.elements(&fabric, &names(&fabric)) {
        again.mark(resolve(&fabric, &element.to_string()).unwrap());
    }
    assert_eq!(faults, again);
}

#[test]
fn a_mark_takes_the_links_of_its_ports_and_nodes() {
    let fabric = small();
    let link = |text| match resolve(&fabric, text) {
        Ok(ElementId::Link(id)) => id,
        other => panic!("{text}: {other:?}"),
    };
    for (mark, lost) in
        [("link:leaf1[1]", [true, false]), ("port:leaf0[1]", [true, false]), ("switch:leaf1", [true, true])]
    {
        let mut faults = Faults::new();
        faults.mark(resolve(&fabric, mark).unwrap());
        let seen = ["link:leaf0[1]", "link:leaf0[2]"].map(|text| faults.is_link_failed(&fabric, link(text)));
        assert_eq!(seen, lost, "{mark}");
    }
}

#[test]
fn the_switch_graph_has_channels_terminals_and_parts() {
    let fabric = small();
    let graph = SwitchGraph::new(&fabric, &Faults::new());
    assert_eq!(graph.channels().len(), 4, "two cables, both directions; the self-loop is none");
    for (at, channel) in graph.channels().iter().enumerate() {
        let back = graph.channel(channel.reverse);
        assert_eq!((back.from, back.to, back.reverse.index()), (channel.to, channel.from, at));
    }
    assert_eq!(graph.outgoing(0).len(), 2);
    assert_eq!(graph.terminals_of(0).len(), 1);
    assert_eq!(graph.terminals_of(0)[0].lid, Lid::new(5));
    assert_eq!(graph.components().1, 3, "the pair and two islands");

    let mut faults = Faults::new();
    faults.mark(resolve(&fabric, "link:leaf0[1]").unwrap());
    assert_eq!(SwitchGraph::new(&fabric, &faults).channels().len(), 2);
    faults.mark(resolve(&fabric, "switch:leaf1").unwrap());
    let graph = SwitchGraph::new(&fabric, &faults);
    assert_eq!((graph.channels().len(), graph.terminals().len(), graph.is_alive(1)), (0, 1, false));
    assert_eq!(graph.switch_count(), 4, "a failed switch keeps its index");
}

#[test]
fn a_port_that_is_down_carries_no_channel() {
    let mut b = FabricBuilder::new();
    let (one, two) = (switch(&mut b, 1, "a"), switch(&mut b, 2, "b"));
    b.connect((one, PortNum(1)), (two, PortNum(1))).unwrap();
    b.port(two, PortNum(1)).state = Some(PortState::Down);
    assert!(SwitchGraph::new(&b.finish(), &Faults::new()).channels().is_empty());
}

#[test]
fn every_kind_of_difference_is_named() {
    let before = small();
    let mut b = FabricBuilder::new();
    let leaf0 = switch(&mut b, 0x10, "leaf0 ");
    let leaf1 = switch(&mut b, 0x11, "renamed");
    switch(&mut b, 0x12, "spare");
    switch(&mut b, 0x14, "new");
    let n0 = host(&mut b, 0x20, "n0 HCA-1");
    host(&mut b, 0x21, "n1 HCA-1");
    b.connect((leaf0, PortNum(1)), (leaf1, PortNum(1))).unwrap();
    b.connect((leaf0, PortNum(8)), (n0, PortNum(1))).unwrap();
    b.connect((leaf0, PortNum(2)), (leaf1, PortNum(3))).unwrap();
    b.port(leaf0, PortNum::MANAGEMENT).lid = Lid::new(2);
    b.port(n0, PortNum(1)).guid = Some(Guid(0x2001));
    b.port(n0, PortNum(1)).lid = Lid::new(5);
    b.port(n0, PortNum(1)).speed = Some(LinkSpeed::Edr);
    let after = b.finish();
    let changes: Vec<String> =
        FabricDiff::between(&before, &after).changes.iter().map(ToString::to_string).collect();
    let id = |n: u64| Guid(n).to_string();
    assert_eq!(
        changes,
        [
            format!("node {} 'spare' is gone", id(0x13)),
            format!("node {} 'new' is new", id(0x14)),
            format!("node {}: description was 'leaf1', is 'renamed'", id(0x11)),
            format!("port {}[0]: LID was 1, is 2", id(0x10)),
            format!("port {}[1]: speed was unknown, is EDR", id(0x20)),
            format!("link {}[2] - {}[2] is gone", id(0x10), id(0x11)),
            format!("link {}[3] - {}[4] is gone", id(0x10), id(0x10)),
            format!("link {}[8] - {}[1] is gone", id(0x11), id(0x21)),
            format!("link {}[2] - {}[3] is new", id(0x10), id(0x11)),
        ]
    );
    assert!(FabricDiff::between(&after, &after).is_empty());
}

#[test]
fn a_link_is_degraded_only_when_both_ends_say_what_they_can_do() {
    let build = |used: LinkSpeed, a: Option<LinkSpeed>, b: Option<LinkSpeed>| {
        let mut builder = FabricBuilder::new();
        let (one, two) = (switch(&mut builder, 1, "a"), switch(&mut builder, 2, "b"));
        builder.connect((one, PortNum(1)), (two, PortNum(1))).unwrap();
        builder.port(one, PortNum(1)).speed = Some(used);
        builder.port(one, PortNum(1)).speed_supported = a;
        builder.port(two, PortNum(1)).speed_supported = b;
        let fabric = builder.finish();
        fabric.is_degraded(fabric.links().next().unwrap().0)
    };
    use LinkSpeed::{Ddr, Edr, Hdr};
    assert_eq!(build(Ddr, Some(Hdr), Some(Edr)), Some(true));
    assert_eq!(build(Edr, Some(Hdr), Some(Edr)), Some(false), "an HDR port opposite an EDR port runs at EDR");
    assert_eq!(build(Ddr, Some(Hdr), None), None);
}

/// A switch and an adapter in one box may share a GUID: a mark on one is no mark on the other.
#[test]
fn marks_are_carried_over_by_kind_and_guid() {
    let mut builder = FabricBuilder::default();
    let [switch, host] = [NodeKind::Switch, NodeKind::ChannelAdapter]
        .map(|kind| builder.add_node(NodeFacts::new(kind, Guid(5), 2, "box")).unwrap());
    builder.connect((switch, PortNum(1)), (host, PortNum(1))).unwrap();
    let fabric = builder.finish();
    let host = fabric.node_of(NodeKind::ChannelAdapter, Guid(5)).unwrap();
    assert_eq!(fabric.node_by_key(&fabric.node_key(host)), Some(host));
    assert_eq!(fabric.node_by_key("host 0x0000000000000006"), None);
    let mut faults = Faults::new();
    for what in [ElementId::Node(host), ElementId::Port(fabric.port_of(host, PortNum(1)).unwrap())] {
        faults.mark(what);
    }
    assert_eq!(faults.translate(&fabric, &fabric.clone()), (faults, Vec::new()));
}
