//! The staged way: where a plan is not safe while traffic flows, the printed commands lead to the same tables in two
//! plans that are.

use std::process::Stdio;

use serde_json::Value;

use super::processes::{ServedLab, command};

/// What `route` tells of the way to an engine's tables, which is not safe.
fn staged(lab: &ServedLab, engine: &str) -> Value {
    let made = lab.run(&["route", "--engine", engine, "--lanes", "1", "-o", "new.plan", "--json"]);
    let report: Value = serde_json::from_slice(&made.stdout).unwrap();
    let transition = &report["transition"];
    assert_eq!(transition["safe"], false, "{transition}");
    transition["staged"].clone()
}

/// Types a printed command with `--yes`; the id of the last change in place of `ID`.
fn follow(lab: &ServedLab, line: &str) -> String {
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let id = lab.row()["id"].as_str().unwrap_or_default().to_owned();
    let yes = words.contains(&"apply").then_some("--yes");
    let words: Vec<&str> =
        words.iter().map(|word| if *word == "ID" { id.as_str() } else { word }).chain(yes).collect();
    // As it stands, without the flags that the lab gives to all others.
    let ended = command(lab.home.path()).args(&words).stdin(Stdio::null()).output().unwrap();
    let said = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(ended.status.code(), Some(0), "{line}: {said}");
    said
}

/// A fabric with the tables of an engine.
fn routed(fabric: &str, engine: &str) -> ServedLab {
    let lab = ServedLab::new(&format!("sim:{fabric},traffic=none"));
    let made = lab.run(&["route", "--engine", engine, "--lanes", "1", "-o", "base.plan"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    lab.run_to_end(&["apply", "base.plan", "--yes", "--accept", "transition"], 0);
    if let Some(id) = lab.row()["id"].as_str() {
        lab.run_to_end(&["confirm", id], 0);
    }
    lab
}

/// From the tables of one engine to those of another, along the commands.
fn run_staged_plans(fabric: &str, first: &str, then: &str) {
    let lab = routed(fabric, first);
    let before = lab.tables();
    let told = staged(&lab, then);
    let commands: Vec<&str> =
        told["commands"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    assert_eq!(commands.len(), 6, "{fabric}: {first} to {then}: {told}");
    // `plan show` and `apply` of the plan print them too.
    let refused = lab.run_to_end(&["apply", "new.plan", "--yes"], 4);
    let shown = lab.run_to_end(&["plan", "show", "new.plan"], 0);
    for line in &commands {
        assert!(refused.contains(line) && shown.contains(line), "{line}: {refused}{shown}");
    }
    assert_eq!(lab.tables(), before, "nothing was written so far");
    for line in &commands {
        let said = follow(&lab, line);
        if line.contains(" route ") {
            assert!(
                said.contains("safe while traffic flows") && !said.contains("not safe"),
                "{line}: {said}"
            );
        }
    }
    assert_ne!(lab.tables(), before);
    // It is where the one plan would have led.
    let again = lab.run_to_end(&["route", "--engine", then, "--lanes", "1", "-o", "again.plan"], 0);
    assert!(again.contains("nothing changes"), "{again}");
    println!("said: {fabric}, {first} to {then}: {commands:?}");
}

#[test]
fn the_printed_commands_reach_the_same_tables() {
    run_staged_plans("random,switches=8,links=12,terminals=4,seed=5", "updn", "nue");
}

#[test]
fn the_commands_lead_there_on_another_fabric_too() {
    run_staged_plans("random,switches=8,links=12,terminals=4,seed=6", "nue", "ftree");
}

/// Nothing but tables is written: routes that are safe on several lanes alone are none to go through.
#[test]
fn routes_on_several_lanes_are_no_way() {
    let lab = routed("random,switches=8,links=14,terminals=4,seed=3", "updn");
    let told = staged(&lab, "ftree");
    assert!(told["through"].is_null() && told["asked"].as_array().unwrap().len() > 1, "{told}");
}

/// Where every engine was asked in vain, and where one of both routes has a credit loop of its own: that is said, and no command
/// is told.
#[test]
fn where_no_way_is_known_none_is_offered() {
    let lab = routed("torus,dims=4x4,terminals=2", "updn");
    for (engine, asked) in [("nue", true), ("minhop", false)] {
        let told = staged(&lab, engine);
        assert_eq!(
            (&told["through"], told["commands"].as_array().unwrap().len()),
            (&Value::Null, 0),
            "{told}"
        );
        assert_eq!(!told["asked"].as_array().unwrap().is_empty(), asked, "{told}");
        let shown = lab.run_to_end(&["plan", "show", "new.plan"], 0);
        let refused = lab.run_to_end(&["apply", "new.plan", "--yes"], 4);
        for said in [shown, refused] {
            assert!(said.contains("traffic has to be drained") && !said.contains("fabdeck route"), "{said}");
            assert!(
                said.contains(if asked { "no routes of updn" } else { "a credit loop of its own" }),
                "{said}"
            );
        }
        std::fs::remove_file(lab.home.path().join("new.plan")).unwrap();
    }
}
