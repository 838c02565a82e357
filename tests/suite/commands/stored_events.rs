//! What `watch` stores, as `events`, `ledger` and `health` show it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::binary::{fabdeck, home};

const PATIENCE: Duration = Duration::from_secs(60);

/// A cable that goes down on two days, and a port that counts 300 errors a minute for an hour.
const STORY: &str = "60m down leaf0/4\n120m up leaf0/4\n720m down leaf0/4\n840m up leaf0/4\n900m errors leaf1/3 300\n\
                     960m errors leaf1/3 0\n";

/// The time at which stories begin: 2026-11-02T14:00:00Z.
const BEGUN: &str = "1793628000";

/// A home with a story, and the source that has it.
struct Site {
    home: TempDir,
    source: String,
}

impl Site {
    fn new(story: &str) -> Self {
        let home = home();
        fs::write(home.path().join("story"), story).unwrap();
        Self { home, source: "sim:kary,k=3,n=2,traffic=none,story=story".to_owned() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = fabdeck(&self.home);
        command.args(args).env("TZ", "UTC").env("SOURCE_DATE_EPOCH", BEGUN);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn text(&self, args: &[&str]) -> String {
        let ended = self.run(args);
        assert_eq!(ended.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.text(args)).unwrap()
    }

    /// Watches for a number of intervals; returns the events that it prints.
    fn watch(&self, interval: &str, count: &str) -> Vec<Value> {
        let args = ["--source", &self.source, "--json", "watch", "--store", "yes"];
        let printed = self.text(&[&args[..], &["--interval", interval, "--count", count]].concat());
        printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn store(&self) -> PathBuf {
        let mut folders = fs::read_dir(self.home.path().join("fabdeck/watch")).unwrap();
        let folder = folders.next().unwrap().unwrap().path();
        assert!(folders.next().is_none());
        folder
    }
}

fn golden(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, shown));
}

#[test]
fn a_story_is_in_the_events_and_the_ledger_as_it_was() {
    let site = Site::new(STORY);
    assert!(site.text(&["events"]).contains("no watch has stored events"));
    assert!(site.text(&["ledger"]).contains("no watch has stored events"));
    let printed = site.watch("10m", "110");
    // What is stored is what was printed.
    let mut rows = site.json(&["events", "--json"])["rows"].as_array().unwrap().clone();
    rows.iter_mut().for_each(|row| row["schema"] = "fabdeck.event/1".into());
    assert!(printed.len() > 6 && rows == printed, "{rows:#?}\n{printed:#?}");
    golden("commands_events", &site.text(&["events"]));
    golden("commands_ledger", &site.text(&["ledger"]));
    let ledger = site.json(&["ledger", "--json"]);
    let cable = |name: &str| {
        let has = |row: &&Value| row["ends"].as_array().unwrap().iter().any(|end| end["name"] == name);
        ledger["rows"].as_array().unwrap().iter().find(has).unwrap().clone()
    };
    let down = cable("leaf0[4]");
    assert_eq!(
        (&down["downs"], &down["days_with_events"], &down["in_place"]),
        (&2.into(), &2.into(), &true.into())
    );
    assert_eq!(down["days"][0]["begins"], "2026-11-02");
    assert_eq!(
        (&down["first"], &down["last"]),
        (&"2026-11-02T15:00:00Z".into(), &"2026-11-03T02:00:00Z".into())
    );
    assert_eq!((&cable("leaf1[3]")["errors"], &down["problems"]), (&(300 * 60).into(), &2.into()));
    // Kinds, times, and the newest.
    let kinds = site.json(&["events", "--kind", "link-down,link-up", "--json"]);
    assert_eq!(kinds["rows"].as_array().unwrap().len(), 4, "{kinds}");
    let later = site.text(&["events", "--kind", "link-down", "--since", "2026-11-03"]);
    assert_eq!(later.lines().count(), 1, "{later}");
    assert_eq!(site.text(&["events", "--top", "2"]).lines().count(), 2);
}

/// The story happens twice: numbers go on, and counts add up.
#[test]
fn a_second_watch_goes_on_with_numbers_and_counts() {
    let site = Site::new(STORY);
    let watched = [site.watch("20m", "45"), site.watch("20m", "45")].concat();
    let numbers: Vec<u64> = watched.iter().map(|event| event["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let cables = site.json(&["ledger", "--json"]);
    let rows = cables["rows"].as_array().unwrap();
    let downs: u64 = rows.iter().map(|row| row["downs"].as_u64().unwrap()).sum();
    assert_eq!(downs, 4, "{cables:#}");
}

/// The card of a problem has what its cable did before.
#[test]
fn the_card_of_a_problem_has_the_history_of_its_cable() {
    let site = Site::new("0s errors leaf1/3 300\n");
    let health = |args: &[&str]| {
        let ended = site.run(&[&["--source", &site.source, "health"], args].concat());
        assert_eq!(ended.status.code(), Some(2), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    assert!(!health(&[]).contains("history"), "nothing is stored");
    site.watch("1h", "26");
    let text = health(&[]);
    let line = text.lines().find(|line| line.contains("history")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("errors in 1 day, first on 2026-11-02"), "{line}");
    let json: Value = serde_json::from_str(&health(&["--json"])).unwrap();
    assert!(line.contains(json["problems"][0]["history"].as_str().unwrap()), "{json}");
}

/// `show links` has a column of the ledger where a watch stored something, and none where nothing is stored.
#[test]
fn links_have_how_often_they_went_down() {
    let site = Site::new(STORY);
    let links = |args: &[&str]| site.text(&[&["--source", &site.source, "show", "links"], args].concat());
    assert!(!links(&[]).contains("DOWNS 90D"), "{}", links(&[]));
    site.watch("10m", "110");
    assert!(links(&[]).lines().next().unwrap().contains("DOWNS 90D"), "{}", links(&[]));
    let rows: Value = serde_json::from_str(&links(&["--json"])).unwrap();
    let downs: BTreeMap<String, &Value> = rows["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| !row["downs"].is_null())
        .map(|row| (format!("{}[{}]", row["a"].as_str().unwrap(), row["a_port"]), &row["downs"]))
        .collect();
    // One of them counted errors alone.
    let known = [("leaf0[4]".to_owned(), &Value::from(2)), ("leaf1[3]".to_owned(), &Value::from(0))];
    assert_eq!(downs, BTreeMap::from(known));
    let first = links(&["--sort", "downs", "--top", "1", "--fields", "a,a_port,downs"]);
    assert!(first.lines().last().unwrap().starts_with("leaf0"), "{first}");
}

/// One watch of a fabric stores. Another one goes on without, or is refused with `--store yes`.
#[test]
fn a_second_watch_of_a_fabric_does_not_store() {
    let site = Site::new(STORY);
    site.watch("10s", "1");
    let lock = File::open(site.store().join("lock")).unwrap();
    lock.lock().unwrap();
    let refused = site.run(&["--source", &site.source, "watch", "--store", "yes", "--count", "1"]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(4), "{message}");
    let own = format!("process {}", std::process::id());
    assert!(message.contains("FD-7351") && message.contains(&own), "{message}");
    // By default a simulator of this process is not stored, and `no` stores nothing.
    for store in ["auto", "no"] {
        let ended = site.run(&["--source", &site.source, "watch", "--store", store, "--count", "1"]);
        assert_eq!((ended.status.code(), &ended.stderr[..]), (Some(0), &b""[..]), "{store}");
    }
}

/// A limit of the size of a file stands for a full disk. The watch reports it and goes on; what was stored stays.
#[test]
fn a_watch_on_a_full_disk_reports_it_and_goes_on() {
    let site = Site::new(STORY);
    let program = env!("CARGO_BIN_EXE_fabdeck");
    let source = &site.source;
    // The lines after the first blocks of the log do not fit.
    let line = format!(
        "trap '' XFSZ; ulimit -f 10; exec {program} --source {source} --json watch --store yes --interval 20m --count 55"
    );
    let mut command = Command::new("bash");
    command.args(["-c", &line]).current_dir(site.home.path()).env("HOME", site.home.path());
    command.env("XDG_STATE_HOME", site.home.path()).env("XDG_CONFIG_HOME", site.home.path());
    let ended = command.env("SOURCE_DATE_EPOCH", BEGUN).env("TZ", "UTC").output().unwrap();
    let message = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{message}");
    assert!(message.contains("FD-7350") && message.contains("New events wait"), "{message}");
    let printed = String::from_utf8(ended.stdout).unwrap();
    let rows = site.json(&["events", "--json"]);
    let rows = rows["rows"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.len() < printed.lines().count(), "{rows:#?}");
    for (row, line) in rows.iter().zip(printed.lines()) {
        let printed: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&row["number"], &row["text"]), (&printed["number"], &printed["text"]));
    }
    let next = site.watch("10m", "12");
    assert_eq!(next[0]["number"].as_u64().unwrap(), rows.len() as u64 + 1);
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(site: &Site, socket: &Path) -> Running {
    let mut command = site.command(&["--source", &site.source, "simulate", "--serve"]);
    let mut server = command.arg(socket).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("serving"), "{line}");
    Running(server)
}

/// A story in which two cables go down eight times each, from a time on.
/// Two links that flap.
#[derive(Clone, Copy)]
struct FlapPlan {
    from_ms: u64,
    flaps: u64,
    every_ms: u64,
}

impl FlapPlan {
    fn story(self) -> String {
        let Self { from_ms, flaps: count, every_ms } = self;
        let flaps = |port: &'static str, at: u64| {
            (0..count).flat_map(move |flap| {
                let (at, up) = (at + flap * every_ms, at + flap * every_ms + every_ms / 2);
                [(at, format!("{at}ms down {port}\n")), (up, format!("{up}ms up {port}\n"))]
            })
        };
        let mut lines: Vec<(u64, String)> =
            flaps("leaf0/4", from_ms).chain(flaps("leaf2/5", from_ms + every_ms * 7 / 18)).collect();
        lines.sort();
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// When the last flap is over.
    fn end(self) -> Duration {
        Duration::from_millis(self.from_ms + self.flaps * self.every_ms + self.every_ms)
    }

    /// How long a watch runs before it is killed.
    fn life(self, kills: u64) -> Duration {
        Duration::from_millis(self.every_ms * (90 + kills * 37 % 200) / 180)
    }
}

/// Links flap while the watch is killed and started again: each time that a link went down is in the ledger once, and the
/// stored events have each number once.
#[test]
fn a_watch_that_is_killed_again_and_again_knows_every_flap() {
    // A machine that is busy may need longer until the first watch has read the fabric.
    let plan = |from_ms| FlapPlan { from_ms, flaps: 8, every_ms: 180 };
    let done = [1500, 5000, 20_000].into_iter().any(|from_ms| watch_killed_over_story(plan(from_ms)));
    assert!(done, "no watch was fast enough");
}

/// The same over most of an hour, with `FABDECK_LONG=1`: a part of `tests/run --long` takes 60 minutes at most.
#[test]
fn a_watch_that_is_killed_for_an_hour_knows_every_flap() {
    if std::env::var("FABDECK_LONG").is_ok_and(|long| long == "1") {
        assert!(watch_killed_over_story(FlapPlan { from_ms: 20_000, flaps: 170, every_ms: 20_000 }));
    }
}

/// Returns false if the first watch had not read the fabric when the story began.
fn watch_killed_over_story(plan: FlapPlan) -> bool {
    let site = Site::new(&plan.story());
    let socket = site.home.path().join("fabric.sock");
    let begun = Instant::now();
    let _server = serve(&site, &socket);
    let source = format!("sim:{}", socket.display());
    let watch = || {
        let mut command = site.command(&["--source", &source, "watch", "--interval", "50ms"]);
        Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    };
    let stored = || {
        let folders = fs::read_dir(site.home.path().join("fabdeck/watch"));
        let folder = folders.into_iter().flatten().flatten().next();
        folder.is_some_and(|folder| folder.path().join("events-000000000001.log").exists())
    };
    let mut running = watch();
    while !stored() {
        assert!(begun.elapsed() < PATIENCE, "nothing is stored");
        std::thread::sleep(Duration::from_millis(5));
    }
    if begun.elapsed() + Duration::from_millis(100) > Duration::from_millis(plan.from_ms) {
        return false;
    }
    let mut kills = 0;
    while begun.elapsed() < plan.end() {
        std::thread::sleep(plan.life(kills));
        drop(running);
        kills += 1;
        running = watch();
    }
    let downs = || {
        let ledger = site.json(&["ledger", "--json"]);
        let rows = ledger["rows"].as_array().unwrap();
        rows.iter().map(|row| row["downs"].as_u64().unwrap()).collect::<Vec<u64>>()
    };
    while downs().iter().sum::<u64>() < 2 * plan.flaps {
        assert!(begun.elapsed() < plan.end() + PATIENCE, "after {kills} kills: {:?}", downs());
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(downs(), [plan.flaps; 2], "after {kills} kills");
    // A second watch goes on without the store, and names the first one.
    let second = site.run(&["--source", &source, "watch", "--interval", "50ms", "--count", "1"]);
    let message = String::from_utf8(second.stderr).unwrap();
    let first = format!("process {} ", running.0.id());
    assert!(second.status.success() && message.contains("FD-7351") && message.contains(&first), "{message}");
    let events = site.json(&["events", "--json"]);
    let rows = events["rows"].as_array().unwrap();
    let numbers: Vec<u64> = rows.iter().map(|row| row["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    // A link never goes down or comes up twice in a row.
    let mut last: BTreeMap<Vec<&str>, &Value> = BTreeMap::new();
    for row in rows.iter().filter(|row| row["kind"] == "link-down" || row["kind"] == "link-up") {
        let mut ends: Vec<&str> = row["text"].as_str().unwrap().split(" to ").collect();
        ends.sort_unstable();
        let before = last.insert(ends, &row["kind"]);
        assert_ne!(before, Some(&row["kind"]), "{rows:#?}");
    }
    true
}

/// New events are printed as they come, and a signal ends it.
#[test]
fn events_are_followed() {
    let site = Site::new(STORY);
    let before = site.watch("10m", "20");
    let mut follow = Running(
        site.command(&["events", "--follow", "--json", "--no-times"]).stdout(Stdio::piped()).spawn().unwrap(),
    );
    let mut lines = BufReader::new(follow.0.stdout.take().unwrap()).lines();
    let mut number = || -> u64 {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(line["schema"], "fabdeck.event/1");
        line["number"].as_u64().unwrap()
    };
    before.iter().for_each(|event| assert_eq!(number(), event["number"].as_u64().unwrap()));
    let after = site.watch("10m", "20");
    after.iter().for_each(|event| assert_eq!(number(), event["number"].as_u64().unwrap()));
    assert!(!before.is_empty() && !after.is_empty());
    Command::new("kill").args(["-TERM", &follow.0.id().to_string()]).status().unwrap();
    assert_eq!(follow.0.wait().unwrap().code(), Some(143));
}
