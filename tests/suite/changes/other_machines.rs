//! Two machines on one fabric, each with a state folder that the other does not see: what one has pending is registered with
//! the subnet manager, and the other writes nothing beside it.

use std::process::{Command, Output};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::processes::{DEMO, ServedLab};
use fabdeck_change::{ChangeStore, JournalRecord};

fn stderr_text(ended: &Output) -> String {
    [&ended.stdout, &ended.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

fn run_on_other_machine(lab: &ServedLab, args: &[&str]) -> Output {
    lab.command_of("./other", args).output().unwrap()
}

const APPLY: [&str; 5] = ["apply", "b.plan", "--yes", "--accept", "transition,cycle"];

/// A plan upon unconfirmed tables would be half rolled back with them.
#[test]
fn nothing_is_written_upon_what_another_machine_has_pending() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let made = lab.run(&["route", "--engine", "sssp", "-o", "b.plan"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let tables = lab.tables();
    // The plan that is pending is not simply there either: it may be gone in a minute.
    for plan in ["a.plan", "b.plan"] {
        let refused = run_on_other_machine(&lab, &["apply", plan, "--yes", "--accept", "transition,cycle"]);
        let said = stderr_text(&refused);
        assert_eq!(refused.status.code(), Some(4), "{said}");
        assert!(said.contains("FD-5643") && said.contains(&id) && said.contains(&host), "{said}");
    }
    assert_eq!(lab.tables(), tables);
    // It is in the list here too.
    let listed = run_on_other_machine(&lab, &["changes", "--verify"]);
    assert!(
        stderr_text(&listed).contains("FD-5643") && stderr_text(&listed).contains(&id),
        "{}",
        stderr_text(&listed)
    );
    let listed = run_on_other_machine(&lab, &["changes", "--verify", "--json"]);
    let json: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert!(json["pending_elsewhere"].as_str().is_some_and(|why| why.contains(&host)), "{json}");
    assert!(!lab.run_to_end(&["changes", "--verify"], 0).contains("FD-5643"));
    lab.run_to_end(&["confirm", &id], 0);
    // The guard ends its registration after its answer.
    let since = Instant::now();
    while !lab.trail().contains("\"what\":\"unregistered\"") {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", lab.trail());
        sleep(Duration::from_millis(20));
    }
    let applied = run_on_other_machine(&lab, &APPLY);
    assert_eq!(applied.status.code(), Some(0), "{}", stderr_text(&applied));
    let trail = lab.trail();
    let at =
        |what: &str| trail.find(&format!("\"what\":\"{what}\"")).unwrap_or_else(|| panic!("{what}: {trail}"));
    assert!(at("registered") < at("writing") && at("confirmed") < at("unregistered"), "{trail}");
    let journal = std::fs::read_to_string(lab.folder().join("journal")).unwrap();
    assert!(journal.contains("\"record\":\"registered\""), "{journal}");
    // Each record names machine, boot and epoch: of `apply`, and of the guard.
    for (number, line) in journal.lines().enumerate() {
        let record: Value = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
        assert_eq!(record["by"]["host"], Value::String(host.clone()), "{line}");
        assert!(record["by"]["boot"].as_str().is_some_and(|boot| !boot.is_empty()), "{line}");
        assert_eq!(record["by"]["epoch"], if number == 0 { 1 } else { 2 }, "{line}");
    }
}

/// The machine may come back any moment and take the change back.
#[test]
fn a_registration_outlives_its_guard() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let made = lab.run(&["route", "--engine", "sssp", "-o", "b.plan"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    lab.kill_guards();
    let refused = run_on_other_machine(&lab, &APPLY);
    assert!(
        refused.status.code() == Some(4) && stderr_text(&refused).contains("FD-5643"),
        "{}",
        stderr_text(&refused)
    );
    // The next guard registers it under a higher epoch.
    let registrations = || {
        let journal = std::fs::read_to_string(lab.folder().join("journal")).unwrap();
        let lines = journal.lines().filter(|line| line.contains("\"record\":\"registered\""));
        let records = lines.map(|line| serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap());
        records.map(|record: Value| record["epoch"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(registrations().len(), 1);
    lab.run_to_end(&["changes"], 0);
    lab.wait_for_state("applied", Duration::from_secs(20));
    let since = Instant::now();
    while !registrations().is_sorted_by(|before, after| before < after) || registrations().len() < 2 {
        assert!(since.elapsed() < Duration::from_secs(20), "{}", lab.logs());
        std::thread::sleep(Duration::from_millis(100));
    }
    lab.run_to_end(&["rollback", &id], 0);
    let made = lab.run(&["route", "--engine", "sssp", "-o", "b.plan", "--force"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    let applied = run_on_other_machine(&lab, &APPLY);
    assert!(matches!(applied.status.code(), Some(0)), "{}", stderr_text(&applied));
}

/// The guard that rolls a change back need not be the one that registered it.
#[test]
fn what_a_later_guard_rolls_back_is_registered_no_longer() {
    let lab = ServedLab::new(DEMO);
    lab.apply();
    lab.kill_guards();
    let kept =
        ChangeStore::open_existing(&lab.home.path().join("state")).list().unwrap().pop().unwrap().unwrap();
    let (mut journal, _) = kept.journal().unwrap();
    let returning =
        JournalRecord::Returning { time: String::new(), why: "a test".into(), asked: true, retries: None };
    journal.append_durably(&returning).unwrap();
    drop(journal);
    lab.run_to_end(&["guard", "--resume"], 0);
    lab.wait_for_state("rolled-back", Duration::from_secs(20));
    let made = lab.run(&["route", "--engine", "sssp", "-o", "b.plan"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    let applied = run_on_other_machine(&lab, &APPLY);
    assert_eq!(applied.status.code(), Some(0), "{}", stderr_text(&applied));
}

/// The second machine sees the first one's registration before it writes; if both register at once neither writes.
#[test]
fn two_machines_at_once_never_both_apply() {
    let lab = ServedLab::new(DEMO);
    let made = lab.run(&["route", "--engine", "sssp", "-o", "b.plan"]);
    assert!(matches!(made.status.code(), Some(0 | 2)), "{made:?}");
    for round in 0..3 {
        let one = lab.command(&["apply", "a.plan", "--yes", "--accept", "transition,cycle"]).spawn().unwrap();
        let other = lab.command_of("./other", &APPLY).spawn().unwrap();
        let ended = [one, other].map(|child| child.wait_with_output().unwrap());
        let codes = ended.each_ref().map(|ended| ended.status.code());
        let words = ended.each_ref().map(stderr_text).concat();
        let applied = codes.iter().filter(|code| **code == Some(0)).count();
        assert!(applied <= 1, "round {round}: {words}");
        assert!(codes.iter().all(|code| matches!(code, Some(0 | 3 | 4))), "round {round}: {codes:?} {words}");
        for state in ["./state", "./other"] {
            let rows = lab.command_of(state, &["changes", "--json"]).output().unwrap();
            let rows: serde_json::Value = serde_json::from_slice(&rows.stdout).unwrap();
            for row in rows["rows"].as_array().unwrap().iter().filter(|row| row["state"] == "applied") {
                let back =
                    lab.command_of(state, &["rollback", row["id"].as_str().unwrap()]).output().unwrap();
                assert_eq!(back.status.code(), Some(0), "{}", stderr_text(&back));
            }
        }
    }
}

/// The program on a machine of another name that has the same folders.
fn on_spare(lab: &ServedLab, state: &str, args: &[&str]) -> Output {
    let there = lab.command_of(state, args);
    let mut command = Command::new("unshare");
    command.args(["--uts", "sh", "-c", "hostname spare && exec \"$@\"", "sh"]);
    command.arg(there.get_program()).args(there.get_args()).current_dir(lab.home.path());
    let set = there.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.envs(set).output().unwrap()
}

/// The switches' tables, read without the state folder: a command that reads the folder starts a guard.
fn tables(lab: &ServedLab) -> Vec<u8> {
    run_on_other_machine(lab, &["convert", "sim:./lab.sock", "--to", "lfts", "-o", "-"]).stdout
}

/// Locks and sockets of a shared folder tell nothing of the other machine; the subnet manager does.
#[test]
fn a_change_of_another_machine_is_taken_over_by_word_and_sign_alone() {
    let lab = ServedLab::new(DEMO);
    let before = tables(&lab);
    lab.run_to_end(&["apply", "a.plan", "--yes", "--accept", "transition", "--confirm-within", "30s"], 0);
    let applied = tables(&lab);
    assert!(!applied.is_empty() && applied != before);
    lab.kill_guards();
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    for args in [&["guard", "--resume"][..], &["guard", "--resume", "--gone", "elsewhere"]] {
        let refused = on_spare(&lab, "./state", args);
        let said = stderr_text(&refused);
        assert!(
            refused.status.code() == Some(4) && said.contains("FD-7979") && said.contains(&host),
            "{said}"
        );
    }
    assert!(stderr_text(&on_spare(&lab, "./state", &["changes"])).contains("FD-7979"));
    assert_eq!(tables(&lab), applied);
    let taken = on_spare(&lab, "./state", &["guard", "--resume", "--gone", &host]);
    assert_eq!(taken.status.code(), Some(0), "{}{}", stderr_text(&taken), lab.logs());
    let since = Instant::now();
    while tables(&lab) != before {
        assert!(since.elapsed() < Duration::from_secs(20), "{}{}", stderr_text(&taken), lab.logs());
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A folder as the other machine sees it where nothing but the files is shared.
#[test]
fn a_guard_that_renews_its_registration_is_not_gone() {
    let lab = ServedLab::new(DEMO);
    let id = lab.apply();
    let applied = tables(&lab);
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let copied = Command::new("cp").args(["-r", "state", "copy"]).current_dir(lab.home.path()).status();
    assert!(copied.unwrap().success());
    let _ = std::fs::remove_file(lab.home.path().join("copy/changes/000001/socket"));
    let refused = on_spare(&lab, "./copy", &["guard", "--resume", "--gone", &host]);
    let said = stderr_text(&refused);
    assert!(refused.status.code() == Some(4) && said.contains("FD-7974") && said.contains("lives"), "{said}");
    assert_eq!(tables(&lab), applied);
    lab.run_to_end(&["confirm", &id], 0);
}
