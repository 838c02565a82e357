//! Jobs recorded by the binary itself, from a list and from a squeue, and asked for on the capture.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::commands::{fabdeck, json, run};
use super::killed_recorders::{info, serve_simulator, signal, wait_for};

const DEMO: [&str; 2] = ["--source", "sim:demo"];
/// A job on several switches, one on a single host, and a host that nobody has.
const LIST: &str = "node01 4711\nnode12 4711\nnode20 4711\nnode02 4712\ngone7 4712\n";

/// A squeue that is this script.
pub fn squeue(folder: &Path, text: &str) -> PathBuf {
    let file = folder.join("squeue");
    std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o700)).unwrap();
    file
}

/// A squeue that is deaf to everything but what cannot be refused, and has a child; that one's id is in the file `child`.
pub fn hanging(folder: &Path) -> PathBuf {
    let note = folder.join("child");
    squeue(folder, &format!("trap '' TERM HUP INT; sleep 600 & echo $! > {}; wait", note.display()))
}

/// Waits until somebody wrote the id, and gives where the kernel tells of that process.
pub fn child(folder: &Path) -> PathBuf {
    let begun = Instant::now();
    loop {
        let id = std::fs::read_to_string(folder.join("child")).unwrap_or_default();
        if id.ends_with('\n') {
            return Path::new("/proc").join(id.trim()).join("stat");
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "squeue is not run");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn assert_gone(stat: &Path) {
    for _ in 0..500 {
        if std::fs::read_to_string(stat).map_or(true, |text| text.contains(") Z ")) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{stat:?} goes on");
}

fn recorded(args: &[&str]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("list"), LIST).unwrap();
    run(&home, &[&DEMO[..], &["record", "-o", "jobs.fdcap", "--for", "5s"], args].concat(), 0);
    home
}

/// What the capture says is what the list says, with its age; a list that is given counts over it.
#[test]
fn a_capture_answers_for_the_jobs_of_its_time() {
    let home = recorded(&["--jobs", "list"]);
    let listed = json(&home, &[&DEMO[..], &["jobs", "--file", "list"]].concat(), 0);
    for command in [&["jobs"][..], &["show", "jobs"]] {
        let seen = json(&home, &[&["--source", "jobs.fdcap", "--at", "-2s"], command].concat(), 0);
        assert_eq!((&seen["rows"], &seen["totals"]), (&listed["rows"], &listed["totals"]), "{seen}");
        assert_eq!((&seen["from"], &seen["age_seconds"]), (&"recorded".into(), &3.into()), "{seen}");
        assert!(seen["heard"].as_str().is_some_and(|heard| heard.contains('T')), "{seen}");
    }
    assert_eq!((&listed["heard"], &listed["age_seconds"]), (&Value::Null, &Value::Null));
    let words = run(&home, &["--source", "jobs.fdcap", "jobs"], 0);
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.contains("recorded; received at") && words.contains("5 s before"), "{words}");
    std::fs::write(home.path().join("other"), "node03 5\nnode13 5\n").unwrap();
    let other = json(&home, &["--source", "jobs.fdcap", "jobs", "--file", "other"], 0);
    assert_eq!((&other["rows"][0]["job"], &other["from"]), (&"5".into(), &"other".into()), "{other}");
    let told = info(&home, "jobs.fdcap");
    assert_eq!((&told["job_lists"], &told["job_silences"]), (&1.into(), &0.into()), "{told}");
    let words = String::from_utf8(run(&home, &["capture", "info", "jobs.fdcap"], 0).stdout).unwrap();
    assert!(words.lines().any(|line| line.starts_with("jobs") && line.contains("1 list")), "{words}");
}

/// Each file of a series, and what is cut out or anonymous, answers by itself.
#[test]
fn captures_made_of_captures_have_their_jobs() {
    let home = recorded(&["--jobs", "list", "--rotate-every", "2s"]);
    let rows = |file: &str| json(&home, &["--source", file, "jobs"], 0)["totals"].clone();
    let whole = rows("jobs-000001.fdcap");
    assert_eq!((&whole["listed"], &whole["multi_switch"]), (&2.into(), &1.into()), "{whole}");
    assert_eq!(rows("jobs-000002.fdcap"), whole);
    run(&home, &["capture", "cut", "jobs-000002.fdcap", "--from", "-1s", "-o", "cut.fdcap"], 0);
    run(&home, &["capture", "anonymize", "cut.fdcap", "-o", "away.fdcap"], 0);
    assert_eq!(rows("cut.fdcap"), whole);
    // Anonymous hosts and jobs have other names, and the same figures.
    let figures = |mut totals: Value| {
        totals["missing_hosts"] = totals["missing_hosts"].as_array().unwrap().len().into();
        totals
    };
    assert_eq!(figures(rows("away.fdcap")), figures(whole));
    let away = json(&home, &["--source", "away.fdcap", "jobs"], 0);
    assert_eq!(away["rows"][0]["job"], "job-1", "{away}");
    assert!(!away.to_string().contains("4711") && !away.to_string().contains("gone7"), "{away}");
}

/// Who has nothing to tell says why: a capture without jobs, a Slurm that never answered, a list that is none.
#[test]
fn what_is_not_known_is_said() {
    let home = recorded(&[]);
    let said =
        |home: &TempDir, args: &[&str], code: i32| String::from_utf8(run(home, args, code).stderr).unwrap();
    let none = said(&home, &["--source", "jobs.fdcap", "jobs"], 64);
    assert!(none.contains("FD-7822: jobs.fdcap has no jobs"), "{none}");
    assert_eq!(info(&home, "jobs.fdcap")["job_lists"], 0);
    let gone = squeue(home.path(), "echo 'no controller' >&2; exit 1");
    let record =
        [&DEMO[..], &["record", "-o", "silent.fdcap", "--for", "3s", "--slurm", "--squeue"]].concat();
    let told = said(&home, &[&record[..], &[gone.to_str().unwrap()]].concat(), 0);
    assert!(told.contains("no list of jobs; the recording continues: FD-4603"), "{told}");
    let silent = said(&home, &["--source", "silent.fdcap", "jobs"], 1);
    assert!(silent.contains("FD-7815") && silent.contains("no controller"), "{silent}");
    let counted = info(&home, "silent.fdcap");
    assert_eq!((&counted["job_lists"], &counted["job_silences"]), (&0.into(), &1.into()));
    std::fs::write(home.path().join("broken"), "node1 17 18\n").unwrap();
    let broken = [&DEMO[..], &["record", "-o", "none.fdcap", "--for", "3s", "--jobs", "broken"]].concat();
    assert!(said(&home, &broken, 7).contains("broken:1"), "a list is read before anything is recorded");
    assert!(!home.path().join("none.fdcap").exists());
    let stdin = [&DEMO[..], &["record", "-o", "none.fdcap", "--for", "3s", "--jobs", "-"]].concat();
    assert!(said(&home, &stdin, 64).contains("FD-7973"));
}

/// Of a simulated fabric nobody knows jobs: the command has those of the screen, and says that they are made up.
#[test]
fn jobs_of_a_simulated_fabric_are_made_up() {
    let home = tempfile::tempdir().unwrap();
    let made = json(&home, &[&DEMO[..], &["jobs"]].concat(), 0);
    assert_eq!((&made["from"], &made["totals"]["not_found"]), (&"SIMULATED".into(), &0.into()), "{made}");
    assert!(made["totals"]["multi_switch"].as_u64().unwrap() > 1, "{made}");
    let words = run(&home, &[&DEMO[..], &["jobs"]].concat(), 0);
    assert!(String::from_utf8(words.stdout).unwrap().contains("SIMULATED"));
    assert_eq!(json(&home, &[&DEMO[..], &["show", "jobs"]].concat(), 0)["rows"], made["rows"]);
}

/// Sweeps go on beside a Slurm that hangs; then it falls silent, which is recorded, and it ends with the recorder.
#[test]
fn a_slurm_that_hangs_delays_no_sweep_and_ends_with_the_recorder() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    let squeue = hanging(home.path());
    let record = |name: &str, more: &[&str]| {
        let mut command = fabdeck(&home);
        command.args(["--source", "sim:./fabric.sock", "record", "-o", name, "--interval", "5ms", "--slurm"]);
        command.arg("--squeue").arg(&squeue).args(more);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut recorder = record("hung.fdcap", &[]);
    let stat = child(home.path());
    wait_for(&home, "hung.fdcap", 9000);
    assert!(stat.exists(), "it hangs still");
    signal(&recorder, "-INT");
    assert_eq!(recorder.wait().unwrap().code(), Some(130));
    assert_gone(&stat);
    let told = info(&home, "hung.fdcap");
    assert!(told["sweeps"].as_u64().unwrap() > 5, "{told}");
    assert_eq!(
        (&told["job_lists"], &told["job_silences"]),
        (&0.into(), &0.into()),
        "nobody said anything yet"
    );
    let short = ["--slurm-timeout", "200ms", "--jobs-interval", "1ms", "--for", "2s"];
    assert_eq!(record("silent.fdcap", &short).wait().unwrap().code(), Some(0));
    let told = info(&home, "silent.fdcap");
    assert_eq!((&told["job_lists"], &told["job_silences"]), (&0.into(), &1.into()), "{told}");
    fabric.kill().unwrap();
    fabric.wait().unwrap();
}

/// A list that changes while somebody records, and goes.
#[test]
fn a_list_is_read_again_when_it_changes() {
    let home = tempfile::tempdir().unwrap();
    let mut fabric = serve_simulator(&home);
    let list = home.path().join("list");
    std::fs::write(&list, "host0 7\nhost3 7\n").unwrap();
    let mut command = fabdeck(&home);
    command.args([
        "--source",
        "sim:./fabric.sock",
        "record",
        "-o",
        "list.fdcap",
        "--interval",
        "20ms",
        "--jobs",
        "list",
    ]);
    let mut recorder = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&home, "list.fdcap", 1);
    std::fs::write(&list, "host0 7\nhost3 7\nhost1 8\nhost2 8\n").unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    std::fs::remove_file(&list).unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    signal(&recorder, "-INT");
    assert_eq!(recorder.wait().unwrap().code(), Some(130));
    let told = info(&home, "list.fdcap");
    assert_eq!((&told["job_lists"], &told["job_silences"]), (&2.into(), &1.into()), "{told}");
    let seen = json(&home, &["--source", "list.fdcap", "jobs"], 0);
    assert_eq!(seen["totals"]["listed"], 2, "the last that was heard stays: {seen}");
    assert!(seen["age_seconds"].as_u64().unwrap() >= 1, "{seen}");
    fabric.kill().unwrap();
    fabric.wait().unwrap();
}
