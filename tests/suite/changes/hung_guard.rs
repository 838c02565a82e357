//! A guard that hangs: a second process holds the deadline too.

use std::process::Command;
use std::time::{Duration, Instant};

use super::processes::{DEMO, ServedLab};

/// What the changes of these tests are given.
const WINDOW: Duration = Duration::from_secs(30);

/// Waits until the journal says that the change is back, which has to be within five seconds of its deadline. No command is
/// run meanwhile: any command would give the change another guard.
fn await_rollback(lab: &ServedLab, applied: Instant) {
    let journal = || std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    while !journal().contains("\"record\":\"returned\"") {
        assert!(applied.elapsed() < Duration::from_secs(60), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(50));
    }
    let late = applied.elapsed().saturating_sub(WINDOW);
    assert!(late < Duration::from_secs(5), "{late:?}");
}

/// SIGSTOP beyond the deadline: the guard is ended, so that it can never write again, and the change goes back in time.
#[test]
fn a_guard_that_is_stopped_is_ended_and_the_change_taken_back() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let apply = ["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"];
    lab.run_to_end(&apply, 0);
    let applied = Instant::now();
    let guard = lab.guards().remove(0);
    let signal = |name: &str| Command::new("kill").args(["-s", name, &guard]).status().unwrap().success();
    assert!(signal("STOP"));
    await_rollback(&lab, applied);
    // Its parent may not have taken note of its end yet.
    let stat = std::fs::read_to_string(format!("/proc/{guard}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "the guard is gone for good: {stat}");
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
    assert!(lab.trail().contains("\"what\":\"guard replaced\""), "{}", lab.trail());
}

/// kill -9, and no other fabdeck starts: the deadline is held all the same.
#[test]
fn a_guard_that_is_killed_has_the_change_taken_back_at_its_deadline() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"], 0);
    let applied = Instant::now();
    let guard = lab.guards().remove(0);
    assert!(Command::new("kill").args(["-s", "KILL", &guard]).status().unwrap().success());
    await_rollback(&lab, applied);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// The state folder is away for a moment: the second process stays.
#[test]
fn a_folder_that_was_away_for_a_moment_keeps_its_second_process() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"], 0);
    let applied = Instant::now();
    let (state, away) = (lab.home.path().join("state"), lab.home.path().join("away"));
    std::fs::rename(&state, &away).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    std::fs::rename(&away, &state).unwrap();
    let guard = lab.guards().remove(0);
    assert!(Command::new("kill").args(["-s", "STOP", &guard]).status().unwrap().success());
    await_rollback(&lab, applied);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// The second process is killed, and the guard starts another one, which holds the deadline when the guard stops.
#[test]
fn a_killed_second_process_is_replaced() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"], 0);
    let applied = Instant::now();
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    let second = || {
        let found = Command::new("pgrep").args(["-f", &format!("guard --second {id}")]).output().unwrap();
        String::from_utf8(found.stdout).unwrap().trim().to_owned()
    };
    while second().is_empty() {
        assert!(applied.elapsed() < Duration::from_secs(10), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    let first = second();
    assert!(Command::new("kill").args(["-s", "KILL", &first]).status().unwrap().success());
    while second() == first || second().is_empty() {
        assert!(applied.elapsed() < Duration::from_secs(25), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(100));
    }
    let guard = lab.guards().remove(0);
    assert!(Command::new("kill").args(["-s", "STOP", &guard]).status().unwrap().success());
    await_rollback(&lab, applied);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}
