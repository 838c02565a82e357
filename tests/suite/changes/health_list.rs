//! The changes that `health` lists: those of its fabric that wait to be decided.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::processes::ServedLab;
use fabdeck_change::{BeginRecord, ChangeStore, GuardLock, JournalRecord};

/// A fabric without a problem.
const WELL: &str = "sim:kary,k=4,n=2,traffic=none";

const CHECK: [&str; 3] = ["health", "--interval", "500ms"];

fn checked(lab: &ServedLab, code: i32) -> Value {
    let ended = lab.run(&[&CHECK[..], &["--json"]].concat());
    assert_eq!(ended.status.code(), Some(code), "{ended:?}");
    serde_json::from_slice(&ended.stdout).unwrap()
}

#[test]
fn a_change_that_waits_is_listed_and_is_no_problem() {
    let lab = ServedLab::new(WELL);
    assert_eq!(checked(&lab, 0)["changes"], Value::Array(Vec::new()));
    let id = lab.apply();
    let answer = checked(&lab, 0);
    let row = &answer["changes"][0];
    assert_eq!((row["id"].as_str(), row["state"].as_str()), (Some(id.as_str()), Some("applied")));
    assert_eq!(row["pairs"]["after"], 0, "the pairs of its plan: {row}");
    assert!(row["pairs"]["pairs"].as_u64().is_some_and(|pairs| pairs > 0), "{row}");
    let text = lab.run_to_end(&CHECK, 0);
    for words in [
        "1 is applied, not confirmed: updn: ",
        "rolled back by itself at ",
        "pairs without a path: before ",
        &format!("fabdeck confirm {id} confirms it, fabdeck rollback {id} rolls it back"),
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(checked(&lab, 0)["changes"], Value::Array(Vec::new()), "it is decided");
}

/// A change of this fabric whose guard has not rolled it back in time.
fn overdue(lab: &ServedLab, switches: BTreeSet<String>) -> (ChangeStore, GuardLock) {
    let socket = lab.home.path().join("lab.sock").canonicalize().unwrap();
    let simulator = Some(socket.display().to_string());
    let store = ChangeStore::open(&lab.home.path().join("state")).unwrap();
    let begun = BeginRecord {
        id: "0badcafe".into(),
        engine: "updn".into(),
        simulator,
        switches,
        ..Default::default()
    };
    let (kept, lock) = store.begin(begun, "{}").unwrap();
    let past = |minutes| (Timestamp::now() - SignedDuration::from_mins(minutes)).to_string();
    let applied = JournalRecord::Applied { time: past(12), deadline: past(2), ends: None };
    kept.journal().unwrap().0.append_durably(&applied).unwrap();
    (store, lock)
}

#[test]
fn an_overdue_change_counts_as_a_problem() {
    let lab = ServedLab::new(WELL);
    let switches: Value = serde_json::from_str(&lab.run_to_end(&["show", "switches", "--json"], 0)).unwrap();
    let guids = switches["rows"].as_array().unwrap().iter();
    let guids: BTreeSet<String> = guids.map(|row| row["guid"].as_str().unwrap().to_owned()).collect();
    assert!(guids.len() > 1, "{switches}");
    let _held = overdue(&lab, guids);
    let answer = checked(&lab, 2);
    assert_eq!(answer["worst"], Value::Null, "no problem of the fabric");
    assert_eq!(answer["changes"][0]["overdue"], true, "{answer}");
    let text = lab.run_to_end(&CHECK, 2);
    assert!(text.contains("1 is OVERDUE") && text.contains("it should have been rolled back at"), "{text}");
    let text = lab.run_to_end(&[&CHECK[..], &["--format", "nagios"]].concat(), 2);
    assert!(text.contains("FABDECK CRITICAL - no problem: change 1 is OVERDUE"), "{text}");
}

#[test]
fn a_change_of_another_fabric_is_not_listed() {
    let lab = ServedLab::new(WELL);
    let _held = overdue(&lab, BTreeSet::from(["0x00000000000000ff".to_owned()]));
    assert_eq!(checked(&lab, 0)["changes"], Value::Array(Vec::new()));
}
