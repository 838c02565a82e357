//! Another tool that writes in the window, from another machine: reported with its likely origin, and left.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fabdeck_change::{Plan, WriteStep};
use fabdeck_live::{LiveActuator, LiveOptions, WriteRight, open_actuator};
use fabdeck_mad::access::{Actuator, DeviceAttribute, NoObserver, ReadOptions, Surveyor};
use serde_json::Value;

use super::processes::{DEMO, ServedLab};

/// Another machine changes what is no longer pending. Returns the switches that it writes.
pub fn change_from_other_machine(lab: &ServedLab) -> BTreeSet<String> {
    lab.run_to_end(&["route", "--engine", "minhop", "--fail", "switch:spine-1", "-o", "b.plan"], 0);
    let accepted = "transition,cycle,unreachable,lanes";
    let apply = ["apply", "b.plan", "--yes", "--accept", accepted, "--confirm-within", "2m"];
    run_on_other_machine(lab, &apply);
    let plan = std::fs::read_to_string(lab.home.path().join("b.plan")).unwrap();
    let plan: Value = serde_json::from_str(&plan).unwrap();
    let writes = plan["writes"].as_array().unwrap();
    writes.iter().map(|write| write["switch"].as_str().unwrap().to_owned()).collect()
}

/// Another tool, which does not check for pending changes, writes the tables of a plan. Returns what it wrote.
pub fn write_beside(lab: &ServedLab) -> Vec<WriteStep> {
    lab.run_to_end(&["route", "--engine", "minhop", "--fail", "switch:spine-1", "-o", "b.plan"], 0);
    write_plan(lab, "b.plan")
}

pub fn write_plan(lab: &ServedLab, file: &str) -> Vec<WriteStep> {
    let plan = Plan::read(&std::fs::read_to_string(lab.home.path().join(file)).unwrap()).unwrap();
    let steps: Vec<WriteStep> = plan.writes.iter().map(|write| write.to_step().unwrap()).collect();
    let mut tool = tool(lab);
    steps.iter().for_each(|step| tool.write(&step.slot, &step.new).unwrap());
    steps
}

/// It takes back what still stands there.
pub fn take_back_beside(lab: &ServedLab, steps: &[WriteStep]) {
    let mut tool = tool(lab);
    let slots: Vec<DeviceAttribute> = steps.iter().map(|step| step.slot).collect();
    for (step, held) in steps.iter().zip(tool.read(&slots)) {
        if held.unwrap() == step.new {
            tool.write(&step.slot, &step.old).unwrap();
        }
    }
}

fn tool(lab: &ServedLab) -> LiveActuator {
    let source = format!("sim:{}", lab.home.path().join("lab.sock").display());
    let mut tool = open_actuator(&source, &LiveOptions::default(), &WriteRight::default()).unwrap();
    tool.read_fabric(ReadOptions::default(), &mut NoObserver).unwrap();
    tool
}

/// What the other machine does.
pub fn run_on_other_machine(lab: &ServedLab, args: &[&str]) -> Value {
    let run = |args: &[&str]| {
        let ended = lab.command_of("./other", args).output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        ended.stdout
    };
    run(args);
    serde_json::from_slice(&run(&["changes", "--json"])).unwrap()
}

#[test]
fn drift_is_reported_with_its_possible_cause_and_left_in_place() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let steps = write_beside(&lab);
    let written: BTreeSet<String> = steps.iter().map(|step| step.slot.at.guid().to_string()).collect();
    let there = lab.tables();
    let since = Instant::now();
    while lab.row()["drift"].is_null() {
        assert!(since.elapsed() < Duration::from_secs(30), "{}", lab.row());
        std::thread::sleep(Duration::from_millis(200));
    }
    println!("said: drift told {:?} after it was written", since.elapsed());
    let drift = lab.row()["drift"].as_str().unwrap().to_owned();
    assert!(drift.contains("the subnet manager in charge is") && drift.contains("LID "), "{drift}");
    assert!(lab.trail().contains("\"what\":\"drift\""), "{}", lab.trail());
    // It is not written back.
    assert_eq!((lab.state(), lab.tables()), ("applied".to_owned(), there));
    let ended = lab.run_to_end(&["rollback", &id, "--force"], 6);
    assert!(ended.contains("another tool has written there since"), "{ended}");
    let left = lab.row()["left"].clone();
    let left = left.as_array().unwrap();
    assert!(!left.is_empty());
    for part in left {
        let what = part["what"].as_str().unwrap();
        assert!(written.iter().any(|switch| what.ends_with(switch)), "{what}");
    }
}
