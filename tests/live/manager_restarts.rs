//! A watch over ibsim while OpenSM ends and comes back, twice: both are events, no event is lost or stored twice, and the
//! ledger has nothing, for no cable did anything.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ibsim::{self, Stage, finish};
use crate::prometheus::ask;

const PATIENCE: Duration = Duration::from_secs(90);
const RESTARTS: usize = 2;

/// A watch that ends with the test.
struct Watch {
    child: Child,
    address: String,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watch {
    fn start(stage: &Stage) -> Self {
        let at = stage.folder.path();
        fs::write(at.join("site.toml"), "[watch]\ndrift_period = \"2s\"\n").unwrap();
        let mut command = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env(name, at.join("home"));
        }
        command.args([
            "--source",
            "umad",
            "--json",
            "--config",
            "site.toml",
            "--state-dir",
            "state",
            "watch",
        ]);
        command.args(["--store", "yes", "--interval", "1s", "--serve", "127.0.0.1:0"]);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.stdout(fs::File::create(at.join("events")).unwrap()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_once("http://").and_then(|(_, rest)| rest.split_once('/')).expect(&line).0;
        Self { child, address: address.to_owned() }
    }

    fn metric(&self, name: &str) -> Option<f64> {
        let text = ask(&self.address, "/metrics")?;
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
    }

    /// Waits for a number of sweeps from now on.
    fn let_sweep(&self, more: f64) {
        let sweeps = || self.metric("fabdeck_sweeps_total").unwrap_or(0.0);
        let before = sweeps();
        until("no sweep", || sweeps() >= before + more);
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let since = Instant::now();
    while !holds() {
        assert!(since.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn printed(stage: &Stage) -> Vec<Value> {
    let text = fs::read_to_string(stage.folder.path().join("events")).unwrap();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rows(stage: &Stage, command: &str) -> Vec<Value> {
    let mut asked = stage.command(env!("CARGO_BIN_EXE_fabdeck"));
    asked.args(["--state-dir", "state", "--json", command]).env("HOME", stage.folder.path().join("home"));
    let ended = finish(asked);
    let answer: Value =
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    answer["rows"].as_array().unwrap().clone()
}

#[test]
fn a_watch_outlives_restarts_of_opensm_and_counts_nothing_twice() {
    let stage = Stage::play(&ibsim::fabric("kary,k=4,n=2"));
    let mut manager = Some(stage.opensm_stays(&["-R", "minhop"]));
    let mut watch = Watch::start(&stage);
    watch.let_sweep(3.0);
    let changes = || printed(&stage).iter().filter(|event| event["kind"] == "manager-changed").count();
    for restart in 0..RESTARTS {
        let before = changes();
        drop(manager.take());
        until(&format!("restart {restart}: the end is no event"), || changes() > before);
        let before = changes();
        manager = Some(stage.opensm_stays(&["-R", "minhop"]));
        until(&format!("restart {restart}: the return is no event"), || changes() > before);
    }
    watch.let_sweep(3.0);
    assert_eq!((watch.metric("fabdeck_lost_pairs"), watch.metric("fabdeck_up")), (Some(0.0), Some(1.0)));
    let id = rustix::process::Pid::from_child(&watch.child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    assert_eq!(watch.child.wait().unwrap().code(), Some(143));
    let (printed, stored) = (printed(&stage), rows(&stage, "events"));
    for (at, event) in printed.iter().enumerate() {
        assert_eq!(event["number"], at + 1, "{printed:#?}");
        assert_eq!((&stored[at]["number"], &stored[at]["text"]), (&event["number"], &event["text"]));
        let kind = event["kind"].as_str().unwrap();
        assert!(!kind.starts_with("link-") && !kind.starts_with("node-"), "{event}");
    }
    assert_eq!(stored.len(), printed.len());
    assert_eq!(rows(&stage, "ledger"), [Value::Null; 0], "no cable did anything");
}
