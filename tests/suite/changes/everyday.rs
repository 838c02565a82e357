//! The change that README.md shows: its lines, typed one after another, lead from a plan to a change that is kept.

use std::process::Stdio;

use serde_json::Value;

use super::processes::{DEMO, ServedLab, command};

/// The block of README.md that begins with a simulator that is served, without its comments.
fn lines() -> Vec<String> {
    let readme = std::fs::read_to_string(concat!(env!("FABDECK_ROOT"), "/README.md")).unwrap();
    let block = readme.split("```\n").find(|block| block.contains("simulate --serve")).expect("a block");
    let line = |line: &str| line.split("  #").next().unwrap().trim().to_owned();
    block.lines().map(line).filter(|line| !line.is_empty()).collect()
}

/// What a command says, as it stands and without a flag that the README does not show; `apply` gets `--yes`.
fn typed(lab: &ServedLab, line: &str, more: &[&str]) -> String {
    let words = line.split(' ').skip(1).chain(more.iter().copied());
    let ended = command(lab.home.path()).args(words).stdin(Stdio::null()).output().unwrap();
    let said = [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(ended.status.code(), Some(0), "{line}: {}", said.concat());
    said[0].clone()
}

fn last_change(lab: &ServedLab) -> Value {
    let changes = typed(lab, "fabdeck --source sim:./lab.sock changes --json", &[]);
    serde_json::from_str::<Value>(&changes).unwrap()["rows"][0].clone()
}

#[test]
fn the_change_of_the_readme_leads_from_plan_to_confirm() {
    let lines = lines();
    let verbs = ["simulate", "route", "apply", "confirm"];
    assert_eq!(lines.len(), verbs.len(), "{lines:?}");
    for (line, verb) in lines.iter().zip(verbs) {
        assert!(line.starts_with("fabdeck ") && line.contains(verb), "{line}");
    }
    // The first of them is what a lab begins with.
    assert_eq!(lines[0], "fabdeck --source sim:demo simulate --serve lab.sock &");
    let lab = ServedLab::new("sim:demo");
    let before = lab.tables();
    let routed = typed(&lab, &lines[1], &[]);
    assert!(routed.contains("safe while traffic flows") && !routed.contains("not safe"), "{routed}");
    assert_eq!(lab.tables(), before, "nothing is written by a plan");
    typed(&lab, &lines[2], &["--yes"]);
    assert_ne!(lab.tables(), before);
    let pending = last_change(&lab);
    assert_eq!(pending["state"], "applied", "{pending}");
    typed(&lab, &lines[3].replace("ID", pending["id"].as_str().unwrap()), &[]);
    assert_eq!(last_change(&lab)["state"], "confirmed");
    // Nothing goes over the cable any more that the plan is about.
    let users = typed(&lab, "fabdeck --source sim:./lab.sock show users rack3-leaf[10] --json", &[]);
    assert_eq!(serde_json::from_str::<Value>(&users).unwrap()["rows"], serde_json::json!([]), "{users}");
}

/// A plan that writes nothing starts no change and asks no question. Where the tables that it was made upon are those
/// of a pending change, it is refused, because they may be rolled back.
#[test]
fn a_plan_without_writes_ends_with_nothing_to_do() {
    let lab = ServedLab::new(DEMO);
    lab.run_to_end(&["route", "--engine", "minhop", "-o", "same.plan"], 0);
    let text = lab.run_to_end(&["apply", "same.plan"], 0);
    assert!(text.contains("nothing to do: the plan writes nothing"), "{text}");
    let json = lab.run(&["apply", "same.plan", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(
        (&json["state"], &json["writes"], &json["id"]),
        (&"unchanged".into(), &0.into(), &Value::Null)
    );
    assert_eq!((lab.row(), lab.guards()), (Value::Null, Vec::new()), "no change was begun");

    let pending = lab.apply();
    lab.run_to_end(&["route", "--engine", "updn", "-o", "upon-pending.plan"], 0);
    let refused = lab.run_to_end(&["apply", "upon-pending.plan", "--yes"], 4);
    assert!(refused.contains(&pending[..8]), "{refused}");
    lab.run_to_end(&["confirm", &pending], 0);
    let text = lab.run_to_end(&["apply", "upon-pending.plan"], 0);
    assert!(text.contains("nothing to do"), "{text}");
}
