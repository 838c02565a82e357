//! Tests of the port on adapters, over the real libibumad and without it, with ibsim in place of the hardware. ibsim's
//! library has to be preloaded, so each test starts this program again for the one test `played`.

use std::process::Command;
use std::time::{Duration, Instant};

use fabdeck_fabric::{Fabric, Guid, PortNum};
use fabdeck_live::MadLibrary;
use fabdeck_mad::access::{AddressedMad, Clock, MadAddress, MadPort, PortEvent, ReadPort};
use fabdeck_mad::{Class, Mad, Method, NodeInfo, PortCounters, Smp, attribute};

use crate::ibsim::{self, Stage};

/// Environment variable with the part that the process over ibsim runs; it is unset elsewhere.
const PART: &str = "FABDECK_ADAPTERS_PART";
/// Environment variable with the word of the library to read with.
const LIBRARY: &str = "FABDECK_ADAPTERS_LIBRARY";
/// The words of the libraries that each part is played with.
const LIBRARIES: [&str; 2] = ["libibumad", "none"];
/// Environment variable with a switch port without a cable, through which a part sends.
const DEAD_END: &str = "FABDECK_ADAPTERS_DEAD_END";
const FABRIC: &str = "kary,k=4,n=2,faults=2";
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs one part over ibsim with each library, and returns the lines that it printed.
fn play(part: &str, prepare: impl Fn(&Stage, &Fabric, &mut Command)) -> [Vec<String>; 2] {
    LIBRARIES.map(|library| play_with(library, part, &prepare))
}

fn play_with(library: &str, part: &str, prepare: impl Fn(&Stage, &Fabric, &mut Command)) -> Vec<String> {
    let fabric = ibsim::fabric(FABRIC);
    let stage = Stage::play(&fabric);
    let program = std::env::current_exe().unwrap();
    let mut command = match library {
        "none" => stage.command_without_library(program),
        _ => stage.command(program),
    };
    command.args(["--exact", "adapters::played", "--nocapture"]).env(PART, part).env(LIBRARY, library);
    prepare(&stage, &fabric, &mut command);
    tool_lines(ibsim::finish(command))
}

pub fn tool_lines(output: std::process::Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{text}\n{talk}", output.status);
    let said: Vec<String> =
        text.lines().filter_map(|line| line.strip_prefix("said: ")).map(str::to_owned).collect();
    assert!(!said.is_empty(), "{text}\n{talk}");
    said
}

/// The library that this process is to read with.
fn library() -> MadLibrary {
    MadLibrary::of(&std::env::var(LIBRARY).unwrap()).unwrap()
}

/// The process over ibsim. Without a part it does nothing.
#[test]
fn played() {
    let Ok(part) = std::env::var(PART) else { return };
    // The test harness has begun a line.
    println!();
    match part.as_str() {
        "list" => list(),
        "sweep" => sweep(),
        "dead end" => dead_end(),
        "counters" => counters(),
        "leave" => leave(),
        other => panic!("no part {other}"),
    }
}

fn list() {
    for adapter in library().adapters().unwrap() {
        for port in adapter.ports {
            println!(
                "said: {} {} port {} {}",
                adapter.name,
                adapter.node_guid.unwrap(),
                port.number,
                port.guid.unwrap()
            );
            println!("said: {} {} {}", port.state.unwrap(), port.physical_state.unwrap(), port.link_layer);
        }
    }
    let local = library().open_port(None, None).unwrap().local_port().clone();
    println!("said: {} {} {:?}", local.name, local.guid.unwrap(), local.lid);
}

fn node_info(route: &[u8], transaction: u32) -> AddressedMad {
    let mut mad = Smp::directed(Method::GET, attribute::NODE_INFO, 0, route).unwrap().0;
    // A kernel may use the upper half, so only the lower half of the transaction identifies an answer.
    mad.header_mut().transaction = u64::from(transaction).into();
    AddressedMad { mad, address: MadAddress::directed() }
}

/// Sends `count` requests with at most `window` outstanding, and returns the answers by transaction.
fn exchange(port: &mut ReadPort, count: u32, window: u32, request: impl Fn(u32) -> AddressedMad) -> Vec<Mad> {
    let (mut sent, mut answers) = (0_u32, vec![None; count as usize]);
    let mut got = 0;
    while got < count {
        while sent < count && sent - got < window {
            port.send(&request(sent), PATIENCE).unwrap();
            sent += 1;
        }
        let until = port.now() + PATIENCE;
        match port.receive(until).unwrap() {
            Some(PortEvent::Mad(parcel)) => {
                let number = (parcel.mad.header().transaction.get() & 0xFFFF_FFFF) as usize;
                assert!(answers[number].replace(parcel.mad).is_none(), "{number} came twice");
                got += 1;
            }
            other => panic!("{other:?} after {got} of {sent}"),
        }
    }
    answers.into_iter().map(Option::unwrap).collect()
}

fn sweep() {
    let mut port = library().open_port(Some("ibsim0"), Some(1)).unwrap();
    for window in [1, 8, 64] {
        let begun = Instant::now();
        let answers = exchange(&mut port, 1_000, window, |number| node_info(&[], number));
        let took = begun.elapsed();
        for mad in answers {
            assert!(mad.status().is_ok(), "{}", mad.status());
            let smp = Smp(mad);
            let info: &NodeInfo = smp.data();
            assert_eq!(info.port_guid.get(), port.local_port().guid.unwrap().0);
        }
        println!("said: 1000 answers, {window} in flight, {:.0} a second", 1_000.0 / took.as_secs_f64());
    }
    let now = port.now();
    assert_eq!(port.receive(now + Duration::from_millis(20)).unwrap(), None);
    let waited = port.now() - now;
    assert!(waited >= Duration::from_millis(20) && waited < Duration::from_secs(2), "{waited:?}");
    let begun = Instant::now();
    assert_eq!(port.receive(Duration::ZERO).unwrap(), None);
    println!("said: a poll took {:?}", begun.elapsed());
}

fn dead_end() {
    let free: u8 = std::env::var(DEAD_END).unwrap().parse().unwrap();
    let mut port = library().open_port(None, None).unwrap();
    let patience = Duration::from_millis(300);
    port.send(&node_info(&[1, free], 7), patience).unwrap();
    let (begun, until) = (Instant::now(), port.now() + patience);
    match port.receive(until).unwrap() {
        Some(PortEvent::Unanswered(7)) => println!("said: unanswered"),
        None => println!("said: silence"),
        other => panic!("{other:?}"),
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // The switch in front of the dead end still answers.
    let answers = exchange(&mut port, 1, 1, |number| node_info(&[1], number));
    assert!(answers[0].status().is_ok());
}

/// Sends performance and subnet management requests at once; answers of both classes arrive.
fn counters() {
    let mut port = library().open_port(None, None).unwrap();
    let lid = port.local_port().lid.expect("OpenSM gave a LID");
    let request = |number: u32| {
        if number.is_multiple_of(2) {
            return node_info(&[], number);
        }
        let mut mad = Mad::performance(Method::GET, attribute::PORT_COUNTERS, 1);
        mad.header_mut().transaction = u64::from(number).into();
        AddressedMad { mad, address: MadAddress::for_class(lid, Class::PERFORMANCE) }
    };
    let answers = exchange(&mut port, 200, 16, request);
    let counters = answers.iter().filter(|mad| mad.class() == Class::PERFORMANCE);
    let right = counters
        .filter(|mad| mad.status().is_ok() && mad.performance_data::<PortCounters>().port_select == 1);
    println!(
        "said: {} counters, {}, manager {:?}",
        right.count(),
        lid,
        port.local_port().manager_lid.map(|lid| lid.value())
    );
}

/// A port that is closed with answers outstanding can be opened again. ibsim's library delivers late answers to the
/// next opener, unlike a kernel.
fn leave() {
    for _ in 0..20 {
        let mut port = library().open_port(None, None).unwrap();
        for number in 0..16 {
            port.send(&node_info(&[], number), PATIENCE).unwrap();
        }
    }
    let mut port = library().open_port(None, None).unwrap();
    port.send(&node_info(&[], 1_000), PATIENCE).unwrap();
    let until = port.now() + PATIENCE;
    while let Some(PortEvent::Mad(parcel)) = port.receive(until).unwrap() {
        if parcel.mad.header().transaction.get() & 0xFFFF_FFFF == 1_000 {
            println!("said: answered");
            return;
        }
    }
}

#[test]
fn adapters_are_listed_as_the_kernel_has_them() {
    let guid = std::cell::Cell::new(0);
    for said in play("list", |_, fabric, _| guid.set(host(fabric))) {
        let (node, port) = (format!("0x{:016x}", guid.get()), format!("0x{:016x}", guid.get() + 1));
        assert_eq!(said[0], format!("ibsim0 {node} port 1 {port}"));
        assert_eq!(said[1], "Init LinkUp InfiniBand");
        assert!(said[2].starts_with(&format!("ibsim0 port 1 {port}")), "{said:?}");
    }
}

#[test]
fn a_thousand_requests_are_answered_with_64_in_flight() {
    for said in play("sweep", |_, _, _| {}) {
        assert_eq!(said.len(), 4);
        println!("{}", said.join("\n"));
    }
}

#[test]
fn a_route_through_a_port_that_is_down_ends() {
    let prepare = |_: &Stage, fabric: &Fabric, command: &mut Command| {
        command.env(DEAD_END, free_port(fabric).to_string());
    };
    for said in play("dead end", prepare) {
        println!("{}", said.join("\n"));
        assert!(said[0] == "unanswered" || said[0] == "silence", "{said:?}");
    }
}

#[test]
fn classes_do_not_mix() {
    for said in play("counters", |stage, _, _| stage.opensm(&[])) {
        println!("{}", said.join("\n"));
        assert!(said[0].starts_with("100 counters"), "{said:?}");
        assert!(said[0].contains("manager Some("), "{said:?}");
    }
}

#[test]
fn a_port_left_in_the_middle_opens_again() {
    assert_eq!(play("leave", |_, _, _| {}), [["answered"], ["answered"]]);
}

/// The program with `mad-library = "none"` says the same of a fabric with a subnet manager as with libibumad.
#[test]
fn commands_read_a_fabric_without_libibumad() {
    let fabric = ibsim::fabric(FABRIC);
    let stage = Stage::play(&fabric);
    stage.opensm(&["-R", "minhop"]);
    let home = stage.folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let run = |library: &str, args: &[&str]| {
        let config = home.join(format!("{library}.toml"));
        std::fs::write(&config, format!("source = \"umad\"\nmad-library = \"{library}\"\n")).unwrap();
        let program = env!("CARGO_BIN_EXE_fabdeck");
        let mut command = match library {
            "none" => stage.command_without_library(program),
            _ => stage.command(program),
        };
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, &home);
        }
        command.arg("--config").arg(&config).args(["--no-times", "--json"]).args(args);
        let ended = ibsim::finish(command);
        let talk = String::from_utf8_lossy(&ended.stderr).into_owned();
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap(), talk)
    };
    for args in [&["check"][..], &["show", "links"], &["show", "tables"]] {
        let [with, without] = LIBRARIES.map(|library| run(library, args));
        assert_eq!(without.0, with.0, "{args:?}: {} {}", without.2, with.2);
        assert!(with.1.len() > 500, "{args:?}: {}", with.2);
        assert_eq!(without.1, with.1, "{args:?}");
    }
}

/// The node of the stage's adapter, which is the fabric's first.
fn host(fabric: &Fabric) -> u64 {
    let (_, host) = fabric.nodes().find(|(_, node)| !node.is_switch()).unwrap();
    host.guid().0
}

/// A port without a cable on the switch next to the host.
fn free_port(fabric: &Fabric) -> u8 {
    let host = fabric.node_by_guid(Guid(host(fabric))).unwrap();
    let (port, _) = fabric.ports_of(host).next().unwrap();
    let leaf = fabric.port(fabric.peer(port).unwrap()).node;
    let cabled =
        |number: u8| fabric.port_of(leaf, PortNum(number)).is_some_and(|port| fabric.peer(port).is_some());
    let count = fabric.node(leaf).facts.port_count;
    (1..=count).find(|number| !cabled(*number)).expect("the fabric has a free port beside its first host")
}
