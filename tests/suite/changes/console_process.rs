//! The console itself, on a terminal of its own: what becomes of its changes when it goes.

use std::time::{Duration, Instant};

use super::processes::{DEMO, ServedLab};
use crate::console::pty::Session;

/// A console on a served fabric that has applied a plan, to be confirmed within half a minute.
fn applied(lab: &ServedLab) -> Session {
    let path = |name: &str| lab.home.path().join(name).display().to_string();
    let source = format!("sim:{}", path("lab.sock"));
    let mut session = Session::open(&["--source", &source, "--state-dir", &path("state")], 120, 40);
    session.until("spine");
    apply(&mut session, &path("a.plan"));
    session
}

/// The window as short as it gets, and the one finding taken in.
fn apply(session: &mut Session, plan: &str) {
    session.press(&format!(":apply {plan}\r"));
    session.until("Cancel ]");
    session.press("---- ");
    session.press("\t\t\r");
    session.until("is rolled back at");
}

/// It goes back by the time that was said, and what switches hold says so.
#[track_caller]
fn wait_for_rollback(lab: &ServedLab, before: &str, since: Instant) {
    lab.wait_for_state("rolled-back", Duration::from_secs(45));
    println!("said: rolled back {:?} after it was applied", since.elapsed());
    assert!(since.elapsed() < Duration::from_secs(35), "{:?}", since.elapsed());
    assert_eq!(lab.tables(), before);
    assert!(lab.row()["why"].as_str().unwrap().contains("it was not confirmed in time"));
}

#[test]
fn a_console_that_is_hung_up_leaves_its_change_to_the_guard() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let mut session = applied(&lab);
    let since = Instant::now();
    assert_ne!(lab.tables(), before);
    session.hang_up();
    assert_eq!(session.ended(), 129);
    assert_eq!(lab.state(), "applied");
    wait_for_rollback(&lab, &before, since);
}

#[test]
fn a_console_that_is_killed_leaves_its_change_to_the_guard() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let mut session = applied(&lab);
    let since = Instant::now();
    assert_ne!(lab.tables(), before);
    session.signal("KILL");
    session.ended();
    wait_for_rollback(&lab, &before, since);
}

/// The console that ends while a change is pending prints what goes on and how to decide.
#[test]
fn a_console_that_is_left_says_what_goes_on() {
    let lab = ServedLab::new(DEMO);
    let mut session = applied(&lab);
    session.press("q");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    let said: String = session.text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("continues without this session") && said.contains(&id), "{said}");
    lab.run_to_end(&["confirm", &id], 0);
}

/// A guard that is gone has a successor before the screen is there; the screen says so, and the terminal before it nothing.
#[test]
fn a_console_takes_over_what_was_left_behind() {
    let lab = ServedLab::new(DEMO);
    lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition"], 0);
    // The process beside it would take over as well.
    lab.kill_guards();
    let path = |name: &str| lab.home.path().join(name).display().to_string();
    let source = format!("sim:{}", path("lab.sock"));
    let mut session = Session::open(&["--source", &source, "--state-dir", &path("state")], 120, 40);
    session.until("spine");
    let first = String::from_utf8_lossy(&session.raw_since(0)).into_owned();
    let screen = first.find("\x1b[?1049h").unwrap();
    assert!(!first[..screen].contains("guard"), "{:?}", &first[..screen]);
    session.press("M");
    session.until("its guard was gone; another one takes over");
    session.press("q");
    session.press(":quit\r");
    session.ended();
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    lab.run_to_end(&["confirm", &id], 0);
}

/// In the simulator of the process a look again shows what a change made of it, and the change ends with the process.
#[test]
fn a_change_of_the_consoles_own_simulator_outlives_a_look_and_not_the_console() {
    let lab = ServedLab::new(DEMO);
    let plan = lab.home.path().join("own.plan").display().to_string();
    let made = super::processes::command(lab.home.path())
        .args(["--source", DEMO, "route", "--engine", "updn", "-o", &plan])
        .output()
        .unwrap();
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    let mut session = Session::open(&["--source", DEMO], 120, 40);
    session.until("spine");
    apply(&mut session, &plan);
    session.press("y");
    session.until("Confirm ]");
    session.press("\x1b[Z\r");
    session.until("is confirmed and stays");
    session.press("r");
    session.quiet();
    session.press(&format!(":apply {plan}\r"));
    session.until("nothing to do");
    session.press(":quit\r");
    assert_eq!(session.ended(), 0);
    session.assert_restored();
}
