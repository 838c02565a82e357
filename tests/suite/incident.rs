//! What an incident leaves behind: ibdiagnet's tables, perfquery, ibqueryerrors; and what is written for Slurm and
//! Prometheus.

// What the tests share fails the way tests do; the exception of clippy covers the test functions alone.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::fmt::Write;

use fabdeck_fabric::observe::{Counter, CounterSample, CounterValues, Notes};
use fabdeck_fabric::{
    Fabric, FabricBuilder, Guid, Lid, LinkSpeed, LinkWidth, Lmc, NameMap, Names, NodeFacts, NodeId, NodeKind,
    PhysicalState, PortFacts, PortNum, PortState,
};
use fabdeck_files::content::{CounterFile, TopologyFile};
use fabdeck_files::csv::write_row;
use fabdeck_files::text::Input;
use fabdeck_files::{FileError, ibdiagnet, ibqueryerrors, perfquery, prometheus, slurm};
use proptest::prelude::*;

const FABRIC: &str = include_str!("../fixtures/incident/fabric.db_csv");
const OTHER_VERSION: &str = include_str!("../fixtures/incident/other_version.db_csv");
const SMDB: &str = include_str!("../fixtures/incident/smdb.dump");
const PERFQUERY: &str = include_str!("../fixtures/incident/perfquery.txt");
const IBQUERYERRORS: &str = include_str!("../fixtures/incident/ibqueryerrors.txt");

fn input(text: &str) -> Input<'_> {
    Input::new("f", text.as_bytes())
}

fn topology(text: &str) -> TopologyFile {
    ibdiagnet::read(input(text)).unwrap()
}

// What was read, as text for the golden tests.

fn print_notes(notes: &Notes) -> String {
    notes.iter().fold(String::new(), |mut out, note| {
        writeln!(out, "{note}{}", if note.partial { " [partial]" } else { "" }).unwrap();
        out
    })
}

fn print_samples(samples: &[CounterSample]) -> String {
    let mut out = String::new();
    for sample in samples {
        let node = sample.node.map_or("-".to_owned(), |guid| guid.to_string());
        let port = sample.port.map_or("ALL".to_owned(), |port| port.to_string());
        write!(out, "node {node} lid {} port {port}:", sample.lid.map_or("-".into(), |lid| lid.to_string()))
            .unwrap();
        for (counter, value) in sample.values.iter() {
            write!(out, " {counter}={}", value.map_or("?".into(), |value| value.to_string())).unwrap();
        }
        out.push('\n');
    }
    out
}

fn print_fabric(fabric: &Fabric) -> String {
    let mut out = String::new();
    for (id, node) in fabric.nodes() {
        let f = &node.facts;
        let answered = if f.answered { "" } else { " UNHEARD" };
        writeln!(
            out,
            "{} {} {:?} ports {} vendor {:?} device {:?} enhanced {:?}{answered}",
            f.kind.word(),
            f.guid,
            f.description,
            f.port_count,
            f.vendor_id,
            f.device_id,
            f.enhanced_port0
        )
        .unwrap();
        for (id, port) in fabric.ports_of(id) {
            let p = &port.facts;
            let word = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
            writeln!(
                out,
                "  [{}] guid {} lid {} lmc {} {} {} {} {} of {} {} lanes {}/{}{}",
                port.number,
                word(p.guid.map(|v| v.to_string())),
                word(p.lid.map(|v| v.to_string())),
                p.lmc,
                word(p.state.map(|v| v.to_string())),
                word(p.physical_state.map(|v| v.to_string())),
                word(p.width.map(|v| v.to_string())),
                word(p.speed.map(|v| v.to_string())),
                word(p.width_supported.map(|v| v.to_string())),
                word(p.speed_supported.map(|v| v.to_string())),
                word(p.operational_lanes.map(|v| v.to_string())),
                word(p.lanes_supported.map(|v| v.to_string())),
                fabric.peer(id).map_or(String::new(), |peer| {
                    let peer = fabric.port(peer);
                    format!(" -> {}[{}]", fabric.node(peer.node).guid(), peer.number)
                })
            )
            .unwrap();
        }
    }
    out
}

fn print_topology(file: &TopologyFile) -> String {
    let manager = file.subnet_manager.as_ref().map_or("-".to_owned(), |manager| {
        format!("{} {}", manager.guid, manager.state.as_deref().unwrap_or("-"))
    });
    format!(
        "time {}\nsubnet manager {manager}\n{}{}{}",
        file.time.as_deref().unwrap_or("-"),
        print_fabric(&file.fabric),
        print_samples(&file.counters),
        print_notes(&file.notes)
    )
}

fn print_counters(file: &CounterFile) -> String {
    print_samples(&file.samples) + &print_notes(&file.notes)
}

#[test]
fn tables_of_ibdiagnet() {
    insta::assert_snapshot!("ibdiagnet_fabric", print_topology(&topology(FABRIC)));
}

#[test]
fn tables_of_another_version() {
    insta::assert_snapshot!("ibdiagnet_other_version", print_topology(&topology(OTHER_VERSION)));
}

#[test]
fn tables_of_the_subnet_managers_database() {
    insta::assert_snapshot!("ibdiagnet_smdb", print_topology(&topology(SMDB)));
}

#[test]
fn counters_of_perfquery() {
    insta::assert_snapshot!("perfquery", print_counters(&perfquery::read(input(PERFQUERY)).unwrap()));
}

#[test]
fn counters_of_ibqueryerrors() {
    insta::assert_snapshot!(
        "ibqueryerrors",
        print_counters(&ibqueryerrors::read(input(IBQUERYERRORS)).unwrap())
    );
}

#[test]
fn a_format_knows_its_own_files_only() {
    type LooksLike = fn(&str) -> bool;
    let formats: [(&str, LooksLike, &[&str]); 3] = [
        (ibdiagnet::ID, ibdiagnet::looks_like, &[FABRIC, OTHER_VERSION, SMDB]),
        (perfquery::ID, perfquery::looks_like, &[PERFQUERY]),
        (ibqueryerrors::ID, ibqueryerrors::looks_like, &[IBQUERYERRORS]),
    ];
    let foreign = "#\n# Topology file: generated on Sat\n# Initiated from node 1 port 2\nswitchguid=0x2(2)\nSwitch 8 \"S-2\" # \"x\" base port 0 lid 5\n";
    for (id, looks_like, _) in formats {
        for (owner, _, texts) in formats {
            for text in texts {
                assert_eq!(looks_like(text), id == owner, "{id} on a file of {owner}");
            }
        }
        assert!(!looks_like(foreign) && !looks_like(""), "{id}");
    }
}

#[test]
fn no_key_is_kept_or_shown() {
    let secret = "5ec4e7ca11ab1e";
    assert!(FABRIC.contains(secret));
    let shown = |file: &TopologyFile| format!("{}{file:?}", print_topology(file)).to_lowercase();
    assert!(!shown(&topology(FABRIC)).contains(secret));
    // Rows out of step with their columns: the key stands where something else is looked for.
    for cell in ["0x00000000000a0001,", "0x00000000000b0001,"] {
        assert!(!shown(&topology(&FABRIC.replace(&format!("\n{cell}"), "\n"))).contains(secret));
        let doubled = FABRIC.replace("PortGuid,PortNum,MKey", "PortNum,MKey,PortGuid");
        assert!(!shown(&topology(&doubled)).contains(secret));
    }
}

/// A header whose names are swapped makes a number of the key; no note may show it, however it is printed.
#[test]
fn no_key_is_shown_whatever_column_it_stands_in() {
    let header = FABRIC.lines().find(|line| line.contains(",MKey,")).unwrap();
    let names: Vec<&str> = header.split(',').collect();
    let key = names.iter().position(|name| *name == "MKey").unwrap();
    let mut swaps = 0;
    for at in (0..names.len()).filter(|at| *at != key && !names[*at].ends_with("Guid")) {
        let mut swapped = names.clone();
        swapped.swap(at, key);
        let text = FABRIC.replace(header, &swapped.join(","));
        let shown = format!("{:?}", topology(&text)).to_lowercase();
        for secret in ["5ec4e7ca11ab1e", &0x5e_c4e7_ca11_ab1e_u64.to_string()] {
            assert!(!shown.contains(secret), "{} swapped with MKey", names[at]);
        }
        swaps += 1;
    }
    assert!(swaps > 15);
}

#[test]
fn ports_beyond_and_addresses_borne_twice_are_noted() {
    let table = |ports: &str| {
        let text = format!(
            "START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n\"a\",1,1,0x10\n\"b\",1,1,0x20\nEND_NODES\n\
             START_PORTS\nNodeGuid,PortGuid,PortNum,LID\n{ports}END_PORTS\n"
        );
        let notes = topology(&text).notes;
        ["FN-435", "FN-214", "FN-217"].map(|code| notes.has(code))
    };
    assert_eq!(table("0x10,0x11,1,5\n0x20,0x21,1,6\n"), [false; 3]);
    assert_eq!(table("0x10,0x11,1,5\n0x20,0x21,2,6\n"), [true, false, false]);
    assert_eq!(table("0x10,0x11,1,5\n0x20,0x11,1,5\n"), [false, true, true]);
}

#[test]
fn tables_of_too_many_nodes_are_refused() {
    let mut text = "START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n".to_owned();
    for at in 1..60_100 {
        writeln!(text, "\"a\",1,1,{at:#x}").unwrap();
    }
    text += "END_NODES\n";
    let error = ibdiagnet::read(input(&text)).unwrap_err();
    assert_eq!((error.code, error.place.line), ("FD-2003", Some(60_003)));
}

#[test]
fn files_that_cannot_be_read_say_why() {
    for (text, code, line) in [
        ("", "FD-2401", 1),
        ("START_PORTS\nNodeGuid\nEND_PORTS\n", "FD-2401", 1),
        ("START_NODES\nNodeDesc,NodeType\n\"a\",1\nEND_NODES\n", "FD-2402", 1),
        ("\nSTART_NODES\nNodeGUID,NodeType\n0xzz,1\nEND_NODES\n", "FD-2403", 2),
        ("START_NODES\nNodeGUID,NodeType\n0x1,1", "FD-2403", 1),
        ("START_NODES\n", "FD-2403", 1),
    ] {
        let error = ibdiagnet::read(input(text)).unwrap_err();
        assert_eq!((error.code, error.place.line), (code, Some(line)), "{text}");
    }
    let wide = format!("START_NODES\n{}\nEND_NODES\n", "a,".repeat(2000) + "b");
    assert_eq!(ibdiagnet::read(input(&wide)).unwrap_err().code, "FD-2404");
    assert_eq!(perfquery::read(input("# Port counters: Lid 2 port 1\n")).unwrap_err().code, "FD-2411");
    assert_eq!(perfquery::read(input("PortXmitWait:...3\n")).unwrap_err().code, "FD-2411");
    assert_eq!(ibqueryerrors::read(input("nothing\n")).unwrap_err().code, "FD-2412");
}

#[test]
fn all_is_well_is_a_reading_too() {
    let text =
        "\n## Summary: 6 nodes checked, 0 bad nodes found\n##   27 ports checked, 0 ports\n## Suppressed:\n";
    let file = ibqueryerrors::read(input(text)).unwrap();
    assert!(file.samples.is_empty() && file.notes.is_empty());
}

#[test]
fn line_ends_marks_and_concatenation_change_nothing() {
    let strange = |text: &str| format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(topology(&strange(FABRIC)), topology(FABRIC));
    let twice = perfquery::read(input(&PERFQUERY.repeat(2))).unwrap();
    let once = perfquery::read(input(PERFQUERY)).unwrap();
    assert_eq!(twice.samples, [once.samples.clone(), once.samples].concat());
    let twice = ibqueryerrors::read(input(&IBQUERYERRORS.repeat(2))).unwrap();
    assert_eq!(twice.samples.len(), 10);
    assert!(topology(&FABRIC.repeat(2)).notes.has("FN-423"));
    assert_eq!(topology(&FABRIC.repeat(2)).fabric, topology(FABRIC).fabric);
}

// Truncation.

/// Whatever a part of a file says, the whole file says too.
fn assert_says_no_more(part: &TopologyFile, whole: &TopologyFile, cut: usize) {
    for (id, node) in part.fabric.nodes() {
        let twin = whole.fabric.node_by_guid(node.guid()).unwrap_or_else(|| panic!("cut at {cut}: {node:?}"));
        assert_eq!(node.facts.kind, whole.fabric.node(twin).facts.kind, "cut at {cut}");
        if node.facts.answered {
            let facts = &whole.fabric.node(twin).facts;
            let same = NodeFacts { enhanced_port0: facts.enhanced_port0, ..node.facts.clone() };
            assert_eq!(&same, facts, "cut at {cut}");
        }
        for (port, facts) in part.fabric.ports_of(id) {
            let other = whole.fabric.port_of(twin, facts.number).unwrap();
            let cabled = |fabric: &Fabric, port| {
                fabric
                    .peer(port)
                    .map(|peer| fabric.port(peer))
                    .map(|p| (fabric.node(p.node).guid(), p.number))
            };
            if let Some(peer) = cabled(&part.fabric, port) {
                assert_eq!(Some(peer), cabled(&whole.fabric, other), "cut at {cut}");
            }
            let twin = &whole.fabric.port(other).facts;
            if facts.facts.state.is_some() {
                assert_eq!(&facts.facts, twin, "cut at {cut}");
            }
            assert!(facts.facts.lid.is_none() || facts.facts.lid == twin.lid, "cut at {cut}");
        }
    }
    assert!(
        part.subnet_manager.is_none()
            || part.notes.is_partial()
            || part.subnet_manager == whole.subnet_manager
    );
    assert_samples_say_no_more(&part.counters, &whole.counters, cut);
}

fn assert_samples_say_no_more(part: &[CounterSample], whole: &[CounterSample], cut: usize) {
    assert!(part.len() <= whole.len(), "cut at {cut}");
    for (part, whole) in part.iter().zip(whole) {
        assert_eq!((part.node, part.lid, part.port), (whole.node, whole.lid, whole.port), "cut at {cut}");
        for (counter, value) in part.values.iter() {
            assert!(whole.values.has(&counter), "cut at {cut}: {counter}");
            assert_eq!(value, whole.values.get(&counter), "cut at {cut}: {counter}");
        }
    }
}

#[test]
fn every_part_of_a_topology_says_nothing_wrong() {
    for text in [FABRIC, OTHER_VERSION, SMDB] {
        let whole = topology(text);
        for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let Ok(part) = ibdiagnet::read(input(&text[..cut])) else { continue };
            assert_says_no_more(&part, &whole, cut);
            // What is not noted is only blank lines at the end, or tables that no index announces.
            let announced = text.starts_with("START_INDEX_TABLE") || text == FABRIC;
            if announced && !part.notes.is_partial() {
                assert_eq!(part, whole, "cut at {cut}");
            }
        }
    }
}

#[test]
fn every_part_of_a_counter_file_says_nothing_wrong() {
    type Read = fn(Input<'_>) -> Result<CounterFile, Box<FileError>>;
    for (text, read) in [(PERFQUERY, perfquery::read as Read), (IBQUERYERRORS, ibqueryerrors::read)] {
        let whole = read(input(text)).unwrap();
        for cut in 0..text.len() {
            let Ok(part) = read(input(&text[..cut])) else { continue };
            assert_samples_say_no_more(&part.samples, &whole.samples, cut);
            let at_line_end = text[..cut].ends_with('\n') || text[cut..].starts_with('\n');
            assert!(part.notes.is_partial() || at_line_end, "cut at {cut}");
        }
    }
}

// Printers as the tools have them, to read back what they print.

fn print_perfquery(samples: &[CounterSample], wide: bool) -> String {
    let mut out = String::new();
    for sample in samples {
        let port = sample.port.map_or(255, |port| port.value());
        let lid = sample.lid.unwrap();
        let title = if wide { "Port extended counters" } else { "Port counters" };
        writeln!(out, "# {title}: Lid {lid} port {port} (CapMask: 0x5A00)").unwrap();
        writeln!(out, "{:.<33}{port}", "PortSelect:").unwrap();
        for (counter, value) in sample.values.iter() {
            let name = counter.name();
            let name = name.strip_suffix("Extended").or_else(|| name.strip_suffix("Ext")).unwrap_or(name);
            let value = value.map_or("N/A".to_owned(), |value| value.to_string());
            writeln!(out, "{:.<33}{value}", format!("{name}:")).unwrap();
        }
    }
    out
}

fn print_ibqueryerrors(samples: &[CounterSample]) -> String {
    let mut out = String::new();
    for sample in samples {
        let guid = sample.node.unwrap().0;
        writeln!(out, "Errors for 0x{guid:x} \"sw ] [ port 3: x\"").unwrap();
        let port = sample.port.map_or("ALL".to_owned(), |port| port.to_string());
        write!(out, "   GUID 0x{guid:x} port {port}:").unwrap();
        for (counter, value) in sample.values.iter() {
            let value = value.map_or("N/A".to_owned(), |value| value.to_string());
            let name = counter.name();
            match name.strip_suffix("Extended").or_else(|| name.strip_suffix("Ext")) {
                Some(name) => write!(out, " [{name} == {value} (1.000KB)]").unwrap(),
                None => write!(out, " [{name} == {value}]").unwrap(),
            }
        }
        out.push('\n');
    }
    out + "\n## Summary: 1 nodes checked, 0 bad nodes found\n## Suppressed:\n"
}

fn or_absent(value: Option<String>) -> String {
    value.unwrap_or_else(|| "N/A".to_owned())
}

fn print_table(out: &mut String, name: &str, columns: &str, rows: impl Iterator<Item = Vec<String>>) {
    writeln!(out, "START_{name}\n{columns}").unwrap();
    rows.for_each(|row| write_row(out, row.iter().map(String::as_str)));
    writeln!(out, "END_{name}\n").unwrap();
}

fn print_tables(fabric: &Fabric, samples: &[CounterSample]) -> String {
    let mut out = String::new();
    let columns = "NodeDesc,NumPorts,NodeType,NodeGUID,VendorID,DeviceID,SystemImageGUID";
    print_table(&mut out, "NODES", columns, fabric.nodes().map(|(_, node)| node_row(&node.facts)));
    let columns = "NodeGuid,PortGuid,PortNum,LID,LMC,PortState,PortPhyState,LinkWidthActv,LinkSpeedActv,\
                   LinkWidthSup,LinkSpeedSup,OpVLs,VLCap";
    let rows = fabric.ports().map(|(_, port)| {
        let address = [
            fabric.node(port.node).guid().to_string(),
            or_absent(port.facts.guid.map(|guid| guid.to_string())),
        ];
        [&address[..], &[port.number.to_string()], &port_row(&port.facts)].concat()
    });
    print_table(&mut out, "PORTS", columns, rows);
    let end = |(node, port): &(NodeId, PortNum)| [fabric.node(*node).guid().to_string(), port.to_string()];
    let rows = fabric.links().map(|(id, _)| fabric.ends(id).iter().flat_map(end).collect());
    print_table(&mut out, "LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2", rows);
    let columns: Vec<&str> = Counter::KNOWN.iter().map(Counter::name).collect();
    let rows = samples.iter().map(|sample| {
        let address = [sample.node.unwrap().to_string(), sample.port.unwrap().to_string()];
        let cell = |counter| or_absent(sample.values.get(counter).map(|value| format!("{value:#x}")));
        address.into_iter().chain(Counter::KNOWN.iter().map(cell)).collect()
    });
    print_table(&mut out, "PM_INFO", &format!("NodeGUID,PortNumber,{}", columns.join(",")), rows);
    out
}

fn node_row(facts: &NodeFacts) -> Vec<String> {
    let kind = match facts.kind {
        NodeKind::ChannelAdapter => "1",
        NodeKind::Switch => "2",
        NodeKind::Router => "3",
    };
    vec![
        facts.description.clone(),
        facts.port_count.to_string(),
        kind.to_owned(),
        facts.guid.to_string(),
        or_absent(facts.vendor_id.map(|id| id.to_string())),
        or_absent(facts.device_id.map(|id| format!("{id:#x}"))),
        or_absent(facts.system_image_guid.map(|guid| guid.to_string())),
    ]
}

/// The cells from LID on.
fn port_row(facts: &PortFacts) -> Vec<String> {
    let number = |value: Option<u32>| or_absent(value.map(|value| value.to_string()));
    vec![
        number(facts.lid.map(|lid| lid.value().into())),
        facts.lmc.to_string(),
        number(facts.state.map(|state| state.code().into())),
        number(facts.physical_state.map(|state| state.code().into())),
        number(facts.width.map(|width| width.code().into())),
        number(facts.speed.map(speed_code)),
        number(facts.width_supported.map(|width| width.code().into())),
        number(facts.speed_supported.map(speed_code)),
        number(facts.operational_lanes.map(lane_code)),
        number(facts.lanes_supported.map(lane_code)),
    ]
}

fn speed_code(speed: LinkSpeed) -> u32 {
    match speed {
        LinkSpeed::Sdr => 1,
        LinkSpeed::Ddr => 2,
        LinkSpeed::Qdr => 4,
        LinkSpeed::Fdr10 => 1 << 16,
        LinkSpeed::Fdr => 1 << 8,
        LinkSpeed::Edr => 2 << 8,
        LinkSpeed::Hdr => 4 << 8,
        LinkSpeed::Ndr => 8 << 8,
        LinkSpeed::Xdr => 1 << 24,
    }
}

fn lane_code(lanes: u8) -> u32 {
    [1, 2, 4, 8, 15].iter().position(|count| *count == lanes).unwrap() as u32 + 1
}

fn any_values(from: &'static [Counter]) -> impl Strategy<Value = CounterValues> {
    // Up to the largest value that is no difference below zero.
    let value = prop_oneof![Just(None), (0..=i64::MAX as u64).prop_map(Some), (0..70_000u64).prop_map(Some)];
    proptest::collection::vec(value, from.len())
        .prop_map(move |values| from.iter().cloned().zip(values).collect::<CounterValues>())
}

fn any_port() -> impl Strategy<Value = Option<PortNum>> {
    prop_oneof![Just(None), (0..=PortNum::MAX).prop_map(|port| Some(PortNum(port)))]
}

fn perfquery_samples(from: &'static [Counter]) -> impl Strategy<Value = Vec<CounterSample>> {
    let sample = (1..=Lid::MAX, any_port(), any_values(from));
    proptest::collection::vec(sample, 1..4).prop_map(|samples| {
        samples
            .into_iter()
            .map(|(lid, port, values)| CounterSample { node: None, lid: Some(lid), port, values })
            .collect()
    })
}

fn node_samples() -> impl Strategy<Value = Vec<CounterSample>> {
    let sample = (any::<u64>(), any_port(), any_values(Counter::KNOWN));
    proptest::collection::vec(sample, 1..4).prop_map(|samples| {
        let sample = |(guid, port, values)| CounterSample { node: Some(Guid(guid)), lid: None, port, values };
        samples.into_iter().map(sample).collect()
    })
}

/// A fabric from a few choices: every port of every node, with facts that the tables can say.
fn any_fabric() -> impl Strategy<Value = Fabric> {
    let node = (0..3usize, "[ -~é]{0,12}", 1..5u8, any::<Option<u32>>(), any::<u32>());
    (proptest::collection::vec(node, 1..6), proptest::collection::vec(any::<u16>(), 0..12)).prop_map(
        |(nodes, cables)| {
            let mut builder = FabricBuilder::new();
            let mut free = Vec::new();
            for (at, (kind, description, ports, device, seed)) in nodes.into_iter().enumerate() {
                let kind = [NodeKind::Switch, NodeKind::ChannelAdapter, NodeKind::Router][kind];
                let mut facts = NodeFacts::new(kind, Guid(at as u64 + 1), ports, description);
                (facts.device_id, facts.vendor_id) = (device, device.map(|id| id ^ 5));
                facts.system_image_guid = device.map(|id| Guid(u64::from(id) + 1));
                let key = builder.add_node(facts).unwrap();
                let first = u8::from(kind != NodeKind::Switch);
                for number in first..=ports {
                    let pick = seed.rotate_left(u32::from(number) * 3) as usize;
                    let port = builder.port(key, PortNum(number));
                    if number == 0 || kind != NodeKind::Switch {
                        port.guid = Some(Guid(1000 + pick as u64));
                        port.lid = Lid::new(pick as u32 % 50_000);
                        port.lmc = Lmc::new(pick as u32 % 8).unwrap();
                    }
                    port.state = PortState::ALL.get(pick % 5).copied();
                    port.physical_state = PhysicalState::ALL.get(pick % 8).copied();
                    if port.state != Some(PortState::Down) {
                        port.width = LinkWidth::ALL.get(pick % 6).copied();
                        port.speed = LinkSpeed::ALL.get(pick % 10).copied();
                    }
                    port.width_supported = LinkWidth::ALL.get(pick % 7).copied();
                    port.speed_supported = LinkSpeed::ALL.get(pick % 11).copied();
                    port.operational_lanes = [1, 2, 4, 8, 15].get(pick % 6).copied();
                    port.lanes_supported = [1, 2, 4, 8, 15].get(pick % 7).copied();
                    if number > 0 {
                        free.push((key, PortNum(number)));
                    }
                }
            }
            for cable in cables.chunks_exact(2) {
                if free.len() >= 2 {
                    let a = free.swap_remove(usize::from(cable[0]) % free.len());
                    let b = free.swap_remove(usize::from(cable[1]) % free.len());
                    builder.connect(a, b).unwrap();
                }
            }
            builder.finish()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn perfquery_reads_back(samples in perfquery_samples(&Counter::KNOWN[..18])) {
        prop_assert_eq!(perfquery::read(input(&print_perfquery(&samples, false))).unwrap().samples, samples);
    }

    #[test]
    fn wide_perfquery_reads_back(samples in perfquery_samples(&Counter::KNOWN[18..40])) {
        prop_assert_eq!(perfquery::read(input(&print_perfquery(&samples, true))).unwrap().samples, samples);
    }

    #[test]
    fn ibqueryerrors_reads_back(samples in node_samples()) {
        prop_assert_eq!(ibqueryerrors::read(input(&print_ibqueryerrors(&samples))).unwrap().samples, samples);
    }

    #[test]
    fn tables_read_back(fabric in any_fabric(), samples in node_samples()) {
        let samples: Vec<_> = samples.into_iter().filter(|sample| sample.port.is_some()).collect();
        let file = topology(&print_tables(&fabric, &samples));
        prop_assert_eq!(&file.fabric, &fabric);
        prop_assert_eq!(file.counters, samples);
        prop_assert!(!file.notes.is_partial(), "{}", print_notes(&file.notes));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0..4000usize) {
        for text in [FABRIC, OTHER_VERSION, PERFQUERY, IBQUERYERRORS] {
            let at = at.min(text.len());
            let mixed = [&text.as_bytes()[..at], &bytes, &text.as_bytes()[at..]].concat();
            let _ = ibdiagnet::read(Input::new("f", &mixed));
            let _ = perfquery::read(Input::new("f", &mixed));
            let _ = ibqueryerrors::read(Input::new("f", &mixed));
        }
    }
}

// What is written for others.

/// Builds a fabric from lines `switch NAME`, `host NAME` and `NAME/PORT NAME/PORT`; GUIDs count up.
pub fn draw(text: &str) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut keys = BTreeMap::new();
    for (at, line) in text.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        let (first, rest) = line.split_once(' ').unwrap();
        let kind = match first {
            "switch" => Some(NodeKind::Switch),
            "host" => Some(NodeKind::ChannelAdapter),
            _ => None,
        };
        if let Some(kind) = kind {
            // `id=description`, or a description that is its own id.
            let (id, description) = rest.split_once('=').unwrap_or((rest, rest));
            let key = builder.add_node(NodeFacts::new(kind, Guid(at as u64 + 1), 64, description)).unwrap();
            keys.insert(id.to_owned(), key);
            continue;
        }
        let end = |text: &str| {
            let (id, port) = text.rsplit_once('/').unwrap();
            (keys[id], PortNum(port.parse().unwrap()))
        };
        builder.connect(end(first), end(rest)).unwrap();
    }
    builder.finish()
}

fn print_slurm(fabric: &Fabric) -> String {
    let written = slurm::write(fabric, &Names::new(fabric, &NameMap::default()), None);
    format!("{}--\n{}", written.text, print_notes(&written.notes))
}

#[test]
fn a_tree_for_slurm() {
    let fabric = draw(
        "switch leaf0\nswitch leaf1\nswitch spine0\nswitch spine1\n\
         host a=node0 HCA-1\nhost b=node1 HCA-1\nhost c=node2 HCA-1\nhost d=login mlx5_0\n\
         a/1 leaf0/1\nb/1 leaf0/2\nc/1 leaf1/1\nd/1 leaf1/2\n\
         leaf0/11 spine0/1\nleaf0/12 spine1/1\nleaf1/11 spine0/2\nleaf1/12 spine1/2\n",
    );
    insta::assert_snapshot!("slurm_tree", print_slurm(&fabric));
}

#[test]
fn what_a_tree_cannot_say() {
    let mut text = String::from(
        "switch l0=MF0;leaf0:MQM8700/U1\nswitch l1=leaf1\nswitch s0=spine\nswitch s1=spine\nswitch e=empty\n\
         switch far0=far0\nswitch r1=rail1\n\
         l0/40 s0/1\nl0/41 s1/1\nl1/40 s0/2\nl1/41 s1/2\nl0/50 l1/50\ns0/50 s1/50\nl0/51 e/1\nr1/40 s0/3\n\
         host log=login0 mlx5_0\nlog/1 s0/10\n\
         host agg=Mellanox Technologies Aggregation Node\nagg/1 s1/11\n\
         host bare=mlx5_0\nbare/1 l0/30\nhost alone=node99 HCA-1\n\
         host f=far-node\nf/1 far0/1\n",
    );
    for at in 0..8 {
        writeln!(text, "host n{at}=node{at:02} HCA-1\nn{at}/1 {}/{}", ["l0", "l1"][at / 4], at + 1).unwrap();
    }
    for at in 0..4 {
        writeln!(text, "host m{at}=node{at:02} HCA-2\nm{at}/1 r1/{}", at + 1).unwrap();
    }
    insta::assert_snapshot!("slurm_limits", print_slurm(&draw(&text)));
}

#[test]
fn metrics_for_prometheus() {
    let file = topology(FABRIC);
    let names = Names::new(&file.fabric, &NameMap::default());
    let mut samples = file.counters.clone();
    // The same port by LID, later; and a sum over all ports, which is no series.
    let value = |counter, value| [(counter, Some(value))].into_iter().collect::<CounterValues>();
    samples.push(CounterSample {
        node: None,
        lid: Some(9),
        port: Some(PortNum(1)),
        values: value(Counter::PortXmitDataExtended, u64::MAX / 2),
    });
    samples.push(CounterSample {
        node: Some(Guid(0xa0001)),
        lid: None,
        port: None,
        values: value(Counter::PortXmitWait, 1),
    });
    let text = prometheus::write(&file.fabric, &names, &samples, prometheus::MetricSet::All);
    insta::assert_snapshot!("prometheus", text);
    let mut series: Vec<&str> = text
        .lines()
        .filter(|l| !l.starts_with('#'))
        .filter_map(|l| l.rsplit_once(' '))
        .map(|l| l.0)
        .collect();
    let count = series.len();
    series.sort_unstable();
    series.dedup();
    assert_eq!(series.len(), count, "a series stands once");
    assert_eq!(
        prometheus::write(
            &Fabric::default(),
            &Names::new(&Fabric::default(), &NameMap::default()),
            &[],
            prometheus::MetricSet::All
        ),
        ""
    );
}
