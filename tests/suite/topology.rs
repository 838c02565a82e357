//! Topology text: dumps of ibnetdiscover, net files of ibsim, port reports.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fmt::Write;

use fabdeck_fabric::{
    Fabric, FabricBuilder, FabricDiff, Guid, Lid, LinkSpeed, LinkWidth, Lmc, NodeFacts, NodeId, NodeKey,
    NodeKind, PortFacts, PortNum, PortState,
};
use fabdeck_files::content::TopologyFile;
use fabdeck_files::{FileError, detect, ibnetdiscover, ibsim, port_report, subnet_lst, text::Input};
use proptest::prelude::*;

type Reader = fn(Input<'_>) -> Result<TopologyFile, Box<FileError>>;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/topology/{name}", env!("FABDECK_ROOT"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn read(reader: Reader, name: &str) -> TopologyFile {
    reader(Input::new(name, &fixture(name))).unwrap()
}

fn refusal(reader: Reader, text: &str) -> (String, Option<u64>) {
    let error = reader(Input::new("f", text.as_bytes())).unwrap_err();
    assert!(!error.what.is_empty() && !error.hint.is_empty());
    (error.code.to_owned(), error.place.line)
}

/// Everything that was read, a line each, and the notes.
fn summary(file: &TopologyFile) -> String {
    let mut text = String::new();
    let fabric = &file.fabric;
    if let Some(time) = &file.time {
        writeln!(text, "time {time}").unwrap();
    }
    for (id, node) in fabric.nodes() {
        let f = &node.facts;
        let known = if f.answered { "" } else { " unheard" };
        write!(text, "{} {} '{}' ports {}{known}", f.kind.word(), f.guid, f.description, f.port_count)
            .unwrap();
        let ids = (f.vendor_id, f.device_id, f.system_image_guid, f.enhanced_port0);
        writeln!(text, " {ids:?}").unwrap();
        for (_, port) in fabric.ports_of(id) {
            write!(text, "  {}", port.number).unwrap();
            let f = &port.facts;
            let peer = port.peer.map(|peer| fabric.port(peer));
            if let Some(peer) = peer {
                write!(text, " to {}[{}]", fabric.node(peer.node).guid(), peer.number).unwrap();
            }
            if let Some(guid) = f.guid {
                write!(text, " guid {guid}").unwrap();
            }
            if let Some(lid) = f.lid {
                write!(text, " lid {lid} lmc {}", f.lmc).unwrap();
            }
            let words = [f.width.map(LinkWidth::word), f.speed.map(LinkSpeed::word)];
            for word in words.into_iter().flatten() {
                write!(text, " {word}").unwrap();
            }
            if let Some(lanes) = f.lanes_supported {
                write!(text, " lanes {lanes}").unwrap();
            }
            text.push('\n');
        }
    }
    for note in file.notes.iter() {
        writeln!(text, "{note}{}", if note.partial { " [partial]" } else { "" }).unwrap();
    }
    text
}

#[test]
fn a_plain_dump() {
    let file = read(ibnetdiscover::read, "plain.ibnetdiscover");
    assert!(file.notes.is_empty());
    insta::assert_snapshot!(summary(&file));
}

#[test]
fn what_is_written_is_what_the_tool_prints() {
    let text = String::from_utf8(fixture("plain.ibnetdiscover")).unwrap();
    let file = read(ibnetdiscover::read, "plain.ibnetdiscover");
    let written = ibnetdiscover::write(&file.fabric, file.time.as_deref()).unwrap();
    assert!(written.notes.is_empty());
    let records = |text: &str| -> Vec<String> {
        let mut records: Vec<String> =
            text.split("\n\n").filter(|r| !r.starts_with('#')).map(|r| r.trim_end().to_owned()).collect();
        records.sort();
        records
    };
    assert_eq!(records(&written.text), records(&text));
    let header = "#\n# Topology file: generated on Mon Mar  3 09:15:02 2025\n#\n";
    assert!(written.text.starts_with(header));
    let without_time = ibnetdiscover::write(&file.fabric, None).unwrap().text;
    assert_eq!(without_time, written.text.replace(": generated on Mon Mar  3 09:15:02 2025", ""));
}

#[test]
fn a_dump_out_of_a_terminal_is_the_same_fabric() {
    let plain = read(ibnetdiscover::read, "plain.ibnetdiscover");
    let terminal = read(ibnetdiscover::read, "terminal.ibnetdiscover");
    assert_eq!(FabricDiff::between(&plain.fabric, &terminal.fabric), FabricDiff::default());
    assert_eq!(plain.fabric, terminal.fabric);
    let notes: Vec<String> = terminal.notes.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(notes.join("\n"));
    let no_tabs = read(ibnetdiscover::read, "no-tabs.ibnetdiscover");
    assert_eq!((no_tabs.fabric, no_tabs.notes.is_empty()), (plain.fabric, true));
}

#[test]
fn a_dump_in_the_style_of_ibdiagnet() {
    insta::assert_snapshot!(summary(&read(ibnetdiscover::read, "ibdiagnet-style.ibnetdiscover")));
}

#[test]
fn a_dump_grouped_by_chassis() {
    let file = read(ibnetdiscover::read, "grouped.ibnetdiscover");
    assert!(file.notes.is_empty());
    insta::assert_snapshot!(summary(&file));
}

#[test]
fn a_dump_full_of_trouble() {
    insta::assert_snapshot!(summary(&read(ibnetdiscover::read, "trouble.ibnetdiscover")));
}

#[test]
fn damaged_dumps_are_refused_with_their_line() {
    let leaf = "Switch 8 \"S-0000000000000010\" # \"leaf\" base port 0 lid 1 lmc 0\n";
    for (text, code, line) in [
        (String::new(), "FD-2101", None),
        ("# nothing\n[root@mgmt ~]# exit\n".to_owned(), "FD-2101", None),
        (format!("{leaf}[9] \"S-0000000000000020\"[1]\n"), "FD-2104", Some(2)),
        (format!("{leaf}[999999999999] \"S-0000000000000020\"[1]\n"), "FD-2104", Some(2)),
        (format!("{leaf}[1] \"S-0000000000000010\"[9]\n"), "FD-2104", Some(2)),
        (format!("{leaf}[1] \"S-0000000000000020\"[255]\n"), "FD-2104", Some(2)),
        (format!("{leaf}[1] \"S-0000000000000020\"\n"), "FD-2103", Some(2)),
        (format!("{leaf}[1] \"leaf1\"[1]\n"), "FD-2103", Some(2)),
        (format!("{leaf}[1] \"S-00000000\n"), "FD-2103", Some(2)),
        (format!("{leaf}[1] \"S-0000000000000020\"[1] # \"a\" lid x 4xSDR\n"), "FD-2103", Some(2)),
        ("Switch 4294967295 \"S-0000000000000010\"\n".to_owned(), "FD-2102", Some(1)),
        ("Ca 2 \"S-0000000000000010\"\n".to_owned(), "FD-2102", Some(1)),
        ("vendid=0x2c9zz\n".to_owned(), "FD-2105", Some(1)),
        (format!("{leaf}\ncaguid=0x5\ngarbage\n[1](6) \"S-0000000000000010\"[1]\n"), "FD-2106", Some(5)),
        (format!("caguid=0x5\ngarbage\nswitchguid=0x10\n{leaf}"), "FD-2106", Some(3)),
    ] {
        assert_eq!(refusal(ibnetdiscover::read, &text), (code.to_owned(), line), "{text}");
    }
}

#[test]
fn a_plain_net_file() {
    let file = read(ibsim::read, "plain.net");
    insta::assert_snapshot!(summary(&file));
}

#[test]
fn modules_aliases_and_commands_of_a_net_file() {
    insta::assert_snapshot!(summary(&read(ibsim::read, "modules.net")));
}

#[test]
fn damaged_net_files_are_refused_with_their_line() {
    for (text, code, line) in [
        ("# nothing\n", "FD-2101", None),
        ("include \"other.net\"\n", "FD-2107", Some(1)),
        ("Switch 0 \"a\"\n", "FD-2102", Some(1)),
        ("Switch 4 \"a\"\n\nSwitch 4 \"a\"\n", "FD-2108", Some(3)),
        ("Switch 4 \"a#b\"\n", "FD-2108", Some(1)),
        ("Switch 4 \"a\"\n\nswitchguid=0x200000\nSwitch 4 \"b\"\n", "FD-2108", Some(4)),
        ("Switch 4 \"a\"\n[5] \"a\"[1]\n", "FD-2104", Some(2)),
        ("[1] \"a\"[1]\nSwitch 4 \"a\"\n", "FD-2106", Some(1)),
        ("speed=9\nSwitch 4 \"a\"\n", "FD-2109", Some(1)),
        ("width=\nSwitch 4 \"a\"\n", "FD-2105", Some(1)),
        ("module=x\nSwitch 4 \"a\"\n", "FD-2105", Some(1)),
        ("Switch 4 \"a\"\n[1] \"b\"[1] w=99\n", "FD-2109", Some(2)),
    ] {
        assert_eq!(refusal(ibsim::read, text), (code.to_owned(), line), "{text}");
    }
}

#[test]
fn a_net_file_as_written() {
    let file = read(ibnetdiscover::read, "plain.ibnetdiscover");
    let written = ibsim::write(&file.fabric).unwrap();
    let notes: Vec<String> = written.notes.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(format!("{}----\n{}", written.text, notes.join("\n")));
}

#[test]
fn what_ibsim_cannot_play_is_noted() {
    let file = read(ibnetdiscover::read, "trouble.ibnetdiscover");
    let written = ibsim::write(&file.fabric).unwrap();
    let codes: Vec<&str> = written.notes.iter().map(|note| note.code).collect();
    assert_eq!(codes, ["FN-232", "FN-237"]);
    assert!(written.notes.is_partial() && !written.text.contains("gone"));
    for error in [ibsim::write(&Fabric::default()), ibnetdiscover::write(&Fabric::default(), None)] {
        assert_eq!(error.unwrap_err().code, "FD-2120");
    }
}

#[test]
fn a_port_report() {
    insta::assert_snapshot!(summary(&read(port_report::read, "report.ports")));
}

#[test]
fn each_format_knows_its_own() {
    for (name, formats) in [
        ("plain.ibnetdiscover", [true, false, false]),
        ("terminal.ibnetdiscover", [true, false, false]),
        ("no-tabs.ibnetdiscover", [true, false, false]),
        ("ibdiagnet-style.ibnetdiscover", [true, false, false]),
        ("trouble.ibnetdiscover", [true, false, false]),
        ("plain.net", [false, true, false]),
        ("modules.net", [false, true, false]),
        ("report.ports", [false, false, true]),
    ] {
        let text = String::from_utf8(fixture(name)).unwrap();
        let told =
            [ibnetdiscover::looks_like(&text), ibsim::looks_like(&text), port_report::looks_like(&text)];
        assert_eq!(told, formats, "{name}");
    }
    let file = read(ibnetdiscover::read, "plain.ibnetdiscover");
    let written = ibsim::write(&file.fabric).unwrap().text;
    assert!(ibsim::looks_like(&written) && !ibnetdiscover::looks_like(&written));
    let written = ibnetdiscover::write(&file.fabric, None).unwrap().text;
    assert!(ibnetdiscover::looks_like(&written) && !ibsim::looks_like(&written));
}

/// Whether a fabric says nothing that another one does not say too.
fn contradiction(cut: &Fabric, whole: &Fabric) -> Option<String> {
    for (id, node) in cut.nodes() {
        let same = |(_, other): &(NodeId, &fabdeck_fabric::Node)| {
            (other.facts.kind, other.guid()) == (node.facts.kind, node.guid())
        };
        let Some((whole_id, other)) = whole.nodes().find(same) else { return Some(format!("{node:?}")) };
        let (a, b) = (&node.facts, &other.facts);
        let fits = (a.description.is_empty() || a.description == b.description)
            && (!a.answered || a.port_count == b.port_count)
            && part(a.vendor_id, b.vendor_id)
            && part(a.device_id, b.device_id)
            && part(a.system_image_guid, b.system_image_guid)
            && part(a.enhanced_port0, b.enhanced_port0);
        if !fits {
            return Some(format!("{a:?} against {b:?}"));
        }
        for (_, port) in cut.ports_of(id) {
            let Some(known) = whole.port_of(whole_id, port.number) else { return Some(format!("{port:?}")) };
            let (a, b) = (&port.facts, &whole.port(known).facts);
            let fits = part(a.guid, b.guid)
                && part(a.lid, b.lid)
                && (a.lmc == Lmc::default() || a.lmc == b.lmc)
                && part(a.width, b.width)
                && part(a.speed, b.speed)
                && part(a.lanes_supported, b.lanes_supported);
            let end = |fabric: &Fabric, port: fabdeck_fabric::PortId| {
                let port = fabric.port(port);
                (fabric.node(port.node).guid(), port.number)
            };
            let far = port.peer.map(|peer| end(cut, peer));
            if !fits || !part(far, whole.port(known).peer.map(|peer| end(whole, peer))) {
                return Some(format!("{a:?} against {b:?}"));
            }
        }
    }
    None
}

fn part<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    a.is_none() || a == b
}

#[test]
fn a_file_cut_anywhere_says_nothing_wrong() {
    let readers: [(Reader, &str); 5] = [
        (ibnetdiscover::read, "plain.ibnetdiscover"),
        (ibnetdiscover::read, "no-tabs.ibnetdiscover"),
        (ibnetdiscover::read, "terminal.ibnetdiscover"),
        (ibnetdiscover::read, "grouped.ibnetdiscover"),
        (ibsim::read, "plain.net"),
    ];
    for (reader, name) in readers {
        let bytes = fixture(name);
        let whole = reader(Input::new(name, &bytes)).unwrap();
        let data_end = bytes.len() - 1;
        for end in 0..data_end {
            let Ok(file) = reader(Input::new(name, &bytes[..end])) else { continue };
            let text = String::from_utf8_lossy(&bytes[..end]);
            let tail: String = text.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
            assert!(!file.notes.is_empty(), "{name} cut at {end} has no note: ...{tail:?}");
            assert_eq!(contradiction(&file.fabric, &whole.fabric), None, "{name} cut at {end}: ...{tail:?}");
        }
    }
}

#[test]
fn a_report_cut_anywhere_is_noted() {
    let bytes = fixture("report.ports");
    let whole = port_report::read(Input::new("r", &bytes)).unwrap();
    for end in 0..bytes.len() {
        let Ok(file) = port_report::read(Input::new("r", &bytes[..end])) else { continue };
        assert!(!file.notes.is_empty(), "cut at {end}");
        assert!(file.fabric.links().len() <= whole.fabric.links().len(), "cut at {end}");
    }
}

/// What a property makes a fabric of.
#[derive(Debug, Clone)]
struct Plan {
    nodes: Vec<PlannedNode>,
    cables: Vec<(PlannedEnd, PlannedEnd)>,
    rates: Vec<(Option<LinkWidth>, Option<LinkSpeed>)>,
    lids: Vec<(u32, u32)>,
}

/// Kind, name, heard, vendor, kind of port 0, system image.
type PlannedNode = (NodeKind, String, bool, Option<u32>, Option<bool>, Option<u64>);
type PlannedEnd = (usize, u8);

const PORTS: u8 = 9;

fn plans() -> impl Strategy<Value = Plan> {
    let kind = prop_oneof![
        4 => Just(NodeKind::Switch),
        3 => Just(NodeKind::ChannelAdapter),
        1 => Just(NodeKind::Router)
    ];
    let name = prop_oneof![
        "[a-z]{0,3}[ ;/#\\[\\]()'=:,.-]{0,4}[a-zä]{0,4}[ ]{0,2}",
        Just("lid 5 lmc 1".to_owned()),
        Just("base port 0".to_owned()),
        Just("a\"b".to_owned()),
        "\\PC{0,12}",
    ];
    let node = (
        kind,
        name,
        proptest::bool::weighted(0.85),
        proptest::option::of(0..0x100_0000u32),
        proptest::option::of(any::<bool>()),
        proptest::option::of(0x1000..u64::MAX),
    );
    let end = || (0..8usize, 1..=PORTS);
    let width = proptest::option::of(proptest::sample::select(LinkWidth::ALL));
    let speed = proptest::option::of(proptest::sample::select(LinkSpeed::ALL));
    (
        proptest::collection::vec(node, 1..8),
        proptest::collection::vec((end(), end()), 0..24),
        proptest::collection::vec((width, speed), 32),
        proptest::collection::vec((0..0xC000u32, 0..8u32), 32),
    )
        .prop_map(|(nodes, cables, rates, lids)| Plan { nodes, cables, rates, lids })
}

/// A fabric of what a dump can carry. `for_ibsim`: of what ibsim can play.
fn build(plan: &Plan, for_ibsim: bool) -> Fabric {
    let mut b = FabricBuilder::new();
    let heard = |at: usize| for_ibsim || plan.nodes[at].2;
    let mut keys: Vec<Option<NodeKey>> = vec![None; plan.nodes.len()];
    let mut used = 0;
    let mut ends: Vec<(PlannedEnd, PlannedEnd)> = Vec::new();
    for (a, c) in &plan.cables {
        let (a, c) = ((a.0 % plan.nodes.len(), a.1), (c.0 % plan.nodes.len(), c.1));
        let free = |end| !ends.iter().any(|(x, y)| *x == end || *y == end);
        if (heard(a.0) || heard(c.0)) && free(a) && free(c) {
            ends.push((a, c));
        }
    }
    let named = |at: usize| ends.iter().any(|(a, c)| a.0 == at || c.0 == at);
    for (at, node) in plan.nodes.iter().enumerate() {
        if heard(at) || named(at) {
            keys[at] = Some(add_node(&mut b, plan, at, node, for_ibsim));
        }
    }
    for (a, c) in &ends {
        let of = |end: &(usize, u8)| (keys[end.0].unwrap(), PortNum(end.1));
        b.connect(of(a), of(c)).unwrap();
        let shared = plan.rates[used % plan.rates.len()];
        for end in [a, c] {
            let rate = if for_ibsim { shared } else { plan.rates[used % plan.rates.len()] };
            let (lid, lmc) = plan.lids[used % plan.lids.len()];
            used += 1;
            let facts = b.port(of(end).0, of(end).1);
            if heard(end.0) {
                (facts.width, facts.speed) = rate;
                if for_ibsim {
                    facts.width = Some(rate.0.unwrap_or(LinkWidth::X4));
                    facts.speed = Some(rate.1.unwrap_or(LinkSpeed::Sdr).min(LinkSpeed::Hdr));
                    let at_router = [a, c].iter().any(|end| plan.nodes[end.0].0 == NodeKind::Router);
                    if at_router && facts.speed == Some(LinkSpeed::Fdr10) {
                        facts.speed = Some(LinkSpeed::Qdr);
                    }
                }
            }
            if plan.nodes[end.0].0 != NodeKind::Switch {
                facts.guid = Some(Guid(0x9_0000 + 0x100 * end.0 as u64 + u64::from(end.1)));
                state_lid(facts, lid, lmc, heard(end.0));
            }
        }
    }
    b.finish()
}

fn state_lid(facts: &mut PortFacts, lid: u32, lmc: u32, heard: bool) {
    facts.lid = Lid::new(lid);
    if heard {
        facts.lmc = Lmc::new(lmc).unwrap();
    }
}

fn add_node(b: &mut FabricBuilder, plan: &Plan, at: usize, node: &PlannedNode, for_ibsim: bool) -> NodeKey {
    let (kind, name, heard, number, enhanced, system) = node;
    let guid = Guid(0x5_0000 + 0x100 * at as u64);
    let is_switch = *kind == NodeKind::Switch;
    let (lid, lmc) = plan.lids[at];
    if !heard && !for_ibsim {
        let key = b.add_node(NodeFacts::known_from_peer(*kind, guid, name.clone())).unwrap();
        if let (true, Some(lid)) = (is_switch, Lid::new(lid)) {
            b.port(key, PortNum(0)).lid = Some(lid);
        }
        return key;
    }
    let mut facts = NodeFacts::new(*kind, guid, PORTS + 1, name.clone());
    (facts.vendor_id, facts.device_id) = (*number, number.map(|n| n / 2));
    facts.system_image_guid = system.map(Guid);
    facts.enhanced_port0 = enhanced.filter(|_| is_switch);
    if for_ibsim {
        facts.description = format!("n{}", name.replace('"', ""));
        facts.vendor_id = Some(number.unwrap_or(0));
        facts.device_id = Some(number.unwrap_or(0) / 2);
        facts.system_image_guid = Some(system.map_or(guid, Guid));
        facts.enhanced_port0 = is_switch.then_some(enhanced.unwrap_or(false));
    }
    let key = b.add_node(facts).unwrap();
    if is_switch {
        let port = b.port(key, PortNum(0));
        port.guid = Some(guid);
        state_lid(port, lid, lmc, true);
    }
    key
}

proptest! {
    #[test]
    fn a_dump_reads_back_as_it_was_written(plan in plans()) {
        let fabric = build(&plan, false);
        prop_assume!(fabric.nodes().any(|(_, node)| node.facts.answered));
        let written = ibnetdiscover::write(&fabric, None).unwrap();
        let back = ibnetdiscover::read(Input::new("f", written.text.as_bytes())).unwrap();
        prop_assert_eq!(&back.fabric, &fabric, "{}", written.text);
        for code in ["FN-207", "FN-208", "FN-213", "FN-216"] {
            prop_assert!(!back.notes.has(code), "{:?}\n{}", back.notes, written.text);
        }
    }

    #[test]
    fn a_net_file_reads_back_as_it_was_written(plan in plans()) {
        let fabric = build(&plan, true);
        let written = ibsim::write(&fabric).unwrap();
        let back = ibsim::read(Input::new("f", written.text.as_bytes())).unwrap();
        prop_assert_eq!(&back.fabric, &fabric, "{}", written.text);
    }

    #[test]
    fn no_text_breaks_a_reader(lines in proptest::collection::vec(
        "(\\[[0-9]{1,3}\\]|Switch [0-9]{1,2}|Ca2|@\\[1\\]|switchguid=|speed=|SW 1 1 0x1 4x SDR|module=)?[\t ]?\
         (\"[SHR]?-?[0-9a-g]{0,2}\")?(\\[[0-9]\\])?(\\([0-9a-z/]{0,3}\\))?( # )?(lid|lmc)?.{0,6}", 0..12))
    {
        let text = lines.join("\n");
        let input = Input::new("f", text.as_bytes());
        for reader in [ibnetdiscover::read as Reader, ibsim::read, port_report::read] {
            let _ = reader(input);
        }
        for judge in [ibnetdiscover::looks_like, ibsim::looks_like, port_report::looks_like] {
            judge(&text);
        }
    }
}

/// Three switches in a row; the first cable is down at one end.
fn with_a_cable_down() -> Fabric {
    let mut builder = FabricBuilder::new();
    let facts = |guid| NodeFacts::new(NodeKind::Switch, Guid(guid), 8, format!("s{guid}"));
    let keys: Vec<NodeKey> = (1..=3).map(|guid| builder.add_node(facts(guid)).unwrap()).collect();
    builder.connect((keys[0], PortNum(1)), (keys[1], PortNum(2))).unwrap();
    builder.connect((keys[1], PortNum(3)), (keys[2], PortNum(4))).unwrap();
    builder.port(keys[1], PortNum(2)).state = Some(PortState::Down);
    builder.finish()
}

#[test]
fn a_cable_that_is_down_is_left_out_of_files() {
    let fabric = with_a_cable_down();
    let mut list = Vec::new();
    let list_notes = subnet_lst::write(&fabric, None, &mut list).unwrap();
    let dump = ibnetdiscover::write(&fabric, None).unwrap();
    let net = ibsim::write(&fabric).unwrap();
    for (notes, file) in [
        (list_notes, subnet_lst::read(Input::new("f", &list)).unwrap()),
        (dump.notes, ibnetdiscover::read(Input::new("f", dump.text.as_bytes())).unwrap()),
        (net.notes, ibsim::read(Input::new("f", net.text.as_bytes())).unwrap()),
    ] {
        assert_eq!(file.fabric.links().len(), 1);
        let note = notes.iter().find(|note| note.code == "FN-240").unwrap();
        assert!(note.partial && note.count == 1 && note.text.contains("is down: left out"));
    }
}

#[test]
fn a_list_of_links_says_what_it_makes_up() {
    let file = read(ibnetdiscover::read, "trouble.ibnetdiscover");
    let notes = subnet_lst::write(&file.fabric, None, &mut Vec::new()).unwrap();
    for code in ["FN-328", "FN-329", "FN-330"] {
        assert!(notes.has(code), "{code}");
    }
    assert!(notes.is_partial());
}

#[test]
fn stray_text_makes_no_topology_of_a_file() {
    for text in [
        "[12345.678] systemd[1]: Starting \"foo\"...\n",
        "speed=auto\n",
        "Switch 3 broke \"at noon\"\n",
        "Switch 3 \"rack A\" was rebooted\n",
    ] {
        assert!(detect(text.as_bytes()).is_none(), "{text}");
    }
    let lanes = "Switch 0x0000000000200003, base LID 2, \"leaf0\"\n";
    assert!(!ibnetdiscover::looks_like(lanes) && !ibsim::looks_like(lanes));
}

#[test]
fn labels_of_ports_are_no_guids_in_net_files() {
    let read = |label: &str| {
        let text =
            format!("Switch 4 \"leaf\"\n[1] \"host\"[1]{label}\n\nCa 1 \"host\"\n[1]{label} \"leaf\"[1]\n");
        ibsim::read(Input::new("f", text.as_bytes())).unwrap()
    };
    let host = |file: &TopologyFile| {
        let counted = file.fabric.port_by_guid(Guid(0x10_0001)).is_some();
        (counted, file.notes.has("FN-211"), file.notes.has("FN-205"))
    };
    assert_eq!(host(&read("(1)")), (true, true, false));
    assert_eq!(host(&read("(1/1/2)")), (true, true, false));
    assert_eq!(host(&read("(zz)")), (false, false, true));
    assert_eq!(host(&read("(100001)")), (true, false, false));
}

#[test]
fn more_nodes_than_one_subnet_has_are_refused() {
    let mut dump = String::from("Switch 8 \"S-0000000000000001\"\n");
    let mut net = String::new();
    let mut report = String::new();
    let mut list = String::new();
    for at in 2..60_100u64 {
        writeln!(dump, "[1] \"H-{at:016x}\"[1]").unwrap();
        writeln!(net, "Ca 1 \"h{at}\"").unwrap();
        writeln!(report, "SW 1 1 {at:#018x} 4x SDR 'a'").unwrap();
        let end = |guid: u64| {
            format!(
                "{{ SW Ports:08 SystemGUID:{guid:016x} NodeGUID:{guid:016x} PortGUID:{guid:016x} VenID:0002C9 \
                 DevID:0000 Rev:00000000 {{a}} LID:0001 PN:01 }}"
            )
        };
        writeln!(list, "{} {} PHY=4x LOG=ACT SPD=10", end(2 * at), end(2 * at + 1)).unwrap();
    }
    let readers: [(Reader, &str); 4] = [
        (ibnetdiscover::read, &dump),
        (ibsim::read, &net),
        (port_report::read, &report),
        (subnet_lst::read, &list),
    ];
    for (reader, text) in readers {
        let (code, line) = refusal(reader, text);
        assert_eq!(code, "FD-2003", "{}", &text[..40]);
        assert!(line.is_some_and(|line| line < 60_100));
    }
}
