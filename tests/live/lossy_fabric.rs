//! Readings of a fabric that loses datagrams, of one that disappears, and without any. Everything missing is
//! reported, and everything present is right.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fabdeck_fabric::observe::{MissingAnswer, Observation};
use fabdeck_fabric::{Fabric, FabricDiff, FabricDifference, Guid, Lid, NodeKind, PortNum};
use fabdeck_live::ExchangePolicy;
use fabdeck_mad::access::ReadOptions;

use crate::discovery::{self, SEEN, fabdeck, gaps, look_around, part, text};
use crate::ibsim::{self, Stage};
use crate::opensm_routes::{PlainTables, plain_of, read_plainly};

/// Number of readings of the process over ibsim, and retries of each.
const LOOKS: &str = "FABDECK_LOSSY_LOOKS";
const RETRIES: &str = "FABDECK_LOSSY_RETRIES";
const FABRIC: &str = "switch648";
/// Attribute ids, by which ibsim configures losses.
const PORT_INFO: u16 = 0x15;
const FORWARDING: u16 = 0x19;

/// A third of the switches and some hosts lose PortInfo; another third of the switches lose table blocks. ibsim holds
/// one lossy attribute for each node.
fn lose(stage: &mut Stage, fabric: &Fabric, rate: u8) {
    let switches: Vec<Guid> = fabric.switches().map(|(_, node)| node.guid()).collect();
    for (at, guid) in switches.iter().enumerate().filter(|(at, _)| at % 3 != 1) {
        let attribute = if at % 3 == 0 { PORT_INFO } else { FORWARDING };
        stage.console(&format!("Error \"S-{:016x}\" {rate} {attribute}", guid.0), "");
    }
    let hosts = fabric.nodes().filter(|(_, node)| node.facts.kind == NodeKind::ChannelAdapter);
    for (_, host) in hosts.skip(1).step_by(40) {
        stage.console(&format!("Error \"H-{:016x}\" {rate} {PORT_INFO}", host.guid().0), "");
    }
}

#[test]
fn what_a_lossy_fabric_does_not_answer_is_reported() {
    let fabric = ibsim::fabric(FABRIC);
    let mut stage = Stage::play(&fabric);
    stage.opensm(&["-R", "ftree"]);
    discovery::watched(&stage);
    let looks = if ibsim::long() { 25 } else { 4 };
    for rate in [10, 30] {
        lose(&mut stage, &fabric, rate);
        for retries in [2, 9] {
            let said = part(&stage, "loss", |command| {
                command.env(LOOKS, looks.to_string()).env(RETRIES, retries.to_string());
            });
            println!("{rate} % lost, {retries} retries: {}", said.join("; "));
        }
        // Without a retry something is certainly missing.
        let (shown, talk) = fabdeck(&stage, &["show", "tables", "--retries", "0", "--strict"], 2);
        assert_eq!(shown["partial"], true, "{talk}");
        let notes = shown["notes"].as_array().unwrap();
        let told = notes.iter().filter(|note| note["code"] == "FN-526" && note["partial"] == true);
        assert!(told.count() > 0, "{notes:#?}");
    }
}

/// The process over ibsim: several readings, each compared with what the tools saw before the losses.
pub fn looks() {
    let setting = |name: &str| std::env::var(name).unwrap().parse().unwrap();
    let policy = ExchangePolicy { retries: setting(RETRIES), ..ExchangePolicy::default() };
    let reference = ibsim::topology(SEEN, text(SEEN).as_bytes()).fabric;
    let written = read_plainly(&text("opensm-lfts.dump"), "Unicast lids", " guid ");
    let (mut whole, mut silent, mut repeated) = (0, 0, 0);
    let count = setting(LOOKS);
    for _ in 0..count {
        let look = look_around(policy, ReadOptions { tables: true, ..ReadOptions::default() });
        let reading = look.reading.as_ref().unwrap();
        assert_eq!(gaps(&look).is_empty(), reading.silent.is_empty(), "{:?}", reading.silent);
        whole += u32::from(reading.silent.is_empty());
        silent += reading.silent.len();
        repeated += reading.phases.iter().map(|phase| phase.repeated).sum::<u64>();
        nothing_short(&reference, &look);
        no_entry_wrong(&written, &look);
    }
    println!(
        "said: {whole} of {count} looks whole, {silent} questions without an answer, {repeated} sent again"
    );
}

/// Checks that an unanswered request explains everything missing, and that everything present equals the reference.
fn nothing_short(reference: &Fabric, look: &Observation) {
    let silent: &[MissingAnswer] = &look.reading.as_ref().unwrap().silent;
    let asked: BTreeSet<(Guid, &str)> =
        silent.iter().filter_map(|silence| Some((silence.node?, silence.asked.as_str()))).collect();
    let before: BTreeSet<(Guid, PortNum)> = silent.iter().filter_map(|silence| silence.peer).collect();
    let changes = FabricDiff::between(reference, &look.fabric).changes;
    let gone: BTreeSet<Guid> = changes
        .iter()
        .filter_map(|change| match change {
            FabricDifference::NodeGone { node, .. } => Some(*node),
            _ => None,
        })
        .collect();
    // Whether discovery cannot pass this end of a cable.
    let shut = |(node, port): (Guid, PortNum)| {
        let adapter = reference.node_by_guid(node).is_some_and(|id| !reference.node(id).is_switch());
        let unsaid = asked.contains(&(node, format!("PortInfo {port}").as_str()));
        adapter || gone.contains(&node) || unsaid || before.contains(&(node, port))
    };
    for change in &changes {
        let explained = match change {
            FabricDifference::NodeGone { node, .. } => {
                let id = reference.node_by_guid(*node).unwrap();
                let peers = reference.ports_of(id).filter_map(|(_, port)| port.peer);
                let end =
                    |peer| (reference.node(reference.port(peer).node).guid(), reference.port(peer).number);
                peers.map(end).all(shut)
            }
            FabricDifference::LinkGone { a, b } => shut(*a) && shut(*b),
            FabricDifference::PortChanged { node, port, before, after, .. } => {
                let unsaid = asked.contains(&(*node, format!("PortInfo {port}").as_str()));
                before == "unknown" || gone.contains(node) || unsaid && (after == "unknown" || after == "0")
            }
            FabricDifference::NodeChanged { before, .. } => before == "unknown",
            FabricDifference::NodeCame { .. } | FabricDifference::LinkCame { .. } => false,
        };
        assert!(explained, "{change}: nobody's silence explains it: {silent:#?}");
    }
}

/// Checks that every entry present is right, and that every missing one lies in a block reported as unanswered.
fn no_entry_wrong(written: &PlainTables, look: &Observation) {
    let silent = &look.reading.as_ref().unwrap().silent;
    let ours = plain_of(&look.fabric, &look.tables);
    for (id, node) in look.fabric.switches() {
        let guid = node.guid();
        let (held, expected) = (&ours[&guid.0], &written[&guid.0]);
        assert!(held.iter().all(|(lid, port)| expected.get(lid) == Some(port)), "{guid}");
        for lid in expected.keys().filter(|lid| !held.contains_key(lid)) {
            let known = look.tables.is_entry_known(id, Lid::new(*lid).unwrap());
            let block = format!("LFT block {}", lid / 64);
            let told = silent.iter().any(|silence| silence.node == Some(guid) && silence.asked == block);
            assert!(!known && told, "{guid}: LID {lid} is missing, and nothing says so");
        }
    }
}

/// ibsim ends in the middle of 75,000 datagrams, which take at least two seconds.
#[test]
fn a_fabric_that_goes_away_ends_the_look_with_an_error() {
    let mut stage = Stage::play(&ibsim::fabric(FABRIC));
    let folder = stage.folder.path().to_owned();
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "umad", "-v", "show", "lanes"]);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, folder.join("home"));
    }
    let talk = folder.join("talk");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(fs::File::create(&talk).unwrap());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(600));
    assert!(child.try_wait().unwrap().is_none(), "it ended before: {}", fs::read_to_string(&talk).unwrap());
    stage.vanish();
    let begun = Instant::now();
    let ended = loop {
        if let Some(ended) = child.try_wait().unwrap() {
            break ended;
        }
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it still runs a minute later: {}", fs::read_to_string(&talk).unwrap());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let took = begun.elapsed();
    let talk = fs::read_to_string(&talk).unwrap();
    println!("ended {took:?} later, {ended}: {talk}");
    assert_eq!(ended.code(), Some(8), "{talk}");
    assert!(talk.contains("error: FD-42"), "{talk}");
    assert!(took < Duration::from_secs(3), "{took:?}");
}

/// On a machine without an adapter the program says what is missing, as an operator on a laptop sees it.
#[test]
fn without_an_adapter_the_binary_says_what_is_missing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "umad", "show", "fabric"]).current_dir(folder.path());
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, folder.path());
    }
    if fs::read_dir("/sys/class/infiniband").is_ok_and(|mut adapters| adapters.next().is_some()) {
        return println!("this machine has an adapter, so there is nothing to try");
    }
    let output = ibsim::finish(command);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(8), "{talk}");
    assert!(
        talk.contains("error: FD-4202: this machine has no InfiniBand adapter, or no driver for it"),
        "{talk}"
    );
    assert!(output.stdout.is_empty());
}
