//! A book with every kind of step, over a served simulator: what it does, and that a rehearsal sends nothing that writes.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fabdeck_live::socket::Server;
use fabdeck_live::{LiveOptions, create_simulator};

use super::{book, put, runs, states};
use crate::changes::processes::{DEMO, ServedLab};

/// Two hosts of the demo.
const JOBS: &str = "node01 a\nnode02 a\n";

const EVERY: &str = r#"
name = "every kind of step"
summary = "once each"
guards = ["loops <= 0"]

[vars.switch]
about = "the switch that goes"
default = "spine-2"

[[step]]
expect = { table = "switches", filter = "name=${switch}", count = "== 1", every = "hosts<30", sum = "lid >= 1" }

[[step]]
fail = ["switch:${switch}"]
guards = ["marked == 1"]

[[step]]
jobs = { file = "jobs.txt" }
guards = ["jobs.missing == 0"]

[[step]]
preview = { engines = ["updn", "minhop"] }
guards = ["updn.lost_pairs <= 0", "cut_off_pairs <= 0", "passing_pairs > 0"]

[[step]]
id = "before"
hotspots = { interval = "1s" }

[[step]]
route = { engine = "updn", plan = "drain.plan" }
guards = ["deadlock_free", "edge_forwarding_index.max <= 4000", "writes > 0"]

[[step]]
apply = { plan = "drain.plan", window = "5m", accept = "transition, cycle" }

[[step]]
verify = true
guards = ["not drifted"]

[[step]]
preview = {}
guards = ["passing_pairs <= 0"]

[[step]]
wait = "100ms"

[[step]]
wait = { until = { table = "switches", count = ">= 8" }, timeout = "10s" }

[[step]]
wait = { file = "touched", timeout = "10s" }

[[step]]
record = { file = "run.fdcap", for = "1s", interval = "500ms" }
guards = ["sweeps >= 2"]

[[step]]
run = { program = "sh", args = ["-c", "echo drained; exit 3"], exit = 3 }
guards = ["exit_code == 3"]

[[step]]
confirm = true

[[step]]
compare = true
guards = ["changes.stand == 1", "changes.entries_differ == 0"]

[[step]]
notify = { text = "${switch} carries nothing", file = "said.txt" }

[[step]]
unmark = true
guards = ["marked == 0"]

[[step]]
disable = "link:rack1-leaf[9]"

[[step]]
apply = { accept = ["unreachable", "transition", "cycle"] }

[[step]]
expect = { table = "ports", filter = "node=rack1-leaf,number=9,physical=Disabled", count = "== 1" }

[[step]]
rollback = true

[[step]]
expect = ["loops <= 0", "before.links_in_trouble <= 5"]
"#;

#[test]
fn every_kind_of_step_does_what_it_says() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    put(lab.home.path(), "every.toml", EVERY);
    put(lab.home.path(), "jobs.txt", JOBS);
    put(lab.home.path(), "touched", "");
    let (report, said) = runs(&lab, &["every.toml"], 0);
    assert_eq!(report["state"], "done", "{report:#}");
    assert!(states(&report).split(' ').all(|state| state == "done"), "{report:#}");
    assert_ne!(lab.tables(), before, "what was confirmed stays");
    assert_eq!(
        std::fs::read_to_string(lab.home.path().join("said.txt")).unwrap(),
        "spine-2 carries nothing\n"
    );
    assert!(lab.home.path().join("run.fdcap").metadata().unwrap().len() > 100);
    assert!(said.contains("step 15 of 23, confirm"), "{said}");
    let changes = lab.run_to_end(&["changes"], 0);
    assert!(changes.contains("confirmed") && changes.contains("rolled back"), "{changes}");
    assert!(report["steps"][13]["words"].as_str().unwrap().contains("output: drained"), "{report:#}");
}

#[test]
fn a_rehearsal_sends_nothing_that_writes_and_writes_no_file() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "every.toml", EVERY);
    put(home.path(), "jobs.txt", JOBS);
    let socket = home.path().join("fabric.sock");
    let (simulator, _) = create_simulator(DEMO, &LiveOptions::default()).unwrap();
    let server = Server::bind(&socket, simulator).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run(&flag, &mut |_| ()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fabdeck"));
    for folder in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(folder, home.path());
    }
    let source = format!("sim:{}", socket.display());
    command.args(["--source", &source, "--json", "--no-times", "--state-dir", "state"]);
    let ended = command.args(["run", "every.toml", "--dry-run"]).current_dir(home.path()).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{said}{report:#}");
    assert_eq!(report["dry_run"], true);
    let states = states(&report);
    let states: Vec<&str> = states.split(' ').collect();
    for (step, state) in
        [(0, "done"), (2, "done"), (6, "rehearsed"), (7, "rehearsed"), (9, "rehearsed"), (13, "rehearsed")]
    {
        assert_eq!(states[step], state, "step {step}: {report:#}");
    }
    // What follows the plan is of the fabric as it leads it to be.
    assert_eq!(report["steps"][8]["values"]["passing_pairs"], 0, "{report:#}");
    assert_eq!(report["steps"][12]["guards"][0]["verdict"], "not-rehearsed", "{report:#}");
    for file in ["drain.plan", "said.txt", "run.fdcap", "state"] {
        assert!(!home.path().join(file).exists(), "{file}");
    }
    stop.store(true, Ordering::Relaxed);
    let traffic = thread.join().unwrap().traffic;
    assert_eq!(traffic.write_count(), 0, "{:?}", traffic.sent);
    assert!(traffic.total_sent() > 500, "{:?}", traffic.sent);
    println!(
        "said: {} datagrams of a rehearsal, {} of which could write",
        traffic.total_sent(),
        traffic.write_count()
    );
}

#[test]
fn writing_needs_what_apply_needs_and_reading_does_not() {
    let lab = ServedLab::new(DEMO);
    put(lab.home.path(), "every.toml", EVERY);
    put(lab.home.path(), "jobs.txt", JOBS);
    // A simulator of the process would be another one at every step.
    let own = |args: &[&str]| {
        let mut own = crate::changes::processes::command(lab.home.path());
        own.args(["--source", DEMO, "--state-dir", "own"]).args(args).output().unwrap()
    };
    let ended = own(&["run", "every.toml"]);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(4) && said.contains("FD-9238"), "{said}");
    assert_eq!(own(&["run", "every.toml", "--dry-run"]).status.code(), Some(0));
    // A change that is pending comes first.
    lab.apply();
    let (_, said) = runs(&lab, &["every.toml"], 4);
    assert!(said.contains("FD-5632") && !said.contains("step 1 of"), "{said}");
    let reads = "name = \"r\"\nsummary = \"s\"\n[[step]]\nverify = true\n";
    put(lab.home.path(), "reads.toml", reads);
    runs(&lab, &["reads.toml"], 0);
}

/// `preview` counts the pairs that partitions permit, as `whatif` does: node1 is a limited member, so it exchanges
/// packets with the manager's host alone.
#[test]
fn a_preview_counts_the_pairs_that_partitions_permit() {
    let lab = ServedLab::with("sim:kary,k=2,n=2,partitions=p.conf", &[], |home| {
        put(home, "p.conf", "Default=0x7fff : ALL=limited, SELF=full ;\n");
    });
    let steps = "[[step]]\nfail = [\"host:node1\"]\n\n\
                 [[step]]\npreview = { engines = [\"minhop\"] }\nguards = [\"lost_until_reroute == 2\"]\n";
    put(lab.home.path(), "pairs.toml", &book(steps));
    let (report, said) = runs(&lab, &["pairs.toml", "--dry-run"], 0);
    assert!(states(&report).split(' ').all(|state| state == "done"), "{report:#}{said}");
}
