//! The way back of a confirmed change: a plan that is applied like any other.

use super::processes::{DEMO, ServedLab};

const ACCEPTED: &str = "transition,cycle,unreachable,lanes";

/// Plans the way back into a file, and applies and confirms it as the next change.
fn undo(lab: &ServedLab, number: &str, next: &str) {
    let planned = lab.run(&["undo", number, "-o", "back.plan", "--force"]);
    assert!(matches!(planned.status.code(), Some(0 | 2)), "{planned:?}");
    lab.run_to_end(&["apply", "back.plan", "--yes", "--accept", ACCEPTED], 0);
    lab.run_to_end(&["confirm", next], 0);
}

#[test]
fn tables_are_put_back_by_a_plan_and_that_is_undone_in_turn() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    let said = lab.run_to_end(&["undo", &id, "-o", "back.plan"], 4);
    assert!(said.contains("FD-7905") && said.contains(&format!("fabdeck rollback {id}")), "{said}");
    lab.run_to_end(&["confirm", &id], 0);
    let after = lab.tables();
    assert_ne!(after, before);
    undo(&lab, "1", "2");
    assert_eq!(lab.tables(), before);
    assert!(lab.row()["engine"].as_str().unwrap().starts_with("undo of change 1 (updn)"), "{}", lab.row());
    let said = lab.run_to_end(&["undo", "1", "-o", "again.plan"], 1);
    assert!(said.contains("FD-7906") && !lab.home.path().join("again.plan").exists(), "{said}");
    // The undo is a change like any other.
    undo(&lab, "2", "3");
    assert_eq!(lab.tables(), after);
}

#[test]
fn a_change_that_was_rolled_back_has_nothing_to_undo() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    lab.run_to_end(&["rollback", &id], 0);
    let said = lab.run_to_end(&["undo", &id, "-o", "back.plan"], 4);
    assert!(said.contains("FD-7905") && said.contains("it is not in force"), "{said}");
}

/// A port that was disabled is enabled again, and the other way round.
#[test]
fn the_service_of_a_link_is_put_back() {
    let lab = ServedLab::new(DEMO);
    // A port that is out of service has no cable, and no row.
    let ports = || lab.run_to_end(&["show", "ports", "--filter", "spine-1"], 0);
    let before = ports();
    lab.run_to_end(&["disable", "link:spine-1[1]", "-o", "out.plan"], 2);
    lab.run_to_end(&["apply", "out.plan", "--yes", "--accept", ACCEPTED], 0);
    lab.run_to_end(&["confirm", "1"], 0);
    let after = ports();
    assert_ne!(after, before);
    undo(&lab, "1", "2");
    assert_eq!(ports(), before);
    undo(&lab, "2", "3");
    assert_eq!(ports(), after);
}
