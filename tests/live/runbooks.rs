//! Runbooks over a fabric that ibsim plays, without an active subnet manager while they run.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::changes::{opt_in, run};
use crate::discovery::fabdeck;
use crate::ibsim::{Stage, fabric};

const MINHOP: [&str; 2] = ["-R", "minhop"];

/// A fabric that OpenSM routed once and that may be written to, with a switch without hosts: its name, and its name
/// in ibsim.
fn played() -> (Stage, String, String) {
    let stage = Stage::play(&fabric("kary,k=4,n=2"));
    stage.opensm(&MINHOP);
    opt_in(&stage);
    let (switches, _) = fabdeck(&stage, &["show", "switches"], 0);
    let bare = switches["rows"].as_array().unwrap().iter().find(|row| row["hosts"] == 0).unwrap().clone();
    let guid = bare["guid"].as_str().unwrap().trim_start_matches("0x").to_owned();
    (stage, bare["name"].as_str().unwrap().to_owned(), format!("\"S-{guid}\""))
}

fn shipped(name: &str) -> String {
    format!("{}/docs/runbooks/{name}", env!("FABDECK_ROOT"))
}

const OPTED: [&str; 3] = ["--allow-write", "--config", "site.toml"];
const SET: [&str; 4] = ["--set", "accept=transition,cycle", "--set", "beside_manager=true"];

#[test]
fn what_a_failed_switch_left_is_routed_over_a_real_port() {
    let (mut stage, name, ibsim) = played();
    // This manager answers and does nothing. With a silent manager it would be uncertain which nodes are gone.
    let conf = stage.folder.path().join("still.conf");
    std::fs::write(&conf, "sweep_on_trap FALSE\nmax_smps_timeout 600000\n").unwrap();
    let manager = stage.opensm_stays(&[&["-F", conf.to_str().unwrap()][..], &MINHOP].concat());
    stage.console(&format!("Unlink {ibsim}"), "");
    let book = shipped("failed-spine.toml");
    let switch = format!("switch={name}");
    let set = [&["run", &book, "--set", &switch, "--set", "left=7"][..], &SET].concat();
    let refused = run(&stage, &set, 4);
    assert!(refused.contains("FD-4101") && !refused.contains("step 1 of"), "{refused}");
    let rehearsed = run(&stage, &[&set[..], &["--dry-run"]].concat(), 0);
    assert!(rehearsed.contains("not applied"), "{rehearsed}");
    let lost = fabdeck(&stage, &["check"], 2).0["unreachable"].as_u64().unwrap();
    assert!(lost > 0);
    // One switch of eight is more than the tenth that may be missing, so the entry is written again.
    opt_in(&stage);
    let said = run(&stage, &[&OPTED[..], &set].concat(), 0);
    assert!(said.contains(&format!("the fabric does without {name}")), "{said}");
    // Shortest paths have credit loops of their own, which are counted separately.
    let now: Value = fabdeck(&stage, &["check"], 0).0;
    assert_eq!(now["unreachable"], 0, "{now:#}");
    drop(manager);
    println!("said: {lost} pairs lost with {name}, none behind the book");
}

#[test]
fn a_switch_is_replaced_over_a_real_port() {
    let (mut stage, name, ibsim) = played();
    let book = shipped("planned-switch-replacement.toml");
    let switch = format!("switch={name}");
    let mut command: Command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    command.args(["--source", "umad", "--state-dir", "state"]).args(OPTED);
    // Not the tables that OpenSM writes for the new switch, so that the second plan has writes too.
    command.args(["run", &book, "--set", &switch, "--set", "every=20s", "--set", "engine=sssp"]).args(SET);
    for home in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
        command.env(home, stage.folder.path().join("home"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    let mut comes_to = |words: &str, said: &mut String| {
        while !said.contains(words) {
            assert!(err.read_line(said).unwrap() > 0, "{said}");
        }
    };
    comes_to("until it is gone", &mut said);
    // By then its first reading is over, and the next is far.
    sleep(Duration::from_secs(4));
    stage.console(&format!("Unlink {ibsim}"), "");
    comes_to("until the new one is there", &mut said);
    sleep(Duration::from_secs(4));
    stage.console(&format!("Relink {ibsim}"), "");
    // OpenSM has to bring up the ports of the new switch.
    stage.opensm(&MINHOP);
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let ended = child.wait_with_output().unwrap();
    said.push_str(&rest);
    assert_eq!(ended.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&ended.stdout));
    assert!(said.contains(&format!("{name} is in use")), "{said}");
    assert_eq!(fabdeck(&stage, &["check"], 0).0["unreachable"], 0);
    let changes = run(&stage, &["changes"], 0);
    assert_eq!(changes.matches("confirmed").count(), 2, "{changes}{said}");
    println!("said: {name} drained, replaced and brought back");
}

/// Nothing waits in a fabric without traffic.
#[test]
fn without_a_hot_spot_nothing_is_relieved() {
    let (stage, ..) = played();
    let book = shipped("hot-spot-relief.toml");
    let set = [&OPTED[..], &["run", &book, "--set", "interval=1s"], &SET].concat();
    let said = run(&stage, &set, 2);
    assert!(said.contains("FD-9231: the guard 'before.hotspots > 0' fails"), "{said}");
}
