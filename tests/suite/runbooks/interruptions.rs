//! A run is ended in the middle of each of its steps, by Ctrl-C or by kill -9.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::{put, runs};
use crate::changes::processes::{DEMO, ServedLab};

/// Steps that last as long as it takes to hit them.
const SLOW: &str = r#"
name = "slow"
summary = "to be interrupted"

[[step]]
expect = { table = "switches", count = ">= 1" }

[[step]]
fail = "switch:spine-2"

[[step]]
wait = "400ms"

[[step]]
route = { engine = "updn" }

[[step]]
apply = { window = "WINDOW", accept = "transition" }

[[step]]
verify = true

[[step]]
hotspots = { interval = "1s" }

[[step]]
run = { program = "sleep", args = ["5"], timeout = "6s" }

[[step]]
wait = { file = "never", timeout = "8s", every = "1s" }

[[step]]
confirm = true

[[on_failure]]
notify = { text = "failed", file = "failed.txt" }
"#;
const STEPS: usize = 9;

/// A run that has come to a step.
fn started(lab: &ServedLab, step: usize) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut command: Command = lab.command(&["--json", "run", "slow.toml"]);
    let mut child = command.stdin(Stdio::null()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let (mut line, wanted) = (String::new(), format!("step {step} of"));
    while !line.contains(&wanted) {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "no step {step}{}", lab.logs());
    }
    (child, said)
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn ctrl_c_in_any_step_takes_back_what_was_not_confirmed() {
    let lab = ServedLab::new(DEMO);
    put(lab.home.path(), "slow.toml", &SLOW.replace("WINDOW", "2m"));
    let before = lab.tables();
    for step in 1..=STEPS {
        let name = if step % 2 == 0 { "TERM" } else { "INT" };
        let (child, mut err) = started(&lab, step);
        // Within the step, of those that last.
        std::thread::sleep(Duration::from_millis(if step == 5 { 150 } else { 60 }));
        signal(&child, name);
        let mut said = String::new();
        let ended = std::thread::scope(|scope| {
            scope.spawn(|| err.read_to_string(&mut said).unwrap());
            child.wait_with_output().unwrap()
        });
        assert_eq!(ended.status.code(), Some(if name == "INT" { 130 } else { 143 }), "step {step}: {said}");
        let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(report["state"], "interrupted", "step {step}: {report:#}");
        assert_eq!(lab.tables(), before, "step {step}: {said}{}", lab.logs());
        let state = lab.state();
        assert!(["none", "rolled-back"].contains(&state.as_str()), "step {step}: {state}");
        if step > 5 {
            assert_eq!(report["taken_back"]["state"], "rolled back", "step {step}: {report:#}");
            assert!(said.contains("is rolled back"), "step {step}: {said}");
        }
        assert!(!lab.home.path().join("failed.txt").exists(), "nothing failed");
    }
    println!("said: {STEPS} steps, each interrupted, and all as it was");
}

#[test]
fn killed_in_any_step_the_guard_keeps_the_change_and_the_next_run_says_where() {
    let lab = ServedLab::new(DEMO);
    put(lab.home.path(), "slow.toml", &SLOW.replace("WINDOW", "2m"));
    let before = lab.tables();
    for step in 1..=STEPS {
        let (mut child, _) = started(&lab, step);
        std::thread::sleep(Duration::from_millis(if step == 5 { 150 } else { 60 }));
        signal(&child, "KILL");
        child.wait().unwrap();
        let kinds = ["", "expect", "fail", "wait", "route", "apply", "verify", "hotspots", "run", "wait"];
        let row = lab.row();
        let pending = row["state"] == "applied" || row["state"] == "applying";
        // A quick step may be over by now.
        let rehearsed = lab.run(&["run", "slow.toml", "--dry-run"]);
        assert_eq!(rehearsed.status.code(), Some(0), "a rehearsal is never refused: {rehearsed:?}");
        if pending {
            // The guard of the step before may still be about to end.
            let since = Instant::now();
            while lab.guards().len() > 1 && since.elapsed() < Duration::from_secs(10) {
                std::thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(lab.guards().len(), 1, "step {step}: the change has its guard");
            let (_, said) = runs(&lab, &["slow.toml"], 4);
            let here =
                (step..=STEPS).any(|at| said.contains(&format!("interrupted in step {at} ({})", kinds[at])));
            assert!(here && said.contains("FD-5632"), "step {step}: {said}");
            let id = row["id"].as_str().unwrap();
            assert!(said.contains(&format!("its change {id} is")), "step {step}: {said}");
            lab.run_to_end(&["rollback", id], 0);
        } else {
            assert!(step <= 5, "step {step}: {row}");
            let (child, mut err) = started(&lab, 1);
            signal(&child, "INT");
            let ended = std::thread::scope(|scope| {
                scope.spawn(|| err.read_to_string(&mut String::new()).unwrap());
                child.wait_with_output().unwrap()
            });
            let report: serde_json::Value = serde_json::from_slice(&ended.stdout).unwrap();
            let at = report["interrupted_before"]["step"].as_u64().unwrap();
            assert!(at >= step as u64, "step {step}: {report:#}");
        }
        assert_eq!(lab.tables(), before, "step {step}");
    }
}

/// The window is the shortest there is.
#[test]
fn killed_behind_apply_the_deadline_takes_it_back() {
    let lab = ServedLab::new(DEMO);
    put(lab.home.path(), "slow.toml", &SLOW.replace("WINDOW", "30s"));
    let before = lab.tables();
    let (mut child, _) = started(&lab, 8);
    assert_ne!(lab.tables(), before);
    signal(&child, "KILL");
    child.wait().unwrap();
    lab.wait_for_state("rolled-back", Duration::from_secs(60));
    assert_eq!(lab.tables(), before);
}

/// What a session has in its environment, such as a token, is not for every program of a runbook.
#[test]
fn a_program_gets_the_listed_variables_alone() {
    let lab = ServedLab::new(DEMO);
    let book = "name = \"environment\"\nsummary = \"what a program sees\"\n\n[[step]]\n\
                run = { program = \"sh\", args = [\"-c\", \"test -n \\\"$PATH\\\" && test -z \\\"$SITE_TOKEN\\\"\"] }\n";
    put(lab.home.path(), "environment.toml", book);
    let ended = lab.command(&["run", "environment.toml"]).env("SITE_TOKEN", "secret").output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
}
