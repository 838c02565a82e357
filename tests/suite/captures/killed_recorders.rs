//! A recorder that is killed, or asked to end, while it records.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::commands::fabdeck;

/// A fabric whose time passes as on the wall, behind a socket.
pub fn serve_simulator(home: &TempDir) -> Child {
    let mut command = fabdeck(home);
    command.args(["--source", "sim:kary,k=2,n=2", "simulate", "--serve", "fabric.sock"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    while !home.path().join("fabric.sock").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no socket");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

fn record(home: &TempDir, name: &str) -> Child {
    let mut command = fabdeck(home);
    command.args(["--source", "sim:./fabric.sock", "record", "-o", name, "--interval", "2ms"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits until the file has grown beyond so many bytes.
pub fn wait_for(home: &TempDir, name: &str, bytes: u64) {
    let begun = Instant::now();
    while std::fs::metadata(home.path().join(name)).map_or(0, |known| known.len()) < bytes {
        assert!(begun.elapsed() < Duration::from_secs(60), "{name} does not grow");
        std::thread::sleep(Duration::from_micros(300));
    }
}

pub fn info(home: &TempDir, name: &str) -> Value {
    let output = fabdeck(home).args(["capture", "info", name, "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

pub fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_recorder_that_is_killed_leaves_what_it_saw() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    let mut before = 0;
    for turn in 0..12u64 {
        let name = format!("killed{turn}.fdcap");
        let mut child = record(&home, &name);
        wait_for(&home, &name, 1 + turn * 1500);
        signal(&child, "-KILL");
        child.wait().unwrap();
        let told = info(&home, &name);
        let sweeps = told["sweeps"].as_u64().unwrap();
        assert!(sweeps >= 1 && told["ended"] == false && told["unreadable"] == 0, "{told}");
        let codes: Vec<&str> =
            told["notes"].as_array().unwrap().iter().map(|note| note["code"].as_str().unwrap()).collect();
        assert!(codes.contains(&"FN-383") || codes.contains(&"FN-381"), "{codes:?}");
        before = before.max(sweeps);
    }
    assert!(before > 1, "later kills leave more");
    fabric.kill().unwrap();
    fabric.wait().unwrap();
}

#[test]
fn a_recorder_that_is_asked_to_end_leaves_a_whole_capture() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    for (signal_name, code) in [("-INT", 130), ("-TERM", 143)] {
        let name = format!("asked{code}.fdcap");
        let mut child = record(&home, &name);
        wait_for(&home, &name, 6000);
        signal(&child, signal_name);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        let told = info(&home, &name);
        assert!(told["ended"] == true && told["damage"] == Value::Array(vec![]), "{told}");
        assert!(told["sweeps"].as_u64().unwrap() > 1 && told["notes"] == Value::Array(vec![]), "{told}");
    }
    // A fabric that goes away ends the recording too, and what was seen stays.
    let mut child = record(&home, "gone.fdcap");
    wait_for(&home, "gone.fdcap", 6000);
    fabric.kill().unwrap();
    fabric.wait().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(8));
    assert_eq!(info(&home, "gone.fdcap")["ended"], true);
}
