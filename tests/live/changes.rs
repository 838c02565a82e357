//! Writes to a fabric that ibsim plays, beside OpenSM and through it. The tests check the opt-in, the refusals, and
//! that a rollback restores everything.

use std::fs;
use std::path::Path;

use fabdeck_change::Plan;
use serde_json::Value;

use crate::discovery::fabdeck;
use crate::ibsim::{self, Stage};
use crate::opensm_driver::Site;

/// Runs the program with the right to write; checks its exit code and returns all its output.
pub fn run(stage: &Stage, args: &[&str], exit: i32) -> String {
    run_with(stage, "state", args, exit)
}

/// Does the same with another state folder, as another machine has one.
fn run_with(stage: &Stage, state: &str, args: &[&str], exit: i32) -> String {
    let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "umad", "--state-dir", state]).args(args);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    let output = ibsim::finish(command);
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert_eq!(output.status.code(), Some(exit), "{args:?}: {said}{}", logs(stage.folder.path()));
    said
}

fn logs(folder: &Path) -> String {
    let folders = fs::read_dir(folder.join("state/changes")).into_iter().flatten().flatten();
    folders.map(|entry| fs::read_to_string(entry.path().join("guard.log")).unwrap_or_default()).collect()
}

/// All forwarding table entries of all switches.
pub fn block_entries(stage: &Stage) -> Vec<Value> {
    let (tables, _) = fabdeck(stage, &["show", "tables"], 0);
    let rows = tables["rows"].as_array().unwrap().clone();
    let entries = rows.iter().flat_map(|row| {
        let switch = row["guid"].as_str().unwrap().to_owned();
        fabdeck(stage, &["show", "tables", &switch], 0).0["rows"].as_array().unwrap().clone()
    });
    entries.collect()
}

fn id(stage: &Stage) -> String {
    let said = run(stage, &["changes", "--json"], 0);
    let changes: Value = serde_json::from_str(said.lines().next().unwrap_or_default())
        .or_else(|_| serde_json::from_str(&said))
        .unwrap();
    changes["rows"][0]["id"].as_str().unwrap().to_owned()
}

/// Writes the configuration entry that permits writes to the fabric.
pub fn opt_in(stage: &Stage) {
    let entry = run(stage, &["sources", "--identity"], 0);
    let entry: String =
        entry.lines().filter(|line| !line.starts_with("fabdeck:")).map(|line| format!("{line}\n")).collect();
    fs::write(stage.folder.path().join("site.toml"), entry).unwrap();
}

const ACCEPT: [&str; 3] = ["--yes", "--accept", "transition,cycle"];

#[test]
fn a_real_port_is_written_to_after_an_opt_in_and_restored() {
    let site = Site::new("kary,k=4,n=2", "routing_engine minhop");
    let stage = &site.stage;
    let plan: Plan = site.plan("sssp", &[], 0);
    let before = block_entries(stage);
    let apply = |more: &[&str], exit| run(stage, &[&["apply", "new.plan"], &ACCEPT[..], more].concat(), exit);
    assert!(apply(&[], 4).contains("FD-4101"));
    assert!(apply(&["--allow-write"], 4).contains("FD-4102"));
    opt_in(stage);
    let opted = ["--allow-write", "--config", "site.toml"];
    assert!(apply(&opted, 4).contains("FD-7987"), "OpenSM is in charge");
    assert_eq!(block_entries(stage), before, "nothing was written so far");
    apply(&[&opted[..], &["--beside-manager"]].concat(), 0);
    assert_ne!(block_entries(stage), before);
    run(stage, &["plan", "check", "new.plan"], 0);
    let id = id(stage);
    // OpenSM has the change registered until its end, so that other machines see it.
    let other = |exit| {
        let args = [&["apply", "new.plan"], &ACCEPT[..], &opted, &["--beside-manager"]].concat();
        run_with(stage, "other", &args, exit)
    };
    let refused = other(4);
    assert!(refused.contains("FD-5643") && refused.contains(&id), "{refused}");
    run(stage, &["--config", "site.toml", "rollback", &id], 0);
    assert_eq!(block_entries(stage), before);
    other(0);
    assert_ne!(block_entries(stage), before);
    println!("said: {} blocks there and back beside OpenSM", plan.writes.len());
}

#[test]
fn opensm_is_given_a_plan_and_takes_it_back() {
    let site = Site::new("kary,k=4,n=2", "routing_engine file,minhop");
    let stage = &site.stage;
    let plan = site.plan("sssp", &[], 0);
    opt_in(stage);
    let before = block_entries(stage);
    let console = format!("127.0.0.1:{}", site.port());
    let road = ["--via", "opensm", "--opensm-conf", "road.conf", "--opensm-console", &console];
    let opted = ["--allow-write", "--config", "site.toml"];
    let wrong = ["--via", "opensm", "--opensm-conf", "absent.conf"];
    let refused = run(stage, &[&["apply", "new.plan"], &ACCEPT[..], &opted, &wrong].concat(), 4);
    assert!(refused.contains("FD-567") || refused.contains("FD-568"), "{refused}");
    run(stage, &[&["apply", "new.plan"], &ACCEPT[..], &opted, &road].concat(), 0);
    assert_ne!(block_entries(stage), before);
    let id = id(stage);
    run(stage, &["--config", "site.toml", "rollback", &id], 0);
    assert_eq!(block_entries(stage), before);
    println!("said: {} blocks there and back through OpenSM", plan.writes.len());
}

/// A change through OpenSM has its lanes by destination, because OpenSM supports nothing else.
#[test]
fn a_watch_over_jobs_applies_through_opensm() {
    let site = Site::new("kary,k=2,n=3", "routing_engine file,minhop");
    let stage = &site.stage;
    opt_in(stage);
    let jobs: String = (0..6).map(|host| format!("node{host} a\n")).collect();
    fs::write(stage.folder.path().join("jobs.txt"), jobs).unwrap();
    let before = block_entries(stage);
    let console = format!("127.0.0.1:{}", site.port());
    let watch = ["jobs", "watch", "--file", "jobs.txt", "--gain", "0", "--count", "2", "--interval", "1s"];
    let road = ["--apply", "--via", "opensm", "--opensm-conf", "road.conf", "--opensm-console", &console];
    let opted = ["--json", "--allow-write", "--config", "site.toml"];
    let said = run(stage, &[&watch[..], &road, &opted].concat(), 0);
    let lines: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let events: Vec<&str> = lines.iter().filter_map(|line| line["event"].as_str()).collect();
    assert_eq!(events, ["proposed", "applied", "confirmed", "unchanged"], "{said}");
    assert_ne!(block_entries(stage), before);
    let changes: Value = serde_json::from_str(&run(stage, &["changes", "--json"], 0)).unwrap();
    let row = &changes["rows"][0];
    assert_eq!((&row["via"], &row["state"]), (&"opensm".into(), &"confirmed".into()), "{changes:#}");
    let (figures, _) = fabdeck(stage, &["jobs", "--file", "jobs.txt"], 0);
    assert_eq!(figures["totals"]["max"], lines[0]["proposed"]["max"], "{figures:#}");
    println!("said: {} writes through OpenSM for a list of jobs", lines[1]["writes"]);
}

/// OpenSM writes every table again when it starts, which overwrites a change confirmed beside it.
#[test]
fn what_opensm_writes_over_a_confirmed_change_is_reported_with_its_name() {
    let mut site = Site::new("kary,k=4,n=2", "routing_engine minhop");
    site.plan("sssp", &[], 0);
    opt_in(&site.stage);
    let writes = ["--allow-write", "--config", "site.toml", "--beside-manager"];
    run(&site.stage, &[&["apply", "new.plan"], &ACCEPT[..], &writes].concat(), 0);
    let id = id(&site.stage);
    run(&site.stage, &["--config", "site.toml", "confirm", &id], 0);
    let stands = run(&site.stage, &["changes", "--verify"], 0);
    assert!(!stands.contains("FD-"), "{stands}");
    site.start();
    let fallen = run(&site.stage, &["changes", "--verify"], 3);
    for words in ["FD-5608", id.as_str(), "as before the change", "the subnet manager in charge is"] {
        assert!(fallen.contains(words), "{words}: {fallen}");
    }
    println!("said: {}", fallen.lines().find(|line| line.contains("FD-5608")).unwrap_or_default());
}
