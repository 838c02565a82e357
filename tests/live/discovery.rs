//! Compares a live reading under ibsim and OpenSM with ibnetdiscover, dump_lfts, dump_mfts, smpquery, sminfo and
//! perfquery. fabdeck's readers and the independent `witness` both parse the tools' output. ibsim's library has to be
//! preloaded for the reading, so each test starts this program again for the one test `looked`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fabdeck_fabric::observe::Observation;
use fabdeck_fabric::{Fabric, FabricDiff, FabricDifference, Guid, PortNum};
use fabdeck_live::{ExchangePolicy, Keys, open_adapter, read_snapshot};
use fabdeck_mad::access::{
    self, AddressedMad, Clock, FabricIdentity, MadAddress, MadPort, NoObserver, ReadOptions, WriteToken,
};
use fabdeck_mad::{Method, MftBlock, Smp, attribute};
use serde_json::Value;

use crate::adapters::tool_lines;
use crate::ibsim::{self, Stage};
use crate::opensm_routes::{bound, plain_of, read_plainly};
use crate::tool_output::{self, End, PrintedFabric, hex};

/// Environment variable with the part that the process over ibsim runs; it is unset elsewhere.
pub const PART: &str = "FABDECK_DISCOVERED_PART";
/// Files with the output of the tools, in the folder of the stage.
pub const SEEN: &str = "seen.txt";
const HELD: &str = "held.txt";
const GROUPS: &str = "groups.txt";
const NOTHING: &[&str] = &[];

const EVERYTHING: ReadOptions = ReadOptions::EVERYTHING;
/// The lanes of a large fabric need hundreds of thousands of datagrams.
const NO_LANES: ReadOptions = ReadOptions { lanes: false, ..EVERYTHING };

/// The example nets of ibsim, each with the node of the adapter.
const EXAMPLES: &str = "/usr/share/doc/ibsim-utils/net-examples";
const NETS: &[&str] = &["net", "net.1", "net.2sw2path", "net.2sw2path4hca", "net.2sw2path4hca2port"];
const SHORT: &[(&str, &[&str])] = &[
    ("demo", &["-R", "updn", "-Q"]),
    ("random,switches=30,links=120", &["-R", "minhop"]),
    ("kary,k=3,n=3,faults=3", &["-R", "updn", "-l", "1"]),
];
const LONG: &[(&str, &[&str])] = &[
    ("random,switches=125,links=1000", &["-R", "minhop"]),
    ("kary,k=4,n=3,faults=3", &["-R", "updn", "-l", "1"]),
    ("switch648", &["-R", "ftree", "-Q"]),
    ("racks648", &["-R", "minhop", "-Q"]),
    ("torus,dims=6x6x6", &["-R", "dor"]),
];

/// The process over ibsim. Without a part it does nothing.
#[test]
fn looked() {
    let Ok(part) = std::env::var(PART) else { return };
    // The test harness has begun a line.
    println!();
    match part.as_str() {
        "topology" => topology_equal(&look_around(ExchangePolicy::default(), ReadOptions::default())),
        "equal" => equal(EVERYTHING),
        "equal but lanes" => equal(NO_LANES),
        "groups" => set_groups(),
        "loss" => crate::lossy_fabric::looks(),
        "watch" => crate::replays::watched(),
        "raw" => crate::killed_processes::kill_at_every_moment_of_direct_writes(),
        other => match other.strip_prefix("road ") {
            Some(part) => crate::opensm_driver::driver_for(part),
            None => panic!("no part {other}"),
        },
    }
}

/// Runs one part in a process over ibsim.
pub fn part(stage: &Stage, part: &str, prepare: impl FnOnce(&mut Command)) -> Vec<String> {
    let mut command = stage.command(std::env::current_exe().unwrap());
    command.args(["--exact", "discovery::looked", "--nocapture"]).env(PART, part);
    prepare(&mut command);
    tool_lines(ibsim::finish(command))
}

/// Reads the fabric from the process over ibsim and checks that no request could write.
pub fn look_around(policy: ExchangePolicy, wanted: ReadOptions) -> Observation {
    let mut port = open_adapter(None, None).unwrap();
    let look = read_snapshot("umad", &mut port, policy, &Keys::default(), wanted, &mut NoObserver).unwrap();
    let sent: u64 = look.reading.iter().flat_map(|reading| &reading.phases).map(|phase| phase.sent).sum();
    let traffic = port.traffic();
    assert_eq!((traffic.total_sent(), traffic.write_count(), traffic.refused), (sent, 0, 0), "{traffic:?}");
    look
}

pub fn text(name: &str) -> String {
    fs::read_to_string(name).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Partial notes of a reading, except those about the subnet manager and its groups: OpenSM has ended by then.
pub fn gaps(look: &Observation) -> Vec<String> {
    look.notes
        .iter()
        .filter(|note| note.partial && !["FN-525", "FN-565"].contains(&note.code))
        .map(ToString::to_string)
        .collect()
}

/// Checks that nodes, ports and cables equal those of ibnetdiscover.
fn topology_equal(look: &Observation) {
    assert_eq!(gaps(look), [""; 0]);
    let seen = ibsim::topology(SEEN, text(SEEN).as_bytes());
    assert!(seen.notes.is_empty(), "{:?}", seen.notes);
    let differences = differences(&seen.fabric, &look.fabric);
    let first: Vec<_> = differences.iter().take(5).map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{} differences: {first:#?}", differences.len());
    println!("said: {} nodes, {} cables", look.fabric.nodes().len(), look.fabric.links().len());
}

fn equal(wanted: ReadOptions) {
    let look = look_around(ExchangePolicy::default(), wanted);
    topology_equal(&look);
    not_adaptive(&look);
    let entries = tables_equal(&look);
    println!("said: {entries} entries");
    groups_equal(&look);
    if wanted.lanes && Path::new("opensm-sl2vl.dump").exists() {
        lanes_equal(&look);
    }
    // Every port of a switch has counters, with or without a link; a host has them for each cabled port.
    let counted = |(node, port): (&fabdeck_fabric::Node, &fabdeck_fabric::Port)| {
        port.peer.is_some() || node.is_switch() && port.number.value() > 0
    };
    let ports = look.fabric.ports().map(|(_, port)| (look.fabric.node(port.node), port));
    let expected = ports.filter(|pair| counted(*pair)).count();
    assert_eq!(look.counters.len(), expected, "a sample for each port");
    for phase in &look.reading.unwrap().phases {
        println!("said: {}: {} sent, {:.3} s", phase.name, phase.sent, phase.took.as_secs_f64());
    }
}

/// Checks that adaptive routing is off and not unknown. ibsim's switches do not have it, and are not asked because
/// ibsim drops the request.
fn not_adaptive(look: &Observation) {
    assert_eq!(look.adaptive, None, "{:?}", look.notes);
    let phases = &look.reading.as_ref().unwrap().phases;
    assert!(phases.iter().all(|phase| phase.name != "adaptive"), "{phases:?}");
}

/// Differences, without those in what ibnetdiscover does not print. Whatever it prints has to be known here.
fn differences(seen: &Fabric, here: &Fabric) -> Vec<FabricDifference> {
    let told = |change: &FabricDifference| match change {
        FabricDifference::NodeChanged { before, .. } | FabricDifference::PortChanged { before, .. } => {
            before != "unknown"
        }
        _ => true,
    };
    FabricDiff::between(seen, here).changes.into_iter().filter(told).collect()
}

/// Checks that every entry equals those of dump_lfts and of OpenSM.
fn tables_equal(look: &Observation) -> usize {
    let ours = plain_of(&look.fabric, &look.tables);
    assert_eq!(ours, read_plainly(&text("opensm-lfts.dump"), "Unicast lids", " guid "), "opensm-lfts.dump");
    let held = text(HELD);
    let read = bound(HELD, &look.fabric, &ibsim::tables(HELD, held.as_bytes()));
    let naive = read_plainly(&held, "Unicast lids", " guid ");
    assert_eq!(plain_of(&look.fabric, &read), naive, "dump_lfts, read twice");
    let mut expected = ours;
    for row in expected.values_mut() {
        // dump_lfts omits the top LID if it is a multiple of 64.
        let top = row.keys().next_back().copied().filter(|lid| lid % 64 == 0);
        row.retain(|lid, _| Some(*lid) != top);
    }
    assert_eq!(naive, expected, "dump_lfts");
    expected.values().map(BTreeMap::len).sum()
}

fn groups_equal(look: &Observation) {
    let held = tool_output::groups(&text(GROUPS));
    let mut count = 0;
    for (id, node) in look.fabric.switches() {
        let mft = look.tables.nodes.get(&id).and_then(|held| held.mft.clone()).unwrap_or_default();
        let ports = |ports: &Vec<PortNum>| ports.iter().map(|port| port.value()).collect::<Vec<u8>>();
        let ours: BTreeMap<u16, Vec<u8>> =
            mft.groups.iter().map(|(group, held)| (*group, ports(held))).collect();
        count += ours.len();
        assert_eq!(held.get(&node.guid().0), Some(&ours), "{}: dump_mfts", node.guid());
    }
    println!("said: {count} groups");
}

/// Checks that the lanes equal those that OpenSM dumped.
fn lanes_equal(look: &Observation) {
    let dump = ibsim::tables("opensm-sl2vl.dump", text("opensm-sl2vl.dump").as_bytes());
    let written = bound("opensm-sl2vl.dump", &look.fabric, &dump);
    let mut compared = 0;
    for (id, held) in &look.tables.nodes {
        for (pair, lanes) in &held.sl2vl {
            let Some(dumped) = written.nodes.get(id).and_then(|node| node.sl2vl.get(pair)) else { continue };
            assert_eq!(lanes, dumped, "{} {pair:?}", look.fabric.node(*id).guid());
            compared += 1;
        }
    }
    let read: usize = look.tables.nodes.values().map(|held| held.sl2vl.len()).sum();
    println!("said: {compared} of {read} lane tables beside OpenSM's");
    assert!(compared > 0);
}

/// Sets multicast groups on some switches, as a subnet manager does. Only this function writes, with a token.
fn set_groups() {
    let fabric = ibsim::topology(SEEN, text(SEEN).as_bytes()).fabric;
    let switches: Vec<Guid> = fabric.switches().map(|(_, node)| node.guid()).collect();
    let port = open_adapter(None, None).unwrap();
    let there = access::ObservedFabric {
        switches: switches.iter().copied().collect(),
        port: port.local_port().guid,
        ..access::ObservedFabric::default()
    };
    let identity = FabricIdentity { name: "stage".into(), switches, ..FabricIdentity::default() };
    let token = WriteToken::grant(true, &[identity], &there).unwrap();
    let mut port = port.unlock(&token).unwrap();
    let local = port.local_port().guid.unwrap();
    // The switch next to the host, and the switches behind each of its cables.
    let host = fabric.port_by_guid(local).unwrap();
    let leaf = fabric.port(fabric.peer(host).unwrap()).node;
    let first = fabric.port(host).number.value();
    let mut routes = vec![(vec![first], fabric.node(leaf).facts.port_count)];
    for (_, cabled) in fabric.ports_of(leaf) {
        let Some(peer) = cabled.peer.map(|peer| fabric.port(peer).node) else { continue };
        if fabric.node(peer).is_switch() {
            routes.push((vec![first, cabled.number.value()], fabric.node(peer).facts.port_count));
        }
    }
    let mut count = 0;
    for (number, (route, ports)) in (1_u32..).zip(&routes) {
        for (block, position) in
            [0, 1, 31].into_iter().flat_map(|block| (0..=ports / 16).map(move |p| (block, p)))
        {
            let modifier = MftBlock::modifier(block, position);
            let mut smp =
                Smp::directed(Method::SET, attribute::MULTICAST_FORWARDING, modifier, route).unwrap();
            for (entry, mask) in (0_u32..).zip(&mut smp.data_mut::<MftBlock>().masks) {
                let held = (1..=*ports).filter(|port| port / 16 == position && entry % 5 == 0);
                let held = held.filter(|port| (u32::from(*port) * number + entry + block) % 3 == 0);
                mask.set(held.fold(0, |mask, port| mask | 1 << (port % 16)));
            }
            let mut mad = smp.0;
            count += 1;
            mad.header_mut().transaction = u64::from(count as u32).into();
            port.send(&AddressedMad { mad, address: MadAddress::directed() }, Duration::from_secs(5))
                .unwrap();
            let until = port.now() + Duration::from_secs(5);
            assert!(port.receive(until).unwrap().is_some(), "a Set without an answer");
        }
    }
    println!("said: {count} blocks");
}

/// Runs the tools and stores their output. Returns that of ibnetdiscover.
pub fn watched(stage: &Stage) -> String {
    let keep = |name: &str, said: &str| fs::write(stage.folder.path().join(name), said).unwrap();
    let seen = stage.run("ibnetdiscover", "infiniband-diags", NOTHING);
    keep(SEEN, &seen);
    keep(HELD, &stage.run("dump_lfts", "infiniband-diags", NOTHING));
    keep(GROUPS, &stage.run("dump_mfts", "infiniband-diags", NOTHING));
    seen
}

/// Runs the program over ibsim; returns its JSON and its messages.
pub fn fabdeck(stage: &Stage, args: &[&str], exit: i32) -> (Value, String) {
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "umad", "--json", "-v"]).args(args);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    let output = ibsim::finish(command);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(exit), "{args:?}: {talk}");
    assert!(talk.contains(" sent in total, 0 of them able to write"), "{args:?}: {talk}");
    (serde_json::from_slice(&output.stdout).unwrap(), talk)
}

fn rows(shown: &Value) -> &[Value] {
    shown["rows"].as_array().unwrap()
}

fn guid(value: &Value) -> u64 {
    hex(value.as_str().unwrap())
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn a_live_look_is_what_the_tools_see_on_generated_fabrics() {
    for (name, engine) in SHORT.iter().chain(LONG.iter().filter(|_| ibsim::long())) {
        let stage = Stage::play(&ibsim::fabric(name));
        stage.opensm(engine);
        let lanes = engine.contains(&"-Q") || name.starts_with("kary");
        compare(name, &stage, lanes);
    }
}

/// 37,000 datagrams of topology; with `--long` also three million table entries.
#[test]
fn a_live_look_is_what_the_tools_see_on_720_switches() {
    let stage = Stage::play(&ibsim::fabric("switch3456"));
    if !ibsim::long() {
        let seen = stage.run("ibnetdiscover", "infiniband-diags", NOTHING);
        fs::write(stage.folder.path().join(SEEN), &seen).unwrap();
        println!("switch3456: {}", part(&stage, "topology", |_| {}).join("; "));
        return topology_is_shown("switch3456", &stage, &PrintedFabric::of(&seen));
    }
    stage.opensm(&["-R", "minhop"]);
    let seen = PrintedFabric::of(&watched(&stage));
    println!("switch3456: {}", part(&stage, "equal but lanes", |_| {}).join("; "));
    tables_are_shown("switch3456", &stage, &seen);
}

#[test]
fn a_live_look_is_what_the_tools_see_on_the_examples_of_ibsim() {
    for name in NETS {
        let stage = Stage::play_file(&Path::new(EXAMPLES).join(name), "Hca1", "0x100001");
        stage.opensm(&["-R", "minhop", "-Q"]);
        compare(name, &stage, true);
    }
}

/// Compares all views with the tools; `lanes` includes the lanes, which need the most datagrams.
fn compare(name: &str, stage: &Stage, lanes: bool) {
    watched(stage);
    part(stage, "groups", |_| {});
    let seen = watched(stage);
    let said = part(stage, if lanes { "equal" } else { "equal but lanes" }, |_| {});
    println!("{name}: {}", said.join("; "));
    let seen = PrintedFabric::of(&seen);
    topology_is_shown(name, stage, &seen);
    tables_are_shown(name, stage, &seen);
    if lanes {
        lanes_are_shown(name, stage, &seen);
    }
}

/// Compares `show fabric`, `switches`, `hosts`, `ports` and `links` row by row.
fn topology_is_shown(name: &str, stage: &Stage, seen: &PrintedFabric) {
    let (shown, _) = fabdeck(stage, &["show", "fabric"], 0);
    let counts = ["switches", "hosts", "links", "ports"].map(|key| number(&shown[key]) as usize);
    let cables = seen.ends.len();
    assert_eq!(counts, [seen.switches.len(), seen.hosts.len(), cables / 2, cables], "{name}");

    let (shown, _) = fabdeck(stage, &["show", "switches"], 0);
    let switch = |row: &Value| {
        let lid = row["lid"].as_u64().zip(row["lmc"].as_u64());
        let name = row["description"].as_str().unwrap().to_owned();
        (guid(&row["guid"]), tool_output::Node { name, ports: number(&row["ports"]), lid })
    };
    assert_eq!(rows(&shown).iter().map(switch).collect::<BTreeMap<_, _>>(), seen.switches, "{name}");

    let (shown, _) = fabdeck(stage, &["show", "hosts"], 0);
    let mut cabled = 0;
    for row in rows(&shown) {
        let host = &seen.hosts[&guid(&row["guid"])];
        assert_eq!(
            (row["description"].as_str(), number(&row["ports"])),
            (Some(&*host.name), host.ports),
            "{row}"
        );
        let Some(peer_port) = row["switch_port"].as_u64() else { continue };
        let cable = &seen.ends[&(guid(&row["guid"]), number(&row["port"]))];
        assert_eq!(cable.lid, row["lid"].as_u64().zip(row["lmc"].as_u64()), "{row}");
        assert_eq!((cable.port_guid, cable.peer.1), (Some(guid(&row["port_guid"])), peer_port), "{row}");
        assert_eq!(cable.rate, rate(row), "{row}");
        cabled += 1;
    }
    let of_hosts = seen.ends.keys().filter(|(node, _)| seen.hosts.contains_key(node)).count();
    assert_eq!(cabled, of_hosts, "{name}");

    let (shown, _) = fabdeck(stage, &["show", "ports"], 0);
    let mut cabled = 0;
    for row in rows(&shown).iter().filter(|row| !row["peer_guid"].is_null()) {
        let cable = &seen.ends[&(guid(&row["node_guid"]), number(&row["number"]))];
        assert_eq!(cable.peer, (guid(&row["peer_guid"]), number(&row["peer_port"])), "{row}");
        assert_eq!(cable.rate, rate(row), "{row}");
        cabled += 1;
    }
    assert_eq!(cabled, cables, "{name}");

    let (shown, _) = fabdeck(stage, &["show", "links"], 0);
    let ends = |row: &Value| {
        let end = |side: &str| (guid(&row[format!("{side}_guid")]), number(&row[format!("{side}_port")]));
        [(end("a"), end("b")), (end("b"), end("a"))]
    };
    let shown: BTreeSet<_> = rows(&shown).iter().flat_map(ends).collect();
    assert_eq!(shown, seen.ends.iter().map(|(end, cable)| (*end, cable.peer)).collect(), "{name}");
}

/// Width and speed in ibnetdiscover's notation.
fn rate(row: &Value) -> String {
    format!("{}{}", row["width"].as_str().unwrap(), row["speed"].as_str().unwrap())
}

/// `show tables` counts the entries that OpenSM wrote, and `show tables SWITCH` lists them.
fn tables_are_shown(name: &str, stage: &Stage, seen: &PrintedFabric) {
    let (_, bytes) = stage.dump("opensm-lfts.dump");
    let written = read_plainly(&String::from_utf8(bytes).unwrap(), "Unicast lids", " guid ");
    let (shown, _) = fabdeck(stage, &["show", "tables", "--fields", "guid,routed,groups"], 0);
    let counts: BTreeMap<u64, u64> =
        rows(&shown).iter().map(|row| (guid(&row["guid"]), number(&row["routed"]))).collect();
    let expected = written.iter().map(|(switch, row)| (*switch, row.len() as u64)).collect();
    assert_eq!(counts, expected, "{name}");
    let groups = tool_output::groups(&fs::read_to_string(stage.folder.path().join(GROUPS)).unwrap());
    for row in rows(&shown) {
        assert_eq!(groups[&guid(&row["guid"])].len() as u64, number(&row["groups"]), "{name}: {row}");
    }
    let switches: Vec<u64> = seen.switches.keys().copied().collect();
    for switch in BTreeSet::from([switches[0], switches[switches.len() / 2], switches[switches.len() - 1]]) {
        let (shown, _) = fabdeck(stage, &["show", "tables", &format!("0x{switch:016x}")], 0);
        let routed = rows(&shown).iter().filter(|row| !row["port"].is_null());
        let entries: BTreeMap<u32, u32> =
            routed.map(|row| (number(&row["lid"]) as u32, number(&row["port"]) as u32)).collect();
        assert_eq!(entries, written[&switch], "{name}: 0x{switch:x}");
    }
}

/// `show lanes` equals `smpquery sl2vl` and `smpquery vlarb`, for the ports of one switch and one host.
fn lanes_are_shown(name: &str, stage: &Stage, seen: &PrintedFabric) {
    let (shown, _) = fabdeck(stage, &["show", "lanes"], 0);
    assert_eq!(rows(&shown).len(), seen.ends.len(), "{name}: a row for each cabled port");
    let (switch, node) = seen.switches.iter().next_back().unwrap();
    let lid = node.lid.unwrap().0.to_string();
    let ports: Vec<u8> =
        seen.ends.keys().filter(|(node, _)| node == switch).map(|(_, port)| *port as u8).collect();
    for port in ports.iter().take(3) {
        let row = lane_row(&shown, *switch, u64::from(*port));
        let from = ports.iter().find(|from| *from != port).unwrap_or(&0);
        let lanes = stage.run("smpquery", "infiniband-diags", &["sl2vl", &lid, &port.to_string()]);
        lanes_agree(row, &tool_output::lanes(&lanes, *from, *port));
        let weights = stage.run("smpquery", "infiniband-diags", &["vlarb", &lid, &port.to_string()]);
        weights_agree(row, &tool_output::arbitration(&weights));
    }
    let (end, cable) = seen.ends.iter().rfind(|(_, cable)| cable.lid.is_some()).unwrap();
    let row = lane_row(&shown, end.0, end.1);
    let lid = cable.lid.unwrap().0.to_string();
    lanes_agree(row, &tool_output::lanes(&stage.run("smpquery", "infiniband-diags", &["sl2vl", &lid]), 0, 0));
    let weights = stage.run("smpquery", "infiniband-diags", &["vlarb", &lid, &end.1.to_string()]);
    weights_agree(row, &tool_output::arbitration(&weights));
}

fn lane_row(shown: &Value, node: u64, port: u64) -> &Value {
    let found = rows(shown).iter().find(|row| guid(&row["guid"]) == node && number(&row["port"]) == port);
    found.unwrap_or_else(|| panic!("no lanes of 0x{node:x}[{port}]"))
}

fn lanes_agree(row: &Value, lanes: &[u64]) {
    // If ingress ports differ, the row has no single table.
    if row["uniform"] == true {
        let words: Vec<String> = lanes.iter().map(ToString::to_string).collect();
        assert_eq!(row["sl2vl"].as_str(), Some(&*words.join(" ")), "{row}");
    }
}

fn weights_agree(row: &Value, tables: &[String]) {
    let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    assert_eq!([word("low"), word("high")].as_slice(), tables, "{row}");
}

/// `show fabric` names OpenSM as `sminfo` does, and reports when it is gone.
#[test]
fn the_subnet_manager_is_the_one_that_sminfo_sees() {
    let stage = Stage::play(&ibsim::fabric("demo"));
    stage.opensm(&["-R", "updn"]);
    let manager = stage.opensm_stays(&["-R", "updn"]);
    let told = stage.run("sminfo", "infiniband-diags", NOTHING);
    let word = |before: &str| told.split(before).nth(1).unwrap().split([' ', ',']).next().unwrap().trim();
    let (shown, _) = fabdeck(&stage, &["show", "fabric", "--strict"], 0);
    assert_eq!(shown["partial"], false, "{}", shown["notes"]);
    assert_eq!(guid(&shown["subnet_manager"]["guid"]), hex(word("sm guid ")), "{told}");
    let state = shown["subnet_manager"]["state"].as_str().unwrap();
    assert_eq!(word("SMINFO_"), state, "{told}");
    drop(manager);
    let (shown, _) = fabdeck(&stage, &["show", "fabric", "--strict"], 2);
    assert_eq!(shown["subnet_manager"], Value::Null);
    assert_eq!(shown["notes"][0]["code"], "FN-525", "{}", shown["notes"]);
}

/// Counters that are set on ibsim's console, each with a value of its own.
const COUNTERS: &[(&str, &str, u64)] = &[
    ("PortCounters", "SymbolErrorCounter", 65_535),
    ("PortCounters", "LinkErrorRecoveryCounter", 255),
    ("PortCounters", "LinkDownedCounter", 3),
    ("PortCounters", "PortRcvErrors", 1_234),
    ("PortCounters", "PortRcvRemotePhysicalErrors", 5),
    ("PortCounters", "PortRcvSwitchRelayErrors", 6),
    ("PortCounters", "PortXmitDiscards", 7_001),
    ("PortCounters", "PortXmitConstraintErrors", 8),
    ("PortCounters", "PortRcvConstraintErrors", 9),
    ("PortCounters", "LocalLinkIntegrityErrors", 10),
    ("PortCounters", "ExcessiveBufferOverrunErrors", 11),
    ("PortCounters", "VL15Dropped", 12),
    ("PortCounters", "PortXmitWait", 4_294_967_295),
    ("PortCountersExtended", "PortUnicastXmitPkts", 9_007_199_254_740_993),
    ("PortCountersExtended", "PortUnicastRcvPkts", 18_446_744_073_709_551_615),
    ("PortCountersExtended", "PortMultiCastXmitPkts", 14),
    ("PortCountersExtended", "PortMultiCastRcvPkts", 15),
];

/// `show counters` equals `perfquery`. ibsim counts the reading itself, so a traffic counter lies between two
/// readings of perfquery.
#[test]
fn counters_are_what_perfquery_reads() {
    let mut stage = Stage::play(&ibsim::fabric("demo"));
    stage.opensm(&["-R", "updn"]);
    let seen = PrintedFabric::of(&watched(&stage));
    let lid = |(node, _): End| match seen.switches.get(&node) {
        Some(switch) => switch.lid.unwrap().0,
        None => seen.ends[&(node, 1)].lid.unwrap().0,
    };
    let ends: Vec<End> = seen.ends.keys().copied().collect();
    let chosen = [ends[0], ends[ends.len() / 3], ends[ends.len() / 2], ends[ends.len() - 1]];
    for (number, (node, port)) in (1..).zip(chosen) {
        let kind = if seen.switches.contains_key(&node) { 'S' } else { 'H' };
        // A full narrow counter cannot hold more.
        for (attribute, field, value) in COUNTERS {
            let value = if *value < 10_000 { value / number } else { *value };
            let command =
                format!("PerformanceSet \"{kind}-{node:016x}\"[{port}] {attribute}.{field}={value}");
            stage.console(&command, "has been set to");
        }
    }
    let read = |end: End, flags: &[&str]| {
        let words = [lid(end).to_string(), end.1.to_string()];
        let args: Vec<&str> = flags.iter().copied().chain(words.iter().map(String::as_str)).collect();
        tool_output::counters(&stage.run("perfquery", "infiniband-diags", &args))
    };
    let both = || chosen.map(|end| [read(end, NOTHING), read(end, &["-x"])]);
    let before = both();
    let (shown, _) = fabdeck(&stage, &["show", "counters"], 0);
    let after = both();
    // Switch ports without a link have counters too.
    for (node, port) in seen.ends.keys() {
        let here = |row: &&Value| guid(&row["guid"]) == *node && number(&row["port"]) == *port;
        assert!(rows(&shown).iter().any(|row| here(&row)), "no counters of 0x{node:x}[{port}]");
    }
    assert!(rows(&shown).len() > seen.ends.len());
    let mut compared = 0;
    for (at, (node, port)) in chosen.into_iter().enumerate() {
        let row = rows(&shown).iter().find(|row| guid(&row["guid"]) == node && number(&row["port"]) == port);
        let row = row.unwrap_or_else(|| panic!("no counters of 0x{node:x}[{port}]"));
        for (wide, (low, high)) in before[at].iter().zip(&after[at]).enumerate() {
            for (name, low) in low.iter().filter(|(name, _)| !name.starts_with("CounterSelect")) {
                let traffic =
                    ["PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"].contains(&&**name);
                let key = if traffic && wide == 1 { format!("{name}Extended") } else { name.clone() };
                // libibmad reads QP1Dropped from the position of VL15Dropped, so perfquery prints that value twice.
                if name == "PortSelect" || name == "QP1Dropped" && *low == before[at][0]["VL15Dropped"] {
                    continue;
                }
                let ours = number(&row[&key]);
                assert!(
                    (*low..=high[name]).contains(&ours),
                    "{key} is {ours}, was {low} to {}: {row}",
                    high[name]
                );
                assert!(traffic || *low == high[name], "{key} moved from {low} to {}", high[name]);
                compared += 1;
            }
        }
    }
    println!("{compared} counters of {} ports", chosen.len());
    assert!(compared >= 4 * 25, "{compared}");
}
