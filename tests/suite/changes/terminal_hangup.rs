//! A session on a terminal of its own that goes from one moment to the next: its change is taken back by the deadline.

use std::time::Duration;

use fabdeck_change::{ChangePhase, ChangeStore};
use jiff::{SignedDuration, Timestamp};

use super::processes::{DEMO, ServedLab};
use crate::console::pty::Session;

/// How long after the deadline everything has to be as it was, on a machine that has other things to do.
const BACK: SignedDuration = SignedDuration::from_secs(5);

fn applies(lab: &ServedLab) -> Session {
    let path = |name: &str| lab.home.path().join(name).display().to_string();
    let (source, state, plan) = (format!("sim:{}", path("lab.sock")), path("state"), path("a.plan"));
    let args =
        ["--source", &source, "--state-dir", &state, "apply", &plan, "--yes", "--accept", "transition"];
    Session::open(&[&args[..], &["--confirm-within", "30s", "--wait"]].concat(), 100, 24)
}

/// The sessions of processes, as the kernel tells them.
fn session_of(pid: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    text.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap().to_owned()
}

/// The window is the shortest that there is; both ends run beside each other.
#[test]
fn a_terminal_that_closes_and_a_session_that_is_killed_end_rolled_back_by_the_deadline() {
    let end = |how: &str| {
        let lab = ServedLab::new(DEMO);
        let before = lab.tables();
        let mut session = applies(&lab);
        session.until("applied, not confirmed");
        assert_ne!(lab.tables(), before);
        let guards = lab.guards();
        assert_eq!((guards.len(), session_of(&guards[0])), (1, guards[0].clone()), "no session of its own");
        match how {
            "hung up" => session.hang_up(),
            _ => session.signal("KILL"),
        }
        let code = session.ended();
        assert!(code != 0, "{how}: {code}");
        assert_eq!((lab.state(), lab.guards()), ("applied".to_owned(), guards), "{how}: the guard stays");
        let deadline: Timestamp = lab.row()["deadline"].as_str().unwrap().parse().unwrap();
        lab.wait_for_state("rolled-back", Duration::from_secs(60));
        assert_eq!(lab.tables(), before, "{how}");
        let told = ChangeStore::open(&lab.home.path().join("state"))
            .unwrap()
            .list()
            .unwrap()
            .remove(0)
            .unwrap()
            .read
            .state;
        assert_eq!(told.phase, ChangePhase::RolledBack);
        let late = told.ended.unwrap().time.parse::<Timestamp>().unwrap().duration_since(deadline);
        assert!(late > SignedDuration::ZERO && late < BACK, "{how}: {late:#}");
        println!("said: {how}: exit code {code}, all as it was {late:#} after the deadline");
    };
    std::thread::scope(|scope| {
        scope.spawn(|| end("killed"));
        end("hung up");
    });
}
