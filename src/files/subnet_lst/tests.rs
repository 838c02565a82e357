use super::*;
use fabdeck_fabric::{FabricBuilder, Guid, Lid, LinkSpeed, NodeFacts, NodeKind, PortNum};

fn end(kind: &str, ports: u8, node: u64, port: u64, lid: &str, number: u8) -> String {
    format!(
        "{{ {kind} Ports:{ports:02X} SystemGUID:0000000000000000 NodeGUID:{node:016x} PortGUID:{port:016x} \
         VenID:0002C9 DevID:C738 Rev:000000A1 {{n{node}}} LID:{lid} PN:{number:02X} }} "
    )
}

fn both(a: &str, b: &str, speed: &str) -> String {
    let cable = format!("PHY=4x LOG=ACT SPD={speed}\n");
    format!("{a}{b}{cable}{b}{a}{cable}")
}

fn read_text(text: &str) -> Result<TopologyFile, Box<FileError>> {
    read(Input::new("t.lst", text.as_bytes()))
}

#[test]
fn a_switch_called_ca_is_known_by_its_ports() {
    let host = |n| end("CA", 1, n, n + 1, "0005", 1);
    let small = |number| end("CA", 4, 0xa0, 0xa0, "0001", number);
    // Two ports share one GUID and LID, while each port of an adapter has its own.
    let file =
        read_text(&(both(&small(1), &host(0x10), "14") + &both(&small(2), &host(0x20), "14"))).unwrap();
    assert_eq!((file.fabric.switch_count(), file.notes.has("FN-324")), (1, true));
    let adapter = |number: u8| end("CA", 2, 0xa0, 0xa0 + u64::from(number), "0001", number);
    let file =
        read_text(&(both(&adapter(1), &host(0x10), "14") + &both(&adapter(2), &host(0x20), "14"))).unwrap();
    assert_eq!((file.fabric.switch_count(), file.notes.has("FN-324")), (0, false));
    let large = end("CA", 36, 0xa0, 0xa0, "0001", 7);
    let file = read_text(&both(&large, &host(0x10), "14")).unwrap();
    assert_eq!((file.fabric.switch_count(), file.notes.has("FN-324")), (1, true));
}

#[test]
fn lids_that_cannot_be_are_unknown_with_a_note() {
    for lid in ["0000", "FFFF", "", "-1", "C000"] {
        let text = both(&end("SW", 36, 1, 1, lid, 1), &end("CA", 1, 0x10, 0x11, "0005", 1), "14");
        let file = read_text(&text).unwrap();
        let ports: Vec<Option<Lid>> = file.fabric.ports().map(|(_, port)| port.facts.lid).collect();
        assert_eq!(ports, [None, None, Lid::new(5)], "{lid}");
        assert!(file.notes.has("FN-308"), "{lid}");
    }
}

#[test]
fn speeds_are_gigabits_of_a_lane() {
    let speed = |word: &str| {
        let text = both(&end("SW", 36, 1, 1, "0001", 1), &end("CA", 1, 0x10, 0x11, "0005", 1), word);
        let file = read_text(&text).unwrap();
        let port = file.fabric.port_of(file.fabric.node_by_guid(Guid(1)).unwrap(), PortNum(1)).unwrap();
        (file.fabric.port(port).facts.speed, file.notes.has("FN-325"))
    };
    assert_eq!(speed("2.5"), (Some(LinkSpeed::Sdr), false));
    assert_eq!(speed("FDR10"), (Some(LinkSpeed::Fdr10), false));
    assert_eq!(speed("100"), (Some(LinkSpeed::Ndr), false));
    assert_eq!(speed("??"), (None, true));
}

#[test]
fn a_cable_from_one_end_only_is_partial() {
    let a = both(&end("SW", 36, 1, 1, "0001", 1), &end("CA", 1, 0x10, 0x11, "0005", 1), "14");
    let b = both(&end("SW", 36, 1, 1, "0001", 2), &end("CA", 1, 0x20, 0x21, "0006", 1), "14");
    let cut = format!("{a}{}", b.lines().next().unwrap());
    let file = read_text(&(cut + "\n")).unwrap();
    assert!(file.notes.is_partial() && file.notes.has("FN-321"));
    let answered: Vec<bool> = file.fabric.nodes().map(|(_, node)| node.facts.answered).collect();
    assert_eq!(answered, [true, true, false]);
}

#[test]
fn a_contradicting_cable_is_left_out_with_a_note() {
    let host = |n| end("CA", 1, n, n + 1, "0005", 1);
    let switch = end("SW", 36, 1, 1, "0001", 1);
    let file = read_text(&(both(&switch, &host(0x10), "14") + &both(&switch, &host(0x20), "14"))).unwrap();
    assert_eq!(file.fabric.links().len(), 1);
    assert!(file.notes.is_partial() && file.notes.has("FN-322"));
}

#[test]
fn without_lids_every_node_has_the_managers_lid() {
    let text = both(&end("SW-SM", 36, 1, 1, "0000", 1), &end("CA-SM", 1, 0x10, 0x11, "0000", 1), "14");
    let file = read_text(&text).unwrap();
    assert_eq!((file.subnet_manager, file.notes.has("FN-327")), (None, true));
}

#[test]
fn damage_is_refused_with_its_line() {
    let good = both(&end("SW", 36, 1, 1, "0001", 1), &end("CA", 1, 0x10, 0x11, "0005", 1), "14");
    for (text, code, line) in [
        (good.clone() + "{ SW Ports:24 \n", "FD-2303", Some(3)),
        (good.replace("PN:01 } PHY", "PN:00 } PHY"), "FD-2302", Some(1)),
        (good.replace("NodeGUID:0000000000000001", "NodeGUID:0000000000000000"), "FD-2303", Some(1)),
        ("# nothing\n".to_owned(), "FD-2307", None),
    ] {
        let error = read_text(&text).unwrap_err();
        assert_eq!((error.code, error.place.line), (code, line), "{text}");
    }
}

#[test]
fn unknown_values_are_written_as_opensm_would() {
    let mut builder = FabricBuilder::new();
    let switch = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(1), 36, "leaf\n0")).unwrap();
    let host = builder.add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(16), 1, "host")).unwrap();
    builder.connect((switch, PortNum(1)), (host, PortNum(1))).unwrap();
    let mut out = Vec::new();
    write(&builder.finish(), None, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.lines().all(|line| line.ends_with("PHY=?? LOG=ACT SPD=??")), "{text}");
    assert!(text.contains("{leaf 0} LID:0000 PN:01 }"), "{text}");
}
