//! Guards that take a request and do not answer for long, and guards without a usable socket.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::processes::{DEMO, ServedLab};

/// The answer is that the request may still be carried out; it is carried out once, as soon as the guard continues.
#[test]
fn what_was_asked_of_a_guard_that_is_silent_is_done_once() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let guard = lab.guards().remove(0);
    let signal = |name: &str| {
        assert!(Command::new("kill").args(["-s", name, &guard]).status().unwrap().success());
    };
    signal("STOP");
    let asked = lab.run(&["extend", &id, "60s"]);
    signal("CONT");
    let words = String::from_utf8(asked.stderr).unwrap();
    assert_eq!(asked.status.code(), Some(1), "{words}");
    assert!(words.contains("FD-5659") && words.contains("'extend' may still be carried out"), "{words}");
    let journal = || std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    let extended = || journal().matches("\"record\":\"extended\"").count();
    let since = Instant::now();
    while extended() == 0 {
        assert!(since.elapsed() < Duration::from_secs(10), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(10));
    }
    // Callers are answered in their order: whatever was asked before is done by now.
    lab.run_to_end(&["confirm", &id], 0);
    assert_eq!(extended(), 1, "{}", journal());
}

/// A guard that dies with a question in its socket did nothing of it: the next one is asked.
#[test]
fn what_was_asked_of_a_guard_that_is_killed_is_asked_of_the_next() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let guard = lab.guards().remove(0);
    let signal = |name: &str| {
        assert!(Command::new("kill").args(["-s", name, &guard]).status().unwrap().success());
    };
    signal("STOP");
    let asking = lab.command(&["extend", &id, "60s"]).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    signal("KILL");
    let asked = asking.wait_with_output().unwrap();
    assert_eq!(asked.status.code(), Some(0), "{}", String::from_utf8_lossy(&asked.stderr));
    let journal = std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    assert_eq!(journal.matches("\"record\":\"extended\"").count(), 1, "{journal}");
    lab.run_to_end(&["confirm", &id], 0);
}

/// A socket's path is short: in a folder with a long path no request could reach the guard, so nothing is written.
#[test]
fn a_change_that_could_not_be_confirmed_is_not_written() {
    let lab = ServedLab::new(DEMO);
    let before = lab.tables();
    let state = format!("./{}", "s".repeat(100));
    let apply = ["apply", "a.plan", "--yes", "--accept", "transition"];
    let refused = lab.command_of(&state, &apply).output().unwrap();
    let words =
        format!("{}{}", String::from_utf8_lossy(&refused.stdout), String::from_utf8_lossy(&refused.stderr));
    assert_eq!(refused.status.code(), Some(4), "{words}");
    assert!(words.contains("FD-7995") && words.contains("shorter --state-dir"), "{words}");
    assert_eq!(lab.tables(), before);
    let trail = std::fs::read_to_string(lab.home.path().join(&state).join("audit")).unwrap();
    assert!(trail.contains("\"what\":\"refused\"") && !trail.contains("\"what\":\"writing\""), "{trail}");
}
