//! A watch compares confirmed changes with the fabric: it reports once that one is overwritten, and once that it stands again,
//! over restarts too.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::foreign_writes::{take_back_beside, write_beside};
use super::processes::{DEMO, ServedLab};

const PATIENCE: Duration = Duration::from_secs(60);
const ATTESTED: [&str; 2] = ["change-overwritten", "change-stands"];

/// Every table is read again each second.
const CONFIG: &str = "[watch]\ndrift_period = \"1s\"\n";

/// A watch that stores its events, which ends with this.
struct StoringWatch {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Drop for StoringWatch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl StoringWatch {
    fn start(lab: &ServedLab) -> Self {
        std::fs::write(lab.home.path().join("site.toml"), CONFIG).unwrap();
        let args = ["--config", "site.toml", "--json", "watch", "--store", "yes", "--interval", "200ms"];
        let mut child = lab.command(&args).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next event about a confirmed change.
    fn next(&mut self) -> Value {
        let since = Instant::now();
        loop {
            let line =
                self.lines.next().unwrap_or_else(|| panic!("it ended: {:?}", self.child.wait())).unwrap();
            let event: Value = serde_json::from_str(&line).unwrap();
            if ATTESTED.contains(&event["kind"].as_str().unwrap()) {
                return event;
            }
            assert!(since.elapsed() < PATIENCE, "{line}");
        }
    }
}

/// The events about confirmed changes of a watch of three intervals.
fn events(lab: &ServedLab) -> Vec<Value> {
    let args = ["--json", "watch", "--store", "yes", "--interval", "100ms", "--count", "3"];
    let ended = lab.run(&args);
    assert!(ended.status.success(), "{ended:?}");
    let lines = String::from_utf8(ended.stdout).unwrap();
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| ATTESTED.contains(&event["kind"].as_str().unwrap())).collect()
}

#[test]
fn a_watch_reports_that_a_confirmed_change_is_overwritten_and_stands_again() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(events(&lab), [Value::Null; 0], "it stands");
    let steps = write_beside(&lab);
    let found = events(&lab);
    assert_eq!(found.len(), 1, "{found:#?}");
    let (kind, subject) = (&found[0]["kind"], &found[0]["subject"]);
    assert_eq!((kind, subject), (&"change-overwritten".into(), &Value::from(id.as_str())));
    let words = found[0]["text"].as_str().unwrap();
    assert!(words.starts_with("change 1 no longer stands:") && words.contains("differ"), "{words}");
    assert_eq!(events(&lab), [Value::Null; 0], "it was reported by the watch before");
    // While a watch runs, a table that differs is the reason to compare.
    let mut watch = StoringWatch::start(&lab);
    std::thread::sleep(Duration::from_secs(1));
    take_back_beside(&lab, &steps);
    let stands = watch.next();
    assert_eq!((&stands["kind"], &stands["subject"]), (&"change-stands".into(), &Value::from(id.as_str())));
    drop(watch);
    let stored = lab.run_to_end(&["events", "--kind", "change-overwritten,change-stands"], 0);
    assert_eq!(stored.lines().count(), 2, "{stored}");
}
