use super::super::content::{WireDevice, WirePort};
use super::*;
use fabdeck_fabric::observe::FecMode;
use fabdeck_fabric::{FabricBuilder, NodeFacts, NodeKind};

/// A switch 'leaf1', and two adapters of a host, the second one with two ports.
fn fabric() -> Fabric {
    let mut builder = FabricBuilder::new();
    let leaf = builder.add_node(NodeFacts::new(NodeKind::Switch, Guid(1), 4, "MF0;leaf1:QM9700/U1")).unwrap();
    let one = builder.add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(16), 1, "n1 mlx5_0")).unwrap();
    let two = builder.add_node(NodeFacts::new(NodeKind::ChannelAdapter, Guid(32), 2, "n1 mlx5_1")).unwrap();
    builder.port(leaf, PortNum(0)).lid = Lid::new(7);
    for (key, base, port) in [(one, 17, 1), (two, 33, 1), (two, 34, 2)] {
        builder.port(key, PortNum(port)).guid = Some(Guid(base));
        builder.port(key, PortNum(port)).lid = Lid::new(base as u32);
    }
    builder.connect((leaf, PortNum(1)), (one, PortNum(1))).unwrap();
    builder.connect((leaf, PortNum(2)), (two, PortNum(1))).unwrap();
    builder.connect((leaf, PortNum(3)), (two, PortNum(2))).unwrap();
    builder.finish()
}

#[test]
fn a_file_is_about_the_port_that_its_name_names() {
    let fabric = fabric();
    for (file, at) in [
        ("dir/n1_mlx5_0.json", Some((16, 1))),
        ("a.tar!mlxlink-n1-mlx5_0.json", Some((16, 1))),
        ("n1_mlx5_1-2.json", Some((32, 2))),
        ("n1_mlx5_1_p2.json", Some((32, 2))),
        // An adapter with two ports needs the port.
        ("n1_mlx5_1.json", None),
        ("MF0;leaf1:QM9700_U1-3.json", Some((1, 3))),
        ("0x0000000000000001-port2.json", Some((1, 2))),
        ("0000000000000021.json", Some((32, 1))),
        ("lid-7_port-3.json", Some((1, 3))),
        ("lid17.json", Some((16, 1))),
        ("0x0000000000000001-9.json", None),
        ("n2_mlx5_0.json", None),
        ("port.json", None),
    ] {
        assert_eq!(port_by_file(&fabric, file), at.map(|(node, port)| (Guid(node), PortNum(port))), "{file}");
    }
}

fn port(owner: WireOwner, number: Option<u8>, file: &str) -> WirePort {
    let wire = PortWire { fec: DeviceAnswer::Known(FecMode::Rs), ..PortWire::default() };
    WirePort { owner, port: number.map(PortNum), wire, place: NotePlace::file(file) }
}

#[test]
fn guids_are_those_of_ports_or_nodes() {
    let fabric = fabric();
    let (mut wire, mut notes) = (WireHealth::default(), Notes::new());
    let guid = |guid, number| port(WireOwner::Guid(Guid(guid)), Some(number), "f");
    let device = WireDevice {
        owner: WireOwner::Guid(Guid(99)),
        sensors: DeviceSensors::default(),
        place: NotePlace::file("g"),
    };
    let file = WireFile {
        ports: vec![
            guid(1, 2),
            guid(34, 2),
            guid(32, 1),
            guid(1, 9),
            port(WireOwner::FileName, None, "what.json"),
        ],
        devices: vec![device],
        ..WireFile::default()
    };
    file.apply_to(&fabric, &mut wire, &mut notes);
    let known: Vec<(u64, u8)> = wire.ports.keys().map(|(node, port)| (node.0, port.value())).collect();
    assert_eq!(known, [(1, 2), (32, 1), (32, 2)]);
    let codes: Vec<(&str, &str)> = notes.iter().map(|note| (note.first.file.as_str(), note.code)).collect();
    assert_eq!(codes, [("f", "FN-441"), ("g", "FN-441"), ("what.json", "FN-447")]);
}

#[test]
fn counts_replace_rates_and_nothing_else_is_replaced() {
    let bits = |bits, since_ms| PortWire {
        fec: DeviceAnswer::Known(if bits > 0 { FecMode::Rs } else { FecMode::Off }),
        bit_errors: DeviceAnswer::Known(BitErrorCounts { bits, since_ms, ..BitErrorCounts::default() }),
        ..PortWire::default()
    };
    let mut held = bits(0, 0);
    fill_port(&mut held, &bits(10, 5));
    assert_eq!((held.bit_errors.known().unwrap().bits, held.fec), (10, DeviceAnswer::Known(FecMode::Off)));
    fill_port(&mut held, &bits(0, 9));
    assert_eq!(held.bit_errors.known().unwrap().bits, 10);
}
