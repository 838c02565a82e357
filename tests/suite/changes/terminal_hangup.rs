//! A session on a terminal of its own that goes from one moment to the next: its change is taken back by the deadline.

use std::process::Command;
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

/// A lock that a script holds while it applies a plan is free again when the script ends, not when the change does.
#[test]
fn a_guard_holds_no_file_of_its_caller() {
    let lab = ServedLab::new(DEMO);
    let apply = lab.command(&["apply", "a.plan", "--yes", "--accept", "transition"]);
    let mut script = Command::new("sh");
    script.args(["-c", "exec 9>held && exec \"$0\" \"$@\""]).arg(apply.get_program()).args(apply.get_args());
    let variables = apply.get_envs().filter_map(|(name, value)| Some((name, value?)));
    script.envs(variables).current_dir(lab.home.path());
    assert!(script.status().unwrap().success());
    let guards = lab.guards();
    assert!(!guards.is_empty());
    for guard in guards {
        let open = std::fs::read_dir(format!("/proc/{guard}/fd")).unwrap();
        let files: Vec<_> = open.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok()).collect();
        assert!(files.len() > 3 && files.iter().all(|file| !file.ends_with("held")), "{files:?}");
    }
}

/// An update of the package while a session is open.
#[test]
fn a_program_whose_file_is_gone_still_starts_its_guard() {
    let lab = ServedLab::new(DEMO);
    let copy = lab.home.path().join("fabdeck-before");
    let apply = lab.command(&["apply", "a.plan", "--yes", "--accept", "transition"]);
    std::fs::copy(apply.get_program(), &copy).unwrap();
    let mut session = Command::new(&copy);
    let variables = apply.get_envs().filter_map(|(name, value)| Some((name, value?)));
    session.args(apply.get_args()).envs(variables).current_dir(lab.home.path());
    let mut session = session.spawn().unwrap();
    std::fs::remove_file(&copy).unwrap();
    assert!(session.wait().unwrap().success());
    let id = lab.row()["id"].as_str().unwrap().to_owned();
    lab.run_to_end(&["confirm", &id], 0);
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
