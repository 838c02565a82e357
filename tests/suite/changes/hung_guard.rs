//! A guard that hangs: a second process holds the deadline too.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use super::processes::{DEMO, ServedLab};

/// What the changes of these tests are given.
const WINDOW: Duration = Duration::from_secs(30);

/// A fabric with a change that waits for 30 s, its tables before, and when the change was applied.
fn apply_for_window() -> (ServedLab, String, Instant) {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let apply = ["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"];
    lab.run_to_end(&apply, 0);
    (lab, before, Instant::now())
}

fn signal(name: &str, pid: &str) {
    assert!(Command::new("kill").args(["-s", name, pid]).status().unwrap().success());
}

/// The second process beside the guard of a change; empty where there is none.
fn second_of(id: &str) -> String {
    let found = Command::new("pgrep").args(["-f", &format!("guard --second {id}")]).output().unwrap();
    String::from_utf8(found.stdout).unwrap().trim().to_owned()
}

fn await_second(lab: &ServedLab, id: &str) -> String {
    let since = Instant::now();
    while second_of(id).is_empty() {
        assert!(since.elapsed() < Duration::from_secs(10), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
    second_of(id)
}

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
    let (lab, before, applied) = apply_for_window();
    let guard = lab.guards().remove(0);
    signal("STOP", &guard);
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
    let (lab, before, applied) = apply_for_window();
    signal("KILL", &lab.guards().remove(0));
    await_rollback(&lab, applied);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// The state folder is away for a moment: the second process stays.
#[test]
fn a_folder_that_was_away_for_a_moment_keeps_its_second_process() {
    let (lab, before, applied) = apply_for_window();
    let (state, away) = (lab.home.path().join("state"), lab.home.path().join("away"));
    std::fs::rename(&state, &away).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    std::fs::rename(&away, &state).unwrap();
    signal("STOP", &lab.guards().remove(0));
    await_rollback(&lab, applied);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// The second process is killed, and the guard starts another one, which holds the deadline when the guard stops.
#[test]
fn a_killed_second_process_is_replaced() {
    let (lab, before, applied) = apply_for_window();
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    let first = await_second(&lab, &id);
    signal("KILL", &first);
    while [first.as_str(), ""].contains(&second_of(&id).as_str()) {
        assert!(applied.elapsed() < Duration::from_secs(25), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(100));
    }
    signal("STOP", &lab.guards().remove(0));
    await_rollback(&lab, applied);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// The guard is stopped and the second process is gone: the command of systemd's timer ends the guard and rolls back.
#[test]
fn a_stopped_guard_without_a_second_process_is_ended_by_resume() {
    let (lab, before, applied) = apply_for_window();
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    signal("STOP", &lab.guards().remove(0));
    signal("KILL", &await_second(&lab, &id));
    std::thread::sleep((WINDOW + Duration::from_secs(6)).saturating_sub(applied.elapsed()));
    let said = lab.run_to_end(&["guard", "--resume"], 0);
    assert!(said.contains("is stopped beyond the deadline, and was ended"), "{said}");
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}

/// A plan that is being written by a guard, which is stopped; the second process is killed. Returns `apply`, which waits.
fn stop_while_writing(lab: &ServedLab) -> Child {
    let apply = ["apply", "a.plan", "--yes", "--accept", "transition,cycle"];
    let applying = lab.command(&apply).spawn().unwrap();
    let since = Instant::now();
    let parent = applying.id().to_string();
    let guard = loop {
        let is_listening = lab.folder().join("guard.sock").exists();
        let guard = lab.guards().into_iter().find(|pid| *pid != parent && !pid.is_empty());
        if let Some(guard) = guard.filter(|_| is_listening) {
            break guard;
        }
        assert!(since.elapsed() < Duration::from_secs(20), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(1));
    };
    signal("STOP", &guard);
    let journal = std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    assert!(!journal.contains("\"record\":\"applied\""), "the guard was faster than the test");
    let id = journal.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    // It may have been stopped before it started one.
    std::thread::sleep(Duration::from_secs(1));
    Some(second_of(id)).filter(|second| !second.is_empty()).iter().for_each(|second| signal("KILL", second));
    applying
}

/// The change has no deadline yet. `apply` does not wait without end, `changes` reports it, and `guard --resume` takes it back.
#[test]
fn a_guard_that_is_stopped_while_it_writes_is_reported_and_ended_by_resume() {
    let lab = ServedLab::new("sim:torus,dims=4x4,terminals=30,traffic=none");
    let before = lab.tables();
    let applying = stop_while_writing(&lab);
    std::thread::sleep(Duration::from_secs(5));
    let listed = lab.run_to_end(&["changes"], 6);
    assert!(listed.contains("OVERDUE") && listed.contains("neither writes nor answers"), "{listed}");
    let applied = applying.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&applied.stderr).into_owned();
    assert_eq!(applied.status.code(), Some(6), "{said}");
    assert!(said.contains("FD-7992") && said.contains("is stopped by a signal"), "{said}");
    let said = lab.run_to_end(&["guard", "--resume"], 0);
    assert!(said.contains("is stopped while it is applying, and was ended"), "{said}");
    assert!(matches!(lab.state().as_str(), "rolled-back" | "refused"), "{}", lab.state());
    assert_eq!(lab.tables(), before);
}

/// `guard --resume` keeps no change itself: a change that loses both processes later gets a guard from the next run.
#[test]
fn resume_ends_while_the_guards_that_it_started_go_on() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let id = lab.apply();
    for _ in 0..2 {
        lab.kill_guards();
        let mut resuming = lab.command(&["guard", "--resume"]).spawn().unwrap();
        let since = Instant::now();
        let ended = loop {
            if let Some(ended) = resuming.try_wait().unwrap() {
                break ended;
            }
            if since.elapsed() > Duration::from_secs(15) {
                resuming.kill().unwrap();
                panic!("it keeps the change itself{}", lab.logs());
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(ended.success());
        assert!(fabdeck_change::is_listening(&lab.folder().join("guard.sock")), "{}", lab.logs());
    }
    lab.run_to_end(&["rollback", &id], 0);
    assert_eq!((lab.state(), lab.tables()), ("rolled-back".to_owned(), before));
}
