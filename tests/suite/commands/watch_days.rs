//! A day under `watch`, as fast as the simulator can be read: cables that flap, a port with errors, switches that fall silent,
//! a subnet manager that ends and is started again.
//! Every event is stored once, the ledger is exact against what the story did, and the memory of the process stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;

use super::binary::{fabdeck, home};

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;
/// Cables that flap, each at a leaf of its own.
const FLAPPING: usize = 8;
/// Errors of a port, each minute of four hours.
const ERRORS_A_MINUTE: u64 = 60;

/// A fabric, its leaves, and the first port of a leaf that leads up: as many ports lead up as down.
struct WatchedFabric {
    name: &'static str,
    leaves: u64,
    up: u64,
    /// Seconds between two sweeps.
    interval: u64,
}

/// What happens on the day, and what has to be known in the end.
#[derive(Default)]
struct DayStory {
    /// By second.
    steps: Vec<(u64, String)>,
    /// How often each port went down, as the ledger names its cable.
    downs: BTreeMap<String, u64>,
    silent: Vec<String>,
    /// How often the subnet manager ended.
    restarts: usize,
}

/// Numbers without a pattern: the same for a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

impl DayStory {
    fn new(fabric: &WatchedFabric, seed: u64) -> Self {
        let (mut story, mut draws) = (Self::default(), Draws(seed));
        let mut leaves = BTreeSet::new();
        while leaves.len() < FLAPPING {
            // The last leaf has the port with errors.
            leaves.insert(draws.below(fabric.leaves - 1));
        }
        for leaf in leaves {
            let port = fabric.up + draws.below(fabric.up - 1);
            let mut at = 600 + draws.below(HOUR);
            while at + HOUR / 2 < DAY {
                let up = at + 3 + draws.below(40);
                story.steps.push((at, format!("down leaf{leaf}/{port}")));
                story.steps.push((up, format!("up leaf{leaf}/{port}")));
                *story.downs.entry(format!("leaf{leaf}[{port}]")).or_default() += 1;
                at = up + 1200 + draws.below(2 * HOUR);
            }
        }
        let worn = format!("leaf{}/{}", fabric.leaves - 1, fabric.up + 3);
        story.steps.push((5 * HOUR, format!("errors {worn} {ERRORS_A_MINUTE}")));
        story.steps.push((9 * HOUR, format!("errors {worn} 0")));
        for spine in [3, 11] {
            let at = 2 * HOUR + draws.below(8 * HOUR);
            story.steps.push((at, format!("silent spine{spine}")));
            story.steps.push((at + 3 * HOUR / 2, format!("answers spine{spine}")));
            story.silent.push(format!("spine{spine}"));
        }
        for begins in [3 * HOUR, 14 * HOUR] {
            let at = begins + draws.below(4 * HOUR);
            story.steps.push((at, "manager stops".to_owned()));
            story.steps.push((at + 3 * HOUR / 2, "manager starts".to_owned()));
            story.restarts += 1;
        }
        story.steps.sort();
        story
    }

    fn text(&self) -> String {
        self.steps.iter().fold(String::new(), |mut text, (second, step)| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{second}s {step}");
            text
        })
    }
}

/// Resident memory of a process in kB.
fn memory_of(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// The events that a watch prints, each with the memory of the process then.
fn watch_day(site: &TempDir, source: &str, interval: u64) -> Vec<(Value, Option<u64>)> {
    let count = (DAY / interval).to_string();
    let mut process = fabdeck(site)
        .args(["--source", source, "--json", "watch", "--store", "yes", "--count", &count])
        .args(["--interval", &format!("{interval}s")])
        .env("SOURCE_DATE_EPOCH", "1793628000")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = process.id();
    let lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let events = lines.map(|line| (serde_json::from_str(&line.unwrap()).unwrap(), memory_of(pid))).collect();
    assert!(process.wait().unwrap().success());
    events
}

fn rows(site: &TempDir, args: &[&str]) -> Vec<Value> {
    let answer = fabdeck(site).args(args).arg("--json").output().unwrap();
    assert!(answer.status.success(), "{args:?}: {}", String::from_utf8_lossy(&answer.stderr));
    let answer: Value = serde_json::from_slice(&answer.stdout).unwrap();
    answer["rows"].as_array().unwrap().clone()
}

/// Returns the memory at hour 2 and at hour 24.
fn a_day_is_known_exactly(fabric: &WatchedFabric, seed: u64) -> [u64; 2] {
    let site = home();
    let story = DayStory::new(fabric, seed);
    fs::write(site.path().join("story"), story.text()).unwrap();
    let source = format!("sim:{},traffic=none,story=story", fabric.name);
    let printed = watch_day(&site, &source, fabric.interval);

    let stored = rows(&site, &["events"]);
    assert_eq!(stored.len(), printed.len(), "each event is stored once");
    for (at, (event, _)) in printed.iter().enumerate() {
        assert_eq!(event["number"], at + 1);
        assert_eq!((&stored[at]["number"], &stored[at]["text"]), (&event["number"], &event["text"]));
    }
    let count = |kind: &str, begins: &str| {
        let is_of =
            |event: &Value| event["kind"] == kind && event["text"].as_str().unwrap().starts_with(begins);
        stored.iter().filter(|event| is_of(event)).count()
    };
    for switch in &story.silent {
        let begins = format!("{switch} ");
        assert_eq!((count("node-silent", &begins), count("node-answers", &begins)), (1, 1), "{switch}");
    }
    let of_manager: Vec<&str> = stored
        .iter()
        .filter(|event| event["kind"] == "manager-changed")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    assert_eq!(of_manager.len(), 2 * story.restarts, "{of_manager:?}");
    let is_back = |text: &&str| text.contains("does not answer before");
    assert_eq!(of_manager.iter().filter(|text| is_back(text)).count(), story.restarts, "{of_manager:?}");

    let ledger = rows(&site, &["ledger"]);
    let cable_of = |row: &Value| row["ends"][0]["name"].as_str().unwrap().to_owned();
    let downs: BTreeMap<String, u64> = ledger
        .iter()
        .filter(|row| row["downs"] != 0)
        .map(|row| (cable_of(row), row["downs"].as_u64().unwrap()))
        .collect();
    assert_eq!(downs, story.downs);
    let errors: Vec<(String, u64)> = ledger
        .iter()
        .filter(|row| row["errors"] != 0)
        .map(|row| (cable_of(row), row["errors"].as_u64().unwrap()))
        .collect();
    let worn = format!("leaf{}[{}]", fabric.leaves - 1, fabric.up + 3);
    assert_eq!(errors, [(worn, 4 * 60 * ERRORS_A_MINUTE)]);

    let (second, last) = (printed.iter().find(|(event, _)| is_after(event, 2 * HOUR)), printed.last());
    [second, last].map(|event| event.and_then(|(_, memory)| *memory).unwrap())
}

/// Whether an event is of a later second of the day than that.
fn is_after(event: &Value, second: u64) -> bool {
    let time: jiff::Timestamp = event["time"].as_str().unwrap().parse().unwrap();
    time.as_second() >= 1_793_628_000 + second as i64
}

#[test]
fn a_day_of_648_ports_is_known_exactly() {
    let interval = if is_long() { 60 } else { 1800 };
    // 162 cables of hosts and as many between switches.
    let fabric = WatchedFabric { name: "gft2,n=18,m=18,r=9", leaves: 9, up: 19, interval };
    let [second, last] = a_day_is_known_exactly(&fabric, 7);
    println!("memory at hour 2 {second} kB, at hour 24 {last} kB");
    assert!(!is_long() || last * 100 <= second * 105, "{second} kB grew to {last} kB");
}

/// With `FABDECK_LONG=1`.
#[test]
fn a_day_of_3456_hosts_is_known_exactly() {
    if is_long() {
        let fabric = WatchedFabric { name: "switch3456", leaves: 288, up: 13, interval: 300 };
        let [second, last] = a_day_is_known_exactly(&fabric, 11);
        println!("memory at hour 2 {second} kB, at hour 24 {last} kB");
        assert!(last * 100 <= second * 105, "{second} kB grew to {last} kB");
    }
}

fn is_long() -> bool {
    std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1")
}
