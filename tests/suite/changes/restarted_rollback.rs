//! A rollback that could not be brought to its end, begun again.

use std::time::{Duration, Instant};

use super::foreign_writes::{take_back_beside, write_beside};
use super::processes::{DEMO, ServedLab};

/// Whether it has the sign that nothing is left to do, which its guard leaves as the last thing.
fn has_end_marker(lab: &ServedLab) -> bool {
    let since = Instant::now();
    let there = || lab.folder().join("ended").exists();
    while !there() && since.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    there()
}

/// What another tool wrote stays, and is named each time; once it is gone all goes back.
#[test]
fn an_incomplete_rollback_is_begun_again_when_it_is_asked_for() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    let steps = write_beside(&lab);
    lab.run_to_end(&["rollback", &id, "--force"], 6);
    assert_eq!(lab.state(), "incomplete");
    assert!(has_end_marker(&lab));
    // What is left needs a person, and monitoring says so as long as it is there.
    let listed = lab.run_to_end(&["changes"], 6);
    assert!(listed.contains("FD-7926") && listed.contains(&format!("rollback {id}")), "{listed}");
    let metrics = lab.run_to_end(&["changes", "--format", "prometheus"], 6);
    assert!(metrics.contains("\nfabdeck_changes_incomplete 1\n"), "{metrics}");
    let ended = lab.run_to_end(&["rollback", &id, "--force"], 6);
    assert!(ended.contains("retry") && ended.contains("another tool has written there"), "{ended}");
    assert!(has_end_marker(&lab));
    take_back_beside(&lab, &steps);
    lab.run_to_end(&["rollback", &id, "--force"], 0);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
    assert!(!lab.run_to_end(&["changes"], 0).contains("FD-7926"));
    assert!(lab.run_to_end(&["rollback", &id], 4).contains("FD-7985"));
    let journal = std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    let of = |record: &str| journal.matches(&format!("\"record\":\"{record}\"")).count();
    assert_eq!((of("again"), of("returned"), of("returning")), (2, 3, 1), "{}", lab.logs());
    assert_eq!(lab.trail().matches("\"what\":\"rolling back again\"").count(), 2);
}

/// One pending change of a fabric at a time, whichever began it first.
#[test]
fn a_rollback_is_not_begun_again_beside_a_pending_change() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    write_beside(&lab);
    lab.run_to_end(&["rollback", &id, "--force"], 6);
    lab.run(&["route", "--engine", "updn", "-o", "c.plan"]);
    let pending = lab.apply_plan("c.plan");
    let refused = lab.run_to_end(&["rollback", &id, "--force"], 4);
    assert!(refused.contains("FD-5632") && refused.contains(&pending), "{refused}");
    assert!(has_end_marker(&lab));
    lab.run_to_end(&["confirm", &pending], 0);
    // A later change that stays settles what was left.
    assert!(!lab.run_to_end(&["changes"], 0).contains("FD-7926"));
}
