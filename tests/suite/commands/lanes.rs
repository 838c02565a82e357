//! `lanes` and `lanes propose`.

use serde_json::Value;

use super::test_system::fabdeck;
use fabdeck::catalogue::exit::Exit;
use fabdeck_change::Plan;

const ONE: [&str; 2] = ["--lanes-in-force", "one"];

fn propose(args: &[&str], exit: Exit) -> Value {
    let ended = fabdeck(&[&["--source", "hot", "lanes", "propose", "--json"], args].concat());
    assert_eq!(ended.exit, exit, "{} {}", ended.out, ended.err);
    serde_json::from_str(&ended.out).unwrap()
}

/// A simulator's tables are as slow lanes need them, so there are flows and no writes.
#[test]
fn contributors_are_proposed_and_written_down() {
    let found = propose(&ONE, Exit::Findings);
    let spot = &found["hot_spots"][0];
    assert_eq!((&spot["state"], &spot["levels"][0]["slow"]), (&"proposed".into(), &1.into()), "{found}");
    // Who has a fair share stays: `hotspots` says so of the third.
    assert_eq!(spot["flows"].as_array().unwrap().len(), 2, "{found}");
    assert_eq!((&found["writes"], &found["plan"]), (&0.into(), &Value::Null));
    let as_should = |table: &Value| table["state"] == "as-should";
    let tables = found["tables"].as_array().unwrap();
    assert!(tables.len() > 4 && tables.iter().all(as_should), "{found}");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("slow.plan");
    let file = file.to_str().unwrap();
    let told = propose(&[&ONE[..], &["-o", file, "--no-times"]].concat(), Exit::Findings);
    assert_eq!(told["plan"], file);
    let text = std::fs::read_to_string(file).unwrap();
    let plan = Plan::read(&text).unwrap();
    assert_eq!((plan.engine.as_str(), plan.writes.len(), plan.created.clone()), ("dftree", 0, None));
    assert_eq!((plan.migrations.len(), plan.migrations[0].flows.len()), (1, 2));
    assert!(
        plan.findings.iter().any(|found| found.contains("2 of 2 hosts have no agent")),
        "{:?}",
        plan.findings
    );
    // Where a file stands nothing is written over it, and the same is written again.
    let taken = fabdeck(&["--source", "hot", "lanes", "propose", "-o", file]);
    assert!(taken.exit == Exit::Failed && taken.err.contains("FD-7922"), "{}", taken.err);
    propose(&[&ONE[..], &["-o", file, "--no-times", "--force"]].concat(), Exit::Findings);
    assert_eq!(std::fs::read_to_string(file).unwrap(), text);
    let out = fabdeck(&["--source", "hot", "lanes", "propose", ONE[0], ONE[1], "-o", "-", "--no-times"]).out;
    assert_eq!(out, text);
}

#[test]
fn what_is_quiet_moves_nothing() {
    let quiet = propose(&["--interval", "1s"], Exit::Done);
    assert_eq!(quiet["hot_spots"], Value::Array(Vec::new()));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.plan");
    let args = ["--source", "hot", "lanes", "propose", "--interval", "1s", "-o", file.to_str().unwrap()];
    let told = fabdeck(&args);
    assert!(
        told.exit == Exit::Done && told.out.contains("nothing to move") && !file.exists(),
        "{}",
        told.out
    );
    // The last of several intervals counts.
    let args = ["--interval", "4s", "--count", "3"];
    assert_eq!(propose(&args, Exit::Done)["hot_spots"], Value::Array(Vec::new()));
    let state = fabdeck(&["--source", "hot", "lanes"]);
    assert!(state.exit == Exit::Done && state.out.contains("no flow is on a slow lane"), "{}", state.out);
}

/// Nothing is on a slow lane of what is simulated here; that much is known without counters.
#[test]
fn what_is_taken_back_is_not_watched() {
    let told = propose(&["--back"], Exit::Done);
    assert_eq!((&told["hot_spots"], &told["plan"]), (&Value::Array(Vec::new()), &Value::Null));
    let both = fabdeck(&["--source", "hot", "lanes", "propose", "--back", "--interval", "1s"]);
    assert_eq!(both.exit, Exit::Usage, "{}", both.err);
}

#[test]
fn what_cannot_be_is_refused() {
    let unknown = fabdeck(&["--source", "hot", "lanes", "propose", "--lanes-in-force", "unknown"]);
    assert!(unknown.exit == Exit::Failed && unknown.err.contains("FD-7952"), "{}", unknown.err);
    // Half a watch over a fabric that changes is one over the fabric that it is then.
    let moving = fabdeck(&["--source", "moving", "lanes", "propose", "--interval", "6s"]);
    assert!(matches!(moving.exit, Exit::Done | Exit::Findings), "{} {}", moving.out, moving.err);
    let both = fabdeck(&["--source", "hot", "lanes", "--top", "3", "propose"]);
    assert_eq!(both.exit, Exit::Usage, "{}", both.err);
    let filtered = fabdeck(&["--source", "hot", "--filter", "x=1", "lanes"]);
    assert_eq!(filtered.exit, Exit::Usage, "{}", filtered.err);
}
