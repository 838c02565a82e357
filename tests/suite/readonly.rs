//! Nothing that reads sends what could write: every command that looks at a fabric runs against a served simulator,
//! which counts what it is sent by method.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::commands::command_examples::example_words;
use fabdeck::script::command_entry::Requirement;
use fabdeck::script::commands::COMMANDS;
use fabdeck_live::socket::Server;
use fabdeck_live::{LiveOptions, create_simulator};
use fabdeck_mad::Method;
use fabdeck_mad::access::MadTraffic;

/// The arguments of commands that look at a fabric. A command without a row here is tried by the first example of its
/// help, and has to end with 0.
const READS: &[(&str, &[&str])] = &[
    ("show fabric", &["show", "fabric"]),
    ("show switches", &["show", "switches"]),
    ("show hosts", &["show", "hosts"]),
    ("show links", &["show", "links"]),
    ("show ports", &["show", "ports"]),
    ("show tables", &["show", "tables", "--fields", "switch,routed,groups"]),
    ("show users", &["show", "users", "link:leaf0[3]"]),
    ("show counters", &["show", "counters"]),
    ("show lanes", &["show", "lanes"]),
    ("health", &["health", "--interval", "200ms"]),
    ("report", &["report", "-o", "report.html", "--interval", "200ms", "--intervals", "2"]),
    ("cabling export", &["cabling", "export", "-o", "cables.csv"]),
    ("cabling", &["cabling", "cables.csv"]),
    ("hotspots", &["hotspots", "--interval", "200ms"]),
    ("lanes", &["lanes"]),
    ("lanes propose", &["lanes", "propose", "--interval", "200ms"]),
    ("trace", &["trace", "node1", "node24"]),
    ("check", &["check", "--switches"]),
    ("check", &["check", "--lanes", "exact"]),
    ("route", &["route", "--engine", "minhop", "-o", "reroute.plan"]),
    ("disable", &["disable", "link:leaf0/5", "-o", "out.plan"]),
    ("plan check", &["plan", "check", "reroute.plan"]),
    ("whatif", &["whatif", "--fail", "link:leaf0/5", "--engine", "minhop"]),
    ("jobs", &["jobs", "--file", "jobs.txt"]),
    ("jobs channels", &["jobs", "channels", "--file", "jobs.txt"]),
    ("show jobs", &["show", "jobs", "--file", "jobs.txt"]),
    ("jobs watch", &["jobs", "watch", "--file", "jobs.txt", "--count", "2", "--interval", "1ms"]),
    (
        "jobs watch",
        &[
            "jobs",
            "watch",
            "--file",
            "jobs.txt",
            "--count",
            "1",
            "--interval",
            "1ms",
            "--gain",
            "0",
            "-o",
            ".",
        ],
    ),
    ("watch", &["watch", "--interval", "10ms", "--count", "2"]),
    ("record", &["record", "-o", "read.fdcap", "--interval", "10ms", "--for", "100ms"]),
    ("sources", &["sources", "--identity"]),
];

/// Looked at, but by a process of its own: it is what serves.
/// An agent has a door of its own: see `agents`.
const OTHERS: &[&str] = &["show", "simulate", "agent"];

/// Writes, and says so.
const WRITES: &[&str] = &["apply", "run"];

/// Reads as another command does that is tried; `undo` needs a change that was confirmed.
const ALIKE: &[&str] = &["enable", "undo"];

/// Read a plan that another command wrote.
const PLANS: &[&str] = &["plan check", "plan diff"];

#[test]
fn commands_that_read_send_nothing_that_writes() {
    let looks = COMMANDS.iter().filter(|command| command.needs == Requirement::Fabric);
    let unlisted = looks.filter(|command| {
        let name = &command.name;
        !OTHERS.contains(name)
            && !WRITES.contains(name)
            && !ALIKE.contains(name)
            && !PLANS.contains(name)
            && !READS.iter().any(|(known, _)| known == name)
    });
    let by_example = unlisted.map(|command| (command.name, example_words(command)));
    let reads: Vec<(&str, Vec<&str>)> =
        READS.iter().map(|(name, args)| (*name, args.to_vec())).chain(by_example).collect();

    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("jobs.txt"), "node0 1\nnode60 1\n").unwrap();
    let traffic = traffic_of_served_simulator(home.path(), || {
        for (name, args) in &reads {
            // On shortest paths between switches packets may wait in a credit loop, which `check` ends with 2 for.
            // Every cable carries a path.
            let findings = args.contains(&"--switches") || *name == "disable";
            let said = run_command(home.path(), args, if findings { 2 } else { 0 });
            assert!(said.contains("sent in total, 0 of them able to write"), "{name}: {said}");
        }
    });
    // Tables of the subnet manager are read by GetTable, whose segments are acknowledged with it.
    let is_read = |method: &u8| matches!(Method(*method), Method::GET | Method::GET_TABLE);
    let others: Vec<u8> = traffic.sent.keys().copied().filter(|method| !is_read(method)).collect();
    assert_eq!((traffic.write_count(), others), (0, Vec::new()), "{:?}", traffic.sent);
    assert!(traffic.total_sent() > 5_000, "{:?}", traffic.sent);
}

/// With `--traps` what watches sends two Sets, of InformInfo, and no more; nothing else takes the flag.
#[test]
fn commands_that_watch_with_traps_subscribe_and_leave() {
    let home = tempfile::tempdir().unwrap();
    let watching: [&[&str]; 3] = [
        &["--traps", "hotspots", "--interval", "200ms"],
        &["--traps", "watch", "--interval", "200ms", "--count", "1"],
        &["--traps", "record", "-o", "told.fdcap", "--interval", "10ms", "--for", "100ms"],
    ];
    let traffic = traffic_of_served_simulator(home.path(), || {
        for args in watching {
            let said = run_command(home.path(), args, 0);
            assert!(said.contains("sent in total, 0 of them able to write"), "{args:?}: {said}");
            let traps = "traps: 2 Sets of InformInfo to the subnet manager and 0 answers to reports, not counted above";
            assert!(said.contains(traps), "{args:?}: {said}");
        }
        let said = run_command(home.path(), &["--traps", "show", "fabric"], 64);
        assert!(said.contains("FD-7208"), "{said}");
    });
    let others = traffic.sent.iter().filter(|(method, _)| Method(**method) != Method::GET);
    assert_eq!(others.collect::<Vec<_>>(), [(&Method::SET.0, &6)]);
}

/// What the simulator was sent in the course of something.
fn traffic_of_served_simulator(home: &Path, act: impl FnOnce()) -> MadTraffic {
    let socket = home.join("fabric.sock");
    let (simulator, _) = create_simulator("sim:kary,k=4,n=3", &LiveOptions::default()).unwrap();
    let server = Server::bind(&socket, simulator).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run(&flag, &mut |_| ()));
    act();
    stop.store(true, Ordering::Relaxed);
    thread.join().unwrap().traffic
}

/// What a command says when it looks through that simulator.
fn run_command(home: &Path, args: &[&str], code: i32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    for folder in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(folder, home);
    }
    let source = format!("sim:{}", home.join("fabric.sock").display());
    let ended = command.args(["--source", &source, "-v"]).args(args).current_dir(home).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(code), "{args:?}: {said}");
    said
}
